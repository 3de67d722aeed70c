//! Reads a catalog file: one JSON object per line, optionally gzip-compressed.

use std::{fs, io::Read, path::Path};

use anyhow::{Context, bail};
use catalog::product::{
    Description, Draft, Title,
    attributes::{AttributeName, AttributeValue, Attributes, Number},
    key::Key,
    price::Price,
};
use flate2::read::MultiGzDecoder;
use ring::digest;
use serde::Deserialize;
use serde_json::{Map, Value};

/// The price of a product whose price is missing or cannot be parsed; judgments ignore prices.
const DEFAULT_PRICE: &str = "$1";

/// The products of a catalog file.
pub(crate) struct CatalogFile {
    /// SHA-256 of the file, in hexadecimal: tells whether a kept scratch shop is still current.
    pub(crate) checksum: String,
    pub(crate) products: Vec<Listed>,
}

/// A product and the name that judgments refer to it by.
pub(crate) struct Listed {
    pub(crate) name: String,
    pub(crate) draft: Draft,
}

#[derive(Deserialize)]
struct Line {
    #[serde(alias = "id")]
    product: Option<Value>,
    title: String,
    #[serde(default)]
    description: String,
    price: Option<String>,
    key: Option<String>,
    #[serde(default)]
    attributes: Map<String, Value>,
}

impl CatalogFile {
    pub(crate) fn read(path: &Path) -> anyhow::Result<Self> {
        let bytes = fs::read(path)?;
        let sum = digest::digest(&digest::SHA256, &bytes);
        let checksum = sum.as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
        let mut text = String::new();
        match path.extension().is_some_and(|extension| extension == "gz") {
            true => MultiGzDecoder::new(bytes.as_slice()).read_to_string(&mut text)?,
            false => bytes.as_slice().read_to_string(&mut text)?,
        };
        let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        let products = lines
            .map(|(at, line)| listed(at, line).with_context(|| format!("line {}", at + 1)))
            .collect::<anyhow::Result<_>>()?;
        Ok(Self { checksum, products })
    }
}

fn listed(at: usize, line: &str) -> anyhow::Result<Listed> {
    let line: Line = serde_json::from_str(line)?;
    let name = match (line.product, &line.key) {
        (Some(Value::String(name)), _) => name,
        (Some(Value::Number(number)), _) => number.to_string(),
        (Some(other), _) => bail!("a product is named by a number or a string, not by {other}"),
        (None, Some(key)) => key.clone(),
        (None, None) => at.to_string(),
    };
    let price = line.price.and_then(|price| Price::parse(&price).ok());
    let draft = Draft {
        description: Description::parse(&printable(&line.description)).context("description")?,
        key: line.key.as_deref().map(Key::parse).transpose().context("key")?,
        attributes: attributes(line.attributes)?,
        ..Draft::new(
            Title::parse(&printable(&line.title)).context("title")?,
            price.map_or_else(|| Price::parse(DEFAULT_PRICE), Ok)?,
        )
    };
    Ok(Listed { name, draft })
}

fn attributes(named: Map<String, Value>) -> anyhow::Result<Attributes> {
    let named = named.into_iter().map(|(name, value)| {
        let value = attribute_value(value).with_context(|| format!("attribute {name}"))?;
        Ok((AttributeName::parse(&name).with_context(|| format!("attribute {name}"))?, value))
    });
    Ok(Attributes::new(named.collect::<anyhow::Result<_>>()?))
}

fn attribute_value(value: Value) -> anyhow::Result<AttributeValue> {
    let text = |value: &Value| {
        let text = value.as_str().context("several values must be strings")?;
        Ok(AttributeValue::parse_text(text)?)
    };
    match &value {
        Value::Bool(boolean) => Ok(AttributeValue::Boolean(*boolean)),
        Value::Number(number) => {
            let number = number.as_f64().and_then(Number::new);
            Ok(AttributeValue::Number(number.context("the number is out of range")?))
        }
        Value::String(_) => Ok(AttributeValue::Text(text(&value)?)),
        Value::Array(texts) => {
            Ok(AttributeValue::Texts(texts.iter().map(text).collect::<anyhow::Result<_>>()?))
        }
        other => bail!("an attribute is a string, strings, a number or a boolean, not {other}"),
    }
}

/// Replaces control characters, which the service rejects, by spaces: public catalogs contain a few,
/// and their products should still be loaded.
fn printable(text: &str) -> String {
    let printable = |letter: char| match letter {
        '\n' | '\t' => letter,
        _ if letter.is_control() => ' ',
        _ => letter,
    };
    text.chars().map(printable).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, expected: &str) {
        let found = match listed(4, line) {
            Ok(Listed { name, draft }) => {
                format!("{name}: {} at {}", draft.title.as_str(), draft.price.text())
            }
            Err(error) => format!("{error:#}"),
        };
        assert!(found.starts_with(expected), "{found}");
    }

    #[test]
    fn products_without_key_or_price_get_defaults() {
        check(r#"{"product": 7, "title": "Sofa"}"#, "7: Sofa at $1");
        check(
            r#"{"id": "SKU-7", "title": "Sofa", "price": "5 €", "media": []}"#,
            "SKU-7: Sofa at 5 €",
        );
        check(r#"{"title": "Sofa", "price": "on request"}"#, "4: Sofa at $1");
        check(r#"{"id": true, "title": "Sofa"}"#, "a product is named by");
        check(r#"{"title": " "}"#, "title: ");
        check(r#"{"title": "So\u009dfa"}"#, "4: So fa at $1");
    }

    #[test]
    fn keys_and_attributes_are_loaded() {
        check(r#"{"key": "LV-1", "title": "Sofa"}"#, "LV-1: Sofa");
        let line = r#"{"product": 3, "key": "LV-1", "title": "Sofa",
            "attributes": {"color": ["navy", "white"], "width_cm": 218, "washable": true}}"#;
        let Listed { name, draft } = listed(0, line).unwrap();
        assert_eq!((name.as_str(), draft.key.unwrap().as_str()), ("3", "LV-1"));
        assert_eq!(draft.attributes.get("color").unwrap().texts(), ["navy".into(), "white".into()]);
        let width = AttributeValue::Number(Number::new(218.0).unwrap());
        assert_eq!(draft.attributes.get("width_cm"), Some(&width));
        assert_eq!(draft.attributes.get("washable"), Some(&AttributeValue::Boolean(true)));
        check(r#"{"title": "Sofa", "attributes": {"color": null}}"#, "attribute color: ");
        check(r#"{"title": "Sofa", "attributes": {"Color": "red"}}"#, "attribute Color: ");
    }
}
