//! Applies committed changes to the index of their shop.

use std::{
    collections::HashMap,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use catalog::product::{Product, ShopId, change::Seq};
use embed::{StoredVectors, inference::CategoryEmbeddings};
use index::{Entry, EntryVectors, IndexChange, ShopIndex};
use store::{AppliedChange, Position, VectorChange};

use super::{
    change_batch::ChangeBatch, eviction::EvictionReason, registry::ShopRegistry, table::ShopState,
};

/// Where the changes of a shop have to go.
enum Route {
    /// Into this index.
    Ready(Arc<ShopIndex>, ChangeBatch),
    /// Nowhere: they are pending until the load ends.
    Loading,
    /// Nowhere: the next load reads them with the rows.
    Absent,
}

/// What happened to changes that were handed to the registry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Applied {
    /// They are applied to the index, or will be when its load ends.
    InMemory,
    /// There was nothing to do: the shop is not in memory.
    Absent,
}

impl ShopRegistry {
    /// Applies committed changes to the shop's index. Blocks while other changes are applied to it.
    pub(super) fn apply(&self, mut batch: ChangeBatch) -> Applied {
        loop {
            let (index, routed) = match self.route(batch) {
                Route::Ready(index, batch) => (index, batch),
                Route::Loading => return Applied::InMemory,
                Route::Absent => return Applied::Absent,
            };
            let update_lock = index.lock_updates();
            if self.is_current(routed.shop, &index) {
                self.apply_locked(&index, routed);
                return Applied::InMemory;
            }
            drop(update_lock);
            batch = routed;
        }
    }

    /// As [`apply`](Self::apply), but returns the batch if it would block.
    pub(super) fn try_apply(&self, batch: ChangeBatch) -> Result<Applied, ChangeBatch> {
        let (index, batch) = match self.route(batch) {
            Route::Ready(index, batch) => (index, batch),
            Route::Loading => return Ok(Applied::InMemory),
            Route::Absent => return Ok(Applied::Absent),
        };
        let Some(_update_lock) = index.try_lock_updates() else { return Err(batch) };
        self.apply_locked(&index, batch);
        Ok(Applied::InMemory)
    }

    fn route(&self, batch: ChangeBatch) -> Route {
        let mut table = self.table.lock();
        // Not the greatest number that was ever known: later changes may be lost by now.
        table.last_known.insert(batch.shop, batch.seq);
        let route = match table.states.get_mut(&batch.shop) {
            Some(ShopState::Ready(ready)) => return Route::Ready(Arc::clone(&ready.index), batch),
            Some(ShopState::Loading(pending)) => {
                pending.push(batch);
                Route::Loading
            }
            None => Route::Absent,
        };
        drop(table);
        self.progress.send_replace(());
        route
    }

    /// Whether this is the shop's index, rather than one that was evicted.
    pub(super) fn is_current(&self, shop: ShopId, index: &Arc<ShopIndex>) -> bool {
        self.table.lock().current(shop, index).is_some()
    }

    /// Applies a batch, unless the index shows it already. The caller holds the update lock.
    pub(super) fn apply_locked(&self, index: &Arc<ShopIndex>, mut batch: ChangeBatch) {
        let (shop, shown) = (batch.shop, index.snapshot().seq());
        if self.readers.is_shared() {
            self.apply_in_sequence(index, &batch);
        } else if batch.seq > shown {
            batch.skip_shown(shown);
            self.update(shop, index, &batch.changes, batch.position());
        }
        drop(batch);
        self.progress.send_replace(());
    }

    /// Applies a batch of a store that other nodes write to. Their changes may lie between the
    /// index and the batch, and an earlier catch-up may have included the batch. Only a batch that
    /// starts at the position of the index is applied without a query.
    fn apply_in_sequence(&self, index: &Arc<ShopIndex>, batch: &ChangeBatch) {
        let shop = batch.shop;
        let state = self.table.lock().current(shop, index).map(|r| (r.position(), r.confirmed_at));
        let Some((position, confirmed_at)) = state else { return };
        if batch.starts_at(position) {
            self.update(shop, index, &batch.changes, batch.position());
        } else if batch.seq > position.seq || confirmed_at <= batch.durable_at {
            self.catch_up_or_evict(shop, index);
        }
    }

    /// Updates an index to `position`. If that panics the shop is evicted: the changes are durable
    /// and must become visible. The caller holds the update lock.
    pub(super) fn update(
        &self,
        shop: ShopId,
        index: &Arc<ShopIndex>,
        changes: &[AppliedChange],
        position: Position,
    ) {
        let update = || self.write_through(shop, index, changes, position.seq);
        let updated = catch_unwind(AssertUnwindSafe(update));
        let mut table = self.table.lock();
        match updated {
            Ok(()) => table.record_update(shop, index, position.stamp, changes.len()),
            // The panic hook has reported the cause.
            Err(_) => table.evict_if_current(shop, index, EvictionReason::UpdatePanicked),
        }
        table.enforce_limit(self.memory_limit);
    }

    /// Applies changes to the local replica and then to the index, so that every row that a search
    /// finds can be read.
    pub(super) fn write_through(
        &self,
        shop: ShopId,
        index: &ShopIndex,
        changes: &[AppliedChange],
        seq: Seq,
    ) {
        if let Some(replica) = &self.replica {
            replica.apply(shop, changes);
        }
        let vectors = self.index_vectors(index, changes);
        let changes = changes.iter().zip(&vectors);
        let changes: Vec<_> =
            changes.map(|(one, added)| index_change(one, added.as_ref())).collect();
        index.apply(&changes, seq);
    }

    /// The vectors of changes with what the categories of the products add to them; `None` for a change
    /// without vectors, or where no model has categories.
    fn index_vectors(
        &self,
        index: &ShopIndex,
        changes: &[AppliedChange],
    ) -> Vec<Option<StoredVectors>> {
        let Some(embeddings) = CategoryEmbeddings::of(self.model.as_ref()) else {
            return vec![None; changes.len()];
        };
        let snapshot = index.snapshot();
        let mut categories = HashMap::new();
        let add = |vectors: &StoredVectors, category| {
            let mut vectors = vectors.clone();
            embeddings.add_to(&mut vectors, category);
            Some(vectors)
        };
        let add = |change: &AppliedChange| match change {
            AppliedChange::Upserted { product, vectors } => {
                let category = product.inferred.likely_category;
                categories.insert(product.id, category);
                match vectors {
                    VectorChange::Set(vectors) => add(vectors, category),
                    VectorChange::Unchanged | VectorChange::Kept | VectorChange::Pending => None,
                }
            }
            AppliedChange::Embedded { id, vectors, .. } => {
                let category = categories.get(id).copied();
                add(vectors, category.unwrap_or_else(|| snapshot.likely_category(*id)))
            }
            AppliedChange::Deleted { .. } => None,
        };
        changes.iter().map(add).collect()
    }

    /// Applies the changes of a transaction and waits until searches show them.
    #[cfg(test)]
    pub(crate) fn apply_and_wait(&self, committed: store::Committed) {
        let (guard, visible) = std::sync::mpsc::channel::<()>();
        let guard: super::VisibilityGuard = Arc::new(parking_lot::Mutex::new(guard));
        for (_, mut batch) in ChangeBatch::by_shop(committed) {
            batch.add_guard(Arc::clone(&guard));
            self.apply(batch);
        }
        drop(guard);
        assert!(visible.recv().is_err());
    }
}

/// A change with its vectors, or with those in place of them.
fn index_change<'a>(
    change: &'a AppliedChange,
    replaced: Option<&'a StoredVectors>,
) -> IndexChange<'a> {
    match change {
        AppliedChange::Upserted { product, vectors } => {
            IndexChange::Upsert(entry(product, entry_vectors(vectors, replaced)))
        }
        AppliedChange::Embedded { id, vectors, .. } => {
            IndexChange::Embed(*id, replaced.unwrap_or(vectors))
        }
        AppliedChange::Deleted { id, .. } => IndexChange::Delete(*id),
    }
}

fn entry_vectors<'a>(
    vectors: &'a VectorChange,
    replaced: Option<&'a StoredVectors>,
) -> EntryVectors<'a> {
    match vectors {
        VectorChange::Unchanged => EntryVectors::Unchanged,
        VectorChange::Kept => EntryVectors::Kept,
        VectorChange::Pending => EntryVectors::Missing,
        VectorChange::Set(vectors) => EntryVectors::Known(replaced.unwrap_or(vectors)),
    }
}

fn entry<'a>(product: &'a Product, vectors: EntryVectors<'a>) -> Entry<'a> {
    Entry {
        id: product.id,
        version: product.version,
        hidden: product.hidden,
        price: product.price.money(),
        title: product.title.as_str(),
        description: product.description.as_str(),
        key: product.key.as_ref().map(catalog::product::key::Key::as_str),
        attributes: &product.attributes,
        inferred: product.inferred,
        vectors,
    }
}
