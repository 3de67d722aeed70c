//! The durable stores: [`traits`] and [`row_writes`] have their interface, [`sqlite`] and
//! [`postgres`] implement it.
//!
//! A store keeps rows. What a write changes besides its row (the next change number, the counts,
//! the pending vector) is the same for every store and is implemented once, in [`transaction`].

#![cfg_attr(test, allow(clippy::unwrap_used))]

pub mod background;
mod columns;
mod decoding;
mod error;
mod postgres;
mod records;
mod row_writes;
mod schema;
mod sqlite;
mod tally;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
mod traits;
mod transaction;
mod usage;

pub use columns::{AttributesJson, NumberJson, attributes_column, media_column};
pub use error::{ErrorChain, StoreError, StoreErrorKind};
pub use postgres::{
    Availability, BadAddress, BulkLoad, ChangeListener, DatabaseAddress, Postgres, PostgresReaders,
    PostgresSettings, PostgresStore, search as postgres_search,
};
pub use records::{
    AppliedChange, ChangeEntry, ChangeRecord, ChangesExpired, ChangesPage, Committed, FeedResult,
    NewToken, Page, Position, PositionChange, Retained, ScannedProduct, ShopCounts, StoreState,
    StoredResponse, TokenBatch, TokenPage, TokenRow, TxStamp, Unembedded, UnindexedColumns,
    VectorChange, VectorCount, VectorRow,
};
pub use row_writes::RowWrites;
pub use sqlite::{
    Damage, DataFolder, FolderInUse, INDEX_FOLDER, SqliteReaders, SqliteStore, rows as sqlite_rows,
};
pub use traits::{
    CatalogReads, CatalogStore, ChangeReads, Cleanup, EmbeddingQueue, FullScan, IndexSource,
    ProductReads, SearchReads, StoreInfo, TokenLookup, TokenReads,
};
pub use transaction::{Derived, WriteTransaction};
pub use usage::{LimitExceeded, Quotas, ShopUsage, UsageChange};
