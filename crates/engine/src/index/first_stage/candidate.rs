//! A product that survived pruning, with its ranking signals.

use catalog::{product::ProductId, ranking::fusion::Signals};

use crate::index::segment::{DocId, LiveSegment};

/// A product that may be relevant.
#[derive(Clone, Copy, Debug)]
pub(in crate::index) struct Candidate {
    pub(in crate::index) segment: u32,
    pub(in crate::index) doc: DocId,
    pub(in crate::index) is_exact_title: bool,
    /// Whether its key is the query.
    pub(in crate::index) is_key: bool,
    /// Whether the second stage considers it before those that do not fit the query. May be false
    /// where enough others are considered before it.
    pub(in crate::index) fits: bool,
    pub(in crate::index) lexical: f32,
    /// Not a number for a product without a vector.
    pub(in crate::index) similarity: f32,
}

impl Candidate {
    #[inline]
    pub(in crate::index) fn signals(&self) -> Signals {
        let similarity = (!self.similarity.is_nan()).then_some(self.similarity);
        Signals { lexical: self.lexical, similarity, is_exact_title: self.is_exact_title }
    }

    /// Whether it is a result whatever its score.
    pub(in crate::index) fn is_certain(&self) -> bool {
        self.is_exact_title || self.is_key
    }

    pub(in crate::index) fn product(&self, segments: &[LiveSegment]) -> ProductId {
        segments[self.segment as usize].segment.ids.get(usize::from(self.doc))
    }
}
