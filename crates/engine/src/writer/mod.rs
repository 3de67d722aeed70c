//! The writer: one thread that commits all waiting writes together (group commit).
//!
//! A write is acknowledged only after its group is durable and the index of its shop shows it. The
//! longer a commit takes, the more writes wait for the next one, so that one `fsync` is shared by
//! all of them. The shops take turns in the queue. Large updates of an index run beside the next commits
//! ([`crate::replication::Applier`]).
//!
//! [`queue`] has the queued writes and their acknowledgement, [`group_commit`] the thread.

mod group_commit;
#[cfg(test)]
mod multi_node_tests;
mod queue;
mod settings;
#[cfg(test)]
mod tests;

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use embed::Embedder;
use store::{
    CatalogStore,
    background::{Wakeup, WorkerThread},
};

pub use self::settings::{WriteError, WriterSettings};
use self::{
    group_commit::GroupCommit,
    queue::{WriteQueue, queued},
};
use crate::{replication::Applier, system::Clock, writes::Write};

/// The handle of the writer thread. Dropping it commits what is queued and then ends the thread.
pub struct Writer {
    queue: Arc<WriteQueue>,
    /// Durable writes that are not acknowledged yet, because an index does not show them.
    unacknowledged: Arc<AtomicUsize>,
    wakeup: Arc<Wakeup>,
    thread: Option<WorkerThread>,
}

/// A handle that does not keep the writer from ending.
pub(crate) struct WeakWriter(Arc<WriteQueue>);

impl WeakWriter {
    /// Queues a write, waits for room if the queue is full, and waits for the outcome. Blocks.
    pub(crate) fn submit_blocking<W: Write>(&self, write: W) -> Result<W::Outcome, WriteError> {
        let (write, outcome) = queued(write);
        self.0.push_blocking(write)?;
        outcome.blocking_recv().unwrap_or(Err(WriteError::Down))
    }
}

impl Writer {
    /// Starts the thread.
    pub(crate) fn start(
        store: Box<dyn CatalogStore>,
        applier: Applier,
        embedder: Option<Arc<dyn Embedder>>,
        clock: Clock,
        settings: WriterSettings,
    ) -> io::Result<Self> {
        let queue = Arc::new(WriteQueue::new(settings.queue.max(1)));
        let wakeup = Arc::<Wakeup>::default();
        let unacknowledged = Arc::<AtomicUsize>::default();
        let group_commit = GroupCommit {
            store,
            applier,
            embedder,
            clock,
            settings,
            unacknowledged: Arc::clone(&unacknowledged),
            committed: Arc::clone(&wakeup),
        };
        let served = AbortOnDrop(Arc::clone(&queue));
        let thread = WorkerThread::spawn("writer", move || group_commit.run(&served.0))?;
        Ok(Self { queue, unacknowledged, wakeup, thread: Some(thread) })
    }

    /// A handle for background work, which must not delay the end of the writer.
    pub(crate) fn downgrade(&self) -> WeakWriter {
        WeakWriter(Arc::clone(&self.queue))
    }

    /// Notified after every commit that changed products.
    pub(crate) fn wakeup(&self) -> Arc<Wakeup> {
        Arc::clone(&self.wakeup)
    }

    /// Queues a write and waits until it is durable and visible, or was not done at all.
    pub(crate) async fn submit<W: Write>(&self, write: W) -> Result<W::Outcome, WriteError> {
        // Bounds the writes that are committed faster than they are indexed.
        if self.unacknowledged.load(Ordering::Relaxed) >= self.queue.capacity {
            return Err(WriteError::QueueFull);
        }
        let shop = write.shops().first().copied();
        let (write, outcome) = queued(write);
        self.queue.push(shop, write)?;
        outcome.await.unwrap_or(Err(WriteError::Down))
    }

    /// Health check: whether the thread runs. Without it this process can only read.
    pub(crate) fn check(&self) -> Result<(), WriteError> {
        if self.queue.is_closed() { Err(WriteError::Down) } else { Ok(()) }
    }

    /// Writes that wait for their commit or for an index.
    pub(crate) fn waiting(&self) -> usize {
        self.queue.len() + self.unacknowledged.load(Ordering::Relaxed)
    }
}

/// Ends the queue with the thread that serves it, also after a panic.
struct AbortOnDrop(Arc<WriteQueue>);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.queue.close();
        if let Some(thread) = self.thread.take() {
            thread.join();
        }
    }
}
