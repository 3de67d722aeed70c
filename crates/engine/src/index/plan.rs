//! The query plan: an immutable description of one search, made before any of it runs.

use std::time::Instant;

use catalog::{
    access::Visibility,
    analysis::{QueryTerms, fingerprint},
    fusion::QueryProfile,
    price::Money,
    query_parser::{Exclusion, ParsedQuery, PriceRange, SortOrder},
    tuning::{TUNING, Tuning},
};

use super::QueryVector;

/// A search that the index can run.
#[derive(Clone, Debug)]
pub struct Plan<'a> {
    /// Which products match before the filters apply.
    pub kind: QueryKind,
    /// The vector to compare products with; `None` searches by terms alone.
    pub dense: Option<DenseQuery>,
    /// The fingerprint of a title that equals the query, word by word.
    pub title_fingerprint: u32,
    /// Price filters; a product must satisfy all of them.
    pub price_ranges: Vec<PriceRange<'a>>,
    /// Negation filters: what the texts of a product must not say.
    pub exclusions: &'a [Exclusion],
    /// The order of the results; `None` orders by relevance.
    pub order: Option<SortOrder>,
    /// Whether hidden products can be found.
    pub visibility: Visibility,
    /// Number of results to skip.
    pub offset: usize,
    /// Maximum number of results to return.
    pub limit: usize,
    /// Whether to explain the score of each result.
    pub explain: bool,
    /// Maximum number of threads; the result does not depend on it.
    pub threads: usize,
    /// The ranking parameters.
    pub tuning: Tuning,
    /// When to give up; the result then says that the search timed out.
    pub deadline: Option<Instant>,
}

/// Which products match before the filters apply.
#[derive(Clone, Debug)]
pub enum QueryKind {
    /// Those relevant to these terms or to the vector. Without terms, none.
    Terms(QueryTerms),
    /// All, without a score.
    MatchAll,
}

/// The dense part of a query.
#[derive(Clone, Debug)]
pub struct DenseQuery {
    /// The query's vector.
    pub vector: QueryVector,
    /// Properties of the query that decide the weight of the vector.
    pub profile: QueryProfile,
}

impl<'a> Plan<'a> {
    /// The plan of a parsed query. A query of conditions alone matches all products that satisfy
    /// them, newest first.
    pub fn of(
        parsed: &'a ParsedQuery,
        visibility: Visibility,
        offset: usize,
        limit: usize,
    ) -> Self {
        let words = parsed.terms();
        let sort = parsed.sort.as_ref().map(|hint| hint.order);
        let (kind, order) = match words.is_empty() && parsed.has_conditions() {
            true => (QueryKind::MatchAll, sort.or(Some(SortOrder::Newest))),
            false => (QueryKind::Terms(words), sort),
        };
        Self {
            kind,
            dense: None,
            title_fingerprint: fingerprint(&parsed.sentence),
            price_ranges: parsed.constraints.iter().map(PriceRange::of).collect(),
            exclusions: &parsed.exclusions,
            order,
            visibility,
            offset,
            limit,
            explain: false,
            threads: 1,
            tuning: TUNING,
            deadline: None,
        }
    }

    /// Whether the deadline has passed.
    pub(super) fn is_timed_out(&self) -> bool {
        self.deadline.is_some_and(|deadline| deadline <= Instant::now())
    }

    /// Whether a price satisfies every price filter. `None`, an unparsable price, satisfies none.
    #[inline]
    pub(super) fn admits(&self, price: Option<Money>) -> bool {
        self.price_ranges.iter().all(|range| price.is_some_and(|price| range.admits(price)))
    }
}
