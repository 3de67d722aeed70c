//! Which blocks of a segment may contain a product that passes the threshold: sixteen blocks at a
//! time, since most contain none.

use fearless_simd::{Level, Simd, SimdBase, SimdMask, dispatch, f32x16};

use super::pruning::ScoreThreshold;
use crate::bits::{BLOCK, BitSet};

/// Blocks whose bounds are computed at once.
const LANES: usize = 16;

/// Upper bounds of the signals of adjacent blocks, which are numbered from 0 here.
pub(super) struct BlockBounds {
    blocks: usize,
    /// The greatest lexical match of each block, and zeros up to a multiple of [`LANES`].
    lexical: Vec<f32>,
    /// The greatest similarity of each block, likewise.
    similarity: Vec<f32>,
    /// The blocks with products that may fit the query; `None` if no product can.
    close: Option<BitSet>,
    /// The blocks with products that are candidates whatever their score.
    certain: BitSet,
}

impl BlockBounds {
    /// The bounds of blocks, given by the greatest lexical match and the greatest similarity of each.
    pub(super) fn new(
        mut lexical: Vec<f32>,
        similarity: impl Iterator<Item = f32>,
        close: Option<BitSet>,
        certain: BitSet,
    ) -> Self {
        let blocks = lexical.len();
        let padded = blocks.next_multiple_of(LANES);
        let mut padded_similarity = Vec::with_capacity(padded);
        padded_similarity.extend(similarity);
        lexical.resize(padded, 0.0);
        padded_similarity.resize(padded, 0.0);
        Self { blocks, lexical, similarity: padded_similarity, close, certain }
    }

    /// The greatest lexical match of each block.
    pub(super) fn lexical(&self) -> &[f32] {
        &self.lexical[..self.blocks]
    }

    /// The greatest similarity of a block.
    #[inline]
    pub(super) fn similarity(&self, block: usize) -> f32 {
        self.similarity[block]
    }

    /// The blocks that may contain a product that passes.
    pub(super) fn passing(&self, threshold: &ScoreThreshold<'_>) -> BitSet {
        let mut passing = match &self.close {
            None => self.passing_if(threshold, false),
            Some(close) => {
                let mut fitting = self.passing_if(threshold, true);
                fitting.intersect(close);
                fitting.union(&self.passing_if(threshold, false));
                fitting
            }
        };
        passing.union(&self.certain);
        passing
    }

    /// The blocks that may contain one if all its products fit the query, or none.
    fn passing_if(&self, threshold: &ScoreThreshold<'_>, fits: bool) -> BitSet {
        let each = self.lexical.chunks(BLOCK).zip(self.similarity.chunks(BLOCK));
        let each = each.map(|(lexical, similarity)| {
            dispatch!(Level::new(), simd => passing_blocks(simd, threshold, lexical, similarity, fits))
        });
        let mut passing = BitSet::from_blocks(each);
        passing.truncate(self.blocks);
        passing
    }
}

/// A bit for each block that may contain a product that passes.
#[inline(always)]
fn passing_blocks<S: Simd>(
    simd: S,
    threshold: &ScoreThreshold<'_>,
    lexical: &[f32],
    similarity: &[f32],
    fits: bool,
) -> u64 {
    let mut passing = 0;
    for from in (0..lexical.len()).step_by(LANES) {
        let lanes = from..from + LANES;
        let lexical = f32x16::from_slice(simd, &lexical[lanes.clone()]);
        let similarity = f32x16::from_slice(simd, &similarity[lanes]);
        // What passes without a lexical match is decided by this comparison alone.
        let near = similarity.simd_ge(threshold.least_dense_score()).to_bitmask();
        passing |= (near | threshold.may_pass_each(lexical, similarity, fits)) << from;
    }
    passing
}
