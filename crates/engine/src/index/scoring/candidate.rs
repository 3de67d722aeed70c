//! A product that survived pruning, with its ranking signals.

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
    /// Whether the second stage considers it before those that do not fit the query. May be false
    /// where enough others are considered before it.
    pub(super) fits: bool,
    pub(super) lexical: f32,
    /// Not a number for a product without a vector.
    pub(super) similarity: f32,
}

impl Candidate {
    #[inline]
    pub(super) fn signals(&self) -> Signals {
        let similarity = (!self.similarity.is_nan()).then_some(self.similarity);
        Signals { lexical: self.lexical, similarity, is_exact_title: self.is_exact_title }
    }

    /// Whether it is a result whatever its score.
    pub(super) fn is_certain(&self) -> bool {
        self.is_exact_title || self.is_key
    }

    pub(super) fn product(&self, segments: &[LiveSegment]) -> ProductId {
        segments[self.segment as usize].segment.ids.get(usize::from(self.doc))
    }
}
