//! Which shops are in memory? They load on first use and leave when memory runs short.
//!
//! A shop that loads while its products change misses nothing: from before its rows are read
//! until it is ready, changes are kept for it and applied in order. Applying a change that the
//! rows already show is harmless.

use std::{collections::HashMap, sync::Arc, time::Instant};

use catalog::{
    change::Seq,
    product::{Product, ShopId},
};
use parking_lot::{Condvar, Mutex};

use crate::{
    index::{Entry, IndexBuilder, IndexChange, ShopIndex},
    store::{Readers, StoreError, Touched},
};

/// All shop indexes of this process.
pub(crate) struct Shops {
    readers: Arc<Readers>,
    memory_budget: usize,
    slots: Mutex<Slots>,
    loaded: Condvar,
}

#[derive(Default)]
struct Slots {
    by_shop: HashMap<ShopId, Slot>,
    /// Grows with every use; orders shops by when they were used last.
    uses: u64,
}

enum Slot {
    /// Someone reads its rows; what happens meanwhile is kept here, up to the latest change.
    Loading {
        missed: Vec<Touched>,
        seq: Seq,
    },
    Ready {
        index: Arc<ShopIndex>,
        last_use: u64,
    },
}

/// What the indexes hold, for the operator.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Holdings {
    pub(crate) shops: usize,
    pub(crate) products: usize,
    pub(crate) bytes: usize,
}

impl Shops {
    pub(crate) fn new(readers: Arc<Readers>, memory_budget: usize) -> Self {
        Self { readers, memory_budget, slots: Mutex::default(), loaded: Condvar::new() }
    }

    /// The shop's index, loaded now if it is not in memory. Blocks while it loads.
    pub(crate) fn index(&self, shop: ShopId) -> Result<Arc<ShopIndex>, StoreError> {
        {
            let mut slots = self.slots.lock();
            loop {
                let Slots { by_shop, uses } = &mut *slots;
                match by_shop.get_mut(&shop) {
                    Some(Slot::Ready { index, last_use }) => {
                        *uses += 1;
                        *last_use = *uses;
                        return Ok(Arc::clone(index));
                    }
                    Some(Slot::Loading { .. }) => self.loaded.wait(&mut slots),
                    None => {
                        by_shop.insert(shop, Slot::Loading { missed: Vec::new(), seq: Seq(0) });
                        break;
                    }
                }
            }
        }
        let loading = Loading { shops: self, shop };
        let index = self.load(shop)?;
        Ok(loading.finish(index))
    }

    /// Follows a committed group, in order.
    pub(crate) fn apply(&self, touched: &[Touched], seq: Seq) {
        let mut by_shop: HashMap<ShopId, Vec<&Touched>> = HashMap::new();
        for change in touched {
            by_shop.entry(change.shop()).or_default().push(change);
        }
        for (shop, changes) in by_shop {
            // The lock is not held while the index works: searches of other shops go on, and
            // only the writer applies, so no later group can overtake this one.
            let ready = match self.slots.lock().by_shop.get_mut(&shop) {
                Some(Slot::Ready { index, .. }) => Some(Arc::clone(index)),
                Some(Slot::Loading { missed, seq: up_to }) => {
                    missed.extend(changes.iter().map(|change| (*change).clone()));
                    *up_to = seq;
                    None
                }
                None => None,
            };
            if let Some(index) = ready {
                let changes: Vec<_> = changes.into_iter().map(as_index_change).collect();
                index.apply(&changes, seq);
            }
        }
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

    /// Lets the longest unused shops go while the rest is over the budget. `spare` stays.
    fn keep_within_budget(&self, spare: ShopId) {
        let mut slots = self.slots.lock();
        let mut sizes: Vec<_> = slots
            .by_shop
            .iter()
            .filter_map(|(shop, slot)| match slot {
                Slot::Loading { .. } => None,
                Slot::Ready { index, last_use } => {
                    Some((*last_use, *shop, index.snapshot().memory_bytes()))
                }
            })
            .collect();
        sizes.sort_unstable();
        let mut total: usize = sizes.iter().map(|(_, _, bytes)| bytes).sum();
        for (_, shop, bytes) in sizes {
            if total <= self.memory_budget {
                break;
            }
            if spare != shop {
                slots.by_shop.remove(&shop);
                total -= bytes;
                tracing::info!(%shop, freed_bytes = bytes, "a shop index left memory");
            }
        }
    }

    fn load(&self, shop: ShopId) -> Result<ShopIndex, StoreError> {
        let started = Instant::now();
        let mut builder = IndexBuilder::new();
        let seq = self.readers.scan(shop, |product| builder.add(as_entry(&product)))?;
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
}

impl Loading<'_> {
    fn finish(self, index: ShopIndex) -> Arc<ShopIndex> {
        let index = Arc::new(index);
        {
            let mut slots = self.shops.slots.lock();
            if let Some(Slot::Loading { missed, seq }) = slots.by_shop.remove(&self.shop) {
                let changes: Vec<_> = missed.iter().map(as_index_change).collect();
                index.apply(&changes, seq.max(index.snapshot().seq()));
            }
            slots.uses += 1;
            let last_use = slots.uses;
            let slot = Slot::Ready { index: Arc::clone(&index), last_use };
            slots.by_shop.insert(self.shop, slot);
        }
        self.shops.keep_within_budget(self.shop);
        index
    }
}

impl Drop for Loading<'_> {
    fn drop(&mut self) {
        let mut slots = self.shops.slots.lock();
        if matches!(slots.by_shop.get(&self.shop), Some(Slot::Loading { .. })) {
            slots.by_shop.remove(&self.shop);
        }
        self.shops.loaded.notify_all();
    }
}

fn as_index_change(touched: &Touched) -> IndexChange<'_> {
    match touched {
        Touched::Upserted(product) => IndexChange::Upsert(as_entry(product)),
        Touched::Deleted { id, .. } => IndexChange::Delete(*id),
    }
}

fn as_entry(product: &Product) -> Entry<'_> {
    Entry {
        id: product.id,
        version: product.version,
        hidden: product.hidden,
        title: product.title.as_str(),
        description: product.description.as_str(),
    }
}
