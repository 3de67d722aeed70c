//! Loads shops on threads of its own. A request for an absent shop waits without occupying a
//! thread, so that loads never delay requests for other shops.

use std::{
    collections::{HashMap, VecDeque},
    io,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    time::{Duration, Instant},
};

use catalog::product::ShopId;
use index::ShopIndex;
use parking_lot::{Condvar, Mutex};
use store::{ErrorChain, StoreError, background::WorkerThread};
use thiserror::Error;
use tokio::{sync::watch, time::timeout};

use super::{registry::ShopRegistry, table::LoadReason};

/// Shops that load at the same time. Each load indexes on several threads already; the second
/// keeps one huge shop from delaying all others.
const THREADS: usize = 2;
/// The longest time that a request waits for a load.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);
/// How long shutdown waits for loads in progress.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(2);
/// The maximum number of queued prefetches. Further shops are loaded by their first search.
const MAX_PREFETCHES: usize = 1024;
/// For this long after a shop did not fit into memory, writes do not prefetch it.
const PREFETCH_BACKOFF: Duration = Duration::from_secs(10);

/// A request did not get an index.
#[derive(Clone, Debug, Error)]
pub(crate) enum LoadError {
    /// The request waited for [`REQUEST_TIMEOUT`].
    #[error("the shop is being loaded")]
    StillLoading,
    #[error(transparent)]
    Failed(#[from] StoreError),
}

type LoadResult = Result<Arc<ShopIndex>, StoreError>;

/// The loading threads. They stop when this is dropped.
pub(crate) struct Loader {
    shared: Arc<Shared>,
    threads: Vec<WorkerThread>,
}

struct Shared {
    registry: Arc<ShopRegistry>,
    queue: Mutex<Queue>,
    changed: Condvar,
}

#[derive(Default)]
struct Queue {
    /// Shops that requests wait for, first come, first served.
    requested: VecDeque<ShopId>,
    /// Shops to prefetch. They are loaded when no request waits for another shop.
    prefetches: VecDeque<ShopId>,
    /// The result of every load that is queued or in progress.
    results: HashMap<ShopId, watch::Sender<Option<LoadResult>>>,
    /// Shops that did not fit into memory, and when that was found.
    declined: HashMap<ShopId, Instant>,
    is_stopping: bool,
}

impl Loader {
    /// Starts the threads.
    pub(crate) fn start(registry: Arc<ShopRegistry>) -> io::Result<Self> {
        let shared = Shared { registry, queue: Mutex::default(), changed: Condvar::new() };
        let mut loader = Self { shared: Arc::new(shared), threads: Vec::new() };
        for _ in 0..THREADS {
            let shared = Arc::clone(&loader.shared);
            loader.threads.push(WorkerThread::spawn("shop-loader", move || shared.run())?);
        }
        Ok(loader)
    }

    /// The shop's index. Loads it if it is absent.
    pub(crate) async fn index(&self, shop: ShopId) -> Result<Arc<ShopIndex>, LoadError> {
        if let Some(index) = self.shared.registry.in_memory(shop) {
            return Ok(index);
        }
        let mut result = self.shared.request(shop);
        let loaded = match timeout(REQUEST_TIMEOUT, result.wait_for(Option::is_some)).await {
            Err(_) => return Err(LoadError::StillLoading),
            Ok(loaded) => loaded.ok().and_then(|loaded| loaded.clone()),
        };
        // The result contains the index because the shop may already be evicted again.
        match loaded.unwrap_or_else(|| Err(load_panicked())) {
            Ok(index) => Ok(self.shared.registry.in_memory(shop).unwrap_or(index)),
            Err(error) => Err(error.into()),
        }
    }

    /// Loads a shop in the background if it fits into memory: it was written to, so it will
    /// probably be searched.
    pub(super) fn prefetch(&self, shop: ShopId) {
        self.shared.prefetch(shop);
    }
}

impl Drop for Loader {
    /// Does not wait for long loads: they only read.
    fn drop(&mut self) {
        let mut queue = self.shared.queue.lock();
        queue.is_stopping = true;
        // Requests that wait for a load that will not happen get an error.
        queue.results.clear();
        drop(queue);
        self.shared.changed.notify_all();
        let until = Instant::now() + SHUTDOWN_TIMEOUT;
        self.threads.drain(..).for_each(|thread| thread.join_until(until));
    }
}

impl Shared {
    /// Queues a shop before all prefetches.
    fn request(&self, shop: ShopId) -> watch::Receiver<Option<LoadResult>> {
        let mut queue = self.queue.lock();
        let Queue { requested, prefetches, results, .. } = &mut *queue;
        let is_new = !results.contains_key(&shop);
        let prefetch = prefetches.iter().position(|other| *other == shop);
        if let Some(at) = prefetch {
            prefetches.remove(at);
        }
        if is_new || prefetch.is_some() {
            requested.push_back(shop);
        }
        let result = results.entry(shop).or_default().subscribe();
        drop(queue);
        self.changed.notify_one();
        result
    }

    fn prefetch(&self, shop: ShopId) {
        let mut queue = self.queue.lock();
        let is_declined =
            queue.declined.get(&shop).is_some_and(|at| at.elapsed() < PREFETCH_BACKOFF);
        let is_full = queue.prefetches.len() >= MAX_PREFETCHES;
        if queue.results.contains_key(&shop) || is_declined || is_full {
            return;
        }
        queue.prefetches.push_back(shop);
        queue.results.entry(shop).or_default();
        drop(queue);
        self.changed.notify_one();
    }

    fn run(&self) {
        while let Some((shop, reason)) = self.next() {
            let is_prefetch = reason == LoadReason::Write;
            if is_prefetch && !self.registry.has_room_for(shop) && self.decline(shop) {
                continue;
            }
            // The panic hook reports a panic; requests that wait get an error.
            let load = AssertUnwindSafe(|| self.registry.get_or_load(shop, reason));
            let loaded = catch_unwind(load).unwrap_or_else(|_| Err(load_panicked()));
            if let Err(error) = &loaded {
                let error = ErrorChain(error);
                tracing::warn!(%shop, %error, "shop load failed");
            }
            if let Some(result) = self.queue.lock().results.remove(&shop) {
                result.send_replace(Some(loaded));
            }
        }
    }

    /// Waits for the next shop to load; `None` on shutdown.
    fn next(&self) -> Option<(ShopId, LoadReason)> {
        let mut queue = self.queue.lock();
        loop {
            if queue.is_stopping {
                return None;
            }
            if let Some(shop) = queue.requested.pop_front() {
                return Some((shop, LoadReason::Search));
            }
            if let Some(shop) = queue.prefetches.pop_front() {
                return Some((shop, LoadReason::Write));
            }
            self.changed.wait(&mut queue);
        }
    }

    /// Cancels the prefetch of a shop that does not fit into memory; `false` if a request waits for
    /// it by now.
    fn decline(&self, shop: ShopId) -> bool {
        let mut queue = self.queue.lock();
        if queue.results.get(&shop).is_some_and(|result| result.receiver_count() > 0) {
            return false;
        }
        queue.results.remove(&shop);
        queue.declined.retain(|_, at| at.elapsed() < PREFETCH_BACKOFF);
        queue.declined.insert(shop, Instant::now());
        true
    }
}

fn load_panicked() -> StoreError {
    StoreError::unexpected("the load of a shop panicked")
}
