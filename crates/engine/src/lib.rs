//! The durable store, the shop indexes in memory, and the reads, writes and searches over them.
//!
//! Follow a write: [`Engine`] → [`writer`] → [`store`] → [`replication`] → [`index`].
//! Follow a search: [`Engine`] → [`search`] → [`replication`] → [`index`] → [`store`].
//!
//! Architecture invariants:
//! - the store is the only truth; every index can be rebuilt from it;
//! - an answered write is durable *and* visible;
//! - nothing is served over HTTP here, and there is no command line and no environment; the clock
//!   and the random source are handed in.
#![cfg_attr(test, allow(clippy::unwrap_used))]

mod background;
pub mod embed;
mod embedding;
mod engine;
mod housekeeping;
pub mod http_client;
pub mod index;
mod read_pool;
mod replication;
mod search;
pub mod store;
pub mod store_migration;
pub mod token_admin;
pub mod tokens;
pub mod writer;
pub mod writes;

pub use engine::{Awaited, Engine, EngineError, Figures, OpenError, Settings};
pub use replication::WarmUp;
pub use search::{OfflineSearcher, SearchRequest, SearchResults, SimilarRequest};
