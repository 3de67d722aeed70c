//! Renders the curl command of an operation.

use serde_json::Value;

use super::spec::{Operation, Spec};

/// A curl command with the examples of the document.
pub(super) fn command(spec: &Spec, operation: &Operation<'_>) -> String {
    let mut path = operation.path.to_owned();
    let mut query = Vec::new();
    for parameter in operation.json["parameters"].as_array().into_iter().flatten() {
        let name = parameter["name"].as_str().unwrap_or_default();
        let example = plain(&parameter["example"]);
        match parameter["in"].as_str() {
            Some("path") => path = path.replace(&format!("{{{name}}}"), &example),
            // Parameters with a default can be combined; others may exclude each other.
            Some("query") if parameter["schema"].get("default").is_some() => {
                query.push(format!("{name}={example}"));
            }
            _ => {}
        }
    }
    if !query.is_empty() {
        path = format!("{path}?{}", query.join("&"));
    }
    let method = match operation.method {
        "get" => String::new(),
        method => format!(" -X {}", method.to_uppercase()),
    };
    let mut lines = vec![format!("curl{method} \"$BASE{path}\"")];
    let needs_token = operation.json["security"][0].get("bearer").is_some();
    if needs_token {
        lines.push("-H \"Authorization: Bearer $TOKEN\"".to_owned());
    }
    let schema = &operation.json["requestBody"]["content"]["application/json"]["schema"];
    if let Some(example) = spec.resolve(schema)["examples"].get(0) {
        lines.push("-H 'Content-Type: application/json'".to_owned());
        lines.push(format!("-d {}", quoted(&spec.pretty(example, schema))));
    }
    lines.join(" \\\n  ")
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// The text in single quotes for a shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quote_does_not_end_the_argument() {
        assert_eq!(quoted("it's"), r"'it'\''s'");
    }
}
