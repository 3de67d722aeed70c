//! Reads a catalog file: one JSON object per line, optionally gzip-compressed.

use std::{fs, io::Read, path::Path};

use anyhow::{Context, bail};
use catalog::{
    price::Price,
    product::{Description, Draft, Title},
};
use flate2::read::MultiGzDecoder;
use ring::digest;
use serde::Deserialize;
use serde_json::Value;

/// The price of a product whose price is missing or cannot be parsed; judgments ignore prices.
const DEFAULT_PRICE: &str = "$1";

/// The products of a catalog file.
pub(crate) struct CatalogFile {
    /// SHA-256 of the file, in hexadecimal: tells whether a kept scratch shop is still current.
    pub(crate) checksum: String,
    pub(crate) products: Vec<Listed>,
}

/// A product and the key that judgments refer to it by.
pub(crate) struct Listed {
    pub(crate) key: String,
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
    let key = match line.product {
        Some(Value::String(key)) => key,
        Some(Value::Number(number)) => number.to_string(),
        Some(other) => bail!("a product is named by a number or a string, not by {other}"),
        None => at.to_string(),
    };
    let price = line.price.and_then(|price| Price::parse(&price).ok());
    let draft = Draft {
        description: Description::parse(&printable(&line.description)).context("description")?,
        ..Draft::new(
            Title::parse(&printable(&line.title)).context("title")?,
            price.map_or_else(|| Price::parse(DEFAULT_PRICE), Ok)?,
        )
    };
    Ok(Listed { key, draft })
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
            Ok(Listed { key, draft }) => {
                format!("{key}: {} at {}", draft.title.as_str(), draft.price.text())
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
}
