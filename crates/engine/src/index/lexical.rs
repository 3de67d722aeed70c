//! How well do the words of a query match each product?
//!
//! Word by word, the postings of a segment are added up in a dense array of scores.

use std::cell::Cell;

use catalog::{
    ranking::{Corpus, Scorer, WEIGHTS},
    words::QueryWords,
};

use super::{
    bits::BLOCK,
    collect::{Collector, Source},
    live::LiveSegment,
    segment::{MAX_PRODUCTS, Postings, Segment},
};

/// Scores are read back from the postings while these are fewer than one in so many products;
/// beyond that, going through all products is cheaper.
const SPARSE: usize = 4;

/// One score per product of a segment; all zero between searches.
pub(super) type Scores = [f32; MAX_PRODUCTS];

thread_local! {
    /// The scores of this thread's last search, kept for its next.
    static SCORES: Cell<Option<Box<Scores>>> = const { Cell::new(None) };
}

/// Hands the scores of all products with at least one of the words to the collector.
pub(super) fn score<'a>(
    segments: &'a [LiveSegment],
    corpus: &Corpus,
    words: &QueryWords,
    sources: impl Iterator<Item = Source<'a>>,
    collector: &mut Collector<'_>,
) {
    let asked = Asked::of(segments, corpus, words);
    let mut scores = SCORES.take().unwrap_or_else(zeroes);
    for (at, source) in sources.enumerate() {
        let len = source.live.segment.len();
        let postings_read = asked.add_up(at, &mut scores);
        if postings_read * SPARSE < len {
            for doc in asked.docs(at) {
                collector.collect(source, doc, &mut scores);
            }
        } else {
            let blocks = scores.as_chunks_mut().0.iter_mut();
            for (block, scores) in blocks.take(len.div_ceil(BLOCK)).enumerate() {
                collector.collect_block(source, block, scores);
            }
        }
    }
    // Only now: after a panic half way, the scores would not be zero.
    SCORES.set(Some(scores));
}

/// The words of a query as a shop's segments have them.
pub(super) struct Asked<'a> {
    scorer: Scorer,
    segments: &'a [LiveSegment],
    /// For each segment, for each word.
    found: Vec<Vec<Option<Postings<'a>>>>,
    rarities: Vec<f32>,
    known: Vec<bool>,
}

impl<'a> Asked<'a> {
    /// Looks the words up.
    pub(super) fn of(segments: &'a [LiveSegment], corpus: &Corpus, words: &QueryWords) -> Self {
        let found: Vec<Vec<Option<Postings<'_>>>> = segments
            .iter()
            .map(|live| words.iter().map(|word| live.segment.products_with(word)).collect())
            .collect();
        let with_word = |word: usize| {
            let live = segments.iter().zip(&found).filter_map(|(live, found)| {
                found[word].map(|postings| live.live_among(postings) as u64)
            });
            live.sum::<u64>()
        };
        let products: Vec<u64> = (0..words.iter().len()).map(with_word).collect();
        Self {
            scorer: Scorer::new(&WEIGHTS, corpus),
            rarities: products.iter().map(|with| corpus.rarity(*with)).collect(),
            known: products.iter().map(|with| *with > 0).collect(),
            segments,
            found,
        }
    }

    /// What a product would score that says every word of the query, over and over: no score
    /// is greater.
    #[expect(dead_code, reason = "for the weight between words and meaning")]
    pub(super) fn maximum(&self) -> f32 {
        self.scorer.most(self.rarities.iter().sum())
    }

    /// How much of the query's information is in words that products of the shop say, from 0
    /// to 1. A rare word says more than a common one; 0 for a query without words.
    #[expect(dead_code, reason = "for the weight between words and meaning")]
    pub(super) fn known(&self) -> f32 {
        let all: f32 = self.rarities.iter().sum();
        let known = self.rarities.iter().zip(&self.known).filter(|(_, known)| **known);
        if all > 0.0 { known.map(|(rarity, _)| rarity).sum::<f32>() / all } else { 0.0 }
    }

    /// Adds the scores of a segment's products, and returns how many postings it read.
    pub(super) fn add_up(&self, segment: usize, scores: &mut Scores) -> usize {
        let mut postings_read = 0;
        for (postings, rarity) in self.found[segment].iter().zip(&self.rarities) {
            let Some(postings) = postings else { continue };
            postings_read += postings.docs.len();
            add_up(scores, &self.scorer, *rarity, &self.segments[segment].segment, *postings);
        }
        postings_read
    }

    /// The products of a segment that have at least one of the words; some more than once.
    pub(super) fn docs(&self, segment: usize) -> impl Iterator<Item = usize> {
        let found = self.found[segment].iter().flatten();
        found.flat_map(|postings| postings.docs).map(|doc| usize::from(*doc))
    }
}

fn zeroes() -> Box<Scores> {
    vec![0.0; MAX_PRODUCTS].into_boxed_slice().try_into().expect("it has this length")
}

fn add_up(
    scores: &mut Scores,
    scorer: &Scorer,
    rarity: f32,
    segment: &Segment,
    postings: Postings<'_>,
) {
    for (doc, occurrences) in postings.docs.iter().zip(postings.occurrences) {
        let doc = usize::from(*doc);
        scores[doc] += scorer.score(rarity, *occurrences, segment.lengths[doc]);
    }
}
