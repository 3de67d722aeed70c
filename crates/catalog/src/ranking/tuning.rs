//! All ranking parameters that judged queries can optimise, in one value.

use crate::ranking::{bm25f, fusion, reranking};

/// The parameters of a search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tuning {
    /// The lexical score.
    pub ranking: bm25f::Bm25Params,
    /// The fusion of lexical and dense score.
    pub fusion: fusion::FusionParams,
    /// The second stage.
    pub rerank: reranking::RerankParams,
}

/// The parameters in force, chosen on judged queries: see `docs/relevance.md`.
pub const TUNING: Tuning = Tuning {
    ranking: bm25f::BM25_PARAMS,
    fusion: fusion::FUSION_PARAMS,
    rerank: reranking::RERANK_PARAMS,
};
