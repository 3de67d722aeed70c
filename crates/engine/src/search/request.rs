//! Requests and results of searches.

use std::{collections::HashMap, time::Duration};

use catalog::{
    product::{Product, ProductId, change::Seq, inferred::CategoryIndex},
    query::{
        QueryText,
        filter::ProductFilter,
        parser::{ParseOptions, ParsedQuery},
        sort::Sort,
    },
    ranking::{
        explanation::Explanation,
        facets::{DEFAULT_FACET_LIMIT, FacetField, Facets},
        tuning::{TUNING, Tuning},
    },
};

use embed::Encoder;

/// A search for products.
#[derive(Clone, Debug)]
pub struct SearchRequest {
    /// The query as typed; `None` matches all products, newest first.
    pub query: Option<QueryText>,
    /// Conditions besides those of the query.
    pub filter: ProductFilter,
    /// What to count over all results.
    pub facets: Vec<FacetField>,
    /// Maximum number of values of a facet.
    pub facet_limit: usize,
    /// The order of results; `None` for the one that the query asks for, or by relevance.
    pub sort: Option<Sort>,
    /// Maximum number of products to return.
    pub limit: usize,
    /// Number of leading results to skip.
    pub offset: usize,
    /// Which conditions and corrections are read from the query.
    pub parse_options: ParseOptions,
    /// Whether to explain the score of each result.
    pub explain: bool,
    /// Weights and thresholds of the ranking.
    pub tuning: Tuning,
    /// Time limit from the start of the search on; `None` for no limit.
    pub time_limit: Option<Duration>,
}

impl SearchRequest {
    /// The first `limit` products that match a query.
    pub fn new(query: QueryText, limit: usize) -> Self {
        Self { query: Some(query), sort: None, ..Self::all(Sort::Newest, limit) }
    }

    /// The first `limit` of all products in an order.
    pub fn all(sort: Sort, limit: usize) -> Self {
        Self {
            query: None,
            filter: ProductFilter::default(),
            facets: Vec::new(),
            facet_limit: DEFAULT_FACET_LIMIT,
            sort: Some(sort),
            limit,
            offset: 0,
            parse_options: ParseOptions::default(),
            explain: false,
            tuning: TUNING,
            time_limit: None,
        }
    }
}

/// The results of a search.
#[derive(Debug)]
pub struct SearchResults {
    /// The requested page, best first.
    pub products: Vec<Product>,
    /// Explanations of the scores, if requested; without an entry for products that have no score.
    pub explanations: HashMap<ProductId, Explanation>,
    /// Number of matching products on all pages.
    pub total: usize,
    /// `false` if more products than `total` may match, and than the facets count.
    pub is_total_exact: bool,
    /// The requested facets.
    pub facets: Facets,
    /// How the query was parsed.
    pub parsed: ParsedQuery,
    /// The category that the query names, if it names one clearly.
    pub category: Option<CategoryIndex>,
    /// The encoder of the query's vector; `None` if no vectors were compared.
    pub encoder: Option<Encoder>,
    /// The last change that the results reflect.
    pub seq: Seq,
}

/// A request for products similar to another one.
#[derive(Clone, Copy, Debug)]
pub struct SimilarRequest {
    /// The product to compare with.
    pub product: ProductId,
    /// Maximum number of products to return.
    pub limit: usize,
    /// Whether hidden products may be returned, if the caller may see them.
    pub include_hidden: bool,
}
