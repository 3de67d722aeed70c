//! The products of a benchmark: generated from a seed or read from a file, serialised to JSON in
//! advance.

use std::{fmt::Write as _, path::PathBuf};

use hyper::body::Bytes;
use serde_json::{Value, json};

use crate::{
    catalog_file::{self, Product, resize},
    random::Random,
    vocabulary::Vocabulary,
};

/// Words of a description, from … to.
const DESCRIPTION_WORDS: (usize, usize) = (60, 100);
/// Words of a sentence, from … to.
const SENTENCE_WORDS: (usize, usize) = (6, 16);
/// Words of a query, from … to.
const QUERY_WORDS: (usize, usize) = (2, 3);
/// One in this many products has no picture.
const WITHOUT_PICTURE: usize = 4;

/// Products as JSON objects.
pub struct Products {
    bodies: Vec<Bytes>,
    titles: Vec<String>,
}

impl Products {
    /// Generated products.
    pub fn make(count: usize, seed: u64) -> Self {
        let vocabulary = Vocabulary::new();
        let mut random = Random::new(seed);
        Self::of((0..count).map(|_| product(&vocabulary, &mut random)))
    }

    /// The products of catalog files: `count` of them, recombined if the files have fewer.
    pub fn read(files: &[PathBuf], count: usize, seed: u64) -> anyhow::Result<Self> {
        let products = resize(catalog_file::read(files, seed)?, count, seed);
        Ok(Self::of(products.iter().map(Product::body)))
    }

    fn of(products: impl Iterator<Item = Value>) -> Self {
        let title = |product: &Value| product["title"].as_str().unwrap_or_default().to_owned();
        let (bodies, titles) =
            products.map(|product| (product.to_string().into(), title(&product))).unzip();
        Self { bodies, titles }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.bodies.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.bodies.is_empty()
    }

    /// The body that creates one product; the number wraps around.
    pub fn single(&self, number: usize) -> Bytes {
        self.bodies[number % self.len()].clone()
    }

    /// The body that creates `count` products, starting with this number.
    pub fn bulk(&self, from: usize, count: usize) -> Bytes {
        let mut body = b"{\"products\":[".to_vec();
        for number in from..from + count {
            if number > from {
                body.push(b',');
            }
            body.extend_from_slice(&self.single(number));
        }
        body.extend_from_slice(b"]}");
        body.into()
    }

    /// The titles, in order.
    pub fn titles(&self) -> &[String] {
        &self.titles
    }

    /// Bodies of searches, each for some words of a title.
    pub fn searches(&self, count: usize, seed: u64) -> Vec<Bytes> {
        let queries = self.queries(count, seed).into_iter();
        queries.map(|query| json!({ "query": query }).to_string().into()).collect()
    }

    /// Queries, each some words of a title.
    pub fn queries(&self, count: usize, seed: u64) -> Vec<String> {
        let mut random = Random::new(seed);
        (0..count)
            .map(|_| {
                let words: Vec<_> = random.pick(&self.titles).split_whitespace().collect();
                let asked = between(&mut random, QUERY_WORDS);
                let from = random.below(words.len().saturating_sub(asked) + 1);
                words[from..words.len().min(from + asked)].join(" ")
            })
            .collect()
    }
}

fn product(vocabulary: &Vocabulary, random: &mut Random) -> Value {
    let title = vocabulary.title(random);
    let description = description(vocabulary, random);
    let price = format!("{}{}.{:02}", random.pick(&["$", "€", "£"]), random.below(900) + 5, 99);
    let media: Vec<Value> = match random.below(WITHOUT_PICTURE) {
        0 => Vec::new(),
        _ => {
            let url = format!("https://pictures.example/{:016x}.jpg", random.number());
            vec![json!({ "url": url, "type": "image" })]
        }
    };
    json!({ "title": title, "description": description, "price": price, "media": media })
}

fn description(vocabulary: &Vocabulary, random: &mut Random) -> String {
    let mut text = String::new();
    let mut left = between(random, DESCRIPTION_WORDS);
    while left > 0 {
        let words = between(random, SENTENCE_WORDS).min(left);
        for at in 0..words {
            let gap = if text.is_empty() { "" } else { " " };
            let word = vocabulary.word(random);
            match at {
                0 => write!(text, "{gap}{}{}", word[..1].to_uppercase(), &word[1..]),
                _ => write!(text, "{gap}{word}"),
            }
            .unwrap_or_else(|_| unreachable!("a string can always grow"));
        }
        text.push('.');
        left -= words;
    }
    text
}

fn between(random: &mut Random, (from, to): (usize, usize)) -> usize {
    from + random.below(to - from + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_are_json_and_follow_from_the_seed() {
        let products = Products::make(20, 3);
        assert_eq!(products.single(21), Products::make(2, 3).single(1));
        let bulk: Value = serde_json::from_slice(&products.bulk(15, 10)).unwrap();
        let elements = bulk["products"].as_array().unwrap();
        assert_eq!(elements.len(), 10);
        let words = elements[0]["description"].as_str().unwrap().split_whitespace().count();
        assert!((60..=100).contains(&words), "{words}");
        assert_eq!(products.searches(5, 1).len(), 5);
    }
}
