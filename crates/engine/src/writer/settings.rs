//! How writes are queued, and why one is not done.

use jiff::SignedDuration;
use thiserror::Error;

use store::{Quotas, StoreError};

/// Why a write was not done.
#[derive(Clone, Debug, Error)]
pub enum WriteError {
    /// Too many writes are queued.
    #[error("too many writes are waiting")]
    QueueFull,
    /// The writer thread has ended unexpectedly; the process must be restarted.
    #[error("the writer is down")]
    Down,
    /// The store failed.
    #[error("the write could not be stored")]
    Store(#[from] StoreError),
}

/// How writes are queued and grouped.
#[derive(Clone, Copy, Debug)]
pub struct WriterSettings {
    /// Writes that may be queued.
    pub queue: usize,
    /// A group is committed once it has this many products.
    pub group_products: usize,
    /// How long the response to an idempotency key is replayed.
    pub response_retention: SignedDuration,
    /// The most that each shop may store.
    pub quotas: Quotas,
}
