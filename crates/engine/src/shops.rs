//! Which shops are in memory? They load on first use and leave when memory runs short.
//!
//! A shop that loads while its products change misses nothing: from before its rows are read
//! until it is ready, changes are kept for it, and those that the rows do not show yet are
//! applied in order.

mod applier;
mod batch;
mod loader;
mod loading;

use std::{
    collections::HashMap,
    mem,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    time::Instant,
};

use catalog::{
    change::Seq,
    product::{Product, ShopId},
};
use parking_lot::{Condvar, Mutex};
use tokio::sync::watch;

use crate::{
    embed::ModelId,
    index::{Entry, EntryVector, IndexChange, ShopIndex},
    store::{
        self, AppliedChange, ErrorChain, FeedResult, IndexSource, Position, ScannedProduct,
        StoreError, StoreErrorKind, TxStamp,
    },
};
pub(crate) use applier::Applier;
use batch::Missed;
pub(crate) use batch::{Batch, Guard};
pub(crate) use loader::{LoadError, Loader};
use loading::Loading;

/// What a product takes in an index, about: enough to foresee whether a shop fits into memory.
const BYTES_PER_PRODUCT: usize = 1024;

/// All shop indexes of this process.
pub(crate) struct Shops {
    readers: Arc<dyn IndexSource>,
    /// The model whose vectors the indexes hold.
    model: Option<ModelId>,
    memory_budget: usize,
    /// Shops with more products are not loaded before they are searched.
    prefetch_limit: usize,
    slots: Mutex<Slots>,
    loaded: Condvar,
    /// Sent whenever more of some shop can be seen.
    progress: watch::Sender<()>,
}

#[derive(Default)]
struct Slots {
    by_shop: HashMap<ShopId, Slot>,
    /// Grows with every use; orders shops by when they were used last.
    uses: u64,
    /// What the shops that are ready take together.
    bytes: usize,
    /// The last change known of shops, in memory or not.
    known: HashMap<ShopId, Seq>,
}

enum Slot {
    /// Its rows are being read; changes that are committed meanwhile are kept here.
    Loading { missed: Missed },
    /// It can be searched. Its size is that of its last change.
    Ready { index: Arc<ShopIndex>, shown: Shown, last_use: u64, bytes: usize },
}

/// What an index shows of its shop's history.
#[derive(Clone, Copy)]
struct Shown {
    /// The transaction that made the last change.
    stamp: TxStamp,
    /// When the store was last asked and had what the index shows.
    confirmed: Instant,
}

/// Where committed changes of a shop have to go.
enum Route {
    /// Into this index.
    Ready(Arc<ShopIndex>, Batch),
    /// They are kept until the load ends.
    Loading,
    /// Nowhere: the load of the shop reads them with its rows.
    Cold,
}

/// Where changes went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Applied {
    /// To an index, or to one that loads.
    InMemory,
    /// To the store alone: the shop is not in memory.
    InStore,
}

impl Slots {
    /// Lets a shop be searched. One that no search has asked for yet leaves memory first.
    fn put(&mut self, shop: ShopId, index: Arc<ShopIndex>, stamp: TxStamp, is_used: bool) {
        self.remove(shop);
        self.uses += u64::from(is_used);
        let last_use = if is_used { self.uses } else { 0 };
        let bytes = index.snapshot().memory_bytes();
        self.bytes += bytes;
        let shown = Shown { stamp, confirmed: Instant::now() };
        self.by_shop.insert(shop, Slot::Ready { index, shown, last_use, bytes });
    }

    fn remove(&mut self, shop: ShopId) {
        if let Some(Slot::Ready { index, bytes, .. }) = self.by_shop.remove(&shop) {
            self.bytes -= bytes;
            // Not the last one that was announced: it may be lost by now.
            self.known.insert(shop, index.snapshot().seq());
        }
    }

    /// Takes note of a change that the store shows from now on.
    fn know(&mut self, shop: ShopId, seq: Seq) {
        let known = self.known.entry(shop).or_default();
        *known = seq.max(*known);
    }

    /// Removes a shop unless it has left memory, or is on its way back, without this index.
    fn remove_if(&mut self, shop: ShopId, failed: &Arc<ShopIndex>, readers: &dyn IndexSource) {
        if let Some(Slot::Ready { index, .. }) = self.by_shop.get(&shop)
            && Arc::ptr_eq(index, failed)
        {
            self.remove(shop);
            readers.drop_replica(shop);
        }
    }

    /// What an index shows of its shop's history; `None` if another index, or none, is in its place
    /// by now.
    fn shown(&mut self, shop: ShopId, by: &Arc<ShopIndex>) -> Option<(Position, &mut Shown)> {
        match self.by_shop.get_mut(&shop) {
            Some(Slot::Ready { index, shown, .. }) if Arc::ptr_eq(index, by) => {
                let seq = index.snapshot().seq();
                Some((Position { seq, stamp: shown.stamp }, shown))
            }
            _ => None,
        }
    }

    /// Takes note of how large a shop has become.
    fn measure(&mut self, shop: ShopId, changed: &Arc<ShopIndex>) {
        // It may have left memory, or come again, while it was changed.
        if let Some(Slot::Ready { index, bytes, .. }) = self.by_shop.get_mut(&shop)
            && Arc::ptr_eq(index, changed)
        {
            let before = mem::replace(bytes, index.snapshot().memory_bytes());
            self.bytes = self.bytes - before + *bytes;
        }
    }

    /// Lets the longest unused shops go while there are too many bytes. The one used last
    /// stays, however large: somebody searches it.
    fn keep_within(&mut self, budget: usize, readers: &dyn IndexSource) {
        while self.bytes > budget {
            let ready = self.by_shop.iter().filter_map(|(shop, slot)| match slot {
                Slot::Loading { .. } => None,
                Slot::Ready { last_use, bytes, .. } => Some((*last_use, *shop, *bytes)),
            });
            match ready.min() {
                // One that no search has asked for need not stay, even if it is the only one.
                Some((last_use, shop, freed_bytes)) if last_use < self.uses || last_use == 0 => {
                    self.remove(shop);
                    readers.drop_replica(shop);
                    tracing::info!(%shop, freed_bytes, "a shop index left memory");
                }
                _ => break,
            }
        }
    }
}

/// What the indexes hold, for the operator.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Holdings {
    pub(crate) shops: usize,
    pub(crate) products: usize,
    pub(crate) bytes: usize,
}

impl Shops {
    pub(crate) fn new(
        readers: Arc<dyn IndexSource>,
        model: Option<ModelId>,
        memory_budget: usize,
    ) -> Self {
        Self {
            readers,
            model,
            memory_budget,
            prefetch_limit: usize::MAX,
            slots: Mutex::default(),
            loaded: Condvar::new(),
            progress: watch::Sender::default(),
        }
    }

    /// Shops with more products than this are not loaded before they are searched.
    pub(crate) fn with_prefetch_limit(self, products: usize) -> Self {
        Self { prefetch_limit: products, ..self }
    }

    /// The shop's index, loaded now if it is not in memory. Blocks while it loads.
    pub(crate) fn index(&self, shop: ShopId) -> Result<Arc<ShopIndex>, StoreError> {
        self.get_or_load(shop, true)
    }

    /// As [`index`](Self::index), for a shop that no search has asked for yet: it is the first to
    /// leave when memory runs short.
    fn index_unused(&self, shop: ShopId) -> Result<Arc<ShopIndex>, StoreError> {
        self.get_or_load(shop, false)
    }

    fn get_or_load(&self, shop: ShopId, is_used: bool) -> Result<Arc<ShopIndex>, StoreError> {
        let mut loading = {
            let mut slots = self.slots.lock();
            loop {
                let Slots { by_shop, uses, .. } = &mut *slots;
                match by_shop.get_mut(&shop) {
                    Some(Slot::Ready { index, last_use, .. }) => {
                        if is_used {
                            *uses += 1;
                            *last_use = *uses;
                        }
                        return Ok(Arc::clone(index));
                    }
                    Some(Slot::Loading { .. }) => self.loaded.wait(&mut slots),
                    None => break Loading::begin(self, &mut slots, shop, is_used),
                }
            }
        };
        let index = loading.read()?;
        loading.finish(index)
    }

    /// Whether a shop fits into memory beside those that are there, as far as that can be foreseen.
    fn has_room_for(&self, shop: ShopId) -> bool {
        let Ok(counts) = self.readers.counts(shop) else { return false };
        let bytes = counts.products.saturating_mul(BYTES_PER_PRODUCT);
        let held = self.slots.lock().bytes;
        counts.products <= self.prefetch_limit && held.saturating_add(bytes) <= self.memory_budget
    }

    /// The shop's index if it is in memory. Never waits for one that loads.
    pub(crate) fn in_memory(&self, shop: ShopId) -> Option<Arc<ShopIndex>> {
        let mut slots = self.slots.lock();
        let Slots { by_shop, uses, .. } = &mut *slots;
        let Some(Slot::Ready { index, last_use, .. }) = by_shop.get_mut(&shop) else { return None };
        *uses += 1;
        *last_use = *uses;
        Some(Arc::clone(index))
    }

    /// Lets a shop leave memory.
    pub(crate) fn let_go(&self, shop: ShopId) {
        let mut slots = self.slots.lock();
        // One that loads is in use.
        if matches!(slots.by_shop.get(&shop), Some(Slot::Ready { .. })) {
            slots.remove(shop);
            // The copy does not follow the shop any more, so it must not be shown.
            self.readers.drop_replica(shop);
        }
    }

    /// Shows committed changes to the shop's index. Blocks while others are being shown to it.
    pub(crate) fn apply(&self, mut batch: Batch) -> Applied {
        loop {
            let (index, again) = match self.route(batch) {
                Route::Ready(index, batch) => (index, batch),
                Route::Loading => return Applied::InMemory,
                Route::Cold => return Applied::InStore,
            };
            let turn = index.lock_updates();
            if self.holds(again.shop, &index) {
                self.show(&index, again);
                return Applied::InMemory;
            }
            drop(turn);
            batch = again;
        }
    }

    /// As [`apply`](Self::apply), but returns the batch where it would have to wait.
    pub(crate) fn try_apply(&self, batch: Batch) -> Result<Applied, Batch> {
        let (index, batch) = match self.route(batch) {
            Route::Ready(index, batch) => (index, batch),
            Route::Loading => return Ok(Applied::InMemory),
            Route::Cold => return Ok(Applied::InStore),
        };
        let Some(_turn) = index.try_lock_updates() else { return Err(batch) };
        self.show(&index, batch);
        Ok(Applied::InMemory)
    }

    /// Shows the changes of a transaction to the indexes and waits until they do.
    #[cfg(test)]
    pub(crate) fn apply_and_wait(&self, committed: store::Committed) {
        let (guard, shown) = std::sync::mpsc::channel::<()>();
        let guard: Guard = Arc::new(Mutex::new(guard));
        for (_, mut batch) in Batch::by_shop(committed) {
            batch.guard(Arc::clone(&guard));
            self.apply(batch);
        }
        drop(guard);
        assert!(shown.recv().is_err());
    }

    fn route(&self, batch: Batch) -> Route {
        let mut slots = self.slots.lock();
        // Not the greatest that was ever known: changes after this one may be lost by now.
        slots.known.insert(batch.shop, batch.seq);
        let route = match slots.by_shop.get_mut(&batch.shop) {
            Some(Slot::Ready { index, .. }) => return Route::Ready(Arc::clone(index), batch),
            Some(Slot::Loading { missed }) => {
                missed.push(batch);
                Route::Loading
            }
            None => Route::Cold,
        };
        drop(slots);
        self.progress.send_replace(());
        route
    }

    /// Whether this is the shop's index in memory.
    fn holds(&self, shop: ShopId, index: &Arc<ShopIndex>) -> bool {
        let slots = self.slots.lock();
        matches!(slots.by_shop.get(&shop), Some(Slot::Ready { index: held, .. })
            if Arc::ptr_eq(held, index))
    }

    /// Shows committed changes to an index. The caller holds its turn.
    fn show(&self, index: &Arc<ShopIndex>, mut batch: Batch) {
        let (shop, seq) = (batch.shop, index.snapshot().seq());
        if self.readers.is_shared() {
            self.show_in_order(index, &batch);
        } else if batch.seq > seq {
            batch.skip_shown(seq);
            let changes: Vec<_> = batch.changes.iter().collect();
            self.apply_to(shop, index, &changes, batch.position());
        }
        drop(batch);
        self.progress.send_replace(());
    }

    /// Shows changes of a store that others write to as well: theirs may lie in between, and may
    /// have brought these along. Only a transaction that began where the index is can be shown
    /// without asking the store.
    fn show_in_order(&self, index: &Arc<ShopIndex>, batch: &Batch) {
        let shop = batch.shop;
        let Some((position, confirmed)) = self
            .slots
            .lock()
            .shown(shop, index)
            .map(|(position, shown)| (position, shown.confirmed))
        else {
            return;
        };
        if batch.follows(position) {
            let changes: Vec<_> = batch.changes.iter().collect();
            self.apply_to(shop, index, &changes, batch.position());
        } else if batch.seq > position.seq || confirmed <= batch.durable_at {
            self.catch_up_or_remove(shop, index);
        }
    }

    fn catch_up_or_remove(&self, shop: ShopId, index: &Arc<ShopIndex>) {
        if let Err(error) = self.catch_up(shop, index) {
            // What is durable must not stay unseen: the shop comes again from the store.
            let error = ErrorChain(&error);
            tracing::warn!(%shop, %error, "a shop index could not follow other nodes and left memory");
            self.slots.lock().remove_if(shop, index, &*self.readers);
        }
    }

    /// Brings an index to where the store is. The caller holds its turn.
    fn catch_up(&self, shop: ShopId, index: &Arc<ShopIndex>) -> Result<(), StoreError> {
        let Some((shown, _)) = self.slots.lock().shown(shop, index) else { return Ok(()) };
        let asked_at = Instant::now();
        match self.readers.changes_since(shop, self.model.as_ref(), shown)? {
            FeedResult::Changes(touched, position) => {
                if position != shown {
                    self.apply_to(shop, index, &touched.iter().collect::<Vec<_>>(), position);
                }
                if let Some((_, shown)) = self.slots.lock().shown(shop, index) {
                    shown.confirmed = asked_at;
                }
            }
            FeedResult::Truncated => {
                tracing::info!(%shop, "a shop index was too far behind and left memory");
                self.slots.lock().remove_if(shop, index, &*self.readers);
            }
            FeedResult::Diverged(position) => self.diverged(shop, index, shown, position),
        }
        Ok(())
    }

    /// The store lost commits that an index shows: the shop comes again from the store. What is
    /// known of other shops may be lost too.
    fn diverged(&self, shop: ShopId, index: &Arc<ShopIndex>, shown: Position, is: Position) {
        metrics::counter!("shopkeeper_index_divergences_total").increment(1);
        tracing::warn!(%shop, shown = %shown.seq, stored = %is.seq,
            "the database lost commits that were shown; the shop is loaded again");
        let mut slots = self.slots.lock();
        slots.remove_if(shop, index, &*self.readers);
        slots.known.clear();
        slots.known.insert(shop, is.seq);
    }

    /// Forgets how far shops that are not in memory had come: the database may be another one.
    pub(crate) fn doubt_known(&self) {
        self.slots.lock().known.clear();
    }

    /// Follows a change that another node made.
    pub(crate) fn hear(&self, shop: ShopId, seq: Seq) -> Result<(), StoreError> {
        let ready = {
            let mut slots = self.slots.lock();
            slots.know(shop, seq);
            match slots.by_shop.get_mut(&shop) {
                Some(Slot::Ready { index, .. }) => Some(Arc::clone(index)),
                Some(Slot::Loading { missed }) => {
                    missed.hear(seq);
                    None
                }
                None => None,
            }
        };
        if let Some(index) = ready {
            let _turn = index.lock_updates();
            if index.snapshot().seq() < seq && self.holds(shop, &index) {
                self.catch_up(shop, &index)
                    .inspect_err(|error| self.evict_unreadable(shop, &index, error))?;
            }
        }
        self.progress.send_replace(());
        Ok(())
    }

    /// Compares the shops in memory with the store, and follows. A shop that cannot follow keeps
    /// no other from it; the first such failure is returned.
    pub(crate) fn follow_all(&self) -> Result<(), StoreError> {
        let ready: HashMap<ShopId, Arc<ShopIndex>> = {
            let slots = self.slots.lock();
            let ready = slots.by_shop.iter().filter_map(|(shop, slot)| match slot {
                Slot::Ready { index, .. } => Some((*shop, Arc::clone(index))),
                Slot::Loading { .. } => None,
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
        // Indexes that are being changed are waited for last.
        let mut busy = Vec::new();
        let followed = all_of(behind.filter_map(|(shop, index, stored)| {
            let Some(_turn) = index.try_lock_updates() else {
                busy.push((shop, index, stored));
                return None;
            };
            Some(self.compare(shop, index, stored))
        }));
        followed.and(all_of(busy.into_iter().map(|(shop, index, stored)| {
            let _turn = index.lock_updates();
            self.compare(shop, index, stored)
        })))
    }

    /// Follows changes that other nodes announced. A shop that cannot follow keeps no other from
    /// it; the first such failure is returned.
    pub(crate) fn hear_all(&self, heard: HashMap<ShopId, Seq>) -> Result<(), StoreError> {
        all_of(heard.into_iter().map(|(shop, seq)| self.hear(shop, seq)))
    }

    /// Brings an index to where the store is, unless it is there. The caller holds its turn.
    fn compare(
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
        caught_up.inspect_err(|error| self.evict_unreadable(shop, index, error))
    }

    /// Whether an index shows its shop as of this position, or has left memory.
    fn is_at(&self, shop: ShopId, index: &Arc<ShopIndex>, position: Position) -> bool {
        self.slots.lock().shown(shop, index).is_none_or(|(shown, _)| shown == position)
    }

    /// Evicts a shop whose changes cannot be read, now or later: it would stay as it is for ever.
    fn evict_unreadable(&self, shop: ShopId, index: &Arc<ShopIndex>, error: &StoreError) {
        if !error.kind().is_transient() {
            let error = ErrorChain(error);
            tracing::error!(%shop, %error, "a shop's changes cannot be read: evicted");
            self.slots.lock().remove_if(shop, index, &*self.readers);
        }
    }

    /// The last change of a shop that every answer from now on shows, as far as it is known.
    pub(crate) fn seen(&self, shop: ShopId) -> Option<Seq> {
        let slots = self.slots.lock();
        match slots.by_shop.get(&shop) {
            Some(Slot::Ready { index, .. }) => Some(index.snapshot().seq()),
            _ => slots.known.get(&shop).copied(),
        }
    }

    /// Asks the store how far a shop has come, and follows.
    pub(crate) fn look(&self, shop: ShopId) -> Result<Seq, StoreError> {
        let seq = self.readers.last_change(shop)?;
        // As it is, even if more was known: that may be lost by now.
        self.slots.lock().known.insert(shop, seq);
        if self.readers.is_shared() {
            self.hear(shop, seq)?;
        }
        Ok(seq)
    }

    /// Tells whenever more can be seen.
    pub(crate) fn progress(&self) -> watch::Receiver<()> {
        self.progress.subscribe()
    }

    /// The group is durable: whatever happens here, it must not stay unseen.
    fn apply_to(
        &self,
        shop: ShopId,
        index: &Arc<ShopIndex>,
        changes: &[&AppliedChange],
        at: Position,
    ) {
        let applied = catch_unwind(AssertUnwindSafe(|| {
            self.readers.replicate(shop, changes);
            let changes: Vec<_> = changes.iter().map(|change| as_index_change(change)).collect();
            index.apply(&changes, at.seq);
        }));
        let mut slots = self.slots.lock();
        if applied.is_err() {
            // The panic hook has said why. The shop comes again from the store.
            tracing::error!(%shop, "a shop index could not follow a write and left memory");
            slots.remove_if(shop, index, &*self.readers);
        }
        if let Some((_, shown)) = slots.shown(shop, index) {
            shown.stamp = at.stamp;
        }
        slots.measure(shop, index);
        slots.keep_within(self.memory_budget, &*self.readers);
    }

    /// How much is in memory right now.
    pub(crate) fn holdings(&self) -> Holdings {
        let slots = self.slots.lock();
        slots.by_shop.values().fold(Holdings::default(), |sum, slot| match slot {
            Slot::Loading { .. } => sum,
            Slot::Ready { index, .. } => {
                let snapshot = index.snapshot();
                Holdings {
                    shops: sum.shops + 1,
                    products: sum.products + snapshot.product_count(),
                    bytes: sum.bytes + snapshot.memory_bytes(),
                }
            }
        })
    }

    /// Whether one more shop would be too many.
    pub(crate) fn is_full(&self) -> bool {
        self.slots.lock().bytes >= self.memory_budget
    }
}

/// Goes through all of them, and returns the first failure; ends early if the store is away.
fn all_of(results: impl Iterator<Item = Result<(), StoreError>>) -> Result<(), StoreError> {
    let mut first = Ok(());
    for result in results {
        let is_away =
            result.as_ref().is_err_and(|error| error.kind() == StoreErrorKind::Unavailable);
        first = first.and(result);
        if is_away {
            break;
        }
    }
    first
}

fn as_index_change(change: &AppliedChange) -> IndexChange<'_> {
    match change {
        AppliedChange::Upserted { product, vector } => {
            IndexChange::Upsert(as_entry(product, vector))
        }
        AppliedChange::Embedded { id, vector, .. } => IndexChange::Embed(*id, vector),
        AppliedChange::Deleted { id, .. } => IndexChange::Delete(*id),
    }
}

fn as_scanned_entry<'a>(row: &'a ScannedProduct<'a>) -> Entry<'a> {
    let ScannedProduct { id, version, hidden, price, title, description, ref vector } = *row;
    let vector = vector.as_ref().map_or(EntryVector::Missing, EntryVector::Known);
    Entry { id, version, hidden, price, title, description, vector }
}

fn as_entry<'a>(product: &'a Product, vector: &'a store::VectorChange) -> Entry<'a> {
    Entry {
        id: product.id,
        version: product.version,
        hidden: product.hidden,
        price: product.price.money(),
        title: product.title.as_str(),
        description: product.description.as_str(),
        vector: match vector {
            store::VectorChange::Unchanged => EntryVector::Unchanged,
            store::VectorChange::Pending => EntryVector::Missing,
            store::VectorChange::Set(vector) => EntryVector::Known(vector),
        },
    }
}

#[cfg(test)]
mod tests;
