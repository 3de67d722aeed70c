//! The JSON Schemas of tools' arguments and results, from the definitions of the API's requests and
//! responses.

use std::sync::LazyLock;

use serde_json::{Map, Value, json};
use utoipa::PartialSchema;

use super::tools::{IDEMPOTENCY_KEY, Tool};
use crate::http::{
    openapi::document_without_operations,
    requests::{
        ObjectDefinition,
        headers::key_schema,
        listing::ListArguments,
        products::{ProductArgument, READ_ONLY},
    },
    responses::products::{DeletedProduct, ProductPage},
};

type Object = Map<String, Value>;

/// The prefix of references to schemas of the document.
const COMPONENTS: &str = "#/components/schemas/";

/// The schemas of a tool's arguments and of its result.
pub(super) fn of(tool: Tool) -> (Object, Object) {
    match tool {
        Tool::SearchProducts => {
            (arguments(component("SearchRequest"), &["explain"]), result(component("SearchAnswer")))
        }
        Tool::GetProduct => (product_argument(), result(component("Product"))),
        Tool::ListProducts => {
            let page = json!(ListArguments::describe().build());
            (arguments(page, &[]), result(json!(ProductPage::schema())))
        }
        Tool::CreateProduct => (new_product(), result(component("Product"))),
        Tool::UpdateProduct => {
            let edit = component("ProductEdit");
            (arguments(edit, &READ_ONLY[1..]), result(component("Product")))
        }
        Tool::DeleteProduct => (product_argument(), result(json!(DeletedProduct::schema()))),
    }
}

/// The body of a request as arguments, without the fields that agents do not need. Keywords for
/// machines are left out too: models support only a part of JSON Schema, and the service validates
/// arguments in any case.
fn arguments(body: Value, unneeded: &[&str]) -> Object {
    let mut schema = inlined(body);
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        properties.retain(|name, _| !unneeded.contains(&name.as_str()));
    }
    schema.remove("not");
    without(&["pattern", "format", "patternProperties", "propertyNames"], Value::Object(schema))
}

fn new_product() -> Object {
    let mut schema = arguments(component("NewProduct"), &READ_ONLY);
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        let about = "Your own name for this call, which makes it safe to repeat: the same key and \
                     product give the first result again, the same key with another product is \
                     refused.";
        properties.insert(IDEMPOTENCY_KEY.to_owned(), json!(key_schema(about).build()));
    }
    schema
}

fn product_argument() -> Object {
    arguments(json!(ProductArgument::describe().build()), &[])
}

/// A result without the explanation of scores, which agents do not need.
fn result(schema: Value) -> Object {
    without(&["explanation"], Value::Object(inlined(schema)))
}

/// A schema of the document.
fn component(name: &str) -> Value {
    static SCHEMAS: LazyLock<Value> =
        LazyLock::new(|| json!(document_without_operations())["components"]["schemas"].take());
    SCHEMAS[name].clone()
}

/// A schema with all references replaced by the schemas themselves.
fn inlined(schema: Value) -> Object {
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
                // Keywords beside the reference override those of the schema.
                named.extend(fields);
                Value::Object(named)
            }
            None => fields.into_iter().map(|(name, value)| (name, inline(value))).collect(),
        },
        Value::Array(items) => items.into_iter().map(inline).collect(),
        other => other,
    }
}

/// The schema without these keywords or properties, at any depth.
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
