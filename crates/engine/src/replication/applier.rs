//! Applies committed changes without delaying the writer's next commit.
//!
//! The writer applies small batches itself, which is cheaper than handing them over. Larger
//! batches, and those of a shop whose earlier batches are still queued, go to a pool of threads. At
//! most one thread works on a shop, so its changes are applied in order, and a shop with much to
//! index does not delay the writes of others.

use std::{
    collections::{HashMap, VecDeque},
    io,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use catalog::product::ShopId;
use parking_lot::{Condvar, Mutex};
use store::background::WorkerThread;

use super::{apply::Applied, change_batch::ChangeBatch, loader::Loader, registry::ShopRegistry};

const THREADS: usize = 2;
/// Text that the writer itself indexes after one commit, in bytes. The worst text of this length,
/// letters that normalise to several, takes about ten milliseconds.
const MAX_INLINE_COST: usize = 16 << 10;
/// Batches of a shop are applied together up to this much text, which makes fewer segments.
const MAX_COMBINED_COST: usize = 256 << 10;

/// The applying threads. When this is dropped they apply what is queued and stop.
pub(crate) struct Applier {
    shared: Arc<Shared>,
    threads: Vec<WorkerThread>,
}

struct Shared {
    registry: Arc<ShopRegistry>,
    /// Prefetches shops that were written to; `None` where that is not wanted.
    loader: Option<Arc<Loader>>,
    queue: Mutex<Queue>,
    changed: Condvar,
}

#[derive(Default)]
struct Queue {
    /// The batches of every shop that a thread works on or is ready for one.
    batches: HashMap<ShopId, VecDeque<ChangeBatch>>,
    /// Shops with batches that no thread works on.
    ready: VecDeque<ShopId>,
    is_stopping: bool,
}

impl Applier {
    /// Starts the threads.
    pub(crate) fn start(
        registry: Arc<ShopRegistry>,
        loader: Option<Arc<Loader>>,
    ) -> io::Result<Self> {
        let (queue, changed) = (Mutex::default(), Condvar::new());
        let shared = Arc::new(Shared { registry, loader, queue, changed });
        let mut applier = Self { shared, threads: Vec::new() };
        for _ in 0..THREADS {
            let shared = Arc::clone(&applier.shared);
            applier.threads.push(WorkerThread::spawn("index-apply", move || shared.run())?);
        }
        Ok(applier)
    }

    /// Applies the batches of one commit, or queues them behind earlier ones.
    pub(crate) fn apply(&mut self, batches: impl IntoIterator<Item = ChangeBatch>) {
        let mut inline_cost = 0;
        for batch in batches {
            let cost = batch.cost();
            let is_idle = !self.shared.queue.lock().batches.contains_key(&batch.shop);
            let is_small = inline_cost + cost <= MAX_INLINE_COST;
            let unapplied = match is_idle && is_small {
                true => {
                    inline_cost += cost;
                    self.shared.apply_inline(batch).err()
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
        self.shared.queue.lock().is_stopping = true;
        self.shared.changed.notify_all();
        self.threads.drain(..).for_each(WorkerThread::join);
    }
}

impl Shared {
    /// Applies a batch on this thread, unless that would block.
    fn apply_inline(&self, batch: ChangeBatch) -> Result<(), ChangeBatch> {
        let (shop, has_upserts) = (batch.shop, batch.has_upserts());
        let applied = self.registry.try_apply(batch)?;
        self.prefetch(shop, has_upserts, applied);
        Ok(())
    }

    /// Prefetches an absent shop that products were written to. A new shop's index then grows with
    /// the shop.
    fn prefetch(&self, shop: ShopId, has_upserts: bool, applied: Applied) {
        if applied == Applied::Absent
            && has_upserts
            && let Some(loader) = &self.loader
        {
            loader.prefetch(shop);
        }
    }

    fn enqueue(&self, batch: ChangeBatch) {
        let shop = batch.shop;
        let mut queue = self.queue.lock();
        match queue.batches.get_mut(&shop) {
            Some(queued) => queued.push_back(batch),
            None => {
                queue.batches.insert(shop, VecDeque::from([batch]));
                queue.ready.push_back(shop);
                drop(queue);
                self.changed.notify_one();
            }
        }
    }

    fn run(&self) {
        while let Some((shop, batch)) = self.next() {
            let has_upserts = batch.has_upserts();
            // After a panic the thread goes on: the changes are durable, and other batches wait.
            if let Ok(applied) = catch_unwind(AssertUnwindSafe(|| self.registry.apply(batch))) {
                self.prefetch(shop, has_upserts, applied);
            }
            self.release(shop);
        }
    }

    /// Waits for a shop with batches and takes the first; `None` on shutdown once all are applied.
    fn next(&self) -> Option<(ShopId, ChangeBatch)> {
        let mut queue = self.queue.lock();
        loop {
            let Some(shop) = queue.ready.pop_front() else {
                if queue.is_stopping && queue.batches.is_empty() {
                    return None;
                }
                self.changed.wait(&mut queue);
                continue;
            };
            let first = queue.batches.get_mut(&shop).and_then(take_combined);
            if let Some(batch) = first {
                return Some((shop, batch));
            }
            queue.batches.remove(&shop);
        }
    }

    /// Lets another thread work on the shop.
    fn release(&self, shop: ShopId) {
        let mut queue = self.queue.lock();
        match queue.batches.get(&shop).is_some_and(|queued| !queued.is_empty()) {
            true => queue.ready.push_back(shop),
            false => drop(queue.batches.remove(&shop)),
        }
        drop(queue);
        // All threads: one may wait for the last batch to stop.
        self.changed.notify_all();
    }
}

/// Takes the first batches of a shop as one, up to [`MAX_COMBINED_COST`].
fn take_combined(queued: &mut VecDeque<ChangeBatch>) -> Option<ChangeBatch> {
    let mut first = queued.pop_front()?;
    let mut cost = first.cost();
    while let Some(next) = queued.front()
        && cost + next.cost() <= MAX_COMBINED_COST
    {
        cost += next.cost();
        first.extend(queued.pop_front()?);
    }
    Some(first)
}
