//! A product that survived pruning, with its ranking signals.

use catalog::{product::ProductId, ranking::fusion::Signals};

use crate::segment::{DocId, LiveSegment};

/// A product that may be relevant.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Candidate {
    pub(crate) segment: u32,
    pub(crate) doc: DocId,
    pub(crate) is_exact_title: bool,
    /// Whether its key is the query.
    pub(crate) is_key: bool,
    /// Whether the second stage considers it before those that do not fit the query. May be false
    /// where enough others are considered before it.
    pub(crate) fits: bool,
    /// Whether it is among the nearest by the vector of the transformer, which the second stage considers
    /// before all others.
    pub(crate) is_near: bool,
    pub(crate) lexical: f32,
    /// Not a number for a product without a vector.
    pub(crate) similarity: f32,
}

impl Candidate {
    #[inline]
    pub(crate) fn signals(&self) -> Signals {
        let similarity = (!self.similarity.is_nan()).then_some(self.similarity);
        Signals { lexical: self.lexical, similarity, is_exact_title: self.is_exact_title }
    }

    /// Whether it is a result whatever its score.
    pub(crate) fn is_certain(&self) -> bool {
        self.is_exact_title || self.is_key
    }

    pub(crate) fn product(&self, segments: &[LiveSegment]) -> ProductId {
        segments[self.segment as usize].segment.ids.get(usize::from(self.doc))
    }
}
