//! Which words does a shop know, and which of them are like one that it does not?

use std::collections::BTreeSet;

use catalog::{
    access::Visibility,
    analysis::MAX_WORD_BYTES,
    query_parser::{ParsedQuery, TermLookup},
    spelling::{self, Vocabulary},
};

use super::{
    bits::{BLOCK, Bits},
    live::LiveSegment,
    segment::Postings,
};

/// The most slips that a word may be away.
const MOST_SLIPS: u32 = 2;
/// Of the words that begin with another, no more are looked at: the first in their order.
const MOST_ENDINGS: usize = 200;

/// Corrects a query with the words of the visible products. What other products say makes no
/// difference, nor does how products are spread over segments.
pub(super) fn correct(
    segments: &[LiveSegment],
    visibility: Visibility,
    query: &str,
    is_word: TermLookup,
    parsed: &mut ParsedQuery,
) {
    parsed.correct(
        query,
        &Vocabulary {
            is_dictionary_word: is_word,
            num_docs: segments.iter().map(|live| live.seen_count(visibility) as u64).sum(),
            prefetch: &|_| {},
            doc_freq: &|word| products_with(segments, visibility, word),
            near: &|word, found| near(segments, visibility, word, found),
            with_prefix: &|word, found| beginning(segments, visibility, word, found),
            co_doc_freq: &|word, others| products_with_any(segments, visibility, word, others),
        },
    );
}

/// Whether any visible product says a word.
pub(super) fn is_known(segments: &[LiveSegment], visibility: Visibility, word: &str) -> bool {
    segments.iter().any(|live| {
        let postings = live.segment.products_with(word);
        postings.is_some_and(|postings| live.is_any_seen(postings, visibility))
    })
}

/// How many visible products say a word.
fn products_with(segments: &[LiveSegment], visibility: Visibility, word: &str) -> u64 {
    let seen = segments.iter().filter_map(|live| {
        let postings = live.segment.products_with(word)?;
        Some(live.seen_among(postings, visibility) as u64)
    });
    seen.sum()
}

/// Words of visible products; some more than once.
fn near(segments: &[LiveSegment], visibility: Visibility, word: &str, found: &mut dyn FnMut(&str)) {
    let slips = if spelling::budget(word.len()) > 1.0 { MOST_SLIPS } else { 1 };
    for live in segments {
        let words = &live.segment.words;
        words.near(word, slips, |at| {
            let mut copy = [0; MAX_WORD_BYTES];
            if live.is_any_seen(live.segment.postings(at), visibility)
                && let Ok(word) = str::from_utf8(words.copy(at, &mut copy))
            {
                found(word);
            }
        });
    }
}

/// The first words that begin with a word, of visible products.
fn beginning(
    segments: &[LiveSegment],
    visibility: Visibility,
    word: &str,
    found: &mut dyn FnMut(&str),
) {
    let mut first: BTreeSet<Box<str>> = BTreeSet::new();
    for live in segments {
        let words = &live.segment.words;
        let seen = words
            .beginning_with(word)
            .filter(|at| live.is_any_seen(live.segment.postings(*at), visibility));
        for at in seen.take(MOST_ENDINGS) {
            let mut copy = [0; MAX_WORD_BYTES];
            if let Ok(word) = str::from_utf8(words.copy(at, &mut copy)) {
                first.insert(word.into());
            }
        }
    }
    first.iter().take(MOST_ENDINGS).for_each(|word| found(word));
}

/// How many visible products say a word and any of others.
fn products_with_any(
    segments: &[LiveSegment],
    visibility: Visibility,
    word: &str,
    others: &[&str],
) -> u64 {
    let mut count = 0;
    for live in segments {
        let Some(postings) = live.segment.products_with(word) else { continue };
        let others: Vec<Postings<'_>> =
            others.iter().filter_map(|other| live.segment.products_with(other)).collect();
        let docs = postings.docs.iter().filter(|doc| live.is_seen(usize::from(**doc), visibility));
        // A few are looked up among the others; for many, the others are marked first.
        let to_mark: usize = others.iter().map(|other| other.docs.len()).sum();
        let steps = others.iter().map(|other| other.docs.len().max(1).ilog2() as usize + 1);
        let to_look_up = postings.docs.len() * steps.sum::<usize>();
        count += if to_look_up <= to_mark + live.segment.len() / BLOCK {
            let has_other = |doc| others.iter().any(|other| other.docs.binary_search(doc).is_ok());
            docs.filter(|doc| has_other(doc)).count() as u64
        } else {
            let marked = others.iter().flat_map(|other| other.docs).map(|doc| usize::from(*doc));
            let marked = Bits::with(live.segment.len(), marked);
            docs.filter(|doc| marked.get(usize::from(**doc))).count() as u64
        };
    }
    count
}
