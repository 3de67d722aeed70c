//! Loads one shop into memory while its products change.

use std::{sync::Arc, time::Instant};

use catalog::product::ShopId;
use embed::inference::CategoryEmbeddings;
use index::{Entry, EntryVectors, IndexBuilder, ShopIndex};
use store::{FeedResult, Position, ScannedProduct, StoreError, TxStamp};

use super::{
    change_batch::ChangeBatch,
    eviction::EvictionReason,
    index_files::FileState,
    pending::PendingChanges,
    registry::ShopRegistry,
    table::{LoadReason, ShopState, ShopTable},
};

impl ShopRegistry {
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
        let restored = load.restore()?;
        let index = restored.map_or_else(|| load.scan(), Ok)?;
        load.finish(index)
    }
}

/// A load in progress. It owns the shop's `Loading` state: no other thread removes that. Dropping
/// the load before it finished evicts the shop; threads that wait for it are woken in any case.
pub(super) struct ShopLoad<'a> {
    registry: &'a ShopRegistry,
    shop: ShopId,
    reason: LoadReason,
    /// The transaction of the last change that the index shows.
    stamp: TxStamp,
    file: FileState,
    is_finished: bool,
    /// Called before changes are applied that were made since the scan.
    #[cfg(test)]
    pub(super) on_pending: Option<Box<dyn FnMut() + 'a>>,
}

impl<'a> ShopLoad<'a> {
    /// Starts to keep the changes of a shop: a scan that starts later shows all changes before.
    pub(super) fn begin(
        registry: &'a ShopRegistry,
        table: &mut ShopTable,
        shop: ShopId,
        reason: LoadReason,
    ) -> Self {
        let pending = PendingChanges::new(registry.readers.is_shared());
        table.states.insert(shop, ShopState::Loading(pending));
        let (stamp, file) = (TxStamp::default(), FileState::default());
        Self {
            registry,
            shop,
            reason,
            stamp,
            file,
            is_finished: false,
            #[cfg(test)]
            on_pending: None,
        }
    }

    /// The index from its file and the changes since then; `None` if that is not possible.
    fn restore(&mut self) -> Result<Option<ShopIndex>, StoreError> {
        let (shop, started) = (self.shop, Instant::now());
        let Some((index, file)) = self.registry.restore(shop)? else { return Ok(None) };
        let since = Position { seq: index.snapshot().seq(), stamp: self.stamp };
        let model = self.registry.model.as_ref();
        let found = self.registry.readers.changes_since(shop, model, since)?;
        let FeedResult::Changes(changes, position) = found else {
            self.registry.discard_file(shop, "the database no longer has the changes since");
            return Ok(None);
        };
        self.registry.write_through(shop, &index, &changes, position.seq);
        self.stamp = position.stamp;
        self.file = FileState { unsaved: changes.len(), ..file };
        let (products, changes) = (index.snapshot().product_count(), changes.len());
        let elapsed_ms = started.elapsed().as_millis() as u64;
        tracing::info!(%shop, products, changes, elapsed_ms, "shop restored from its index file");
        Ok(Some(index.for_shop(shop)))
    }

    /// Scans the rows into an index and into the local replica.
    pub(super) fn scan(&mut self) -> Result<ShopIndex, StoreError> {
        let (shop, started) = (self.shop, Instant::now());
        let mut builder = IndexBuilder::new();
        let embeddings = CategoryEmbeddings::of(self.registry.model.as_ref());
        let mut copy = self.registry.replica.as_ref().map(|replica| replica.start_copy(shop));
        let mut add = |mut row: ScannedProduct<'_>| {
            if let Some(copy) = &mut copy {
                copy.add_scanned(&row);
            }
            if let (Some(vectors), Some(embeddings)) = (&mut row.vectors, embeddings) {
                embeddings.add_to(vectors, row.inferred.likely_category);
            }
            builder.add(entry(&row));
        };
        let model = self.registry.model.as_ref();
        let read_at = self.registry.readers.scan(shop, model, &mut add)?;
        if let Some(copy) = copy {
            copy.publish();
        }
        self.stamp = read_at.stamp;
        let index = builder.finish(read_at.seq).for_shop(shop);
        let products = index.snapshot().product_count();
        self.file = FileState::unsaved(products);
        let elapsed_ms = started.elapsed().as_millis() as u64;
        tracing::info!(%shop, products, elapsed_ms, "shop loaded");
        Ok(index)
    }

    /// Applies the pending changes and publishes the index. The table is not locked while the index
    /// is updated.
    pub(super) fn finish(&mut self, index: ShopIndex) -> Result<Arc<ShopIndex>, StoreError> {
        let index = Arc::new(index);
        // Changes that are routed to the index once it is published wait for the pending ones.
        let update_lock = index.lock_updates();
        let mut is_first = true;
        let rest = loop {
            match self.publish(&index, is_first) {
                Ok(rest) => break rest,
                Err(pending) => self.apply_pending(&index, pending)?,
            }
            is_first = false;
        };
        // The rest is not acknowledged yet, so searches did not have to show it before now.
        let last_seq = rest.last_seq();
        if let Some(batch) = rest.into_batch() {
            self.registry.apply_locked(&index, batch);
        }
        if index.snapshot().seq() < last_seq {
            self.registry.catch_up_or_evict(self.shop, &index);
        }
        drop(update_lock);
        Ok(index)
    }

    /// Publishes the index if it shows every acknowledged change, and returns the changes that are
    /// not acknowledged yet. Otherwise returns, as an error, the changes to apply first.
    fn publish(
        &mut self,
        index: &Arc<ShopIndex>,
        is_first: bool,
    ) -> Result<PendingChanges, PendingChanges> {
        let is_shared = self.registry.readers.is_shared();
        let mut table = self.registry.table.lock();
        let rest = match table.states.get_mut(&self.shop) {
            Some(ShopState::Loading(pending)) => {
                if !pending.is_covered_by(index.snapshot().seq()) {
                    return Err(pending.take(is_first, is_shared));
                }
                pending.take(false, is_shared)
            }
            _ => PendingChanges::default(),
        };
        self.is_finished = true;
        table.insert(self.shop, Arc::clone(index), (self.stamp, self.file), self.reason);
        table.enforce_limit(self.registry.memory_limit);
        Ok(rest)
    }

    fn apply_pending(
        &mut self,
        index: &ShopIndex,
        pending: PendingChanges,
    ) -> Result<(), StoreError> {
        #[cfg(test)]
        if let Some(called) = &mut self.on_pending {
            called();
        }
        let shown = index.snapshot().seq();
        let batch = match pending.into_batch() {
            Some(mut batch) => {
                // Changes that the scan has read would set newer rows back for a moment.
                batch.skip_shown(shown);
                batch
            }
            None => self.read_pending(Position { seq: shown, stamp: self.stamp })?,
        };
        let seq = batch.seq.max(shown);
        self.file.unsaved += batch.changes.len();
        self.registry.write_through(self.shop, index, &batch.changes, seq);
        Ok(())
    }

    /// Reads the pending changes from the store.
    fn read_pending(&mut self, since: Position) -> Result<ChangeBatch, StoreError> {
        let model = self.registry.model.as_ref();
        match self.registry.readers.changes_since(self.shop, model, since)? {
            FeedResult::Changes(changes, position) => {
                self.stamp = position.stamp;
                Ok(ChangeBatch::new(self.shop, changes, position.seq))
            }
            FeedResult::Truncated | FeedResult::Diverged(_) => {
                Err(StoreError::changed_while_read())
            }
        }
    }
}

impl Drop for ShopLoad<'_> {
    fn drop(&mut self) {
        let mut table = self.registry.table.lock();
        // After the load has finished, a `Loading` state belongs to the next load of the shop.
        if !self.is_finished {
            table.evict(self.shop, EvictionReason::LoadFailed);
        }
        self.registry.load_ended.notify_all();
    }
}

fn entry<'a>(row: &'a ScannedProduct<'a>) -> Entry<'a> {
    let ScannedProduct { id, version, hidden, price, title, description, .. } = *row;
    let vectors = row.vectors.as_ref().map_or(EntryVectors::Missing, EntryVectors::Known);
    Entry {
        id,
        version,
        hidden,
        price,
        title,
        description,
        key: row.key,
        attributes: &row.attributes,
        inferred: row.inferred,
        vectors,
    }
}
