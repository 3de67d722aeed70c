//! Relevance evaluation on judged queries ([`EvalOptions`]), tuning of the ranking parameters
//! ([`TuneOptions`]), and evaluation of inferred attributes and categories on labelled products
//! ([`inference`]).
//!
//! The first two load a catalog file into a scratch shop by real writes and run every query through the
//! engine's search, as the service does. The metrics ([`metrics`]) are the usual ones of
//! information retrieval, so that figures can be compared with published ones.
//!
//! Architecture invariant: only the `eval` and `tune` commands, `make eval-inference` and `bench-peers`
//! use this crate; serving needs nothing of it. It knows the engine, not HTTP, the configuration or the environment.
#![cfg_attr(test, allow(clippy::unwrap_used))]

mod candidates;
mod catalog_file;
mod eval;
mod floor;
pub mod inference;
mod judgments;
pub mod metrics;
mod misspelling;
mod report;
mod results;
mod scratch_shop;
mod tune;

use std::path::Path;

use engine::{Settings, store::PostgresSettings};

pub use eval::EvalOptions;
pub use tune::TuneOptions;

/// The engine to measure.
pub struct EngineUnderTest {
    /// Its settings; the scratch shop decides whether it embeds in the background.
    pub settings: Settings,
    /// The database that stores the products; `None` stores them in the scratch folder.
    pub database: Option<PostgresSettings>,
}

/// The context of an error in a file.
fn in_file(path: &Path) -> String {
    format!("in {}", path.display())
}
