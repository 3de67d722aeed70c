//! The PostgreSQL store, which several nodes share.
//!
//! Every table that grows is keyed by shop, and every statement names the shop, so the tables can
//! be sharded by shop ([`statements`] lists them all). A writer locks the row of the shop in
//! `shops` until the commit, so the changes of a shop are numbered without gaps and become visible
//! in that order, whichever node made them.

#[macro_use]
mod statements;

mod address;
mod availability;
mod bulk_load;
mod cleanup;
mod connector;
mod database;
mod embedding_leases;
mod flush;
mod halfvec;
mod heartbeat;
mod pool;
#[cfg(test)]
mod queue_tests;
mod reader;
pub(crate) mod rows;
mod schema;
pub mod search;
mod session;
mod settings;
mod state;
mod tls;
mod transaction;

pub use address::{BadAddress, DatabaseAddress};
pub use availability::Availability;
pub use bulk_load::BulkLoad;
pub use database::{ChangeListener, Postgres, PostgresStore};
pub use reader::PostgresReaders;
pub use settings::PostgresSettings;
