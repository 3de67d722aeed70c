//! The states of the shops in memory.

use std::{collections::HashMap, sync::Arc, time::Instant};

use catalog::product::{ShopId, change::Seq};
use index::ShopIndex;
use store::{Position, TxStamp};

use super::{index_files::FileState, local_replica::LocalReplica, pending::PendingChanges};

/// The states of all shops that are not absent, and their memory accounting. Never locked during
/// I/O or while an index is built or updated.
#[derive(Default)]
pub(super) struct ShopTable {
    pub(super) states: HashMap<ShopId, ShopState>,
    /// Incremented by every use; orders shops by their last use.
    pub(super) uses: u64,
    /// Bytes of all ready shops.
    pub(super) bytes: usize,
    /// The last change known of a shop, whether it is in memory or not.
    pub(super) last_known: HashMap<ShopId, Seq>,
    /// The same as the registry's: eviction drops the copy of a shop together with its state.
    pub(super) replica: Option<Arc<LocalReplica>>,
}

pub(super) enum ShopState {
    /// A load is scanning the rows; changes that commit meanwhile are kept.
    Loading(PendingChanges),
    Ready(ReadyShop),
}

/// A shop that can be searched.
pub(super) struct ReadyShop {
    pub(super) index: Arc<ShopIndex>,
    /// The transaction of the last change that the index shows.
    pub(super) stamp: TxStamp,
    /// When the last query that found the index up to date was sent.
    pub(super) confirmed_at: Instant,
    /// The value of [`ShopTable::uses`] at the last search; 0 if there was none.
    pub(super) last_use: u64,
    /// The size of the index after its last update.
    pub(super) bytes: usize,
    /// What the index file lacks.
    pub(super) file: FileState,
}

impl ReadyShop {
    /// Where in its shop's history the index is.
    pub(super) fn position(&self) -> Position {
        Position { seq: self.index.snapshot().seq(), stamp: self.stamp }
    }
}

/// Why a shop is loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LoadReason {
    /// A request searches it.
    Search,
    /// It was written to, so it will probably be searched. It is evicted before any shop that was
    /// searched.
    Write,
}

impl ShopTable {
    pub(super) fn ready(&self, shop: ShopId) -> Option<&ReadyShop> {
        match self.states.get(&shop) {
            Some(ShopState::Ready(ready)) => Some(ready),
            _ => None,
        }
    }

    /// The shop, if this is still its index.
    pub(super) fn current(&self, shop: ShopId, index: &Arc<ShopIndex>) -> Option<&ReadyShop> {
        self.ready(shop).filter(|ready| Arc::ptr_eq(&ready.index, index))
    }

    /// As [`current`](Self::current), to be changed.
    pub(super) fn current_mut(
        &mut self,
        shop: ShopId,
        index: &Arc<ShopIndex>,
    ) -> Option<&mut ReadyShop> {
        match self.states.get_mut(&shop) {
            Some(ShopState::Ready(ready)) if Arc::ptr_eq(&ready.index, index) => Some(ready),
            _ => None,
        }
    }

    /// The index of a ready shop. Records the use if a search is the reason.
    pub(super) fn get(&mut self, shop: ShopId, reason: LoadReason) -> Option<Arc<ShopIndex>> {
        let Some(ShopState::Ready(ready)) = self.states.get_mut(&shop) else { return None };
        if reason == LoadReason::Search {
            self.uses += 1;
            ready.last_use = self.uses;
        }
        Some(Arc::clone(&ready.index))
    }

    /// Publishes the index of a shop that was loading.
    pub(super) fn insert(
        &mut self,
        shop: ShopId,
        index: Arc<ShopIndex>,
        (stamp, file): (TxStamp, FileState),
        reason: LoadReason,
    ) {
        let last_use = match reason {
            LoadReason::Search => {
                self.uses += 1;
                self.uses
            }
            LoadReason::Write => 0,
        };
        let bytes = index.snapshot().memory_bytes();
        self.bytes += bytes;
        let confirmed_at = Instant::now();
        let ready = ReadyShop { index, stamp, confirmed_at, last_use, bytes, file };
        if let Some(ShopState::Ready(replaced)) = self.states.insert(shop, ShopState::Ready(ready))
        {
            self.bytes -= replaced.bytes;
        }
    }
}
