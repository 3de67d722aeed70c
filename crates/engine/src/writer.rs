//! How do many writers share one disk? They wait in a queue, and one thread takes all that
//! wait, commits them in one transaction, shows them to the indexes, and answers them all.
//!
//! A write is answered only after its group is durable and visible. The longer a commit takes,
//! the more writes wait for the next, so the cost of one `fsync` is shared by as many as need it.

use std::{
    sync::Arc,
    thread::{self, JoinHandle},
    time::Instant,
};

use jiff::{SignedDuration, Timestamp};
use thiserror::Error;
use tokio::sync::{mpsc, oneshot};

use crate::{
    shops::Shops,
    store::{Store, StoreError, WriteTransaction},
    writes::{Moment, Write},
};

/// How often forgotten keys and old changes are swept out, at the most.
const TIDY_EVERY: SignedDuration = SignedDuration::from_mins(10);
/// Changes kept for followers; older ones are in the rows themselves.
const KEEP_CHANGES: u64 = 1_000_000;

/// Tells the time; handed in from the edge.
pub type Clock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// A write was not done.
#[derive(Clone, Debug, Error)]
pub enum WriteError {
    /// Too many writes wait already.
    #[error("too many writes are waiting")]
    QueueFull,
    /// The server is stopping.
    #[error("the server is stopping")]
    Stopping,
    /// The store could not keep it.
    #[error("the write could not be stored")]
    Store(#[from] StoreError),
}

/// How the writer groups and remembers.
#[derive(Clone, Copy, Debug)]
pub struct WriterSettings {
    /// Writes that may wait.
    pub queue: usize,
    /// Products at which a group is large enough.
    pub group_products: usize,
    /// How long the answer to an idempotency key is remembered.
    pub remember_for: SignedDuration,
}

/// The queue's entrance. The writer ends when the last entrance is gone and the queue is empty.
pub struct Writer {
    queue: mpsc::Sender<Box<dyn Job>>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    /// Starts the writing thread.
    pub(crate) fn start(
        store: Store,
        shops: Arc<Shops>,
        clock: Clock,
        settings: WriterSettings,
    ) -> std::io::Result<Self> {
        let (queue, waiting) = mpsc::channel(settings.queue.max(1));
        let desk = Desk { store, shops, clock, settings, tidied_at: Timestamp::MIN };
        let thread =
            thread::Builder::new().name("writer".to_owned()).spawn(move || desk.run(waiting))?;
        Ok(Self { queue, thread: Some(thread) })
    }

    /// Queues a write and waits until it is durable and visible, or was not done at all.
    pub(crate) async fn submit<W: Write>(&self, write: W) -> Result<W::Outcome, WriteError> {
        let (reply, answered) = oneshot::channel();
        let job = Box::new(Pending { write, outcome: None, reply });
        self.queue.try_send(job).map_err(|refused| match refused {
            mpsc::error::TrySendError::Full(_) => WriteError::QueueFull,
            mpsc::error::TrySendError::Closed(_) => WriteError::Stopping,
        })?;
        answered.await.unwrap_or(Err(WriteError::Stopping))
    }

    /// How many writes wait right now.
    pub(crate) fn waiting(&self) -> usize {
        self.queue.max_capacity() - self.queue.capacity()
    }
}

impl Drop for Writer {
    /// Lets the writer finish what was queued.
    fn drop(&mut self) {
        let (closed, _) = mpsc::channel(1);
        self.queue = closed;
        if let Some(thread) = self.thread.take() {
            // A panic there was reported by the panic hook already.
            let _ = thread.join();
        }
    }
}

/// A write in the queue, whatever its type.
trait Job: Send {
    fn products(&self) -> usize;
    fn run(&mut self, transaction: &mut WriteTransaction<'_>, moment: Moment) -> Outcome;
    fn answer(self: Box<Self>, committed: Outcome);
}

type Outcome = Result<(), StoreError>;

struct Pending<W: Write> {
    write: W,
    outcome: Option<W::Outcome>,
    reply: oneshot::Sender<Result<W::Outcome, WriteError>>,
}

impl<W: Write> Job for Pending<W> {
    fn products(&self) -> usize {
        self.write.products()
    }

    fn run(&mut self, transaction: &mut WriteTransaction<'_>, moment: Moment) -> Outcome {
        self.outcome = Some(self.write.run(transaction, moment)?);
        Ok(())
    }

    fn answer(self: Box<Self>, committed: Outcome) {
        let Self { outcome, reply, .. } = *self;
        let answer = match (committed, outcome) {
            (Ok(()), Some(outcome)) => Ok(outcome),
            (Ok(()), None) => Err(WriteError::Stopping),
            (Err(error), _) => Err(WriteError::Store(error)),
        };
        // The caller may have gone away; what was written stays written.
        let _ = reply.send(answer);
    }
}

/// The writing thread's own things.
struct Desk {
    store: Store,
    shops: Arc<Shops>,
    clock: Clock,
    settings: WriterSettings,
    tidied_at: Timestamp,
}

impl Desk {
    fn run(mut self, mut waiting: mpsc::Receiver<Box<dyn Job>>) {
        while let Some(first) = waiting.blocking_recv() {
            let mut products = first.products();
            let mut group = vec![first];
            while products < self.settings.group_products
                && let Ok(next) = waiting.try_recv()
            {
                products += next.products();
                group.push(next);
            }
            self.write_group(group);
        }
    }

    fn write_group(&mut self, mut group: Vec<Box<dyn Job>>) {
        let started = Instant::now();
        let writes = group.len();
        let committed = self.commit(&mut group);
        metrics::histogram!("shopkeeper_write_group_size").record(writes as f64);
        metrics::histogram!("shopkeeper_commit_seconds").record(started.elapsed().as_secs_f64());
        match committed {
            Err(_) if writes > 1 => {
                // One write may have spoilt it for the others: each gets a chance alone.
                for job in group {
                    self.write_group(vec![job]);
                }
            }
            outcome => {
                let result = if outcome.is_ok() { "ok" } else { "failed" };
                metrics::counter!("shopkeeper_writes_total", "result" => result)
                    .increment(writes as u64);
                if let Err(error) = &outcome {
                    let cause = std::error::Error::source(error).map(ToString::to_string);
                    tracing::error!(%error, cause, "a write could not be stored");
                }
                for job in group {
                    job.answer(outcome.clone());
                }
            }
        }
    }

    /// Durable, then visible. Nothing is visible that is not durable.
    fn commit(&mut self, group: &mut [Box<dyn Job>]) -> Outcome {
        let now = (self.clock)();
        let remember_since = now - self.settings.remember_for;
        let moment = Moment { now, remember_since };
        let mut transaction = self.store.begin()?;
        for job in group {
            job.run(&mut transaction, moment)?;
        }
        if now.duration_since(self.tidied_at) >= TIDY_EVERY {
            transaction.tidy(remember_since, KEEP_CHANGES)?;
            self.tidied_at = now;
        }
        let (touched, seq) = transaction.commit()?;
        self.shops.apply(&touched, seq);
        Ok(())
    }
}
