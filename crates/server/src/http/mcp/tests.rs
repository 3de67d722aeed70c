//! The descriptions of tools are complete and match what is read.

use serde_json::{Value, json};

use super::tools::Tool;
use crate::http::requests::{
    ObjectDefinition,
    products::{NewProduct, ProductEdit},
    search::SearchRequest,
};

fn listed() -> Vec<Value> {
    Tool::ALL.map(|tool| json!(tool.description())).to_vec()
}

fn visit(value: &Value, see: &mut impl FnMut(&serde_json::Map<String, Value>)) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| visit(item, see)),
        Value::Object(fields) => {
            see(fields);
            fields.values().for_each(|field| visit(field, see));
        }
        _ => {}
    }
}

#[test]
fn all_tools() {
    insta::assert_json_snapshot!("tools", listed());
}

#[test]
fn a_tool_is_listed_under_its_own_name() {
    for (tool, listed) in Tool::ALL.into_iter().zip(listed()) {
        assert_eq!(listed["name"], tool.name());
        assert_eq!(Tool::named(tool.name()), Some(tool));
    }
    assert_eq!(Tool::named("drop_products"), None);
}

/// Models support only a part of JSON Schema.
#[test]
fn schemas_have_no_references_or_machine_keywords() {
    for tool in listed() {
        for side in ["inputSchema", "outputSchema"] {
            let schema = &tool[side];
            assert_eq!(schema["type"], "object", "{tool}");
            assert!(["anyOf", "oneOf", "allOf"].iter().all(|word| schema.get(word).is_none()));
            visit(schema, &mut |fields| {
                assert!(!fields.contains_key("$ref"), "{side}: {fields:?}");
                let machine_keywords =
                    fields.contains_key("pattern") || fields.contains_key("format");
                assert!(side == "outputSchema" || !machine_keywords, "{side}: {fields:?}");
            });
        }
        let arguments = tool["inputSchema"]["properties"].as_object().unwrap();
        for (name, argument) in arguments {
            assert!(
                argument["description"].as_str().is_some_and(|text| !text.is_empty()),
                "{name}"
            );
        }
    }
}

/// A client that fills in defaults must not change fields that the user did not name.
#[test]
fn an_update_has_no_defaults() {
    visit(&json!(Tool::UpdateProduct.description().input_schema), &mut |fields| {
        assert!(!fields.contains_key("default"), "{fields:?}");
    });
}

/// The examples of arguments are valid.
#[test]
fn examples_of_arguments_are_accepted() {
    let examples = listed().into_iter().flat_map(|tool| {
        let name = tool["name"].as_str().unwrap().to_owned();
        let examples = tool["inputSchema"]["examples"].as_array().cloned().unwrap_or_default();
        examples.into_iter().map(move |example| (name.clone(), example))
    });
    let mut seen = 0;
    for (name, example) in examples {
        seen += 1;
        let errors = match name.as_str() {
            "search_products" => SearchRequest::read(&example).err(),
            "create_product" => NewProduct::read(&example).err(),
            "update_product" => ProductEdit::read(&example).err(),
            _ => panic!("unexpected example: {example}"),
        };
        assert_eq!(errors, None, "{name}: {example}");
    }
    assert_eq!(seen, 3);
}
