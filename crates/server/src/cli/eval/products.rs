//! Which products are searched among? A file of JSON lines, plain or gzipped.

use std::{fs, io::Read, path::Path};

use anyhow::{Context, bail};
use aws_lc_rs::digest;
use catalog::{
    price::Price,
    product::{Description, Draft, Title},
};
use flate2::read::MultiGzDecoder;
use serde::Deserialize;
use serde_json::Value;

/// What a product costs that has no price, or none that can be read: here it does not matter.
const ANY_PRICE: &str = "$1";

/// A catalog to search in.
pub(in crate::cli) struct CatalogFile {
    /// What the file holds, for telling whether it has changed.
    pub(super) checksum: String,
    pub(super) products: Vec<Listed>,
}

/// A product and what judgments call it.
pub(super) struct Listed {
    pub(super) key: String,
    pub(super) draft: Draft,
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
    pub(in crate::cli) fn read(path: &Path) -> anyhow::Result<Self> {
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
        title: Title::parse(&printable(&line.title)).context("title")?,
        description: Description::parse(&printable(&line.description)).context("description")?,
        price: price.map_or_else(|| Price::parse(ANY_PRICE), Ok)?,
        hidden: false,
        media: Vec::new(),
    };
    Ok(Listed { key, draft })
}

/// The text with spaces for control characters, which the service refuses: catalogs from elsewhere
/// have a few, and they are not worth leaving products out.
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
    fn a_product_is_named_or_counted_and_costs_something() {
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
