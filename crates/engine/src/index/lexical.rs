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
    segments: &[LiveSegment],
    corpus: &Corpus,
    words: &QueryWords,
    sources: impl Iterator<Item = Source<'a>>,
    collector: &mut Collector<'_>,
) {
    let found: Vec<Vec<Option<Postings<'_>>>> = segments
        .iter()
        .map(|live| words.iter().map(|word| live.segment.products_with(word)).collect())
        .collect();
    let rarities: Vec<f32> = (0..words.iter().len())
        .map(|word| {
            let products = segments.iter().zip(&found).filter_map(|(live, found)| {
                found[word].map(|postings| live.live_among(postings) as u64)
            });
            corpus.rarity(products.sum())
        })
        .collect();

    let scorer = Scorer::new(&WEIGHTS, corpus);
    let mut scores = SCORES.take().unwrap_or_else(zeroes);
    for (source, found) in sources.zip(&found) {
        let segment = &source.live.segment;
        let mut postings_read = 0;
        for (postings, rarity) in found.iter().zip(&rarities) {
            let Some(postings) = postings else { continue };
            postings_read += postings.docs.len();
            add_up(&mut scores, &scorer, *rarity, segment, *postings);
        }
        if postings_read * SPARSE < segment.len() {
            for doc in found.iter().flatten().flat_map(|postings| postings.docs) {
                collector.collect(source, usize::from(*doc), &mut scores);
            }
        } else {
            let blocks = scores.as_chunks_mut().0.iter_mut();
            for (block, scores) in blocks.take(segment.len().div_ceil(BLOCK)).enumerate() {
                collector.collect_block(source, block, scores);
            }
        }
    }
    // Only now: after a panic half way, the scores would not be zero.
    SCORES.set(Some(scores));
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
