//! Keeps what this process derives from the store up to date: the search index of each shop in
//! memory and, beside a database, a local replica of its rows.
//!
//! Nothing here is a source of truth. A shop can be evicted at any time and is loaded again from
//! the store by the next search.
//!
//! # Life of a shop in memory
//!
//! ```text
//!             search or write                scan ends, pending changes applied
//!   absent ───────────────────▶ loading ──────────────────────────────────────▶ ready
//!     ▲                            │ load fails                                   │
//!     └────────────────────────────┴──────────── evicted (eviction.rs) ◀──────────┘
//! ```
//!
//! - **Absent.** Committed changes need not be applied: the next load reads them with the rows.
//! - **Loading** ([`load`]). [`loader`] threads restore the index from its file ([`index_files`]), or
//!   scan the rows into an index and, beside a database, into the local replica. Changes that commit
//!   meanwhile are kept in [`pending`] and applied before the index is published, so that a load
//!   misses nothing.
//! - **Ready.** The writer and the [`applier`] threads apply this node's commits ([`apply`]); the
//!   [`change_feed`] learns of the commits of other nodes, which [`catch_up`] reads and applies. A
//!   change reaches the replica before the index, so that a row that a search finds can be read.
//! - **Evicted.** One function, `ShopTable::evict`, takes a shop out of memory, whatever the
//!   [reason](EvictionReason): memory limit, panic in an update, lost commits, a move into the
//!   database, a failed load. It drops the index, the pending changes and the replica's copy
//!   together. The query cache needs no eviction: its keys contain the id of a snapshot, and ids
//!   are never reused.
//!
//! # Locks
//!
//! 1. The **update lock** of a [`ShopIndex`](index::ShopIndex) serialises the updates of one
//!    index and its copy. It is held while changes are read and applied.
//! 2. [`ShopRegistry`]`::table` protects the state, size and last use of every shop. It is held for
//!    map operations, and while the memory of an evicted index is freed.
//! 3. [`LocalReplica`]`::writer` protects the connection that writes the copies. It is held for one
//!    SQLite transaction, never together with the table.
//! 4. [`LocalReplica`]`::copies` and `retired` protect the lists of copies. They are held for map
//!    operations only, one at a time.
//!
//! A thread takes them in this order and may skip some. It holds only one update lock at a time,
//! and after waiting for one checks that the index is still its shop's: the shop may have been
//! evicted and loaded again. The queues of [`applier`] and [`loader`] have locks of their own, and
//! no other lock is taken while they are held.
//!
//! **Readers never wait for writers.** A search takes the table lock to look up the index, and then
//! works on an immutable snapshot behind an atomic pointer. No thread builds or changes an index,
//! or does I/O, while it holds the table lock.
//!
//! # Positions and lost commits
//!
//! The changes of a shop are numbered without gaps and become visible in order. A database that
//! lost its last commits, by a failover to a replica that did not have them or by a restore,
//! assigns their numbers again. So a [`Position`](store::Position) is the number of the last
//! change and the random stamp of the transaction that made it. An index at a position that the
//! store's history does not contain shows lost commits, and its shop is evicted. A transaction is
//! applied without a query only if it started at exactly the position of the index; otherwise the
//! changes that the index misses are read from the store.
//!
//! # Outages
//!
//! [`FailoverReaders`] serve rows from the local replica and tokens from the [`token_cache`] while
//! the database is down, which its [`Availability`](store::Availability) knows from a
//! heartbeat.

mod applier;
mod apply;
mod catch_up;
mod change_batch;
mod change_feed;
mod eviction;
mod failover;
mod index_files;
mod index_saver;
mod load;
mod loader;
mod local_replica;
mod pending;
#[cfg(test)]
mod postgres_tests;
mod registry;
mod table;
#[cfg(test)]
mod tests;
mod token_cache;
mod token_lookups;
mod warm_up;

pub use self::warm_up::WarmUp;
pub(crate) use self::{
    applier::Applier,
    change_batch::{ChangeBatch, VisibilityGuard},
    change_feed::ChangeFeed,
    eviction::EvictionReason,
    failover::FailoverReaders,
    index_files::IndexFiles,
    index_saver::IndexSaver,
    loader::{LoadError, Loader},
    local_replica::LocalReplica,
    registry::ShopRegistry,
    token_cache::TOKEN_LEASE,
};
