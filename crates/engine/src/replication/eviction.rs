//! Memory accounting, and the one function that takes a shop out of memory.

use std::{fmt, mem, sync::Arc};

use catalog::product::{ShopId, change::Seq};
use index::ShopIndex;
use store::{ErrorChain, StoreError, TxStamp};

use super::table::{ShopState, ShopTable};

/// Why a shop is evicted.
#[derive(Clone, Copy, Debug)]
pub(crate) enum EvictionReason<'a> {
    /// All indexes together exceed the memory limit.
    MemoryLimit,
    /// A committed change could not be applied; the load applies it.
    UpdatePanicked,
    /// The index shows commits that the store has lost.
    LostCommits {
        /// The last change that the index shows.
        shown: Seq,
        /// The last change that the store has.
        stored: Seq,
    },
    /// The store no longer has the change records that the index misses.
    ChangesTrimmed,
    /// The changes that the index misses could not be read.
    CatchUpFailed(&'a StoreError),
    /// The shop is searched inside the database from now on.
    SearchedInDatabase,
    /// The load ended without an index.
    LoadFailed,
}

impl fmt::Display for EvictionReason<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MemoryLimit => f.write_str("memory limit"),
            Self::UpdatePanicked => f.write_str("index update panicked"),
            Self::LostCommits { shown, stored } => write!(
                f,
                "the database lost commits that were visible (index at {shown}, store at {stored})"
            ),
            Self::ChangesTrimmed => f.write_str("too far behind the store"),
            Self::CatchUpFailed(error) => {
                write!(f, "changes could not be read: {}", ErrorChain(*error))
            }
            Self::SearchedInDatabase => f.write_str("searched in the database"),
            Self::LoadFailed => f.write_str("load failed"),
        }
    }
}

impl EvictionReason<'_> {
    fn log(&self, shop: ShopId, freed_bytes: usize) {
        match self {
            // The loader reports why.
            Self::LoadFailed => {}
            Self::MemoryLimit | Self::ChangesTrimmed | Self::SearchedInDatabase => {
                tracing::info!(%shop, freed_bytes, reason = %self, "shop evicted");
            }
            Self::CatchUpFailed(error) if error.kind().is_transient() => {
                tracing::warn!(%shop, freed_bytes, reason = %self, "shop evicted");
            }
            Self::LostCommits { .. } => {
                tracing::warn!(%shop, freed_bytes, reason = %self, "shop evicted");
            }
            Self::CatchUpFailed(_) | Self::UpdatePanicked => {
                tracing::error!(%shop, freed_bytes, reason = %self, "shop evicted");
            }
        }
    }
}

/// What the shops in memory take.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct MemoryUsage {
    pub(crate) shops: usize,
    pub(crate) products: usize,
    pub(crate) bytes: usize,
}

impl ShopTable {
    /// Takes a shop out of memory: its index or pending changes, and its copy in the local replica.
    /// Every eviction goes through here, so that no part outlives another: a copy that is no longer
    /// updated must not be read.
    pub(super) fn evict(&mut self, shop: ShopId, reason: EvictionReason<'_>) {
        let Some(state) = self.states.remove(&shop) else { return };
        let mut freed_bytes = 0;
        if let ShopState::Ready(ready) = state {
            freed_bytes = ready.bytes;
            self.bytes -= freed_bytes;
            // What the index shows, not the last change that was announced: that may be lost.
            self.last_known.insert(shop, ready.index.snapshot().seq());
        }
        if let Some(replica) = &self.replica {
            replica.drop_copy(shop);
        }
        reason.log(shop, freed_bytes);
    }

    /// Evicts a shop unless another load has replaced this index.
    pub(super) fn evict_if_current(
        &mut self,
        shop: ShopId,
        index: &Arc<ShopIndex>,
        reason: EvictionReason<'_>,
    ) {
        if self.current(shop, index).is_some() {
            self.evict(shop, reason);
        }
    }

    /// Evicts the least recently used shops while all together take more than `limit` bytes. The
    /// shop that was searched last stays, however large; shops that were never searched do not.
    pub(super) fn enforce_limit(&mut self, limit: usize) {
        while self.bytes > limit {
            let ready = self.states.iter().filter_map(|(shop, state)| match state {
                ShopState::Loading(_) => None,
                ShopState::Ready(ready) => Some((ready.last_use, *shop)),
            });
            match ready.min() {
                Some((last_use, shop)) if last_use < self.uses || last_use == 0 => {
                    self.evict(shop, EvictionReason::MemoryLimit);
                }
                _ => break,
            }
        }
    }

    /// Records the size of an index after an update of this many changes, and the transaction it
    /// shows.
    pub(super) fn record_update(
        &mut self,
        shop: ShopId,
        index: &Arc<ShopIndex>,
        stamp: TxStamp,
        changes: usize,
    ) {
        let Some(ready) = self.current_mut(shop, index) else { return };
        ready.stamp = stamp;
        ready.file.unsaved += changes;
        let now = index.snapshot().memory_bytes();
        let before = mem::replace(&mut ready.bytes, now);
        self.bytes = self.bytes - before + now;
    }

    pub(super) fn usage(&self) -> MemoryUsage {
        self.states.values().fold(MemoryUsage::default(), |sum, state| match state {
            ShopState::Loading(_) => sum,
            ShopState::Ready(ready) => {
                let snapshot = ready.index.snapshot();
                MemoryUsage {
                    shops: sum.shops + 1,
                    products: sum.products + snapshot.product_count(),
                    bytes: sum.bytes + snapshot.memory_bytes(),
                }
            }
        })
    }
}
