//! The engine: the writer, the registry of shops, and reads, writes and searches over the stores and
//! indexes.
//!
//! Follow a write: [`Engine`] → [`writer`] → [`store`] → [`replication`] → [`index`].
//! Follow a search: [`Engine`] → [`search`] → [`index`] (loaded by [`replication`]) or PostgreSQL
//! → [`store`].
//!
//! Architecture invariants:
//! - the store is the only source of truth; every index can be rebuilt from it;
//! - an acknowledged write is durable *and* visible;
//! - this crate serves no HTTP and reads neither arguments nor the environment; the clock and the
//!   random source are parameters.
#![cfg_attr(test, allow(clippy::unwrap_used))]

mod embedding;
mod engine;
mod fair_queue;
mod housekeeping;
mod read_pool;
mod replication;
mod search;
#[cfg(test)]
mod store_conformance;
pub mod store_migration;
pub mod system;
pub mod token_admin;
pub mod tokens;
pub mod writer;
pub mod writes;

pub use engine::{Engine, EngineError, EngineStats, OpenError, Settings, WaitOutcome};
pub use replication::WarmUp;
pub use search::{OfflineSearcher, SearchRequest, SearchResults, SimilarRequest};
