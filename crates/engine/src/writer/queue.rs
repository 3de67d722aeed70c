//! The queue in front of the writer thread, its writes of any type, and their acknowledgement.
//!
//! The queue serves the shops in turn, by the products of their writes, and one shop may hold half of
//! it. A write whose caller has gone away before its group begins is not done.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use catalog::product::ShopId;
use parking_lot::{Condvar, Mutex, MutexGuard};
use store::{StoreError, WriteTransaction};
use tokio::sync::oneshot;

use super::settings::WriteError;
use crate::{
    fair_queue::FairQueue,
    writes::{TxContext, Write},
};

/// A [`Write`] in the queue, with its type erased.
pub(super) trait QueuedWrite: Send {
    fn products(&self) -> usize;
    fn shops(&self) -> Vec<ShopId>;
    /// Runs the write and keeps its outcome. May be called again in another transaction.
    fn run(
        &mut self,
        transaction: &mut WriteTransaction<'_>,
        context: TxContext,
    ) -> Result<(), StoreError>;
    /// Whether the caller has gone away.
    fn is_abandoned(&self) -> bool;
    /// Tells the caller why the write was not begun.
    fn refuse(self: Box<Self>, error: WriteError);
    /// Sends the outcome of the last run, or the error of the commit, to the caller.
    fn acknowledge(self: Box<Self>, committed: Result<(), StoreError>);
}

struct Queued<W: Write> {
    write: W,
    outcome: Option<W::Outcome>,
    caller: oneshot::Sender<Result<W::Outcome, WriteError>>,
}

/// A write for the queue, and where its outcome will arrive.
#[expect(clippy::type_complexity, reason = "the receiver's type names the outcome of the write")]
pub(super) fn queued<W: Write>(
    write: W,
) -> (Box<dyn QueuedWrite>, oneshot::Receiver<Result<W::Outcome, WriteError>>) {
    let (caller, outcome) = oneshot::channel();
    (Box::new(Queued { write, outcome: None, caller }), outcome)
}

impl<W: Write> QueuedWrite for Queued<W> {
    fn products(&self) -> usize {
        self.write.products()
    }

    fn shops(&self) -> Vec<ShopId> {
        self.write.shops()
    }

    fn run(
        &mut self,
        transaction: &mut WriteTransaction<'_>,
        context: TxContext,
    ) -> Result<(), StoreError> {
        self.outcome = Some(self.write.run(transaction, context)?);
        Ok(())
    }

    fn is_abandoned(&self) -> bool {
        self.caller.is_closed()
    }

    fn refuse(self: Box<Self>, error: WriteError) {
        let _ = self.caller.send(Err(error));
    }

    fn acknowledge(self: Box<Self>, committed: Result<(), StoreError>) {
        let Self { outcome, caller, .. } = *self;
        let outcome = match (committed, outcome) {
            (Ok(()), Some(outcome)) => Ok(outcome),
            (Ok(()), None) => Err(WriteError::Down),
            (Err(error), _) => Err(WriteError::Store(error)),
        };
        // The caller may have gone away; the write stays done.
        let _ = caller.send(outcome);
    }
}

/// Writes that are committed together, in the order in which they run.
pub(super) type Group = Vec<Box<dyn QueuedWrite>>;

/// Whose turn a write takes: its shop's, or that of background work, which may be for several.
pub(super) type Turn = Option<ShopId>;

/// Writes that wait for the writer thread.
pub(super) struct WriteQueue {
    pub(super) capacity: usize,
    waiting: Mutex<Waiting>,
    /// Notified when a write was added, and when the queue was closed.
    added: Condvar,
    /// Notified when writes were taken, and when the queue was closed.
    taken: Condvar,
}

struct Waiting {
    writes: FairQueue<Turn, Box<dyn QueuedWrite>>,
    /// No write is added any more.
    is_closed: bool,
}

impl WriteQueue {
    pub(super) fn new(capacity: usize) -> Self {
        let waiting = Waiting { writes: FairQueue::new(0, capacity), is_closed: false };
        Self {
            capacity,
            waiting: Mutex::new(waiting),
            added: Condvar::new(),
            taken: Condvar::new(),
        }
    }

    /// Adds a write. In a full queue it may take the place of the newest of the shop with the most.
    pub(super) fn push(&self, turn: Turn, write: Box<dyn QueuedWrite>) -> Result<(), WriteError> {
        self.add(self.waiting.lock(), turn, write)
    }

    fn add(
        &self,
        mut waiting: MutexGuard<'_, Waiting>,
        turn: Turn,
        write: Box<dyn QueuedWrite>,
    ) -> Result<(), WriteError> {
        if waiting.is_closed {
            return Err(WriteError::Down);
        }
        let replaced = waiting.writes.push(turn, write).map_err(|_| WriteError::QueueFull)?;
        drop(waiting);
        self.added.notify_one();
        if let Some(replaced) = replaced {
            replaced.refuse(WriteError::QueueFull);
        }
        Ok(())
    }

    /// Adds a write of background work, once there is room.
    pub(super) fn push_blocking(&self, write: Box<dyn QueuedWrite>) -> Result<(), WriteError> {
        let mut waiting = self.waiting.lock();
        let is_full =
            |waiting: &mut Waiting| !waiting.is_closed && waiting.writes.load() >= self.capacity;
        self.taken.wait_while(&mut waiting, is_full);
        self.add(waiting, None, write)
    }

    /// The next group, of as many writes as it takes to have this many products; `None` once the queue
    /// is closed and empty. Blocks.
    pub(super) fn next_group(&self, products: usize) -> Option<Group> {
        let mut waiting = self.waiting.lock();
        loop {
            let group = waiting.take_group(products);
            // Also if all that waited were abandoned.
            self.taken.notify_all();
            if !group.is_empty() {
                return Some(group);
            }
            if waiting.is_closed {
                return None;
            }
            self.added.wait(&mut waiting);
        }
    }

    /// Writes that wait.
    pub(super) fn len(&self) -> usize {
        self.waiting.lock().writes.load()
    }

    pub(super) fn is_closed(&self) -> bool {
        self.waiting.lock().is_closed
    }

    /// Adds no further writes. Those that wait are taken.
    pub(super) fn close(&self) {
        self.waiting.lock().is_closed = true;
        self.added.notify_all();
        self.taken.notify_all();
    }

    /// Closes the queue and drops what waits: the thread has ended.
    pub(super) fn abort(&self) {
        self.close();
        let writes = self.waiting.lock().writes.clear();
        drop(writes);
    }
}

impl Waiting {
    fn take_group(&mut self, most: usize) -> Group {
        let (mut group, mut products) = (Group::new(), 0);
        while products < most
            && let Some((write, begun)) = self.writes.begin()
        {
            let is_abandoned = write.is_abandoned();
            let cost = if is_abandoned { 0 } else { write.products().max(1) };
            self.writes.end(begun, cost as u64);
            if !is_abandoned {
                products += cost;
                group.push(write);
            }
        }
        group
    }
}

/// A durable write. Dropping it acknowledges the write: the batches of the shops that it changed
/// share it, and drop it once their indexes show it.
pub(super) struct Acknowledgement {
    write: Mutex<Option<Box<dyn QueuedWrite>>>,
    unacknowledged: Arc<AtomicUsize>,
}

impl Acknowledgement {
    pub(super) fn new(write: Box<dyn QueuedWrite>, unacknowledged: &Arc<AtomicUsize>) -> Self {
        unacknowledged.fetch_add(1, Ordering::Relaxed);
        Self { write: Mutex::new(Some(write)), unacknowledged: Arc::clone(unacknowledged) }
    }
}

impl Drop for Acknowledgement {
    fn drop(&mut self) {
        self.unacknowledged.fetch_sub(1, Ordering::Relaxed);
        if let Some(write) = self.write.get_mut().take() {
            write.acknowledge(Ok(()));
        }
    }
}
