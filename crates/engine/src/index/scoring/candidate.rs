//! A product that survived pruning, with its ranking signals as far as they are known.

use catalog::{fusion::Signals, product::ProductId};

use crate::index::segment::{DocId, LiveSegment};

/// A product that may be relevant.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    pub(super) segment: u32,
    pub(super) doc: DocId,
    pub(super) is_exact_title: bool,
    /// Whether its key is the query.
    pub(super) is_key: bool,
    /// Exact.
    pub(super) lexical: f32,
    /// Not a number for a product without a vector.
    pub(super) similarity: f32,
    /// The cosine is at most this far from `similarity`; 0 if `similarity` is exact.
    pub(super) error_bound: f32,
}

impl Candidate {
    /// The signals, with the similarity as estimated.
    #[inline]
    pub(super) fn signals(&self) -> Signals {
        self.signals_with(self.similarity)
    }

    /// The signals, with the upper bound of the similarity.
    #[inline]
    pub(super) fn upper_bound(&self) -> Signals {
        self.signals_with(self.similarity + self.error_bound)
    }

    /// The signals, with the lower bound of the similarity.
    #[inline]
    pub(super) fn lower_bound(&self) -> Signals {
        self.signals_with(self.similarity - self.error_bound)
    }

    /// Whether it is a result whatever its score.
    pub(super) fn is_certain(&self) -> bool {
        self.is_exact_title || self.is_key
    }

    pub(super) fn is_estimated(&self) -> bool {
        self.error_bound > 0.0
    }

    /// Where the exact similarity is to be written.
    pub(super) fn exact_similarity(&mut self) -> &mut f32 {
        self.error_bound = 0.0;
        &mut self.similarity
    }

    pub(super) fn product(&self, segments: &[LiveSegment]) -> ProductId {
        segments[self.segment as usize].segment.ids[usize::from(self.doc)]
    }

    #[inline]
    fn signals_with(&self, similarity: f32) -> Signals {
        let similarity = (!similarity.is_nan()).then_some(similarity);
        Signals { lexical: self.lexical, similarity, is_exact_title: self.is_exact_title }
    }
}
