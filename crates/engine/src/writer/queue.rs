//! Queued writes of any type, and their acknowledgement.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use catalog::product::ShopId;
use parking_lot::Mutex;
use store::{StoreError, WriteTransaction};
use tokio::sync::oneshot;

use super::settings::WriteError;
use crate::writes::{TxContext, Write};

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
