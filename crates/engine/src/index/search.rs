//! Which products say the words of a query, and which of them say it best?
//!
//! Every product with at least one of the words is scored: totals are exact and pages stable.
//! Word by word, the postings of a segment are added up in a dense array of scores.

use std::cell::Cell;

use catalog::{
    access::Sight,
    ranking::{Bm25, Corpus, Hit, Scorer, TopHits, WEIGHTS},
    words::QueryWords,
};

use super::{
    live::LiveSegment,
    segment::{MAX_PRODUCTS, Postings},
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
    let mut collector = Collector { total: 0, top: TopHits::new(offset + limit), sight };
    for (live, found) in segments.iter().zip(&found) {
        let mut postings_read = 0;
        for (postings, rarity) in found.iter().zip(&rarities) {
            let Some(postings) = postings else { continue };
            postings_read += postings.docs.len();
            add_up(&mut scores, &scorer, *rarity, live, *postings);
        }
        if postings_read * SPARSE < live.segment.len() {
            for doc in found.iter().flatten().flat_map(|postings| postings.docs) {
                collector.collect(live, usize::from(*doc), &mut scores);
            }
        } else {
            (0..live.segment.len()).for_each(|doc| collector.collect(live, doc, &mut scores));
        }
    }
    // Only now: after a panic half way, the scores would not be zero.
    SCORES.set(Some(scores));
    Matches { total: collector.total, hits: collector.top.into_page(offset) }
}

fn zeroes() -> Box<Scores> {
    // Made on the heap: the array is too large for the stack.
    vec![0.0; MAX_PRODUCTS]
        .into_boxed_slice()
        .try_into()
        .unwrap_or_else(|_| Box::new([0.0; MAX_PRODUCTS]))
}

fn add_up(
    scores: &mut Scores,
    scorer: &Scorer,
    rarity: f32,
    live: &LiveSegment,
    postings: Postings<'_>,
) {
    let lengths = &live.segment.lengths;
    for (doc, occurrences) in postings.docs.iter().zip(postings.occurrences) {
        let doc = usize::from(*doc);
        scores[doc] += scorer.score(rarity, *occurrences, lengths[doc]);
    }
}

struct Collector {
    total: usize,
    top: TopHits,
    sight: Sight,
}

impl Collector {
    /// Takes a product's score, if it has one, and leaves zero in its place.
    #[inline]
    fn collect(&mut self, live: &LiveSegment, doc: usize, scores: &mut Scores) {
        let score = std::mem::take(&mut scores[doc]);
        // Every word found is worth more than 0, so 0 is a product without any.
        if score == 0.0 || live.is_dead(doc) {
            return;
        }
        let segment = &live.segment;
        if self.sight == Sight::VisibleOnly && segment.hidden.get(doc) {
            return;
        }
        self.total += 1;
        if self.top.may_keep(score) {
            self.top.offer(Hit {
                product: segment.ids[doc],
                version: segment.versions[doc],
                score: Bm25(score),
            });
        }
    }
}
