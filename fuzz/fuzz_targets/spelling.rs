//! Correcting a query and finding other forms of its words never panics, splits no character and
//! reports every change. The first line of the input is the vocabulary of the shop, the rest is the
//! query.
#![no_main]

use std::collections::BTreeMap;

use catalog::{text::{analysis::for_each_word, vocabulary::Vocabulary, spelling::correct, word_forms::ShopLanguages}, query::parser::ParseOptions};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let (known, query) = text.split_once('\n').unwrap_or(("", text));
    let mut products: BTreeMap<String, u64> = BTreeMap::new();
    // Words said again and again are common in the shop.
    for_each_word(known, |word| {
        let count = products.entry(word.to_owned()).or_default();
        *count = *count * 8 + 1;
    });
    let num_docs = products.values().copied().max().unwrap_or(0).max(1);
    let doc_freq = |word: &str| products.get(word).copied().unwrap_or(0);
    let vocabulary = Vocabulary {
        num_docs,
        languages: &|| ShopLanguages::of(num_docs, doc_freq),
        is_foreign_word: &|word| word.len() % 7 == 0,
        is_dictionary_word: &|word| word.len() % 5 == 0,
        prefetch: &|_| {},
        doc_freq: &doc_freq,
        near: &|_, found| products.keys().for_each(|word| found(word)),
        with_prefix: &|start, found| {
            products.keys().filter(|word| word.starts_with(start)).for_each(|word| found(word));
        },
        with_suffix: &|ends, found| {
            let ends_so = |word: &&String| ends.iter().any(|end| word.ends_with(end));
            products.keys().filter(ends_so).for_each(|word| found(word));
        },
        co_doc_freq: &|word, others| others.iter().map(|_| (word.len() % 3) as u64).sum(),
    };

    let corrected = correct(query, &vocabulary);
    let mut expected = String::new();
    let mut end = 0;
    for correction in &corrected.corrections {
        assert_eq!(&query[correction.span.clone()], correction.from);
        expected += &query[end..correction.span.start];
        expected += &correction.to;
        end = correction.span.end;
    }
    expected += &query[end..];
    assert_eq!(corrected.text, expected);

    let mut parsed = ParseOptions::default().parse(query, &|word| products.contains_key(word));
    parsed.relate(&vocabulary);
    parsed.correct(query, &vocabulary);
    for correction in &parsed.corrections {
        assert!(query.get(correction.span.clone()).is_some(), "{correction:?}");
    }
    assert!(parsed.corrections.is_sorted_by_key(|correction| correction.span.start));
    let _ = parsed.terms();
});
