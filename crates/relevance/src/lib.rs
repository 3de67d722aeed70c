//! Relevance evaluation on judged queries ([`EvalOptions`]), and evaluation of inferred attributes
//! and categories on labelled products ([`inference`]).
//!
//! The first loads a catalog file into a scratch shop by real writes and runs every query through the
//! engine's search, as the service does. The metrics are the usual ones of information retrieval,
//! so that figures can be compared with published ones.
//!
//! Architecture invariant: only the `eval` command and `make eval-inference` use this crate; serving
//! needs nothing of it. It knows the engine, not HTTP, the configuration or the environment.
#![cfg_attr(test, allow(clippy::unwrap_used))]

mod catalog_file;
mod eval;
mod floor;
pub mod inference;
mod judgments;
mod metrics;
mod misspelling;
mod parameters;
mod report;
mod results;
mod scratch_shop;

use std::path::Path;

use engine::Settings;
use store::PostgresSettings;

pub use eval::EvalOptions;

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
