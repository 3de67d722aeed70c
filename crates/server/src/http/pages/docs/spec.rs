//! Reads the OpenAPI document as JSON, with references resolved and the fields of objects in the
//! order of their declaration.

use std::{collections::HashMap, fmt::Write};

use serde_json::Value;
use utoipa::openapi::{OpenApi, RefOr, Schema};

/// Methods in the order in which a page shows them.
const METHODS: [&str; 4] = ["get", "post", "put", "delete"];

/// The document as JSON.
pub(super) struct Spec {
    json: Value,
    /// The fields of each named schema in their order, which JSON objects do not keep.
    order: HashMap<String, Vec<String>>,
}

/// One operation with its method and path.
pub(super) struct Operation<'a> {
    pub(super) method: &'static str,
    pub(super) path: &'a str,
    pub(super) json: &'a Value,
}

impl Spec {
    pub(super) fn new(document: &OpenApi) -> Self {
        let schemas = document.components.iter().flat_map(|components| &components.schemas);
        let order = schemas
            .filter_map(|(name, schema)| match schema {
                RefOr::T(Schema::Object(object)) => {
                    Some((name.clone(), object.properties.keys().cloned().collect()))
                }
                _ => None,
            })
            .collect();
        let json = serde_json::to_value(document)
            .unwrap_or_else(|_| unreachable!("a document always serialises"));
        Self { json, order }
    }

    pub(super) fn at(&self, pointer: &str) -> &Value {
        self.json.pointer(pointer).unwrap_or(&Value::Null)
    }

    /// The value itself, or the one that it refers to.
    pub(super) fn resolve<'a>(&'a self, value: &'a Value) -> &'a Value {
        match value["$ref"].as_str() {
            Some(reference) => self.at(reference.trim_start_matches('#')),
            None => value,
        }
    }

    /// The operations with a tag, by path.
    pub(super) fn operations(&self, tag: &str) -> Vec<Operation<'_>> {
        let paths = self.at("/paths").as_object().into_iter().flatten();
        paths
            .flat_map(|(path, item)| {
                METHODS.into_iter().filter_map(move |method| {
                    Some(Operation { method, path, json: item.get(method)? })
                })
            })
            .filter(|operation| operation.json["tags"][0] == tag)
            .collect()
    }

    /// The fields of a schema in the order of their declaration.
    pub(super) fn fields<'a>(&'a self, schema: &'a Value) -> Vec<(&'a str, &'a Value)> {
        let properties = &self.resolve(schema)["properties"];
        let declared = name_of(schema).and_then(|name| self.order.get(name));
        declared.into_iter().flatten().map(|name| (name.as_str(), &properties[name])).collect()
    }

    /// An example as text, with its fields in the order of its schema.
    pub(super) fn pretty(&self, example: &Value, schema: &Value) -> String {
        let mut out = String::new();
        self.write(&mut out, example, schema, 0);
        out
    }

    fn write(&self, out: &mut String, value: &Value, schema: &Value, depth: usize) {
        let item = self.resolve(schema).get("items").unwrap_or(&Value::Null);
        let (open, close, lines): (_, _, Vec<(String, &Value, &Value)>) = match value {
            Value::Array(items) if items.iter().any(|item| item.is_object()) => {
                ('[', ']', items.iter().map(|value| (String::new(), value, item)).collect())
            }
            Value::Object(fields) if !fields.is_empty() => {
                let mut names: Vec<&str> =
                    self.fields(schema).into_iter().map(|(name, _)| name).collect();
                names.extend(fields.keys().map(String::as_str));
                let mut lines: Vec<(String, &Value, &Value)> = Vec::new();
                for name in names {
                    let key = format!("\"{name}\": ");
                    if let Some(value) = fields.get(name)
                        && !lines.iter().any(|(seen, ..)| *seen == key)
                    {
                        lines.push((key, value, &self.resolve(schema)["properties"][name]));
                    }
                }
                ('{', '}', lines)
            }
            Value::Array(items) => {
                let items: Vec<String> = items.iter().map(Value::to_string).collect();
                let _ = write!(out, "[{}]", items.join(", "));
                return;
            }
            other => {
                let _ = write!(out, "{other}");
                return;
            }
        };
        out.push(open);
        for (nth, (key, value, schema)) in lines.iter().enumerate() {
            let comma = if nth > 0 { "," } else { "" };
            let _ = write!(out, "{comma}\n{:indent$}{key}", "", indent = 2 * (depth + 1));
            self.write(out, value, schema, depth + 1);
        }
        let _ = write!(out, "\n{:indent$}{close}", "", indent = 2 * depth);
    }
}

/// The name of the schema that is referred to.
pub(super) fn name_of(schema: &Value) -> Option<&str> {
    schema["$ref"].as_str()?.rsplit('/').next()
}
