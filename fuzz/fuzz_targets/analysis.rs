//! Analysing a text never panics, and a query matches its own text.
#![no_main]

use std::collections::BTreeSet;

use catalog::text::analysis::{MAX_WORD_BYTES, QueryTerms, for_each_word};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let mut said = BTreeSet::new();
    for_each_word(text, |word| {
        assert!(!word.is_empty() && word.len() <= MAX_WORD_BYTES);
        said.insert(word.to_owned());
    });
    let query = QueryTerms::of(text);
    assert!(query.is_empty() || query.match_words(|word| said.contains(word)), "{query:?}");
    for term in query.terms() {
        for way in &term.alternatives {
            assert!(!way.words.is_empty() && way.weight > 0.0 && way.weight <= 1.0);
        }
    }
});
