//! All ranking parameters that judged queries can optimise, in one value.

use crate::{fusion, ranking, reranking};

/// The parameters of a search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tuning {
    /// The lexical score.
    pub ranking: ranking::Bm25Params,
    /// The fusion of lexical and dense score.
    pub fusion: fusion::FusionParams,
    /// The second stage.
    pub rerank: reranking::RerankParams,
}

/// The parameters in force, found by `make tune` on judged queries: see `docs/relevance.md`.
pub const TUNING: Tuning = Tuning {
    ranking: ranking::BM25_PARAMS,
    fusion: fusion::FUSION_PARAMS,
    rerank: reranking::RERANK_PARAMS,
};
