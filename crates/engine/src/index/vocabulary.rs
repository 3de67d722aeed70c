//! Which words does a shop know, and which of them are like one that it does not?

use catalog::{
    spelling::{self, Vocabulary},
    understanding::{Knows, Understanding},
    words::MAX_WORD_BYTES,
};

use super::{
    bits::{BLOCK, Bits},
    live::LiveSegment,
    segment::Postings,
};

/// The most slips that a word may be away.
const MOST_SLIPS: u32 = 2;
/// Of the words of a segment that begin with another, no more are looked at.
const MOST_ENDINGS: usize = 200;

/// Corrects a query with the words of the products that count.
pub(super) fn correct(
    segments: &[LiveSegment],
    query: &str,
    is_word: Knows,
    understood: &mut Understanding,
) {
    understood.correct(
        query,
        &Vocabulary {
            is_word,
            all: segments.iter().map(|live| live.live_count() as u64).sum(),
            expect: &|_| {},
            products: &|word| products_with(segments, word),
            near: &|word, found| near(segments, word, found),
            beginning: &|word, found| beginning(segments, word, found),
            together: &|word, others| products_with_any(segments, word, others),
        },
    );
}

/// How many products say a word.
pub(super) fn products_with(segments: &[LiveSegment], word: &str) -> u64 {
    let live = segments.iter().filter_map(|live| {
        live.segment.products_with(word).map(|postings| live.live_among(postings) as u64)
    });
    live.sum()
}

/// Words of products that count; some more than once.
fn near(segments: &[LiveSegment], word: &str, found: &mut dyn FnMut(&str)) {
    let slips = if spelling::budget(word.len()) > 1.0 { MOST_SLIPS } else { 1 };
    for live in segments {
        let words = &live.segment.words;
        words.near(word, slips, |at| {
            let mut copy = [0; MAX_WORD_BYTES];
            if live.live_among(live.segment.postings(at)) > 0
                && let Ok(word) = str::from_utf8(words.copy(at, &mut copy))
            {
                found(word);
            }
        });
    }
}

/// Words that begin with a word, of products that count; some more than once.
fn beginning(segments: &[LiveSegment], word: &str, found: &mut dyn FnMut(&str)) {
    for live in segments {
        let words = &live.segment.words;
        for at in words.beginning_with(word).take(MOST_ENDINGS) {
            let mut copy = [0; MAX_WORD_BYTES];
            if live.live_among(live.segment.postings(at)) > 0
                && let Ok(word) = str::from_utf8(words.copy(at, &mut copy))
            {
                found(word);
            }
        }
    }
}

/// How many products say a word and any of others.
fn products_with_any(segments: &[LiveSegment], word: &str, others: &[&str]) -> u64 {
    let mut count = 0;
    for live in segments {
        let Some(postings) = live.segment.products_with(word) else { continue };
        let others: Vec<Postings<'_>> =
            others.iter().filter_map(|other| live.segment.products_with(other)).collect();
        let docs = postings.docs.iter().filter(|doc| !live.is_dead(usize::from(**doc)));
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
