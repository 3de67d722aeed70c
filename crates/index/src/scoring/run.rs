//! One pass of a search over all segments, and what it finds.

use std::collections::HashMap;

use catalog::{
    product::ProductId,
    ranking::{explanation::Explanation, hits::Hit},
    text::analysis::QueryTerms,
};

use super::facet_counts::FacetCounts;
use crate::{
    effort::Effort, filter::Conditions, lexical::LexicalQuery, plan::Plan, segment::LiveSegment,
};

/// One pass over all segments.
pub(super) struct Run<'a> {
    pub(super) segments: &'a [LiveSegment],
    pub(super) plan: &'a Plan<'a>,
    pub(super) conditions: &'a Conditions<'a>,
    /// `None` matches all products.
    pub(super) words: Option<&'a (&'a QueryTerms, LexicalQuery<'a>)>,
    pub(super) effort: Option<Effort>,
}

/// What a run found.
pub(super) struct Found<'a> {
    pub(super) total: usize,
    pub(super) unverified: usize,
    pub(super) timed_out: bool,
    pub(super) hits: Vec<Hit>,
    pub(super) explanations: HashMap<ProductId, Explanation>,
    pub(super) facets: FacetCounts<'a>,
}

impl<'a> Found<'a> {
    pub(super) fn timed_out(facets: FacetCounts<'a>) -> Self {
        let (hits, explanations) = (Vec::new(), HashMap::new());
        Self { total: 0, unverified: 0, timed_out: true, hits, explanations, facets }
    }
}
