//! Products that agree with every attribute that a query asks for and are close to its category: the
//! second stage considers them before all others.

use std::ops::Range;

use catalog::inference::attributes::QueryAttributes;
use embed::inference::taxonomy;

use super::attributes::AttributeMatcher;
use crate::{
    bits::BitSet,
    rerank_query::RerankQuery,
    segment::{DocId, Segment},
};

/// The least agreement, so that a mere mention of a word counts.
const MIN_AGREEMENT: f32 = 0.4;
/// The least probability that the query means the product's category.
const MIN_CATEGORY: f32 = 0.25;

/// What a product has to be to fit a query.
pub(crate) struct FitQuery<'a> {
    attributes: &'a QueryAttributes,
    categories: Vec<Range<u16>>,
    /// Whether the query names the category, so that what fits is considered whatever its score.
    pub(crate) is_named: bool,
}

impl<'a> FitQuery<'a> {
    /// `None` if no product can fit: the query asks for no attribute, or its category is unknown.
    pub(crate) fn of(query: &'a RerankQuery) -> Option<Self> {
        let attributes = &query.attributes;
        if attributes.is_empty() || query.categories.likely().is_empty() {
            return None;
        }
        let categories = query.categories.close(taxonomy(), MIN_CATEGORY);
        let is_named = query.categories.is_named();
        (!categories.is_empty()).then_some(Self { attributes, categories, is_named })
    }
}

/// Tells which products of one segment fit a query.
pub(super) struct FitMatcher<'a> {
    attributes: AttributeMatcher<'a>,
    close: BitSet,
}

impl<'a> FitMatcher<'a> {
    pub(super) fn new(query: &'a FitQuery<'a>, segment: &'a Segment) -> Self {
        let attributes = AttributeMatcher::new(query.attributes, segment);
        Self { attributes, close: segment.inferred.close_to(&query.categories) }
    }

    /// The products of a block that are close to the category.
    #[inline]
    pub(super) fn close(&self, block: usize) -> u64 {
        self.close.block(block)
    }

    /// Whether a product that is close to the category fits.
    pub(super) fn fits(&self, doc: DocId) -> bool {
        self.attributes.of(doc).least >= MIN_AGREEMENT
    }
}
