//! Which shops are in memory? They load on first use and leave when memory runs short.
//!
//! A shop that loads while its products change misses nothing: from before its rows are read
//! until it is ready, changes are kept for it, and those that the rows do not show yet are
//! applied in order.

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
    index::{Entry, IndexBuilder, IndexChange, Meaning, ShopIndex},
    store::{self, CatalogReads, Scanned, StoreError, Touched},
};

/// All shop indexes of this process.
pub(crate) struct Shops {
    readers: Arc<dyn CatalogReads>,
    /// The model whose vectors the indexes hold.
    model: Option<ModelId>,
    memory_budget: usize,
    slots: Mutex<Slots>,
    loaded: Condvar,
    /// Held by whoever shows changes to the indexes: the writer, and where other processes write
    /// too, those who follow them. So no later change is overtaken by an earlier one.
    applying: Mutex<()>,
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
    /// Someone reads its rows; the groups of changes that are committed meanwhile are kept
    /// here, each with the last change in it.
    Loading { missed: Vec<(Seq, Vec<Touched>)> },
    /// It can be searched. Its size is that of its last change.
    Ready { index: Arc<ShopIndex>, last_use: u64, bytes: usize },
}

impl Slots {
    fn put(&mut self, shop: ShopId, index: Arc<ShopIndex>) {
        self.remove(shop);
        self.uses += 1;
        let bytes = index.snapshot().memory_bytes();
        self.bytes += bytes;
        self.by_shop.insert(shop, Slot::Ready { index, last_use: self.uses, bytes });
    }

    fn remove(&mut self, shop: ShopId) {
        if let Some(Slot::Ready { index, bytes, .. }) = self.by_shop.remove(&shop) {
            self.bytes -= bytes;
            self.know(shop, index.snapshot().seq());
        }
    }

    /// Takes note of a change that the store shows from now on.
    fn know(&mut self, shop: ShopId, seq: Seq) {
        let known = self.known.entry(shop).or_default();
        *known = seq.max(*known);
    }

    /// Removes a shop unless it has left memory, or is on its way back, without this index.
    fn remove_if(&mut self, shop: ShopId, failed: &Arc<ShopIndex>, readers: &dyn CatalogReads) {
        if let Some(Slot::Ready { index, .. }) = self.by_shop.get(&shop)
            && Arc::ptr_eq(index, failed)
        {
            self.remove(shop);
            readers.let_go(shop);
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
    fn keep_within(&mut self, budget: usize, readers: &dyn CatalogReads) {
        while self.bytes > budget {
            let ready = self.by_shop.iter().filter_map(|(shop, slot)| match slot {
                Slot::Loading { .. } => None,
                Slot::Ready { last_use, bytes, .. } => Some((*last_use, *shop, *bytes)),
            });
            match ready.min() {
                Some((last_use, shop, freed_bytes)) if last_use < self.uses => {
                    self.remove(shop);
                    readers.let_go(shop);
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
        readers: Arc<dyn CatalogReads>,
        model: Option<ModelId>,
        memory_budget: usize,
    ) -> Self {
        Self {
            readers,
            model,
            memory_budget,
            slots: Mutex::default(),
            loaded: Condvar::new(),
            applying: Mutex::default(),
            progress: watch::Sender::default(),
        }
    }

    /// The shop's index, loaded now if it is not in memory. Blocks while it loads.
    pub(crate) fn index(&self, shop: ShopId) -> Result<Arc<ShopIndex>, StoreError> {
        {
            let mut slots = self.slots.lock();
            loop {
                let Slots { by_shop, uses, .. } = &mut *slots;
                match by_shop.get_mut(&shop) {
                    Some(Slot::Ready { index, last_use, .. }) => {
                        *uses += 1;
                        *last_use = *uses;
                        return Ok(Arc::clone(index));
                    }
                    Some(Slot::Loading { .. }) => self.loaded.wait(&mut slots),
                    None => {
                        by_shop.insert(shop, Slot::Loading { missed: Vec::new() });
                        break;
                    }
                }
            }
        }
        let mut loading = Loading { shops: self, shop, is_finished: false };
        let index = self.load(shop)?;
        loading.finish(index)
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
        }
    }

    /// Follows a committed group, in order.
    pub(crate) fn apply(&self, touched: &[Touched]) {
        let _turn = self.applying.lock();
        let mut by_shop: HashMap<ShopId, Vec<&Touched>> = HashMap::new();
        for change in touched {
            by_shop.entry(change.shop()).or_default().push(change);
        }
        for (shop, changes) in by_shop {
            let seq = changes.iter().map(|change| change.seq()).max().unwrap_or_default();
            // The lock is not held while the index works: searches of other shops go on, and
            // only the writer applies, so no later group can overtake this one.
            let ready = match self.slots.lock().by_shop.get_mut(&shop) {
                Some(Slot::Ready { index, .. }) => Some(Arc::clone(index)),
                Some(Slot::Loading { missed }) => {
                    missed.push((seq, changes.iter().map(|change| (*change).clone()).collect()));
                    None
                }
                None => None,
            };
            self.slots.lock().know(shop, seq);
            match ready {
                Some(index) if self.readers.is_shared() => {
                    self.apply_in_order(shop, &index, &changes, seq);
                }
                Some(index) => self.apply_to(shop, &index, &changes, seq),
                None => {}
            }
        }
        self.progress.send_replace(());
    }

    /// Applies changes of a store that others write to as well: theirs may lie in between.
    fn apply_in_order(&self, shop: ShopId, index: &Arc<ShopIndex>, changes: &[&Touched], seq: Seq) {
        let shown = index.snapshot().seq();
        if seq <= shown {
            return;
        }
        let first = changes.iter().map(|change| change.seq()).min().unwrap_or_default();
        if first.0 <= shown.0 + 1 {
            let new: Vec<_> =
                changes.iter().filter(|change| change.seq() > shown).copied().collect();
            self.apply_to(shop, index, &new, seq);
        } else if let Err(error) = self.catch_up(shop, index) {
            // What is durable must not stay unseen: the shop comes again from the store.
            tracing::warn!(%shop, %error, "a shop index could not follow other nodes and left memory");
            self.slots.lock().remove_if(shop, index, &*self.readers);
        }
    }

    /// Brings an index to where the store is. To be called by whoever holds the turn.
    fn catch_up(&self, shop: ShopId, index: &Arc<ShopIndex>) -> Result<(), StoreError> {
        let shown = index.snapshot().seq();
        match self.readers.changes_since(shop, self.model.as_ref(), shown)? {
            Some((touched, seq)) if seq > shown => {
                self.apply_to(shop, index, &touched.iter().collect::<Vec<_>>(), seq);
            }
            Some(_) => {}
            None => {
                tracing::info!(%shop, "a shop index was too far behind and left memory");
                self.slots.lock().remove_if(shop, index, &*self.readers);
            }
        }
        Ok(())
    }

    /// Follows a change that another node made.
    pub(crate) fn hear(&self, shop: ShopId, seq: Seq) -> Result<(), StoreError> {
        let _turn = self.applying.lock();
        let ready = {
            let mut slots = self.slots.lock();
            slots.know(shop, seq);
            match slots.by_shop.get_mut(&shop) {
                Some(Slot::Ready { index, .. }) => Some(Arc::clone(index)),
                Some(Slot::Loading { missed }) => {
                    missed.push((seq, Vec::new()));
                    None
                }
                None => None,
            }
        };
        if let Some(index) = ready
            && index.snapshot().seq() < seq
        {
            self.catch_up(shop, &index)?;
        }
        self.progress.send_replace(());
        Ok(())
    }

    /// Looks how far the shops in memory have come, and follows.
    pub(crate) fn follow_all(&self) -> Result<(), StoreError> {
        let in_memory: HashMap<ShopId, Seq> = {
            let slots = self.slots.lock();
            let ready = slots.by_shop.iter().filter_map(|(shop, slot)| match slot {
                Slot::Ready { index, .. } => Some((*shop, index.snapshot().seq())),
                Slot::Loading { .. } => None,
            });
            ready.collect()
        };
        let shops: Vec<_> = in_memory.keys().copied().collect();
        for (shop, seq) in self.readers.last_changes(&shops)? {
            if in_memory.get(&shop).is_some_and(|shown| *shown < seq) {
                self.hear(shop, seq)?;
            }
        }
        Ok(())
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
        match self.readers.is_shared() {
            true => self.hear(shop, seq)?,
            false => self.slots.lock().know(shop, seq),
        }
        Ok(seq)
    }

    /// Tells whenever more can be seen.
    pub(crate) fn progress(&self) -> watch::Receiver<()> {
        self.progress.subscribe()
    }

    /// The group is durable: whatever happens here, it must not stay unseen.
    fn apply_to(&self, shop: ShopId, index: &Arc<ShopIndex>, changes: &[&Touched], seq: Seq) {
        let applied = catch_unwind(AssertUnwindSafe(|| {
            self.readers.keep_up(shop, changes);
            let changes: Vec<_> = changes.iter().map(|change| as_index_change(change)).collect();
            index.apply(&changes, seq);
        }));
        let mut slots = self.slots.lock();
        if applied.is_err() {
            // The panic hook has said why. The shop comes again from the store.
            tracing::error!(%shop, "a shop index could not follow a write and left memory");
            slots.remove_if(shop, index, &*self.readers);
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
        self.holdings().bytes >= self.memory_budget
    }

    fn load(&self, shop: ShopId) -> Result<ShopIndex, StoreError> {
        let started = Instant::now();
        let mut builder = IndexBuilder::new();
        let model = self.model.as_ref();
        let seq = self.readers.scan(shop, model, &mut |row| builder.add(as_scanned_entry(&row)))?;
        let index = builder.finish(seq);
        let products = index.snapshot().product_count();
        let elapsed_ms = started.elapsed().as_millis() as u64;
        tracing::info!(%shop, products, elapsed_ms, "a shop index was loaded");
        Ok(index)
    }
}

/// A shop that is being loaded; whoever waits for it is woken, however the load ends.
struct Loading<'a> {
    shops: &'a Shops,
    shop: ShopId,
    is_finished: bool,
}

impl Loading<'_> {
    fn finish(&mut self, index: ShopIndex) -> Result<Arc<ShopIndex>, StoreError> {
        let index = Arc::new(index);
        let mut slots = self.shops.slots.lock();
        while self.shops.readers.is_shared()
            && let Some(Slot::Loading { missed }) = slots.by_shop.get(&self.shop)
            && missed.iter().any(|(seq, _)| *seq > index.snapshot().seq())
        {
            // Others' changes may lie between those that were missed: the store has them all.
            drop(slots);
            let shown = index.snapshot().seq();
            let model = self.shops.model.as_ref();
            let news = self.shops.readers.changes_since(self.shop, model, shown)?;
            let (touched, seq) =
                news.ok_or_else(|| StoreError::damaged("changes were swept out too early"))?;
            self.shops.readers.keep_up(self.shop, &touched.iter().collect::<Vec<_>>());
            index.apply(&touched.iter().map(as_index_change).collect::<Vec<_>>(), seq);
            slots = self.shops.slots.lock();
        }
        let read_at = index.snapshot().seq();
        self.is_finished = true;
        if let Some(Slot::Loading { missed }) = slots.by_shop.remove(&self.shop) {
            // What the rows showed already would only take newer rows back for a moment.
            let unseen = || missed.iter().filter(|(seq, _)| *seq > read_at);
            if let Some((last, _)) = unseen().next_back() {
                let touched: Vec<_> = unseen().flat_map(|(_, touched)| touched).collect();
                self.shops.readers.keep_up(self.shop, &touched);
                let changes: Vec<_> = touched.into_iter().map(as_index_change).collect();
                index.apply(&changes, *last);
            }
        }
        slots.put(self.shop, Arc::clone(&index));
        slots.keep_within(self.shops.memory_budget, &*self.shops.readers);
        drop(slots);
        Ok(index)
    }
}

impl Drop for Loading<'_> {
    fn drop(&mut self) {
        let mut slots = self.shops.slots.lock();
        // Once finished, a slot that is loading is somebody else's: the shop may have left
        // memory already and be on its way back.
        if !self.is_finished {
            slots.by_shop.remove(&self.shop);
            self.shops.readers.let_go(self.shop);
        }
        self.shops.loaded.notify_all();
    }
}

fn as_index_change(touched: &Touched) -> IndexChange<'_> {
    match touched {
        Touched::Upserted { product, meaning } => IndexChange::Upsert(as_entry(product, meaning)),
        Touched::Embedded { id, vector, .. } => IndexChange::Embed(*id, vector),
        Touched::Deleted { id, .. } => IndexChange::Delete(*id),
    }
}

fn as_scanned_entry<'a>(row: &'a Scanned<'a>) -> Entry<'a> {
    let Scanned { id, version, hidden, price, title, description, ref vector } = *row;
    let meaning = vector.as_ref().map_or(Meaning::Unknown, Meaning::Known);
    Entry { id, version, hidden, price, title, description, meaning }
}

fn as_entry<'a>(product: &'a Product, meaning: &'a store::Meaning) -> Entry<'a> {
    Entry {
        id: product.id,
        version: product.version,
        hidden: product.hidden,
        price: product.price.money(),
        title: product.title.as_str(),
        description: product.description.as_str(),
        meaning: match meaning {
            store::Meaning::AsBefore => Meaning::AsBefore,
            store::Meaning::Unknown => Meaning::Unknown,
            store::Meaning::Known(vector) => Meaning::Known(vector),
        },
    }
}

#[cfg(test)]
mod tests;
