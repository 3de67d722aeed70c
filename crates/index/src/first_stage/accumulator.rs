//! The accumulator of lexical scores: a dense array with one score per product of a segment, and a
//! bit set of the products that have one.

use std::ops::Range;

use fearless_simd::{Level, dispatch};
use parking_lot::Mutex;

use crate::{
    bits::{BLOCK, BitSet},
    lexical::{LexicalQuery, Scores},
    segment::MAX_PRODUCTS,
};

/// Below one posting per this many products, the bit set is filled from the postings; above, a
/// pass over all scores is cheaper.
const SPARSE: usize = 4;

/// The scores of one segment. All zero between segments.
pub(super) struct ScoreAccumulator {
    scores: Box<Scores>,
    matched: Box<[u64]>,
}

/// Accumulators that no search uses, at 264 KiB each: as many as were used at the same time.
static SPARE: Mutex<Vec<ScoreAccumulator>> = Mutex::new(Vec::new());

impl ScoreAccumulator {
    fn new() -> Self {
        let scores = vec![0.0; MAX_PRODUCTS].into_boxed_slice();
        Self {
            scores: scores.try_into().expect("it has this length"),
            matched: vec![0; MAX_PRODUCTS / BLOCK].into(),
        }
    }

    /// Runs `work` with an accumulator, which is empty.
    pub(super) fn with<T>(work: impl FnOnce(&mut Self) -> T) -> T {
        let spare = SPARE.lock().pop();
        let mut accumulator = spare.unwrap_or_else(Self::new);
        let result = work(&mut accumulator);
        // Not put back after a panic: it might not be empty.
        SPARE.lock().push(accumulator);
        result
    }

    /// Adds up the scores of some products of a segment, from the first of a block on. Every match
    /// scores more than 0, but those that are not among `few` may have none.
    pub(super) fn accumulate(
        &mut self,
        query: &LexicalQuery<'_>,
        segment: usize,
        docs: &Range<usize>,
        few: Option<&BitSet>,
    ) {
        let postings_read = query.accumulate(segment, docs, few, &mut self.scores);
        if postings_read * SPARSE < docs.len() && few.is_none() {
            for doc in query.docs(segment, docs) {
                self.matched[doc / BLOCK] |= 1 << (doc % BLOCK);
            }
        } else {
            let blocks = docs.start / BLOCK..docs.end.div_ceil(BLOCK);
            let scores = &self.scores.as_chunks::<BLOCK>().0[blocks.clone()];
            for (scores, matched) in scores.iter().zip(&mut self.matched[blocks]) {
                let each = scores.iter().enumerate();
                *matched = each.fold(0, |bits, (at, score)| bits | u64::from(*score > 0.0) << at);
            }
        }
    }

    /// The greatest score of each of some blocks.
    pub(super) fn greatest(&self, blocks: &Range<usize>) -> Vec<f32> {
        let scores = &self.scores.as_chunks::<BLOCK>().0[blocks.clone()];
        let mut greatest = Vec::with_capacity(scores.len());
        dispatch!(Level::new(), _ => {
            for (scores, matched) in scores.iter().zip(&self.matched[blocks.clone()]) {
                let mut most = 0;
                if *matched != 0 {
                    // Floats that are not negative compare like their bits, as integers.
                    for score in scores {
                        most = most.max(score.to_bits());
                    }
                }
                greatest.push(f32::from_bits(most));
            }
        });
        greatest
    }

    /// Which products of a block have a score, and the scores.
    #[inline]
    pub(super) fn block(&self, block: usize) -> (u64, &[f32; BLOCK]) {
        (self.matched[block], &self.scores.as_chunks::<BLOCK>().0[block])
    }

    /// Clears some blocks.
    pub(super) fn clear(&mut self, blocks: &Range<usize>) {
        let scores = &mut self.scores.as_chunks_mut::<BLOCK>().0[blocks.clone()];
        for (scores, matched) in scores.iter_mut().zip(&mut self.matched[blocks.clone()]) {
            if std::mem::take(matched) != 0 {
                scores.fill(0.0);
            }
        }
    }
}
