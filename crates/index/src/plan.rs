//! The query plan: an immutable description of one search, made before any of it runs.

use std::time::Instant;

use catalog::{
    product::access::Visibility,
    query::{
        filter::ProductFilter,
        parser::{Exclusion, ParsedQuery, PriceRange},
        sort::Sort,
    },
    ranking::{
        facets::{DEFAULT_FACET_LIMIT, FacetField},
        fusion::QueryProfile,
        tuning::{TUNING, Tuning},
    },
    text::analysis::{QueryTerms, fingerprint},
};

use super::{QueryVector, rerank_query::RerankQuery};

/// A search that the index can run.
#[derive(Clone, Debug)]
pub struct Plan<'a> {
    /// Which products match before the filters apply.
    pub kind: QueryKind,
    /// The vector to compare products with; `None` searches by terms alone.
    pub dense: Option<DenseQuery>,
    /// What the second stage of ranking compares the best candidates with; `None` ranks by the first
    /// stage alone.
    pub rerank: Option<RerankQuery>,
    /// The fingerprint of a title that equals the query, word by word.
    pub title_fingerprint: u32,
    /// The query, if it may be a key: the product with this key comes first.
    pub key: Option<&'a str>,
    /// Price conditions of the text; a product must satisfy all of them.
    pub price_ranges: Vec<PriceRange<'a>>,
    /// Negation filters: what the texts of a product must not say.
    pub exclusions: &'a [Exclusion],
    /// The conditions of the request.
    pub filter: &'a ProductFilter,
    /// What to count over all results.
    pub facets: &'a [FacetField],
    /// Maximum number of values of a facet.
    pub facet_limit: usize,
    /// The order of the results.
    pub order: Sort,
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
    /// The query's vector by the transformer; `None` where it was not made.
    pub deep: Option<QueryVector>,
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
        let kind = match words.is_empty() && parsed.has_conditions() {
            true => QueryKind::MatchAll,
            false => QueryKind::Terms(words),
        };
        let plan = Self {
            kind,
            dense: None,
            rerank: None,
            title_fingerprint: fingerprint(&parsed.sentence),
            key: None,
            price_ranges: parsed.constraints.iter().map(PriceRange::of).collect(),
            exclusions: parsed.excluded(),
            filter: ProductFilter::none(),
            facets: &[],
            facet_limit: DEFAULT_FACET_LIMIT,
            order: Sort::Relevance,
            visibility,
            offset,
            limit,
            explain: false,
            threads: 1,
            tuning: TUNING,
            deadline: None,
        };
        plan.ordered(parsed.sort.as_ref().map_or(Sort::Relevance, |hint| hint.order.into()))
    }

    /// The plan of a request without a query: all products, newest first unless ordered otherwise.
    pub fn matching_all(self) -> Self {
        let order = self.order.clone();
        Self { kind: QueryKind::MatchAll, ..self }.ordered(order)
    }

    /// The plan with another order. Where nothing has a score, the newest are the most relevant.
    pub fn ordered(mut self, order: Sort) -> Self {
        self.order = match (&self.kind, order) {
            (QueryKind::MatchAll, Sort::Relevance) => Sort::Newest,
            (_, order) => order,
        };
        self
    }

    /// The plan without a page.
    pub(super) fn counting(&self) -> Self {
        Self { offset: 0, limit: 0, explain: false, ..self.clone() }
    }

    /// Whether the deadline has passed.
    pub(super) fn is_timed_out(&self) -> bool {
        self.deadline.is_some_and(|deadline| deadline <= Instant::now())
    }
}
