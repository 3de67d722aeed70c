//! Which products of a segment have a score by word, and which? The board that the scores of one
//! segment after the other are written on.

use std::cell::Cell;

use super::{
    bits::BLOCK,
    lexical::{Asked, Scores},
    segment::MAX_PRODUCTS,
};

/// The products that have a score are told by the postings while these are fewer than one in so
/// many products; beyond that, looking at every score is cheaper.
const SPARSE: usize = 4;

/// One score per product of a segment, and which products have one. Empty between segments:
/// whoever reads a block clears it.
pub(super) struct Board {
    scores: Box<Scores>,
    matched: Box<[u64]>,
}

thread_local! {
    /// The board of this thread's last search, kept for its next.
    static BOARD: Cell<Option<Board>> = const { Cell::new(None) };
}

impl Board {
    fn new() -> Self {
        let scores = vec![0.0; MAX_PRODUCTS].into_boxed_slice();
        Self {
            scores: scores.try_into().expect("it has this length"),
            matched: vec![0; MAX_PRODUCTS / BLOCK].into(),
        }
    }

    /// Lends this thread's board, empty.
    pub(super) fn lend<T>(work: impl FnOnce(&mut Self) -> T) -> T {
        let mut board = BOARD.take().unwrap_or_else(Self::new);
        let answer = work(&mut board);
        // Only now: after a panic half way, the board would not be empty.
        BOARD.set(Some(board));
        answer
    }

    /// Writes down the scores of a segment of so many products. Every word found is worth more
    /// than 0.
    pub(super) fn write(&mut self, asked: &Asked<'_>, segment: usize, len: usize) {
        let postings_read = asked.add_up(segment, &mut self.scores);
        if postings_read * SPARSE < len {
            for doc in asked.docs(segment) {
                self.matched[doc / BLOCK] |= 1 << (doc % BLOCK);
            }
        } else {
            let blocks = self.scores.as_chunks::<BLOCK>().0.iter().zip(&mut self.matched);
            for (scores, matched) in blocks.take(len.div_ceil(BLOCK)) {
                let each = scores.iter().enumerate();
                *matched = each.fold(0, |bits, (at, score)| bits | u64::from(*score > 0.0) << at);
            }
        }
    }

    /// Which of a block's products have a score, with the scores.
    #[inline]
    pub(super) fn look(&self, block: usize) -> (u64, &[f32; BLOCK]) {
        (self.matched[block], &self.scores.as_chunks::<BLOCK>().0[block])
    }

    /// Hands over which of a block's products have a score, with the scores, and clears them.
    #[inline]
    pub(super) fn take<T>(
        &mut self,
        block: usize,
        read: impl FnOnce(u64, &[f32; BLOCK]) -> T,
    ) -> T {
        let matched = std::mem::take(&mut self.matched[block]);
        let scores = &mut self.scores.as_chunks_mut::<BLOCK>().0[block];
        let answer = read(matched, scores);
        if matched != 0 {
            scores.fill(0.0);
        }
        answer
    }
}
