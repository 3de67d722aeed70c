//! Requests and results of searches.

use std::{collections::HashMap, time::Duration};

use catalog::{
    change::Seq,
    explanation::Explanation,
    product::{Product, ProductId},
    query::QueryText,
    query_parser::{ParseOptions, ParsedQuery},
    tuning::Tuning,
};

use crate::embed::Encoder;

/// A search for products.
#[derive(Clone, Debug)]
pub struct SearchRequest {
    /// The query as typed.
    pub query: QueryText,
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

/// The results of a search.
#[derive(Debug)]
pub struct SearchResults {
    /// The requested page, best first.
    pub products: Vec<Product>,
    /// Explanations of the scores, if requested; without an entry for products that have no score.
    pub explanations: HashMap<ProductId, Explanation>,
    /// Number of matching products on all pages.
    pub total: usize,
    /// `false` if more products than `total` may match.
    pub is_total_exact: bool,
    /// How the query was parsed.
    pub parsed: ParsedQuery,
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
