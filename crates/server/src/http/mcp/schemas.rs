//! What may a tool be told, and what does it tell? JSON Schemas, taken from the OpenAPI document, so
//! that both interfaces describe the same rules in the same words.

use std::sync::LazyLock;

use serde_json::{Map, Value, json};
use utoipa::PartialSchema;

use super::tools::Tool;
use crate::http::{
    document,
    requests::{DEFAULT_PAGE, MAX_BULK, MAX_KEY_BYTES, MAX_PAGE, READ_ONLY},
    wire::{ProductGone, ProductPage},
};

type Object = Map<String, Value>;

/// Where schemas of the document are referred to.
const COMPONENTS: &str = "#/components/schemas/";

/// The schemas of a tool's arguments and of its result.
pub(super) fn of(tool: Tool) -> (Object, Object) {
    match tool {
        Tool::SearchProducts => {
            (arguments("SearchRequest", &["explain"]), result(component("SearchAnswer")))
        }
        Tool::GetProduct => (id(), result(component("Product"))),
        Tool::ListProducts => (page(), result(json!(ProductPage::schema()))),
        Tool::CreateProduct => (new_product(), result(component("Product"))),
        Tool::UpdateProduct => {
            (arguments("ProductEdit", &READ_ONLY[1..]), result(component("Product")))
        }
        Tool::DeleteProduct => (id(), result(json!(ProductGone::schema()))),
    }
}

/// The body of a request as arguments, less the fields that an agent has no use for. What only
/// machines read is left out too: models are offered fewer keywords than JSON Schema has, and the
/// service checks the rules in any case.
fn arguments(body: &str, useless: &[&str]) -> Object {
    let mut schema = whole(component(body));
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        properties.retain(|name, _| !useless.contains(&name.as_str()));
    }
    schema.remove("not");
    without(&["pattern", "format"], Value::Object(schema))
}

fn new_product() -> Object {
    let mut schema = arguments("NewProduct", &READ_ONLY);
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        let key = json!({"type": "string", "minLength": 1, "maxLength": MAX_KEY_BYTES,
            "description": "Your own name for this call, which makes it safe to repeat: the same \
                key and product give the first result again, the same key with another product is \
                refused."});
        properties.insert("idempotency_key".to_owned(), key);
    }
    schema
}

fn id() -> Object {
    whole(json!({
        "type": "object",
        "properties": {
            "id": {"type": "integer", "minimum": 1, "description": "Which product."}
        },
        "required": ["id"],
        "additionalProperties": false,
    }))
}

fn page() -> Object {
    whole(json!({
        "type": "object",
        "properties": {
            "ids": {
                "type": "array",
                "items": {"type": "integer", "minimum": 1},
                "maxItems": MAX_BULK,
                "description": "These products and no others, in this order and each once.",
            },
            "limit": {
                "type": "integer", "minimum": 1, "maximum": MAX_PAGE, "default": DEFAULT_PAGE,
                "description": "How many products to return at most; with `ids`, all of them \
                    unless this is given.",
            },
            "offset": {
                "type": "integer", "minimum": 0, "default": 0,
                "description": "How many products to skip.",
            },
        },
        "additionalProperties": false,
    }))
}

/// A result, without the parts of scores, which only people compare.
fn result(schema: Value) -> Object {
    without(&["explanation"], Value::Object(whole(schema)))
}

/// A schema of the document.
fn component(name: &str) -> Value {
    static SCHEMAS: LazyLock<Value> =
        LazyLock::new(|| json!(document())["components"]["schemas"].take());
    SCHEMAS[name].clone()
}

/// A schema with all others that it refers to inside it: clients need not look anything up.
fn whole(schema: Value) -> Object {
    match inline(schema) {
        Value::Object(object) => object,
        _ => unreachable!("the schemas of the document are objects"),
    }
}

fn inline(schema: Value) -> Value {
    match schema {
        Value::Object(mut fields) => match fields.remove("$ref") {
            Some(reference) => {
                let name = reference.as_str().and_then(|path| path.strip_prefix(COMPONENTS));
                let Value::Object(mut named) = inline(component(name.unwrap_or_default())) else {
                    unreachable!("every reference of the document leads to a schema");
                };
                // A word said beside the reference is about this very place.
                named.extend(fields);
                Value::Object(named)
            }
            None => fields.into_iter().map(|(name, value)| (name, inline(value))).collect(),
        },
        Value::Array(items) => items.into_iter().map(inline).collect(),
        other => other,
    }
}

/// The schema without these keywords or properties, wherever they stand.
fn without(names: &[&str], schema: Value) -> Object {
    fn strip(names: &[&str], value: Value) -> Value {
        match value {
            Value::Object(fields) => fields
                .into_iter()
                .filter(|(name, _)| !names.contains(&name.as_str()))
                .map(|(name, value)| (name, strip(names, value)))
                .collect(),
            Value::Array(items) => items.into_iter().map(|item| strip(names, item)).collect(),
            other => other,
        }
    }
    match strip(names, schema) {
        Value::Object(object) => object,
        _ => unreachable!("an object stays one"),
    }
}
