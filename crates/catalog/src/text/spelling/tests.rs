use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::{
    query::parser::{ParseOptions, parse},
    text::{analysis::for_each_word, word_forms::ShopLanguages},
};

/// A shop of a few titles, some of them many times.
pub(crate) struct Shop {
    products: Vec<Vec<String>>,
}

impl Shop {
    pub(crate) fn of(titles: &[(&str, usize)]) -> Self {
        let words = |title: &str| {
            let mut words = Vec::new();
            for_each_word(title, |word| words.push(word.to_owned()));
            words
        };
        let products =
            titles.iter().flat_map(|(title, times)| vec![words(title); *times]).collect();
        Self { products }
    }

    pub(crate) fn with<R>(&self, use_it: impl FnOnce(&Vocabulary<'_>) -> R) -> R {
        let mut words: BTreeMap<&str, u64> = BTreeMap::new();
        for product in &self.products {
            let mut distinct: Vec<&str> = product.iter().map(String::as_str).collect();
            distinct.sort_unstable();
            distinct.dedup();
            distinct.into_iter().for_each(|word| *words.entry(word).or_default() += 1);
        }
        let says = |product: &Vec<String>, word: &str| product.iter().any(|said| said == word);
        use_it(&Vocabulary {
            num_docs: self.products.len() as u64,
            is_dictionary_word: &|word| word == "settee",
            languages: &|| {
                ShopLanguages::of(self.products.len() as u64, |word| {
                    words.get(word).copied().unwrap_or(0)
                })
            },
            is_foreign_word: &|word| word == "rote",
            prefetch: &|_| {},
            doc_freq: &|word| words.get(word).copied().unwrap_or(0),
            near: &|_, found| words.keys().for_each(|word| found(word)),
            with_prefix: &|start, found| {
                words.keys().filter(|word| word.starts_with(start)).for_each(|word| found(word));
            },
            with_suffix: &|ends, found| {
                let has_end = |word: &&&str| ends.iter().any(|end| word.ends_with(&**end));
                words.keys().filter(has_end).for_each(|word| found(word));
            },
            co_doc_freq: &|word, others| {
                let both = |product: &&Vec<String>| {
                    says(product, word) && others.iter().any(|other| says(product, other))
                };
                self.products.iter().filter(both).count() as u64
            },
        })
    }
}

fn shop() -> Shop {
    Shop::of(&[
        ("Running Shoes, white leather", 20),
        ("Ceiling fan with light bulb", 30),
        ("Canvas backpack 18 in.", 10),
        ("Back door", 10),
        ("Water bottle 32 oz.", 10),
        ("Fluorescent tube", 300),
        ("Flourescent tube", 1),
        ("Outdoor shower head", 10),
        ("Snow thrower", 20),
        ("Storage tower", 20),
        ("WD-40 lubricant spray", 5),
        ("Dewalt DCB205-2 battery", 5),
        ("Battery charger", 10),
        ("Kids toy crane", 1),
        ("Dog setter collar", 3),
        ("Golf tee set", 20),
    ])
}

fn check(query: &str, expected: &str) {
    let shown = shop().with(|vocabulary| {
        let mut parsed = parse(query);
        parsed.correct(query, vocabulary);
        for correction in &parsed.corrections {
            assert_eq!(query[correction.span.clone()], correction.from);
        }
        let corrections = parsed.corrections.iter();
        let corrections: Vec<_> = corrections.map(|c| format!("{}>{}", c.from, c.to)).collect();
        format!("{} | {}", parsed.residual, corrections.join(", "))
    });
    assert_eq!(shown.trim_end_matches([' ', '|']), expected, "{query:?}");
}

#[test]
fn unknown_words_are_corrected() {
    check("runing shoes", "running shoes | runing>running");
    check("cieling fan", "ceiling fan | cieling>ceiling");
    check("Leahter", "leather | Leahter>leather");
    check("outdor showr", "outdoor shower | outdor>outdoor, showr>shower");
    check("bacpack", "backpack | bacpack>backpack");
    check("dhower head", "shower head | dhower>shower");
}

#[test]
fn the_context_chooses_the_correction() {
    check("snow thower", "snow thrower | thower>thrower");
    check("storage thower", "storage tower | thower>tower");
}

#[test]
fn a_correction_is_sure_if_one_candidate_leads() {
    let confidence = |query: &str| {
        let corrected = shop().with(|vocabulary| correct(query, vocabulary));
        corrected.corrections[0].confidence
    };
    assert_eq!(confidence("runing shoes"), Confidence::High);
    assert_eq!(confidence("snow thower"), Confidence::High);
    assert_eq!(confidence("thower"), Confidence::Low);
    // A product has this word: it may be right.
    assert_eq!(confidence("flourescent tube"), Confidence::Low);
}

#[test]
fn words_are_split_and_joined() {
    check("lightbulb", "light bulb | lightbulb>light bulb");
    check("back pack", "backpack | back pack>backpack");
    check("canvas back pack 18 in", "canvas backpack 18 in | back pack>backpack");
}

#[test]
fn a_dictionary_word_is_kept() {
    // Not "set tee", although products contain both words.
    check("settee", "settee");
    check("setteer", "setter | setteer>setter");
}

#[test]
fn a_prefix_is_completed() {
    check("water bott", "water bottle | bott>bottle");
    check("fluores tube", "fluorescent tube | fluores>fluorescent");
}

#[test]
fn known_words_numbers_sizes_and_codes_stay() {
    for query in [
        "running shoes",
        "18x18",
        "dcb205-3",
        "wd40",
        "wd-41",
        "x1000b 3.5mm",
        "xyz",
        "the of",
        "туфли",
        "crane",
    ] {
        check(query, query);
    }
}

#[test]
fn a_word_without_candidates_is_kept() {
    check("qwertzuiopq", "qwertzuiopq");
    check(&"x".repeat(900), &"x".repeat(900));
}

#[test]
fn a_typo_in_a_title_does_not_prevent_the_correction() {
    check("flourescent tube", "fluorescent tube | flourescent>fluorescent");
}

#[test]
fn excluded_words_are_corrected() {
    check(
        "runing shoes under $50 without lether",
        "running shoes | runing>running, lether>leather",
    );
    check("Canvas 🔥 runing", "Canvas 🔥 running | runing>running");
}

#[test]
fn corrections_can_be_switched_off() {
    let read = ParseOptions { corrections: false, ..ParseOptions::default() };
    assert!(read.parse("runing", &|_| false).corrections.is_empty());
}

proptest! {
    #[test]
    fn any_text_is_corrected_in_bounded_steps(query in "\\PC{0,60}") {
        shop().with(|vocabulary| {
            let corrected = correct(&query, vocabulary);
            assert!(corrected.corrections.len() <= query.len());
            assert_eq!(correct(&query, vocabulary), corrected);
        });
    }

    #[test]
    fn what_was_corrected_needs_no_further_correction(
        words in prop::collection::vec("[a-z]{1,9}", 0..5)
    ) {
        shop().with(|vocabulary| {
            let once = correct(&words.join(" "), vocabulary);
            let unknown = |c: &Correction| c.to.split(' ').all(|word| (vocabulary.doc_freq)(word) > 0);
            assert!(once.corrections.iter().all(unknown), "{once:?}");
        });
    }
}
