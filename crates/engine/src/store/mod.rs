//! Where does the truth live? In a store: what the engine asks of one is in [`seam`].
//!
//! A store keeps rows. What a write means for them (the next change number, the counts, the
//! vector that is owed) is the same for every store and is said once, in [`transaction`].

mod columns;
#[cfg(test)]
pub(crate) mod conformance;
mod decoding;
mod error;
mod postgres;
mod records;
mod seam;
mod sqlite;
mod transaction;

pub use error::{ErrorChain, StoreError, Trouble};
pub(crate) use postgres::Outlook;
#[cfg(test)]
pub(crate) use postgres::step_from;
pub(crate) use postgres::{
    ABOVE_PRICES, CandidateRow, Conditions, Filling, Glance, SearchState, Weighed, quote,
};
pub use postgres::{
    Arrival, BadAddress, DatabaseAddress, Ear, Postgres, PostgresReaders, PostgresSettings,
    PostgresStore, SteadyReaders, TOKEN_LEASE,
};
pub use records::{
    Committed, Meaning, News, Page, Position, Remembered, Scanned, ShopCounts, Stamp, Step,
    StoreState, TokenRow, Touched, Unembedded, VectorCount, VectorRow,
};
pub use seam::{CatalogReads, CatalogStore, Cleanup, RowWrites};
pub use sqlite::{DataFolder, FolderInUse, SqliteReaders, SqliteStore};
pub use transaction::WriteTransaction;
