//! Brings indexes up to date with the changes that other nodes commit.

use std::{collections::HashMap, sync::Arc, time::Instant};

use catalog::product::{ShopId, change::Seq};
use index::ShopIndex;
use store::{FeedResult, Position, StoreError, StoreErrorKind};

use super::{eviction::EvictionReason, registry::ShopRegistry, table::ShopState};

impl ShopRegistry {
    /// Follows changes that other nodes announced, the last one of each shop. A shop that fails
    /// does not stop the others; the first failure is returned.
    pub(super) fn on_changes(&self, last: HashMap<ShopId, Seq>) -> Result<(), StoreError> {
        first_failure(last.into_iter().map(|(shop, seq)| self.on_change(shop, seq)))
    }

    /// Follows a shop up to this change at least.
    fn on_change(&self, shop: ShopId, seq: Seq) -> Result<(), StoreError> {
        let ready = {
            let mut table = self.table.lock();
            let last_known = table.last_known.entry(shop).or_default();
            *last_known = seq.max(*last_known);
            match table.states.get_mut(&shop) {
                Some(ShopState::Ready(ready)) => Some(Arc::clone(&ready.index)),
                Some(ShopState::Loading(pending)) => {
                    pending.note(seq);
                    None
                }
                None => None,
            }
        };
        if let Some(index) = ready {
            let _update_lock = index.lock_updates();
            if index.snapshot().seq() < seq && self.is_current(shop, &index) {
                self.catch_up(shop, &index)
                    .inspect_err(|error| self.evict_if_permanent(shop, &index, error))?;
            }
        }
        self.progress.send_replace(());
        Ok(())
    }

    /// Compares the positions of all ready shops with the store's and catches up. A shop that fails
    /// does not stop the others; the first failure is returned.
    pub(super) fn sync_all(&self) -> Result<(), StoreError> {
        let ready: HashMap<ShopId, Arc<ShopIndex>> = {
            let table = self.table.lock();
            let ready = table.states.iter().filter_map(|(shop, state)| match state {
                ShopState::Ready(ready) => Some((*shop, Arc::clone(&ready.index))),
                ShopState::Loading(_) => None,
            });
            ready.collect()
        };
        let shops: Vec<_> = ready.keys().copied().collect();
        let stored: HashMap<ShopId, Position> =
            self.readers.positions(&shops)?.into_iter().collect();
        // A shop without a row has never been written to.
        let behind = ready.iter().filter_map(|(shop, index)| {
            let stored = stored.get(shop).copied().unwrap_or_default();
            (!self.is_at(*shop, index, stored)).then_some((*shop, index, stored))
        });
        // Indexes that are being updated come last, so that the others need not wait for them.
        let mut locked = Vec::new();
        let synced = first_failure(behind.filter_map(|(shop, index, stored)| {
            let Some(_update_lock) = index.try_lock_updates() else {
                locked.push((shop, index, stored));
                return None;
            };
            Some(self.sync(shop, index, stored))
        }));
        synced.and(first_failure(locked.into_iter().map(|(shop, index, stored)| {
            let _update_lock = index.lock_updates();
            self.sync(shop, index, stored)
        })))
    }

    /// Catches up unless the index is at this position. The caller holds the update lock.
    fn sync(
        &self,
        shop: ShopId,
        index: &Arc<ShopIndex>,
        stored: Position,
    ) -> Result<(), StoreError> {
        if self.is_at(shop, index, stored) {
            return Ok(());
        }
        let caught_up = self.catch_up(shop, index);
        self.progress.send_replace(());
        caught_up.inspect_err(|error| self.evict_if_permanent(shop, index, error))
    }

    /// Whether an index is at this position, or no longer in memory.
    fn is_at(&self, shop: ShopId, index: &Arc<ShopIndex>, position: Position) -> bool {
        self.table.lock().current(shop, index).is_none_or(|ready| ready.position() == position)
    }

    /// Reads and applies the changes that an index misses. Evicts the shop if the store no longer
    /// has them, or lost changes that the index shows. The caller holds the update lock.
    fn catch_up(&self, shop: ShopId, index: &Arc<ShopIndex>) -> Result<(), StoreError> {
        let shown = self.table.lock().current(shop, index).map(|ready| ready.position());
        let Some(shown) = shown else { return Ok(()) };
        let queried_at = Instant::now();
        match self.readers.changes_since(shop, self.model.as_ref(), shown)? {
            FeedResult::Changes(changes, position) => {
                if position != shown {
                    self.update(shop, index, &changes, position);
                }
                if let Some(ready) = self.table.lock().current_mut(shop, index) {
                    ready.confirmed_at = queried_at;
                }
            }
            FeedResult::Truncated => {
                let reason = EvictionReason::ChangesTrimmed;
                self.table.lock().evict_if_current(shop, index, reason);
            }
            FeedResult::Diverged(stored) => {
                self.on_lost_commits(shop, index, shown.seq, stored.seq)
            }
        }
        Ok(())
    }

    /// As [`catch_up`](Self::catch_up), for a change of this node that must become visible: if it
    /// cannot be read now, the shop is evicted.
    pub(super) fn catch_up_or_evict(&self, shop: ShopId, index: &Arc<ShopIndex>) {
        if let Err(error) = self.catch_up(shop, index) {
            let reason = EvictionReason::CatchUpFailed(&error);
            self.table.lock().evict_if_current(shop, index, reason);
        }
    }

    /// Evicts a shop whose changes will never be readable. Otherwise the next attempt may succeed,
    /// and the index serves an older state until then.
    fn evict_if_permanent(&self, shop: ShopId, index: &Arc<ShopIndex>, error: &StoreError) {
        if !error.kind().is_transient() {
            let reason = EvictionReason::CatchUpFailed(error);
            self.table.lock().evict_if_current(shop, index, reason);
        }
    }

    /// Evicts a shop whose index shows commits that the store lost. What is known of absent shops
    /// may be lost as well.
    fn on_lost_commits(&self, shop: ShopId, index: &Arc<ShopIndex>, shown: Seq, stored: Seq) {
        metrics::counter!("shopkeeper_index_divergences_total").increment(1);
        let mut table = self.table.lock();
        table.evict_if_current(shop, index, EvictionReason::LostCommits { shown, stored });
        table.last_known.clear();
        table.last_known.insert(shop, stored);
    }

    /// Forgets the last known changes of all shops: after a reconnect, the database may be a
    /// replica that does not have them.
    pub(super) fn forget_last_known(&self) {
        self.table.lock().last_known.clear();
    }

    /// Reads the last change of a shop from the store, and follows up to it.
    pub(crate) fn refresh_last_change(&self, shop: ShopId) -> Result<Seq, StoreError> {
        let seq = self.readers.last_change(shop)?;
        // Even if a later change was known: it may be lost by now.
        self.table.lock().last_known.insert(shop, seq);
        if self.readers.is_shared() {
            self.on_change(shop, seq)?;
        }
        Ok(seq)
    }
}

/// Runs through all results and returns the first failure. Stops early if the database is
/// unreachable.
fn first_failure(results: impl Iterator<Item = Result<(), StoreError>>) -> Result<(), StoreError> {
    let mut first = Ok(());
    for result in results {
        let is_unreachable =
            result.as_ref().is_err_and(|error| error.kind() == StoreErrorKind::Unavailable);
        first = first.and(result);
        if is_unreachable {
            break;
        }
    }
    first
}
