//! Real products for a benchmark: read from files with one JSON object per line, and filled up to any
//! number by recombining their texts.
//!
//! Repeating the same products would give ties and postings that no shop has; a recombined title
//! has the words, the length and the word frequencies of the others.

use std::{
    collections::HashSet,
    fs,
    io::Read,
    path::{Path, PathBuf},
};

use anyhow::{Context, bail};
use catalog::{product::MAX_TITLE_CHARS, text::validation::MAX_DESCRIPTION_CHARS};
use flate2::read::MultiGzDecoder;
use serde_json::{Map, Value};

use crate::random::Random;

/// How often a title is recombined again because it exists already.
const ATTEMPTS: usize = 20;
/// Fields that identify a product or a line; the service assigns its own ids.
const IDENTIFIERS: [&str; 4] = ["product", "id", "key", "url"];

/// A product of a catalog file.
#[derive(Clone, Debug, PartialEq)]
pub struct Product {
    /// The title.
    pub title: String,
    /// The description; may be empty.
    pub description: String,
    /// The price, as written.
    pub price: String,
    /// The remaining fields of the line, such as media and attributes.
    pub other: Map<String, Value>,
}

impl Product {
    /// The request that creates it.
    pub fn body(&self) -> Value {
        let mut body = self.other.clone();
        body.insert("title".into(), self.title.clone().into());
        body.insert("description".into(), self.description.clone().into());
        body.insert("price".into(), self.price.clone().into());
        body.into()
    }

    fn parse(line: &str, random: &mut Random) -> anyhow::Result<Self> {
        let mut other: Map<String, Value> = serde_json::from_str(line)?;
        for field in IDENTIFIERS {
            other.remove(field);
        }
        let mut text = |field: &str, max| match other.remove(field) {
            Some(Value::String(text)) => printable(&text, max),
            _ => String::new(),
        };
        let title = text("title", MAX_TITLE_CHARS);
        if title.trim().is_empty() {
            bail!("a product needs a title");
        }
        let description = text("description", MAX_DESCRIPTION_CHARS);
        let price = text("price", usize::MAX);
        let price = if price.is_empty() { random_price(random) } else { price };
        Ok(Self { title, description, price, other })
    }

    /// The beginning of one product's texts and the end of another's.
    fn recombined(one: &Self, other: &Self, random: &mut Random) -> Self {
        Self {
            title: spliced(&one.title, &other.title, MAX_TITLE_CHARS, random),
            description: spliced(
                &one.description,
                &other.description,
                MAX_DESCRIPTION_CHARS,
                random,
            ),
            price: random_price(random),
            other: one.other.clone(),
        }
    }
}

/// The products of catalog files, gzip-compressed or not, in order.
pub fn read(files: &[PathBuf], seed: u64) -> anyhow::Result<Vec<Product>> {
    let mut random = Random::new(seed);
    let mut products = Vec::new();
    for file in files {
        let text = read_text(file)?;
        let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        for (at, line) in lines {
            let product = Product::parse(line, &mut random);
            let place = || format!("{}, line {}", file.display(), at + 1);
            products.push(product.with_context(place)?);
        }
    }
    if products.is_empty() {
        bail!("the catalog holds no products");
    }
    Ok(products)
}

/// The text of a file, gzip-compressed or not.
pub fn read_text(file: &Path) -> anyhow::Result<String> {
    let context = || format!("{} cannot be read", file.display());
    let bytes = fs::read(file).with_context(context)?;
    let mut text = String::new();
    match file.extension().is_some_and(|extension| extension == "gz") {
        true => MultiGzDecoder::new(bytes.as_slice()).read_to_string(&mut text),
        false => bytes.as_slice().read_to_string(&mut text),
    }
    .with_context(context)?;
    Ok(text)
}

/// Exactly `count` products: evenly chosen ones if there are more, recombined ones added if there are
/// fewer.
pub fn resize(mut products: Vec<Product>, count: usize, seed: u64) -> Vec<Product> {
    let all = products.len();
    if count <= all {
        let mut at = 0..all;
        let chosen = (0..count).map(|number| number * all / count).collect::<HashSet<_>>();
        products.retain(|_| at.next().is_some_and(|at| chosen.contains(&at)));
        return products;
    }
    let mut random = Random::new(seed);
    let mut titles: HashSet<String> = products.iter().map(|known| known.title.clone()).collect();
    while products.len() < count {
        let (one, other) = (&products[random.below(all)], &products[random.below(all)]);
        let mut made = Product::recombined(one, other, &mut random);
        for _ in 0..ATTEMPTS {
            if !titles.contains(&made.title) {
                break;
            }
            let (one, other) = (&products[random.below(all)], &products[random.below(all)]);
            made = Product::recombined(one, other, &mut random);
        }
        titles.insert(made.title.clone());
        products.push(made);
    }
    products
}

/// The first words of one text and the last of another, cut at the same fraction of both, so that
/// lengths stay natural.
fn spliced(one: &str, other: &str, max: usize, random: &mut Random) -> String {
    let share = 0.25 + 0.5 * random.fraction();
    let cut = |words: &[&str]| (words.len() as f64 * share).round() as usize;
    let (one, other): (Vec<_>, Vec<_>) =
        (one.split_whitespace().collect(), other.split_whitespace().collect());
    let words: Vec<_> = one[..cut(&one)].iter().chain(&other[cut(&other)..]).copied().collect();
    match words.is_empty() {
        true => one.join(" "),
        false => words.join(" ").chars().take(max).collect(),
    }
}

/// Prices for catalogs without: from $5.99 to $904.99.
fn random_price(random: &mut Random) -> String {
    format!("${}.99", random.below(900) + 5)
}

/// Replaces control characters, which the service rejects, by spaces.
fn printable(text: &str, max: usize) -> String {
    let printable = |letter: char| match letter {
        '\n' | '\t' => letter,
        _ if letter.is_control() => ' ',
        _ => letter,
    };
    text.trim().chars().map(printable).take(max).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn products(lines: &[&str]) -> Vec<Product> {
        let mut random = Random::new(1);
        lines.iter().map(|line| Product::parse(line, &mut random).unwrap()).collect()
    }

    #[test]
    fn a_line_becomes_a_request_without_its_identifiers() {
        let read = products(&[
            r#"{"product": 7, "title": "So\u0007fa", "attributes": {"color": "red"}}"#,
            r#"{"key": "LV-1", "title": "Lamp", "description": "Bright", "price": "5 €"}"#,
        ]);
        assert!(read[0].price.starts_with('$'));
        let body = read[0].body();
        let expected = json!({
            "title": "So fa", "description": "", "price": read[0].price,
            "attributes": { "color": "red" },
        });
        assert_eq!(body, expected);
        assert_eq!(read[1].body()["price"], "5 €");
        assert!(Product::parse(r#"{"title": " "}"#, &mut Random::new(1)).is_err());
    }

    #[test]
    fn a_catalog_is_filled_up_with_titles_that_are_all_different() {
        let lines: Vec<_> = (0..20)
            .map(|at| format!(r#"{{"title": "a{at} b{at} c{at} d{at} e{at} f{at}"}}"#))
            .collect();
        let lines: Vec<_> = lines.iter().map(String::as_str).collect();
        let filled = resize(products(&lines), 200, 3);
        let titles: HashSet<_> = filled.iter().map(|product| product.title.as_str()).collect();
        assert_eq!((filled.len(), titles.len()), (200, 200));
        assert!(filled[20..].iter().all(|made| made.title.split(' ').count() == 6));
        assert_eq!(filled, resize(products(&lines), 200, 3), "it follows from the seed");
    }

    #[test]
    fn a_larger_catalog_is_thinned_evenly() {
        let lines =
            ["a", "b", "c", "d", "e", "f"].map(|title| format!(r#"{{"title": "{title}"}}"#));
        let lines = lines.each_ref().map(String::as_str);
        let kept = resize(products(&lines), 3, 1);
        let titles: Vec<_> = kept.iter().map(|product| product.title.as_str()).collect();
        assert_eq!(titles, ["a", "c", "e"]);
    }
}
