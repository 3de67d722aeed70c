//! Is the document whole and true? Every operation, every limit, every example.

use std::collections::BTreeSet;

use catalog::{access::Role, media, price::Price, product, query};
use serde_json::{Value, json};

use super::vocabulary;
use crate::http::{
    document,
    openapi::bodies,
    requests,
    requests::{MAX_KEY_BYTES, MAX_TOKEN_SECONDS},
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
            .unwrap_or_else(|| panic!("{reference} leads nowhere")),
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
fn every_operation_describes_itself_wholly() {
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
                    // Probes say how the service is in a body of their own.
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
fn every_reference_and_link_leads_somewhere() {
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
        assert_eq!(field(schema, "price", "maxLength"), catalog::price::MAX_CHARS as u64);
        assert_eq!(field(schema, "media", "maxItems"), media::MAX_ITEMS as u64);
    }
    assert_eq!(field("NewMedia", "url", "maxLength"), media::MAX_URL_CHARS as u64);
    for (schema, name) in [
        ("NewProducts", "products"),
        ("ProductEdits", "products"),
        ("ProductDeletion", "product_ids"),
    ] {
        assert_eq!(field(schema, name, "minItems"), 1);
        assert_eq!(field(schema, name, "maxItems"), requests::MAX_BULK as u64);
    }
    assert_eq!(field("SearchRequest", "query", "maxLength"), query::MAX_CHARS as u64);
    assert_eq!(field("SearchRequest", "limit", "maximum"), query::MAX_LIMIT as u64);
    assert_eq!(field("SearchRequest", "limit", "default"), query::DEFAULT_LIMIT as u64);
    assert_eq!(field("SearchRequest", "offset", "maximum"), query::MAX_OFFSET as u64);
    assert_eq!(field("TokenRequest", "name", "maxLength"), engine::tokens::MAX_NAME_CHARS as u64);
    assert_eq!(field("TokenRequest", "expires_in_seconds", "maximum"), MAX_TOKEN_SECONDS);

    let list = &document["paths"]["/api/v1/products"]["get"]["parameters"];
    assert_eq!(list[1]["schema"]["maximum"], requests::MAX_PAGE);
    assert_eq!(list[1]["schema"]["default"], requests::DEFAULT_PAGE);
    let similar = &document["paths"]["/api/v1/products/{product_id}/similar"]["get"]["parameters"];
    assert_eq!(similar[1]["schema"]["maximum"], query::MAX_LIMIT);
    assert_eq!(similar[1]["schema"]["default"], query::DEFAULT_LIMIT);
    let key = &document["paths"]["/api/v1/products"]["post"]["parameters"][0];
    assert_eq!(key["schema"]["maxLength"], MAX_KEY_BYTES);
}

/// What an update leaves out stays as it is. A client that was made from the document would send a
/// default, and so show a hidden product.
#[test]
fn updates_have_no_defaults() {
    let document = document_json();
    for schema in ["ProductChanges", "ProductEdit"] {
        let fields = document["components"]["schemas"][schema]["properties"].as_object().unwrap();
        assert!(fields.contains_key("hidden"), "{schema}");
        for (name, field) in fields {
            assert!(field.get("default").is_none(), "{schema}.{name}");
        }
    }
}

/// The documented fields of a body are those that are read, no more and no fewer.
#[test]
fn documented_fields_are_those_that_are_known() {
    let document = document_json();
    type Check = fn(&Value) -> crate::http::faults::Faults;
    let checks: [(&str, Check); 4] = [
        ("NewProduct", |body| requests::draft(body).err().unwrap_or_default()),
        ("ProductChanges", |body| requests::patch(body).err().unwrap_or_default()),
        ("SearchRequest", |body| requests::search(body).err().unwrap_or_default()),
        ("TokenRequest", |body| {
            requests::token(body, jiff::Timestamp::UNIX_EPOCH).err().unwrap_or_default()
        }),
    ];
    for (schema, check) in checks {
        let schema = &document["components"]["schemas"][schema];
        let documented: Vec<&str> =
            schema["properties"].as_object().unwrap().keys().map(String::as_str).collect();
        let faults = check(&json!({"surely_unknown": 1}));
        let unknown = faults.iter().find(|fault| fault.code == "unknown_field").unwrap();
        let (_, known) = unknown.message.split_once("known are ").unwrap();
        let mut known: Vec<&str> = known.split(", ").collect();
        known.sort_unstable();
        assert_eq!(documented, known);
    }
}

#[test]
fn examples_of_requests_are_accepted() {
    let example = |schema: utoipa::openapi::RefOr<utoipa::openapi::Schema>| {
        serde_json::to_value(schema).unwrap()["examples"][0].clone()
    };
    use utoipa::PartialSchema as _;
    assert!(requests::draft(&example(bodies::NewProduct::schema())).is_ok());
    assert!(requests::patch(&example(bodies::ProductChanges::schema())).is_ok());
    for product in requests::bulk_elements(&example(bodies::NewProducts::schema())).unwrap().iter()
    {
        assert!(requests::draft(product).is_ok(), "{product}");
    }
    for edit in requests::bulk_elements(&example(bodies::ProductEdits::schema())).unwrap() {
        assert!(requests::bulk_edit(edit).edit.is_ok(), "{edit}");
    }
    assert!(requests::bulk_ids(&example(bodies::ProductDeletion::schema())).is_ok());
    assert!(requests::search(&example(bodies::SearchRequest::schema())).is_ok());
    let now = jiff::Timestamp::UNIX_EPOCH;
    assert!(requests::token(&example(bodies::TokenRequest::schema()), now).is_ok());
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
fn patterns_know_the_same_characters_as_the_checks() {
    let class = vocabulary::not_blank();
    for c in (0..=0x3100).filter_map(char::from_u32) {
        let listed = in_class(&class, c);
        assert_eq!(listed, c.is_whitespace(), "U+{:04X}", u32::from(c));
    }
    let class = vocabulary::plain_text();
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
