//! Which products say the words of a query, and which of them say it best?
//!
//! Every product with at least one of the words is scored: totals are exact and pages stable.
//! Word by word, the postings of a segment are added up in a dense array of scores.

use std::{cell::Cell, mem};

use catalog::{
    access::Sight,
    ranking::{Bm25, Corpus, Hit, Scorer, TopHits, WEIGHTS},
    words::QueryWords,
};

use super::{
    bits::{BLOCK, ones},
    live::LiveSegment,
    segment::{MAX_PRODUCTS, Postings, Segment},
};

/// A page of matching products.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Matches {
    /// The number of products that match, on this page or not.
    pub total: usize,
    /// The products of the page, best first.
    pub hits: Vec<Hit>,
}

/// Scores are read back from the postings while these are fewer than one in so many products;
/// beyond that, going through all products is cheaper.
const SPARSE: usize = 4;

/// One score per product of a segment; all zero between searches.
type Scores = [f32; MAX_PRODUCTS];

thread_local! {
    /// The scores of this thread's last search, kept for its next.
    static SCORES: Cell<Option<Box<Scores>>> = const { Cell::new(None) };
}

/// The products that match a query, from `offset`, at most `limit`.
pub(super) fn search(
    segments: &[LiveSegment],
    corpus: &Corpus,
    query: &QueryWords,
    sight: Sight,
    offset: usize,
    limit: usize,
) -> Matches {
    let found: Vec<Vec<Option<Postings<'_>>>> = segments
        .iter()
        .map(|live| query.iter().map(|word| live.segment.products_with(word)).collect())
        .collect();
    let rarities: Vec<f32> = (0..query.iter().len())
        .map(|word| {
            let products = segments.iter().zip(&found).filter_map(|(live, found)| {
                found[word].map(|postings| live.live_among(postings) as u64)
            });
            corpus.rarity(products.sum())
        })
        .collect();

    let scorer = Scorer::new(&WEIGHTS, corpus);
    let mut scores = SCORES.take().unwrap_or_else(zeroes);
    let mut collector = Collector { sight, total: 0, top: TopHits::new(offset + limit) };
    for (live, found) in segments.iter().zip(&found) {
        let mut postings_read = 0;
        for (postings, rarity) in found.iter().zip(&rarities) {
            let Some(postings) = postings else { continue };
            postings_read += postings.docs.len();
            add_up(&mut scores, &scorer, *rarity, &live.segment, *postings);
        }
        if postings_read * SPARSE < live.segment.len() {
            for doc in found.iter().flatten().flat_map(|postings| postings.docs) {
                collector.collect(live, usize::from(*doc), &mut scores);
            }
        } else {
            let blocks = scores.as_chunks_mut().0.iter_mut();
            for (block, scores) in blocks.take(live.segment.len().div_ceil(BLOCK)).enumerate() {
                collector.collect_block(live, block, scores);
            }
        }
    }
    // Only now: after a panic half way, the scores would not be zero.
    SCORES.set(Some(scores));
    Matches { total: collector.total, hits: collector.top.into_page(offset) }
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

/// Takes scores, where there are any, and leaves zeroes in their place. Every word found is
/// worth more than 0, so 0 is a product without any.
struct Collector {
    sight: Sight,
    total: usize,
    top: TopHits,
}

impl Collector {
    /// The score of one product.
    fn collect(&mut self, live: &LiveSegment, doc: usize, scores: &mut Scores) {
        let score = mem::take(&mut scores[doc]);
        let is_seen = live.seen(doc / BLOCK, self.sight) >> (doc % BLOCK) & 1 == 1;
        if score > 0.0 && is_seen {
            self.total += 1;
            self.offer(&live.segment, doc, score);
        }
    }

    /// The scores of neighbouring products, without a branch for each.
    fn collect_block(&mut self, live: &LiveSegment, block: usize, scores: &mut [f32; BLOCK]) {
        let mut matched = 0;
        let mut best = 0_f32;
        for (at, score) in scores.iter().enumerate() {
            matched |= u64::from(*score > 0.0) << at;
            best = if *score > best { *score } else { best };
        }
        matched &= live.seen(block, self.sight);
        self.total += matched.count_ones() as usize;
        if self.top.may_keep(best) {
            ones(matched).for_each(|at| self.offer(&live.segment, block * BLOCK + at, scores[at]));
        }
        scores.fill(0.0);
    }

    fn offer(&mut self, segment: &Segment, doc: usize, score: f32) {
        if self.top.may_keep(score) {
            self.top.offer(Hit {
                product: segment.ids[doc],
                version: segment.versions[doc],
                score: Bm25(score),
            });
        }
    }
}
