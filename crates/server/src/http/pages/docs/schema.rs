//! Renders a schema: its fields in a table, each with its type, limits and description.

use serde_json::Value;

use super::{
    html::{Element, element},
    spec::{Spec, name_of},
};

/// The fields of an object, or the type and limits of another schema.
pub(super) fn fields(spec: &Spec, schema: &Value) -> Element {
    let fields = spec.fields(schema);
    if fields.is_empty() {
        let schema = spec.resolve(schema);
        let limits = element("p").class("limits").prose(&limits(schema).join(" · "));
        return element("div").add(element("p").add(kind(schema))).add(limits);
    }
    let required = &spec.resolve(schema)["required"];
    let is_required =
        |name: &str| required.as_array().is_some_and(|all| all.contains(&name.into()));
    // Fields of any type are those that are ignored: one line for all of them.
    let (ignored, used): (Vec<_>, Vec<_>) =
        fields.into_iter().partition(|(_, field)| field.as_object().is_some_and(is_anything));
    let names: Vec<&str> = ignored.iter().map(|(name, _)| *name).collect();
    let rows = used.into_iter().map(|(name, field)| row(name, field, is_required(name)));
    let last = ignored.first().map(|(_, field)| row(&names.join(", "), field, false));
    element("div").class("fields").add_all(rows).add_all(last)
}

/// A named value with its type, limits and description.
pub(super) fn row(name: &str, schema: &Value, required: bool) -> Element {
    described_row(name, schema, required, schema["description"].as_str().unwrap_or_default())
}

pub(super) fn described_row(
    name: &str,
    schema: &Value,
    required: bool,
    description: &str,
) -> Element {
    let mut head = element("dt").add(element("code").class("name").text(name)).add(kind(schema));
    if required {
        head = head.add(element("span").class("required").text("required"));
    }
    let mut body = element("dd");
    if !description.is_empty() {
        body = body.add(element("p").prose(description));
    }
    let limits = limits(schema);
    if !limits.is_empty() {
        body = body.add(element("p").class("limits").prose(&limits.join(" · ")));
    }
    element("dl").class("field").add(head).add(body)
}

/// The type, with a link where it is a schema of its own.
pub(super) fn kind(schema: &Value) -> Element {
    let span = element("span").class("kind");
    if let Some(name) = name_of(schema) {
        return span.add(link(name));
    }
    if let Some(name) = name_of(&schema["items"]) {
        return span.text("array of ").add(link(name));
    }
    if let Some(name) = schema["oneOf"].as_array().and_then(|either| name_of(either.first()?)) {
        return span.add(link(name)).text(" or null");
    }
    span.text(&kind_word(schema))
}

fn is_anything(schema: &serde_json::Map<String, Value>) -> bool {
    schema.keys().all(|keyword| keyword == "description")
}

fn kind_word(schema: &Value) -> String {
    match &schema["type"] {
        Value::String(kind) if kind == "array" => {
            format!("array of {}", kind_word(&schema["items"]))
        }
        Value::String(kind) => kind.clone(),
        Value::Array(kinds) => {
            kinds.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" or ")
        }
        _ => "anything".to_owned(),
    }
}

fn link(name: &str) -> Element {
    element("a").with("href", format!("#schema-{name}")).text(name)
}

fn limits(schema: &Value) -> Vec<String> {
    let number = |name: &str| schema[name].as_u64();
    let mut limits = Vec::new();
    match (number("minimum"), number("maximum")) {
        (Some(min), Some(max)) if max == i64::MAX as u64 => limits.push(format!("at least {min}")),
        (Some(min), Some(max)) => limits.push(format!("{min} to {}", grouped(max))),
        (Some(min), None) => limits.push(format!("at least {min}")),
        _ => {}
    }
    for (min, max, unit) in
        [("minLength", "maxLength", "characters"), ("minItems", "maxItems", "elements")]
    {
        match (number(min), number(max)) {
            (Some(min), Some(max)) => limits.push(format!("{min} to {} {unit}", grouped(max))),
            (None, Some(max)) => limits.push(format!("at most {} {unit}", grouped(max))),
            _ => {}
        }
    }
    if let Some(default) = schema.get("default") {
        limits.push(format!("default `{default}`"));
    }
    if let Some(values) = schema["enum"].as_array() {
        let values: Vec<String> =
            values.iter().filter_map(Value::as_str).map(|value| format!("`{value}`")).collect();
        limits.push(format!("one of {}", values.join(" ")));
    }
    if let Some(format) = schema["format"].as_str().filter(|format| *format == "date-time") {
        limits.push(format!("{format} in UTC"));
    }
    limits
}

/// The number with thousands separators, such as `20,000`.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> = digits
        .as_bytes()
        .rchunks(3)
        .rev()
        .map(|group| str::from_utf8(group).unwrap_or_default())
        .collect();
    groups.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_numbers_are_grouped() {
        assert_eq!(grouped(7), "7");
        assert_eq!(grouped(1000), "1,000");
        assert_eq!(grouped(315_360_000), "315,360,000");
    }
}
