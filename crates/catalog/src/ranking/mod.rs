//! Ranking: the formulas of both stages, what explains them, and the facets of the results.

pub mod bm25f;
pub mod explanation;
pub mod facets;
pub mod fusion;
pub mod hits;
pub mod reranking;
pub mod tuning;
