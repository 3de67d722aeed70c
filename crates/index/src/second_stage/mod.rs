//! The second stage of ranking: gathers the evidence about the best candidates of the first stage,
//! from which [`catalog::ranking::reranking`] computes their scores, and rescores them.
//!
//! Everything here depends on the query and on the products alone: neither on the page nor on the
//! number of segments.

mod evidence;
mod names;
mod preference;
mod rescoring;
mod word_matches;

#[cfg(test)]
pub(super) use self::rescoring::RESERVED;
pub(super) use self::{
    evidence::EvidenceReader,
    rescoring::{FirstStageCutoff, Ranked, SecondStage},
};
