//! The registry of shops in memory, and the lookup of their indexes.

use std::sync::Arc;

use catalog::product::{ShopId, change::Seq};
use embed::ModelId;
use index::ShopIndex;
use parking_lot::{Condvar, Mutex};
use store::IndexSource;
use tokio::sync::watch;

use super::{
    eviction::{EvictionReason, MemoryUsage},
    index_files::IndexFiles,
    local_replica::LocalReplica,
    table::{LoadReason, ShopTable},
};

/// Estimated index memory per product, to foresee whether a shop fits into memory.
pub(super) const BYTES_PER_PRODUCT: usize = 1024;

/// All shops in the memory of this process.
pub(crate) struct ShopRegistry {
    pub(super) readers: Arc<dyn IndexSource>,
    /// A replica of the rows of the shops in memory; `None` beside a local store.
    pub(super) replica: Option<Arc<LocalReplica>>,
    /// The index files of a data folder; `None` without.
    pub(super) index_files: Option<IndexFiles>,
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

impl ShopRegistry {
    pub(crate) fn new(
        readers: Arc<dyn IndexSource>,
        model: Option<ModelId>,
        memory_limit: usize,
    ) -> Self {
        Self {
            readers,
            replica: None,
            index_files: None,
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

    /// Restores shops from these files, and writes them.
    pub(crate) fn with_index_files(self, index_files: Option<IndexFiles>) -> Self {
        Self { index_files, ..self }
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
