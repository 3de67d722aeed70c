//! Brings a shop into memory while its products change.

use std::{cell::Cell, sync::Arc, time::Instant};

use catalog::product::ShopId;

use super::{
    Shops, Slot, Slots, as_index_change, as_scanned_entry,
    batch::{Batch, Missed},
};
use crate::{
    index::{IndexBuilder, ShopIndex},
    store::{FeedResult, Position, ScannedProduct, StoreError, TxStamp},
};

/// A shop that is being loaded. Threads that wait for it are woken when this is dropped, however
/// the load ends.
pub(super) struct Loading<'a> {
    shops: &'a Shops,
    shop: ShopId,
    /// Whether a search has asked for the shop.
    is_used: bool,
    /// The transaction that made the last change that the index shows.
    stamp: Cell<TxStamp>,
    is_finished: bool,
}

impl<'a> Loading<'a> {
    /// Begins to keep the changes of a shop that its rows may not show yet.
    pub(super) fn begin(shops: &'a Shops, slots: &mut Slots, shop: ShopId, is_used: bool) -> Self {
        let missed = Missed::new(shops.readers.is_shared());
        slots.by_shop.insert(shop, Slot::Loading { missed });
        Self { shops, shop, is_used, stamp: Cell::default(), is_finished: false }
    }

    /// Reads the rows.
    pub(super) fn read(&self) -> Result<ShopIndex, StoreError> {
        let (shop, started) = (self.shop, Instant::now());
        let mut builder = IndexBuilder::new();
        let model = self.shops.model.as_ref();
        let mut add = |row: ScannedProduct<'_>| builder.add(as_scanned_entry(&row));
        let read_at = self.shops.readers.scan(shop, model, &mut add)?;
        self.stamp.set(read_at.stamp);
        let index = builder.finish(read_at.seq).for_shop(shop);
        let products = index.snapshot().product_count();
        let elapsed_ms = started.elapsed().as_millis() as u64;
        tracing::info!(%shop, products, elapsed_ms, "a shop index was loaded");
        Ok(index)
    }

    /// Applies what was missed and lets the index be searched. No lock that a search takes is held
    /// while the index works.
    pub(super) fn finish(&mut self, index: ShopIndex) -> Result<Arc<ShopIndex>, StoreError> {
        let index = Arc::new(index);
        // Changes that come from now on are applied after those that were missed.
        let turn = index.lock_updates();
        let mut is_first = true;
        let rest = loop {
            match self.publish(&index, is_first) {
                Ok(rest) => break rest,
                Err(missed) => self.catch_up(&index, missed)?,
            }
            is_first = false;
        };
        // These were not acknowledged yet, so searches need not show them before now.
        let last = rest.last();
        if let Some(batch) = rest.into_batch() {
            self.shops.show(&index, batch);
        }
        if index.snapshot().seq() < last {
            self.shops.catch_up_or_remove(self.shop, &index);
        }
        drop(turn);
        Ok(index)
    }

    /// Publishes the index if it shows every change that was acknowledged, and returns changes that
    /// were not. Otherwise returns, as an error, what has to be applied first.
    fn publish(&mut self, index: &Arc<ShopIndex>, is_first: bool) -> Result<Missed, Missed> {
        let is_shared = self.shops.readers.is_shared();
        let mut slots = self.shops.slots.lock();
        let missed = match slots.by_shop.get_mut(&self.shop) {
            Some(Slot::Loading { missed }) if missed.is_shown_at(index.snapshot().seq()) => {
                missed.take(false, is_shared)
            }
            Some(Slot::Loading { missed }) => return Err(missed.take(is_first, is_shared)),
            _ => Missed::default(),
        };
        self.is_finished = true;
        slots.put(self.shop, Arc::clone(index), self.stamp.get(), self.is_used);
        slots.keep_within(self.shops.memory_budget, &*self.shops.readers);
        Ok(missed)
    }

    fn catch_up(&self, index: &ShopIndex, missed: Missed) -> Result<(), StoreError> {
        let (shop, shown) = (self.shop, index.snapshot().seq());
        let batch = match missed.into_batch() {
            Some(mut batch) => {
                // What the rows show already would take newer rows back for a moment.
                batch.skip_shown(shown);
                batch
            }
            None => {
                let model = self.shops.model.as_ref();
                let since = Position { seq: shown, stamp: self.stamp.get() };
                match self.shops.readers.changes_since(shop, model, since)? {
                    FeedResult::Changes(changes, position) => {
                        self.stamp.set(position.stamp);
                        Batch::new(shop, changes, position.seq)
                    }
                    FeedResult::Truncated | FeedResult::Diverged(_) => {
                        return Err(StoreError::changed_while_read());
                    }
                }
            }
        };
        self.shops.readers.replicate(shop, &batch.changes.iter().collect::<Vec<_>>());
        let changes: Vec<_> = batch.changes.iter().map(as_index_change).collect();
        index.apply(&changes, batch.seq.max(shown));
        Ok(())
    }
}

impl Drop for Loading<'_> {
    fn drop(&mut self) {
        let mut slots = self.shops.slots.lock();
        // Once finished, a slot that is loading belongs to another load: the shop may have left
        // memory already and be on its way back.
        if !self.is_finished {
            slots.by_shop.remove(&self.shop);
            self.shops.readers.drop_replica(self.shop);
        }
        self.shops.loaded.notify_all();
    }
}
