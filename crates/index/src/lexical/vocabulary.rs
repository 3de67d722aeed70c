//! The vocabulary of a shop, for spelling correction and the language: the terms of the visible
//! products.

use std::collections::BTreeSet;

use catalog::{
    product::access::Visibility,
    text::{
        analysis::MAX_WORD_BYTES,
        spelling,
        vocabulary::{TermLookup, Vocabulary},
        word_forms::ShopLanguages,
    },
};
use embed::TextLanguage;
use hashbrown::HashSet;

use crate::{
    bits::{BLOCK, BitSet},
    segment::{LiveSegment, Postings, Term},
};

/// The greatest edit distance of a correction.
const MAX_EDITS: u32 = 2;
/// The most terms with a common prefix that are considered: the first in order.
const MAX_COMPLETIONS: usize = 200;
/// The most terms with a common suffix that are considered, likewise.
const MAX_WITH_SUFFIX: usize = 1000;

/// The most frequent words of English texts, as they are indexed.
const ENGLISH_FUNCTION_WORDS: [&str; 5] = ["the", "and", "with", "for", "of"];
/// The most frequent words, or characters, of texts in other languages.
const FOREIGN_FUNCTION_WORDS: [&str; 26] = [
    "de", "la", "und", "mit", "di", "con", "e", "van", "met", "do", "z", "na", "och", "med", "og",
    "ve", "ile", "ja", "es", "и", "και", "の", "ン", "的", "色", "스",
];

/// Calls `f` with the terms of the visible products. Neither other products nor the division into
/// segments make a difference.
pub(crate) fn with_vocabulary(
    segments: &[LiveSegment],
    visibility: Visibility,
    languages: &dyn Fn() -> ShopLanguages,
    is_word: TermLookup,
    f: &mut dyn FnMut(&Vocabulary<'_>),
) {
    f(&Vocabulary {
        languages,
        is_dictionary_word: is_word,
        is_foreign_word: &|_| false,
        num_docs: segments.iter().map(|live| live.visible_count(visibility) as u64).sum(),
        prefetch: &|_| {},
        doc_freq: &|term| doc_freq(segments, visibility, term),
        near: &|term, found| near(segments, visibility, term, found),
        with_prefix: &|prefix, found| {
            let terms = |live: &LiveSegment| live.segment.terms.with_prefix(prefix);
            first_terms(segments, visibility, MAX_COMPLETIONS, terms, found);
        },
        with_suffix: &|suffixes, found| {
            let terms = |live: &LiveSegment| live.segment.terms.with_suffix(suffixes).into_iter();
            first_terms(segments, visibility, MAX_WITH_SUFFIX, terms, found);
        },
        co_doc_freq: &|term, others| co_doc_freq(segments, visibility, term, others),
    });
}

/// The languages that the visible products are written in.
pub(crate) fn languages(segments: &[LiveSegment], visibility: Visibility) -> ShopLanguages {
    let num_docs = segments.iter().map(|live| live.visible_count(visibility) as u64).sum();
    ShopLanguages::of(num_docs, |term| doc_freq(segments, visibility, term))
}

/// Whether any product visible contains a term.
pub(crate) fn is_known(segments: &[LiveSegment], visibility: Visibility, term: &str) -> bool {
    segments.iter().any(|live| {
        let postings = live.segment.postings_of(term);
        postings.is_some_and(|postings| live.is_any_visible(postings, visibility))
    })
}

/// The number of visible products that contain a term.
fn doc_freq(segments: &[LiveSegment], visibility: Visibility, term: &str) -> u64 {
    let seen = segments.iter().filter_map(|live| {
        let postings = live.segment.postings_of(term)?;
        Some(live.count_visible(postings, visibility) as u64)
    });
    seen.sum()
}

/// The language of most visible products.
pub(crate) fn language(segments: &[LiveSegment], visibility: Visibility) -> TextLanguage {
    language_by(|word| doc_freq(segments, visibility, word))
}

/// The language of most products, given how many contain each of the [`function_words`].
pub fn language_by(doc_freq: impl Fn(&str) -> u64) -> TextLanguage {
    let most = |words: &[&str]| words.iter().map(|word| doc_freq(word)).max().unwrap_or(0);
    match most(&FOREIGN_FUNCTION_WORDS) > most(&ENGLISH_FUNCTION_WORDS) {
        true => TextLanguage::Other,
        false => TextLanguage::English,
    }
}

/// The words that tell the language of a shop.
pub fn function_words() -> Vec<String> {
    let words = ENGLISH_FUNCTION_WORDS.iter().chain(&FOREIGN_FUNCTION_WORDS);
    words.map(|word| (*word).to_owned()).collect()
}

/// Terms of visible products within a small edit distance, each once: most terms of a large shop are
/// in several segments.
fn near(segments: &[LiveSegment], visibility: Visibility, term: &str, found: &mut dyn FnMut(&str)) {
    let edits = if spelling::budget(term.len()) > 1.0 { MAX_EDITS } else { 1 };
    let mut seen: HashSet<Term<'_>> = HashSet::new();
    for live in segments {
        let terms = &live.segment.terms;
        terms.near(term, edits, |at| {
            let mut copy = [0; MAX_WORD_BYTES];
            if live.is_any_visible(live.segment.postings(at), visibility)
                && seen.insert(terms.term(at))
                && let Ok(term) = str::from_utf8(terms.copy(at, &mut copy))
            {
                found(term);
            }
        });
    }
}

/// The first of some terms, in order, of visible products.
fn first_terms<'a, Terms: Iterator<Item = usize>>(
    segments: &'a [LiveSegment],
    visibility: Visibility,
    max: usize,
    terms_of: impl Fn(&'a LiveSegment) -> Terms,
    found: &mut dyn FnMut(&str),
) {
    let mut first: BTreeSet<Box<str>> = BTreeSet::new();
    for live in segments {
        let terms = &live.segment.terms;
        let is_seen = |at: &usize| live.is_any_visible(live.segment.postings(*at), visibility);
        for at in terms_of(live).filter(is_seen).take(max) {
            let mut copy = [0; MAX_WORD_BYTES];
            if let Ok(term) = str::from_utf8(terms.copy(at, &mut copy)) {
                first.insert(term.into());
            }
        }
    }
    first.iter().take(max).for_each(|term| found(term));
}

/// The number of visible products that contain a term and at least one of others.
fn co_doc_freq(
    segments: &[LiveSegment],
    visibility: Visibility,
    term: &str,
    others: &[&str],
) -> u64 {
    let mut count = 0;
    for live in segments {
        let Some(postings) = live.segment.postings_of(term) else { continue };
        let others: Vec<Postings<'_>> =
            others.iter().filter_map(|other| live.segment.postings_of(other)).collect();
        let docs =
            postings.docs.iter().filter(|doc| live.is_visible(usize::from(**doc), visibility));
        // Binary searches in the other postings, or a bit set of them: whichever takes less.
        let to_mark: usize = others.iter().map(|other| other.docs.len()).sum();
        let steps = others.iter().map(|other| other.docs.len().max(1).ilog2() as usize + 1);
        let to_look_up = postings.docs.len() * steps.sum::<usize>();
        count += if to_look_up <= to_mark + live.segment.len() / BLOCK {
            let has_other = |doc| others.iter().any(|other| other.docs.binary_search(doc).is_ok());
            docs.filter(|doc| has_other(doc)).count() as u64
        } else {
            let marked = others.iter().flat_map(|other| other.docs).map(|doc| usize::from(*doc));
            let marked = BitSet::with(live.segment.len(), marked);
            docs.filter(|doc| marked.get(usize::from(**doc))).count() as u64
        };
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn function_words_tell_the_language_of_a_shop() {
        let shop = |words: &'static [(&str, u64)]| {
            language_by(move |word| {
                words.iter().find(|(known, _)| *known == word).map_or(0, |(_, products)| *products)
            })
        };
        assert_eq!(shop(&[]), TextLanguage::English);
        assert_eq!(shop(&[("with", 90), ("de", 20), ("la", 80)]), TextLanguage::English);
        assert_eq!(shop(&[("mit", 115), ("for", 3)]), TextLanguage::Other);
        assert_eq!(shop(&[("ン", 40)]), TextLanguage::Other);
    }
}
