//! The registry of shops in memory: their states, and the lookup of their indexes.

use std::{collections::HashMap, sync::Arc, time::Instant};

use catalog::{change::Seq, product::ShopId};
use parking_lot::{Condvar, Mutex};
use tokio::sync::watch;

use super::{
    eviction::{EvictionReason, MemoryUsage},
    load::ShopLoad,
    local_replica::LocalReplica,
    pending::PendingChanges,
};
use crate::{
    embed::ModelId,
    index::ShopIndex,
    store::{IndexSource, Position, StoreError, TxStamp},
};

/// Estimated index memory per product, to foresee whether a shop fits into memory.
pub(super) const BYTES_PER_PRODUCT: usize = 1024;

/// All shops in the memory of this process.
pub(crate) struct ShopRegistry {
    pub(super) readers: Arc<dyn IndexSource>,
    /// A replica of the rows of the shops in memory; `None` beside a local store.
    pub(super) replica: Option<Arc<LocalReplica>>,
    /// The model whose vectors the indexes hold.
    pub(super) model: Option<ModelId>,
    /// Bytes that all indexes together may take.
    pub(super) memory_limit: usize,
    /// Shops with more products are loaded by searches only.
    prefetch_limit: usize,
    pub(super) table: Mutex<ShopTable>,
    /// Notified when a load ends.
    pub(super) load_ended: Condvar,
    /// Sent whenever searches of some shop may show more changes.
    pub(super) progress: watch::Sender<()>,
}

/// The states of all shops that are not absent, and their memory accounting. Locked for map
/// operations only.
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
    fn get(&mut self, shop: ShopId, reason: LoadReason) -> Option<Arc<ShopIndex>> {
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
        stamp: TxStamp,
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
        let ready = ReadyShop { index, stamp, confirmed_at: Instant::now(), last_use, bytes };
        if let Some(ShopState::Ready(replaced)) = self.states.insert(shop, ShopState::Ready(ready))
        {
            self.bytes -= replaced.bytes;
        }
    }
}

impl ShopRegistry {
    pub(crate) fn new(
        readers: Arc<dyn IndexSource>,
        model: Option<ModelId>,
        memory_limit: usize,
    ) -> Self {
        Self {
            readers,
            replica: None,
            model,
            memory_limit,
            prefetch_limit: usize::MAX,
            table: Mutex::default(),
            load_ended: Condvar::new(),
            progress: watch::Sender::default(),
        }
    }

    /// Shops with more products than this are loaded by searches only.
    pub(crate) fn with_prefetch_limit(self, products: usize) -> Self {
        Self { prefetch_limit: products, ..self }
    }

    /// Copies the rows of every shop that is loaded from now on into this replica.
    pub(crate) fn with_replica(self, replica: Option<Arc<LocalReplica>>) -> Self {
        self.table.lock().replica.clone_from(&replica);
        Self { replica, ..self }
    }

    /// The shop's index. Loads it if it is absent, and blocks while it loads.
    pub(crate) fn index(&self, shop: ShopId) -> Result<Arc<ShopIndex>, StoreError> {
        self.get_or_load(shop, LoadReason::Search)
    }

    pub(super) fn get_or_load(
        &self,
        shop: ShopId,
        reason: LoadReason,
    ) -> Result<Arc<ShopIndex>, StoreError> {
        let mut table = self.table.lock();
        let mut load = loop {
            if let Some(index) = table.get(shop, reason) {
                return Ok(index);
            }
            if !table.states.contains_key(&shop) {
                break ShopLoad::begin(self, &mut table, shop, reason);
            }
            // Another thread loads it.
            self.load_ended.wait(&mut table);
        };
        drop(table);
        let index = load.scan()?;
        load.finish(index)
    }

    /// The shop's index if it is ready. Never waits for a load.
    pub(crate) fn in_memory(&self, shop: ShopId) -> Option<Arc<ShopIndex>> {
        self.table.lock().get(shop, LoadReason::Search)
    }

    /// Evicts a shop if it is ready. A shop that loads stays: a request waits for it.
    pub(crate) fn evict(&self, shop: ShopId, reason: EvictionReason<'_>) {
        let mut table = self.table.lock();
        if table.ready(shop).is_some() {
            table.evict(shop, reason);
        }
    }

    /// The store that the shops are loaded from.
    pub(super) fn readers(&self) -> &dyn IndexSource {
        &*self.readers
    }

    /// Whether a shop is estimated to fit into memory without an eviction.
    pub(super) fn has_room_for(&self, shop: ShopId) -> bool {
        let Ok(counts) = self.readers.counts(shop) else { return false };
        let bytes = counts.products.saturating_mul(BYTES_PER_PRODUCT);
        let used = self.table.lock().bytes;
        counts.products <= self.prefetch_limit && used.saturating_add(bytes) <= self.memory_limit
    }

    /// Whether the memory limit is reached.
    pub(super) fn is_full(&self) -> bool {
        self.table.lock().bytes >= self.memory_limit
    }

    /// What the ready shops take together.
    pub(crate) fn memory_usage(&self) -> MemoryUsage {
        self.table.lock().usage()
    }

    /// The last change of a shop that all responses from now on reflect; `None` if unknown.
    pub(crate) fn visible_seq(&self, shop: ShopId) -> Option<Seq> {
        let table = self.table.lock();
        match table.ready(shop) {
            Some(ready) => Some(ready.index.snapshot().seq()),
            None => table.last_known.get(&shop).copied(),
        }
    }

    /// Receives a value whenever [`visible_seq`](Self::visible_seq) of some shop may have grown.
    pub(crate) fn progress(&self) -> watch::Receiver<()> {
        self.progress.subscribe()
    }
}
