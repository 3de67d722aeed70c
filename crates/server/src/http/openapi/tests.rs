//! The document is complete, and its limits and examples are those that are checked.

use std::collections::BTreeSet;

use catalog::{
    product::{self, access::Role, attributes, http_url, key, media, price::Price},
    query::{self, filter},
    ranking::facets,
};
use serde_json::{Value, json};

use crate::http::{
    document,
    errors::ValidationErrors,
    json_schema,
    requests::{
        MAX_BULK, MAX_PAGE, ObjectDefinition,
        filter::{Filter, NumberRange, PriceRange},
        headers::MAX_KEY_BYTES,
        listing::DEFAULT_PAGE,
        products::{
            NewProduct, NewProducts, ProductChanges, ProductDeletion, ProductEdit, ProductEdits,
            ProductUpsert, ProductUpserts,
        },
        search::SearchRequest,
        tokens::{MAX_TOKEN_SECONDS, TokenRequest},
    },
};

fn document_json() -> Value {
    serde_json::to_value(document()).unwrap()
}

/// Every operation as `GET /path`, with its description.
fn operations(document: &Value) -> Vec<(String, &Value)> {
    let paths = document["paths"].as_object().unwrap();
    paths
        .iter()
        .flat_map(|(path, methods)| {
            methods.as_object().unwrap().iter().map(move |(method, operation)| {
                (format!("{} {path}", method.to_uppercase()), operation)
            })
        })
        .collect()
}

fn resolve<'a>(document: &'a Value, value: &'a Value) -> &'a Value {
    match value["$ref"].as_str() {
        Some(reference) => document
            .pointer(reference.trim_start_matches('#'))
            .unwrap_or_else(|| panic!("{reference} does not resolve")),
        None => value,
    }
}

fn visit(value: &Value, see: &mut impl FnMut(&Value)) {
    see(value);
    match value {
        Value::Array(items) => items.iter().for_each(|item| visit(item, see)),
        Value::Object(fields) => fields.values().for_each(|field| visit(field, see)),
        _ => {}
    }
}

#[test]
fn the_whole_document() {
    insta::assert_json_snapshot!("openapi", document(), { ".info.version" => "[version]" });
}

#[test]
fn every_operation_is_described_completely() {
    let document = document_json();
    let roles: Vec<&str> = Role::ALL.map(Role::as_str).into_iter().chain(["none"]).collect();
    let mut ids = BTreeSet::new();
    for (name, operation) in operations(&document) {
        for field in ["summary", "description", "operationId"] {
            assert!(!operation[field].as_str().unwrap_or_default().is_empty(), "{name}: {field}");
        }
        assert!(ids.insert(operation["operationId"].as_str()), "{name}: its id is taken");
        let tag = &operation["tags"][0];
        let tags = document["tags"].as_array().unwrap();
        assert!(tags.iter().any(|known| known["name"] == *tag), "{name}: {tag}");

        let role = operation["x-required-role"].as_str().unwrap_or_default();
        assert!(roles.contains(&role), "{name}: {role:?} is no role");
        let security = operation["security"].as_array().unwrap();
        let open = security.contains(&json!({}));
        assert_eq!(open, role == "none", "{name}: security and role disagree");
        assert!(open || *security == [json!({"bearer": []})], "{name}: {security:?}");

        let responses = operation["responses"].as_object().unwrap();
        let good: Vec<_> = responses.iter().filter(|(status, _)| status.starts_with('2')).collect();
        assert_eq!(good.len(), 1, "{name}: one good answer");
        for (status, response) in responses {
            let response = resolve(&document, response);
            assert!(response["headers"].get("X-Request-Id").is_some(), "{name} {status}: no id");
            let mut content = response["content"].as_object().into_iter().flatten();
            match content.next() {
                Some((kind, content)) => {
                    assert!(content.get("schema").is_some(), "{name} {status}: no schema");
                    let example = content.get("example").or(content.get("examples"));
                    assert!(example.is_some(), "{name} {status}: no example");
                    let is_problem = kind == "application/problem+json";
                    let bad = status.starts_with(['4', '5']);
                    // Probes have a body of their own.
                    let is_probe = name.starts_with("GET /health/");
                    assert!(!bad || is_problem || is_probe, "{name} {status}");
                }
                None => assert!(["204", "304"].contains(&status.as_str()), "{name} {status}"),
            }
        }
        for status in ["500", "503"] {
            assert!(responses.contains_key(status), "{name}: no {status}");
        }
        if !open {
            assert!(responses.contains_key("401"), "{name}: no 401");
            assert!(role == "SHOPPER" || responses.contains_key("403"), "{name}: no 403");
        }
        if operation.get("requestBody").is_some() {
            for status in ["400", "413", "415", "422"] {
                assert!(responses.contains_key(status), "{name}: no {status}");
            }
        }
    }
}

#[test]
fn every_reference_and_link_resolves() {
    let document = document_json();
    visit(&document, &mut |value| {
        resolve(&document, value);
    });
    let ids: BTreeSet<&str> = operations(&document)
        .iter()
        .map(|(_, operation)| operation["operationId"].as_str().unwrap())
        .collect();
    for (name, operation) in operations(&document) {
        for response in operation["responses"].as_object().unwrap().values() {
            for link in response["links"].as_object().into_iter().flat_map(|links| links.values()) {
                let id = link["operationId"].as_str().unwrap();
                assert!(ids.contains(id), "{name}: {id}");
            }
        }
    }
}

#[test]
fn documented_limits_are_those_that_are_checked() {
    let document = document_json();
    let field = |schema: &str, field: &str, keyword: &str| {
        document["components"]["schemas"][schema]["properties"][field][keyword].as_u64().unwrap()
    };
    for schema in ["NewProduct", "ProductChanges", "ProductEdit"] {
        assert_eq!(field(schema, "title", "maxLength"), product::MAX_TITLE_CHARS as u64);
        assert_eq!(
            field(schema, "description", "maxLength"),
            product::MAX_DESCRIPTION_CHARS as u64
        );
        assert_eq!(field(schema, "price", "maxLength"), catalog::product::price::MAX_CHARS as u64);
        assert_eq!(field(schema, "media", "maxItems"), media::MAX_ITEMS as u64);
    }
    assert_eq!(field("NewMedia", "url", "maxLength"), media::MAX_URL_CHARS as u64);
    for (schema, name) in [
        ("NewProducts", "products"),
        ("ProductEdits", "products"),
        ("ProductUpserts", "products"),
        ("ProductDeletion", "product_ids"),
    ] {
        assert_eq!(field(schema, name, "minItems"), 1);
        assert_eq!(field(schema, name, "maxItems"), MAX_BULK as u64);
    }
    assert_eq!(field("SearchRequest", "query", "maxLength"), query::MAX_QUERY_CHARS as u64);
    assert_eq!(field("SearchRequest", "limit", "maximum"), query::MAX_LIMIT as u64);
    assert_eq!(field("SearchRequest", "limit", "default"), query::DEFAULT_LIMIT as u64);
    assert_eq!(field("SearchRequest", "offset", "maximum"), query::MAX_OFFSET as u64);
    assert_eq!(field("TokenRequest", "name", "maxLength"), engine::tokens::MAX_NAME_CHARS as u64);
    assert_eq!(field("TokenRequest", "expires_in_seconds", "maximum"), MAX_TOKEN_SECONDS);

    let schemas = &document["components"]["schemas"];
    assert_eq!(schemas["Attributes"]["maxProperties"], attributes::MAX_ATTRIBUTES);
    assert_eq!(schemas["Filter"]["maxProperties"], filter::MAX_CONDITIONS);
    assert_eq!(field("SearchRequest", "facets", "maxItems"), facets::MAX_FACETS as u64);
    assert_eq!(field("SearchRequest", "facet_limit", "maximum"), facets::MAX_FACET_LIMIT as u64);
    for schema in ["NewProduct", "ProductChanges", "ProductEdit", "ProductUpsert"] {
        assert_eq!(field(schema, "key", "maxLength"), key::MAX_KEY_CHARS as u64);
        assert_eq!(field(schema, "url", "maxLength"), http_url::MAX_PRODUCT_URL_CHARS as u64);
    }

    let list = &document["paths"]["/api/v1/products"]["get"]["parameters"];
    assert_eq!(list[1]["schema"]["maxItems"], MAX_BULK);
    assert_eq!(list[3]["schema"]["maximum"], MAX_PAGE);
    assert_eq!(list[3]["schema"]["default"], DEFAULT_PAGE);
    let similar = &document["paths"]["/api/v1/products/{product_id}/similar"]["get"]["parameters"];
    assert_eq!(similar[1]["schema"]["maximum"], query::MAX_LIMIT);
    assert_eq!(similar[1]["schema"]["default"], query::DEFAULT_LIMIT);
    let key = &document["paths"]["/api/v1/products"]["post"]["parameters"][0];
    assert_eq!(key["schema"]["maxLength"], MAX_KEY_BYTES);
}

/// Fields that an update leaves out stay unchanged. A generated client would send a default, and so
/// unhide a product.
#[test]
fn updates_have_no_defaults() {
    let document = document_json();
    for schema in ["ProductChanges", "ProductEdit", "ProductUpsert"] {
        let fields = document["components"]["schemas"][schema]["properties"].as_object().unwrap();
        assert!(fields.contains_key("hidden"), "{schema}");
        for (name, field) in fields {
            assert!(field.get("default").is_none(), "{schema}.{name}");
        }
    }
}

/// The documented fields of a body are exactly those that are read.
#[test]
fn documented_fields_are_those_that_are_known() {
    let document = document_json();
    type Check = fn(&Value) -> ValidationErrors;
    let checks: [(&str, Check); 8] = [
        ("NewProduct", |body| NewProduct::read(body).err().unwrap_or_default()),
        ("ProductChanges", |body| ProductChanges::read(body).err().unwrap_or_default()),
        ("ProductEdit", |body| ProductEdit::read(body).err().unwrap_or_default()),
        ("ProductUpsert", |body| ProductUpsert::read(body).err().unwrap_or_default()),
        ("PriceRange", |body| PriceRange::read(body).err().unwrap_or_default()),
        ("NumberRange", |body| NumberRange::read(body).err().unwrap_or_default()),
        ("SearchRequest", |body| SearchRequest::read(body).err().unwrap_or_default()),
        ("TokenRequest", |body| TokenRequest::read(body).err().unwrap_or_default()),
    ];
    for (schema, check) in checks {
        let schema = &document["components"]["schemas"][schema];
        let documented: Vec<&str> =
            schema["properties"].as_object().unwrap().keys().map(String::as_str).collect();
        let errors = check(&json!({"surely_unknown": 1}));
        let unknown = errors.iter().find(|error| error.code == "unknown_field").unwrap();
        let (_, known) = unknown.message.split_once("expected one of ").unwrap();
        let mut known: Vec<&str> = known.split(", ").collect();
        known.sort_unstable();
        assert_eq!(documented, known);
    }
}

#[test]
fn examples_of_requests_are_accepted() {
    fn example<T: utoipa::PartialSchema>() -> Value {
        serde_json::to_value(T::schema()).unwrap()["examples"][0].clone()
    }
    assert!(NewProduct::read(&example::<NewProduct>()).is_ok());
    assert!(ProductChanges::read(&example::<ProductChanges>()).is_ok());
    for product in NewProducts::read(&example::<NewProducts>()).unwrap() {
        assert!(NewProduct::read(product).is_ok(), "{product}");
    }
    for edit in ProductEdits::read(&example::<ProductEdits>()).unwrap() {
        assert!(ProductEdit::read(edit).is_ok(), "{edit}");
    }
    for product in ProductUpserts::read(&example::<ProductUpserts>()).unwrap() {
        assert!(ProductUpsert::read(product).is_ok(), "{product}");
    }
    assert!(ProductUpsert::read(&example::<ProductUpsert>()).is_ok());
    let search = json!({"filter": example::<Filter>()});
    assert!(SearchRequest::read(&search).is_ok());
    assert!(PriceRange::read(&example::<PriceRange>()).is_ok());
    assert!(NumberRange::read(&example::<NumberRange>()).is_ok());
    assert!(ProductDeletion::read(&example::<ProductDeletion>()).is_ok());
    assert!(SearchRequest::read(&example::<SearchRequest>()).is_ok());
    assert!(TokenRequest::read(&example::<TokenRequest>()).is_ok());
}

/// Panics if a value lacks a required property of its schema or has an unknown one, at any depth.
fn check_example(document: &Value, schema: &Value, value: &Value) {
    let schema = resolve(document, schema);
    match value {
        Value::Array(items) => {
            items.iter().for_each(|item| check_example(document, &schema["items"], item));
        }
        Value::Object(fields) if !schema["properties"].is_null() => {
            for name in schema["required"].as_array().into_iter().flatten() {
                assert!(fields.contains_key(name.as_str().unwrap()), "{name} missing: {value}");
            }
            for (name, field) in fields {
                let property = match &schema["properties"][name] {
                    Value::Null => &schema["additionalProperties"],
                    property => property,
                };
                assert!(!property.is_null(), "{name} unknown: {value}");
                check_example(document, property, field);
            }
        }
        _ => {
            let options = schema["oneOf"].as_array().into_iter().flatten();
            let named = options.filter(|option| value.is_object() && option["$ref"].is_string());
            named.for_each(|option| check_example(document, option, value));
        }
    }
}

#[test]
fn examples_of_responses_match_their_schemas() {
    let document = document_json();
    for (_, operation) in operations(&document) {
        for response in operation["responses"].as_object().unwrap().values() {
            let contents = resolve(&document, response)["content"].as_object();
            for content in contents.into_iter().flat_map(|contents| contents.values()) {
                check_example(&document, &content["schema"], &content["example"]);
            }
        }
    }
}

#[test]
fn every_price_in_the_description_is_one() {
    let document = document_json();
    let price = &document["components"]["schemas"]["NewProduct"]["properties"]["price"];
    let mut written = price["description"].as_str().unwrap().split('`').skip(1).step_by(2);
    assert_eq!(written.clone().count(), 6);
    assert!(written.all(|price| Price::parse(price).is_ok()));
}

/// White space and control characters in patterns are those of the standard library.
#[test]
fn patterns_contain_the_same_characters_as_the_checks() {
    let class = json_schema::not_blank();
    for c in (0..=0x3100).filter_map(char::from_u32) {
        let listed = in_class(&class, c);
        assert_eq!(listed, c.is_whitespace(), "U+{:04X}", u32::from(c));
    }
    let class = json_schema::plain_text();
    for c in (0..=0x3100).filter_map(char::from_u32) {
        assert_eq!(in_class(&class, c), c.is_control(), "U+{:04X}", u32::from(c));
    }
}

/// Whether the first negated character class of a pattern names a character.
fn in_class(pattern: &str, c: char) -> bool {
    let class = pattern.split("[^").nth(1).unwrap().split(']').next().unwrap();
    let mut members = Vec::new();
    let mut rest = class;
    while let Some(first) = rest.chars().next() {
        let (member, length) = match first {
            '\\' => match &rest[1..2] {
                "u" => (u32::from_str_radix(&rest[2..6], 16).unwrap(), 6),
                "t" => (u32::from('\t'), 2),
                "r" => (u32::from('\r'), 2),
                other => panic!("unknown escape {other}"),
            },
            '-' => (u32::MAX, 1),
            plain => (u32::from(plain), plain.len_utf8()),
        };
        members.push(member);
        rest = &rest[length..];
    }
    let c = u32::from(c);
    members.contains(&c)
        || members
            .windows(3)
            .any(|three| three[1] == u32::MAX && (three[0]..=three[2]).contains(&c))
}
