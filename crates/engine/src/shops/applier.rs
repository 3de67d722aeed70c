//! Shows committed changes to the indexes without keeping the writer from its next commit.
//!
//! The writer applies small batches itself, which costs less than handing them over. Larger ones,
//! and those of a shop whose earlier batches are not applied yet, go to threads of their own. One
//! thread at a time works for a shop, so its changes are applied in order, and one shop with much
//! to index does not delay the writes of others.

use std::{
    collections::{HashMap, VecDeque},
    io,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use catalog::product::ShopId;
use parking_lot::{Condvar, Mutex};

use super::{Applied, Batch, Loader, Shops};
use crate::background::WorkerThread;

/// Threads that apply.
const THREADS: usize = 2;
/// Text that the writer itself indexes after one commit. The worst text of this length, letters
/// that expand into many, takes about ten milliseconds.
const MAX_INLINE_COST: usize = 16 << 10;
/// Batches of a shop are applied together up to this much text, which makes fewer segments.
const MAX_COMBINED_COST: usize = 256 << 10;

/// The applying threads. When this is dropped they finish what was handed over.
pub(crate) struct Applier {
    shared: Arc<Shared>,
    threads: Vec<WorkerThread>,
}

struct Shared {
    shops: Arc<Shops>,
    /// Loads shops that were written to, where there is one.
    loader: Option<Arc<Loader>>,
    queue: Mutex<Queue>,
    changed: Condvar,
}

#[derive(Default)]
struct Queue {
    /// The batches of every shop that a thread works for or has to.
    waiting: HashMap<ShopId, VecDeque<Batch>>,
    /// Shops that no thread works for yet.
    turns: VecDeque<ShopId>,
    stopping: bool,
}

impl Applier {
    /// Starts the threads.
    pub(crate) fn start(shops: Arc<Shops>, loader: Option<Arc<Loader>>) -> io::Result<Self> {
        let (queue, changed) = (Mutex::default(), Condvar::new());
        let shared = Arc::new(Shared { shops, loader, queue, changed });
        let mut applier = Self { shared, threads: Vec::new() };
        for _ in 0..THREADS {
            let shared = Arc::clone(&applier.shared);
            applier.threads.push(WorkerThread::spawn("index-apply", move || shared.run())?);
        }
        Ok(applier)
    }

    /// Applies the batches of one commit, or has them applied after those before them.
    pub(crate) fn apply(&mut self, batches: impl IntoIterator<Item = Batch>) {
        let mut inline_cost = 0;
        for batch in batches {
            let cost = batch.cost();
            let is_idle = !self.shared.queue.lock().waiting.contains_key(&batch.shop());
            let is_small = inline_cost + cost <= MAX_INLINE_COST;
            let unapplied = match is_idle && is_small {
                true => {
                    inline_cost += cost;
                    self.shared.apply_here(batch).err()
                }
                false => Some(batch),
            };
            if let Some(batch) = unapplied {
                self.shared.enqueue(batch);
            }
        }
    }
}

impl Drop for Applier {
    fn drop(&mut self) {
        self.shared.queue.lock().stopping = true;
        self.shared.changed.notify_all();
        self.threads.drain(..).for_each(WorkerThread::join);
    }
}

impl Shared {
    /// Applies a batch on this thread, unless it would have to wait.
    fn apply_here(&self, batch: Batch) -> Result<(), Batch> {
        let (shop, has_products) = (batch.shop(), batch.has_products());
        let applied = self.shops.try_apply(batch)?;
        self.prefetch(shop, has_products, applied);
        Ok(())
    }

    /// Has a shop loaded that is not in memory. If it is new, that makes its index grow with it.
    fn prefetch(&self, shop: ShopId, has_products: bool, applied: Applied) {
        if applied == Applied::InStore
            && has_products
            && let Some(loader) = &self.loader
        {
            loader.prefetch(shop);
        }
    }

    fn enqueue(&self, batch: Batch) {
        let shop = batch.shop();
        let mut queue = self.queue.lock();
        match queue.waiting.get_mut(&shop) {
            Some(waiting) => waiting.push_back(batch),
            None => {
                queue.waiting.insert(shop, VecDeque::from([batch]));
                queue.turns.push_back(shop);
                drop(queue);
                self.changed.notify_one();
            }
        }
    }

    fn run(&self) {
        while let Some((shop, batch)) = self.next() {
            let has_products = batch.has_products();
            // Whatever happens, the changes are durable, and the shop has other batches.
            if let Ok(applied) = catch_unwind(AssertUnwindSafe(|| self.shops.apply(batch))) {
                self.prefetch(shop, has_products, applied);
            }
            self.end_turn(shop);
        }
    }

    /// The next shop and its first batches; `None` when all is applied and it is time to stop.
    fn next(&self) -> Option<(ShopId, Batch)> {
        let mut queue = self.queue.lock();
        loop {
            let Some(shop) = queue.turns.pop_front() else {
                if queue.stopping && queue.waiting.is_empty() {
                    return None;
                }
                self.changed.wait(&mut queue);
                continue;
            };
            let first = queue.waiting.get_mut(&shop).and_then(take_first);
            if let Some(batch) = first {
                return Some((shop, batch));
            }
            queue.waiting.remove(&shop);
        }
    }

    fn end_turn(&self, shop: ShopId) {
        let mut queue = self.queue.lock();
        match queue.waiting.get(&shop).is_some_and(|waiting| !waiting.is_empty()) {
            true => queue.turns.push_back(shop),
            false => drop(queue.waiting.remove(&shop)),
        }
        drop(queue);
        // All of them: one may be waiting for the last batch, to stop.
        self.changed.notify_all();
    }
}

/// The first batches of a shop as one, and not more of them than are worth applying together.
fn take_first(waiting: &mut VecDeque<Batch>) -> Option<Batch> {
    let mut first = waiting.pop_front()?;
    let mut cost = first.cost();
    while let Some(next) = waiting.front()
        && cost + next.cost() <= MAX_COMBINED_COST
    {
        cost += next.cost();
        first.extend(waiting.pop_front()?);
    }
    Some(first)
}
