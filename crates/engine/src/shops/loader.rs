//! Loads shop indexes on threads of its own. A request that needs a shop that is not in memory
//! waits without holding a thread, so loads never delay requests for other shops.

use std::{
    collections::{HashMap, VecDeque},
    io,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    time::{Duration, Instant},
};

use catalog::product::ShopId;
use parking_lot::{Condvar, Mutex};
use thiserror::Error;
use tokio::{sync::watch, time::timeout};

use super::Shops;
use crate::{
    background::WorkerThread,
    index::ShopIndex,
    store::{ErrorChain, StoreError},
};

/// Shops that load at the same time. Each load indexes on several threads already; the second
/// keeps one huge shop from delaying all others.
const THREADS: usize = 2;
/// The longest time that a request waits for a load.
const WAIT_TIME: Duration = Duration::from_secs(30);
/// How long the end of the process waits for a load that is under way.
const STOP_TIME: Duration = Duration::from_secs(2);
/// Shops that wait to be loaded because of a write. More are loaded by their first search.
const MAX_WRITTEN: usize = 1024;
/// How long a shop that does not fit into memory is not considered again because of a write.
const RECONSIDER_AFTER: Duration = Duration::from_secs(10);

/// A request did not get an index.
#[derive(Clone, Debug, Error)]
pub(crate) enum LoadError {
    /// The load takes too long to wait for it.
    #[error("the shop is being loaded")]
    StillLoading,
    /// The load failed.
    #[error(transparent)]
    Failed(#[from] StoreError),
}

type Loaded = Result<Arc<ShopIndex>, StoreError>;

/// The loading threads. They stop when this is dropped.
pub(crate) struct Loader {
    shared: Arc<Shared>,
    threads: Vec<WorkerThread>,
}

struct Shared {
    shops: Arc<Shops>,
    queue: Mutex<Queue>,
    changed: Condvar,
}

#[derive(Default)]
struct Queue {
    /// Shops that requests wait for, in the order in which they were asked for.
    wanted: VecDeque<ShopId>,
    /// Shops that were written to. They are loaded when no request waits for another shop.
    written: VecDeque<ShopId>,
    /// The outcome of every load that is queued or under way.
    loads: HashMap<ShopId, watch::Sender<Option<Loaded>>>,
    /// Written shops that did not fit into memory, and when that was found.
    declined: HashMap<ShopId, Instant>,
    stopping: bool,
}

/// Why a shop is loaded.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reason {
    Wanted,
    Written,
}

impl Loader {
    /// Starts the threads.
    pub(crate) fn start(shops: Arc<Shops>) -> io::Result<Self> {
        let shared = Shared { shops, queue: Mutex::default(), changed: Condvar::new() };
        let mut loader = Self { shared: Arc::new(shared), threads: Vec::new() };
        for _ in 0..THREADS {
            let shared = Arc::clone(&loader.shared);
            loader.threads.push(WorkerThread::spawn("shop-loader", move || shared.run())?);
        }
        Ok(loader)
    }

    /// The shop's index, loaded first if it is not in memory.
    pub(crate) async fn index(&self, shop: ShopId) -> Result<Arc<ShopIndex>, LoadError> {
        if let Some(index) = self.shared.shops.in_memory(shop) {
            return Ok(index);
        }
        let mut outcome = self.shared.want(shop);
        let loaded = match timeout(WAIT_TIME, outcome.wait_for(Option::is_some)).await {
            Err(_) => return Err(LoadError::StillLoading),
            Ok(loaded) => loaded.ok().and_then(|loaded| loaded.clone()),
        };
        // The index is handed over as well: it may have left memory again already.
        match loaded.unwrap_or_else(|| Err(StoreError::unexpected("the load of a shop panicked"))) {
            Ok(index) => Ok(self.shared.shops.in_memory(shop).unwrap_or(index)),
            Err(error) => Err(error.into()),
        }
    }

    /// Loads a shop in the background, as far as there is memory for it: it was written to, so
    /// it will probably be searched.
    pub(crate) fn prefetch(&self, shop: ShopId) {
        self.shared.prefetch(shop);
    }
}

impl Drop for Loader {
    /// Does not wait for a load that takes long: it only reads.
    fn drop(&mut self) {
        let mut queue = self.shared.queue.lock();
        queue.stopping = true;
        // Requests that wait for a load that will not happen get an error.
        queue.loads.clear();
        drop(queue);
        self.shared.changed.notify_all();
        let until = Instant::now() + STOP_TIME;
        self.threads.drain(..).for_each(|thread| thread.join_until(until));
    }
}

impl Shared {
    /// Puts a shop in line, before all that were only written to.
    fn want(&self, shop: ShopId) -> watch::Receiver<Option<Loaded>> {
        let mut queue = self.queue.lock();
        let Queue { wanted, written, loads, .. } = &mut *queue;
        let is_new = !loads.contains_key(&shop);
        let was_written = written.iter().position(|other| *other == shop);
        if let Some(at) = was_written {
            written.remove(at);
        }
        if is_new || was_written.is_some() {
            wanted.push_back(shop);
        }
        let outcome = loads.entry(shop).or_default().subscribe();
        drop(queue);
        self.changed.notify_one();
        outcome
    }

    fn prefetch(&self, shop: ShopId) {
        let mut queue = self.queue.lock();
        let is_declined =
            queue.declined.get(&shop).is_some_and(|at| at.elapsed() < RECONSIDER_AFTER);
        let has_room = queue.written.len() < MAX_WRITTEN;
        if queue.loads.contains_key(&shop) || is_declined || !has_room {
            return;
        }
        queue.written.push_back(shop);
        queue.loads.entry(shop).or_default();
        drop(queue);
        self.changed.notify_one();
    }

    fn run(&self) {
        while let Some((shop, reason)) = self.next() {
            if reason == Reason::Written && !self.shops.has_room_for(shop) && self.decline(shop) {
                continue;
            }
            let load = || match reason {
                Reason::Wanted => self.shops.index(shop),
                Reason::Written => self.shops.index_unused(shop),
            };
            // The panic hook has reported a panic; requests that wait get an error.
            let loaded = catch_unwind(AssertUnwindSafe(load))
                .unwrap_or_else(|_| Err(StoreError::unexpected("the load of a shop panicked")));
            if let Err(error) = &loaded {
                let error = ErrorChain(error);
                tracing::warn!(%shop, %error, "loading a shop index failed");
            }
            if let Some(outcome) = self.queue.lock().loads.remove(&shop) {
                outcome.send_replace(Some(loaded));
            }
        }
    }

    /// The next shop to load; `None` when it is time to stop.
    fn next(&self) -> Option<(ShopId, Reason)> {
        let mut queue = self.queue.lock();
        loop {
            if queue.stopping {
                return None;
            }
            if let Some(shop) = queue.wanted.pop_front() {
                return Some((shop, Reason::Wanted));
            }
            if let Some(shop) = queue.written.pop_front() {
                return Some((shop, Reason::Written));
            }
            self.changed.wait(&mut queue);
        }
    }

    /// Gives up the load of a shop that does not fit into memory; `false` if a request has come to
    /// wait for it.
    fn decline(&self, shop: ShopId) -> bool {
        let mut queue = self.queue.lock();
        if queue.loads.get(&shop).is_some_and(|outcome| outcome.receiver_count() > 0) {
            return false;
        }
        queue.loads.remove(&shop);
        queue.declined.retain(|_, at| at.elapsed() < RECONSIDER_AFTER);
        queue.declined.insert(shop, Instant::now());
        true
    }
}
