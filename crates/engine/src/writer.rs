//! How do many writers share one disk? They wait in a queue, and one thread takes all that
//! wait, commits them in one transaction, shows them to the indexes, and answers them all.
//!
//! A write is answered only after its group is durable and its shop's index shows it. The longer a
//! commit takes, the more writes wait for the next, so the cost of one `fsync` is shared by as many
//! as need it. Indexing much text happens beside the next commits ([`crate::shops::Applier`]).

use std::{
    collections::BTreeSet,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use catalog::product::ShopId;
use jiff::{SignedDuration, Timestamp};
use parking_lot::Mutex;
use thiserror::Error;
use tokio::sync::{mpsc, oneshot};

use crate::{
    bell::Bell,
    embed::Embedder,
    shops::{Applier, Batch, Guard},
    store::{CatalogStore, Committed, ErrorChain, StoreError, Trouble, WriteTransaction},
    writes::{Moment, Write},
};

/// How long to wait before a group that met another node's is tried again.
const RETRY_PAUSES: [Duration; 4] = [
    Duration::from_millis(5),
    Duration::from_millis(20),
    Duration::from_millis(80),
    Duration::from_millis(320),
];

/// Tells the time; handed in from the edge.
pub type Clock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// A write was not done.
#[derive(Clone, Debug, Error)]
pub enum WriteError {
    /// Too many writes wait already.
    #[error("too many writes are waiting")]
    QueueFull,
    /// The writing thread has ended before its time; only a restart helps.
    #[error("the writer is down")]
    Down,
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
    /// Writes that are durable and not answered yet: their indexes do not show them.
    unanswered: Arc<AtomicUsize>,
    bell: Arc<Bell>,
    thread: Option<JoinHandle<()>>,
}

/// An entrance that does not keep the writer from ending.
pub(crate) struct Entrance(mpsc::WeakSender<Box<dyn Job>>);

impl Entrance {
    /// Queues a write, waiting for room if it must, and waits for its outcome. Blocks.
    pub(crate) fn submit_waiting<W: Write>(&self, write: W) -> Result<W::Outcome, WriteError> {
        let (reply, answered) = oneshot::channel();
        let job = Box::new(Pending { write, outcome: None, reply });
        let queue = self.0.upgrade().ok_or(WriteError::Down)?;
        queue.blocking_send(job).map_err(|_| WriteError::Down)?;
        drop(queue);
        answered.blocking_recv().unwrap_or(Err(WriteError::Down))
    }
}

impl Writer {
    /// Starts the writing thread.
    pub(crate) fn start(
        store: Box<dyn CatalogStore>,
        applier: Applier,
        embedder: Option<Arc<dyn Embedder>>,
        clock: Clock,
        settings: WriterSettings,
    ) -> std::io::Result<Self> {
        let (queue, waiting) = mpsc::channel(settings.queue.max(1));
        let bell = Arc::<Bell>::default();
        let unanswered = Arc::<AtomicUsize>::default();
        let desk = Desk {
            store,
            applier,
            embedder,
            clock,
            settings,
            unanswered: Arc::clone(&unanswered),
            bell: Arc::clone(&bell),
        };
        let thread =
            thread::Builder::new().name("writer".to_owned()).spawn(move || desk.run(waiting))?;
        Ok(Self { queue, unanswered, bell, thread: Some(thread) })
    }

    /// Another way in, for work that nobody waits for.
    pub(crate) fn entrance(&self) -> Entrance {
        Entrance(self.queue.downgrade())
    }

    /// Rung after every commit that touched products.
    pub(crate) fn bell(&self) -> Arc<Bell> {
        Arc::clone(&self.bell)
    }

    /// Queues a write and waits until it is durable and visible, or was not done at all.
    pub(crate) async fn submit<W: Write>(&self, write: W) -> Result<W::Outcome, WriteError> {
        // Without this, writes that are indexed more slowly than committed would pile up.
        if self.unanswered.load(Ordering::Relaxed) >= self.queue.max_capacity() {
            return Err(WriteError::QueueFull);
        }
        let (reply, answered) = oneshot::channel();
        let job = Box::new(Pending { write, outcome: None, reply });
        self.queue.try_send(job).map_err(|refused| match refused {
            mpsc::error::TrySendError::Full(_) => WriteError::QueueFull,
            mpsc::error::TrySendError::Closed(_) => WriteError::Down,
        })?;
        answered.await.unwrap_or(Err(WriteError::Down))
    }

    /// Whether the writing thread is there. Without it this process can only read.
    pub(crate) fn check(&self) -> Result<(), WriteError> {
        // The thread holds the other end for as long as it lives.
        if self.queue.is_closed() { Err(WriteError::Down) } else { Ok(()) }
    }

    /// How many writes wait right now, for their commit or for their index.
    pub(crate) fn waiting(&self) -> usize {
        let queued = self.queue.max_capacity() - self.queue.capacity();
        queued + self.unanswered.load(Ordering::Relaxed)
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
    fn shops(&self) -> Vec<ShopId>;
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

    fn shops(&self) -> Vec<ShopId> {
        self.write.shops()
    }

    fn run(&mut self, transaction: &mut WriteTransaction<'_>, moment: Moment) -> Outcome {
        self.outcome = Some(self.write.run(transaction, moment)?);
        Ok(())
    }

    fn answer(self: Box<Self>, committed: Outcome) {
        let Self { outcome, reply, .. } = *self;
        let answer = match (committed, outcome) {
            (Ok(()), Some(outcome)) => Ok(outcome),
            (Ok(()), None) => Err(WriteError::Down),
            (Err(error), _) => Err(WriteError::Store(error)),
        };
        // The caller may have gone away; what was written stays written.
        let _ = reply.send(answer);
    }
}

/// A durable write, which is answered when this is dropped: when the indexes of its shops show it.
struct Unanswered {
    job: Mutex<Option<Box<dyn Job>>>,
    count: Arc<AtomicUsize>,
}

impl Unanswered {
    fn new(job: Box<dyn Job>, count: &Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self { job: Mutex::new(Some(job)), count: Arc::clone(count) }
    }
}

impl Drop for Unanswered {
    fn drop(&mut self) {
        self.count.fetch_sub(1, Ordering::Relaxed);
        if let Some(job) = self.job.get_mut().take() {
            job.answer(Ok(()));
        }
    }
}

/// The writing thread's own things.
struct Desk {
    store: Box<dyn CatalogStore>,
    applier: Applier,
    embedder: Option<Arc<dyn Embedder>>,
    clock: Clock,
    settings: WriterSettings,
    unanswered: Arc<AtomicUsize>,
    bell: Arc<Bell>,
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
            self.store.rest();
        }
    }

    fn write_group(&mut self, mut group: Vec<Box<dyn Job>>) {
        let started = Instant::now();
        let writes = group.len();
        let committed = self.commit(&mut group);
        metrics::histogram!("shopkeeper_write_group_size").record(writes as f64);
        metrics::histogram!("shopkeeper_commit_seconds").record(started.elapsed().as_secs_f64());
        let result = if committed.is_ok() { "ok" } else { "failed" };
        match committed {
            Err(error) if writes > 1 && !concerns_all(&error) => {
                // One write may have spoilt it for the others: each gets a chance alone.
                for job in group {
                    self.write_group(vec![job]);
                }
                return;
            }
            Err(error) => {
                tracing::error!(error = %ErrorChain(&error), "a write could not be stored");
                for job in group {
                    job.answer(Err(error.clone()));
                }
            }
            Ok(committed) => self.show(group, committed),
        }
        metrics::counter!("shopkeeper_writes_total", "result" => result).increment(writes as u64);
    }

    /// Makes a group durable and says what it did. Nothing is visible that is not durable.
    fn commit(&mut self, group: &mut [Box<dyn Job>]) -> Result<Committed, StoreError> {
        let mut pauses = RETRY_PAUSES.iter();
        loop {
            // A write that panics takes its transaction back and nothing else with it: the
            // others are waiting.
            let stored = catch_unwind(AssertUnwindSafe(|| self.store_group(group)));
            match stored.unwrap_or_else(|_| Err(StoreError::damaged("a write panicked"))) {
                Err(error) if error.trouble() == Trouble::Contended => match pauses.next() {
                    Some(pause) => {
                        metrics::counter!("shopkeeper_write_retries_total").increment(1);
                        thread::sleep(*pause);
                    }
                    None => return Err(error),
                },
                settled => return settled,
            }
        }
    }

    /// Has the indexes show what a group touched, and each write answered once those of its shops
    /// do.
    fn show(&mut self, group: Vec<Box<dyn Job>>, committed: Committed) {
        let has_news = !committed.touched.is_empty();
        let mut batches = Batch::by_shop(committed);
        for job in group {
            let shops: BTreeSet<_> = job.shops().into_iter().collect();
            let answer: Guard = Arc::new(Unanswered::new(job, &self.unanswered));
            for shop in shops {
                if let Some(batch) = batches.get_mut(&shop) {
                    batch.guard(Arc::clone(&answer));
                }
            }
        }
        self.applier.apply(batches.into_values());
        if has_news {
            self.bell.ring();
        }
    }

    fn store_group(&mut self, group: &mut [Box<dyn Job>]) -> Result<Committed, StoreError> {
        let now = (self.clock)();
        let remember_since = now - self.settings.remember_for;
        let moment = Moment { now, remember_since };
        let mut transaction = self.store.begin()?.embedding_with(self.embedder.as_deref());
        // In the order of their numbers: two nodes that wait for each other's shops would wait
        // until the database ends one of them.
        let shops: BTreeSet<_> = group.iter().flat_map(|job| job.shops()).collect();
        for shop in shops {
            transaction.hold(shop)?;
        }
        for job in group {
            job.run(&mut transaction, moment)?;
        }
        transaction.commit()
    }
}

/// Whether every write of a group would meet the same trouble alone, after waiting as long, or
/// could be done twice.
fn concerns_all(error: &StoreError) -> bool {
    matches!(error.trouble(), Trouble::Busy | Trouble::Away | Trouble::Unconfirmed)
}

#[cfg(test)]
mod nodes_tests;

#[cfg(test)]
mod tests {
    use std::{
        sync::{atomic::AtomicU64, mpsc as std_mpsc},
        time::Duration,
    };

    use catalog::{
        access::{Caller, Role, WritePass},
        price::Price,
        product::{Description, Draft, ProductId, ShopId, Title},
    };
    use tempfile::TempDir;

    use super::*;
    use crate::{
        shops::Shops,
        store::{SqliteReaders, SqliteStore, StoreInfo},
        writes::{Create, Created},
    };

    const QUEUE: usize = 8;
    const BUSY_TIMEOUT: Duration = Duration::from_millis(300);

    /// A writer on a folder of its own. Its clock counts how often it was looked at, which is
    /// once for every transaction.
    struct Bench {
        writer: Arc<Writer>,
        transactions: Arc<AtomicU64>,
        readers: Arc<SqliteReaders>,
        shops: Arc<Shops>,
        folder: TempDir,
    }

    impl Bench {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let store = SqliteStore::open(folder.path()).unwrap();
            store.wait_at_most(BUSY_TIMEOUT);
            let readers = Arc::new(SqliteReaders::new(folder.path().to_owned()));
            let shops = Arc::new(Shops::new(readers.clone(), None, usize::MAX));
            let transactions = Arc::new(AtomicU64::new(0));
            let counter = Arc::clone(&transactions);
            let clock: Clock = Arc::new(move || {
                let seconds = counter.fetch_add(1, Ordering::SeqCst);
                Timestamp::from_second(seconds as i64).unwrap()
            });
            let settings = WriterSettings {
                queue: QUEUE,
                group_products: 100,
                remember_for: SignedDuration::from_hours(24),
            };
            let applier = Applier::start(Arc::clone(&shops), None).unwrap();
            let writer = Writer::start(Box::new(store), applier, None, clock, settings).unwrap();
            Self { writer: Arc::new(writer), transactions, readers, shops, folder }
        }

        /// Keeps the writing thread busy until the returned end is dropped, so that what is
        /// queued meanwhile becomes one group.
        async fn hold(&self) -> std_mpsc::Sender<()> {
            let (release, released) = std_mpsc::channel();
            let (began, begun) = oneshot::channel();
            let writer = Arc::clone(&self.writer);
            let gate = Gate { began: Mutex::new(Some(began)), released: Mutex::new(released) };
            tokio::spawn(async move { writer.submit(gate).await });
            begun.await.unwrap();
            release
        }

        /// Queues a write and returns once it is in the queue.
        async fn queue<W: Write>(
            &self,
            write: W,
        ) -> tokio::task::JoinHandle<Result<W::Outcome, WriteError>> {
            let before = self.writer.waiting();
            let writer = Arc::clone(&self.writer);
            let queued = tokio::spawn(async move { writer.submit(write).await });
            while self.writer.waiting() == before {
                tokio::task::yield_now().await;
            }
            queued
        }

        fn count(&self) -> usize {
            self.readers.counts(shop()).unwrap().products
        }
    }

    struct Gate {
        began: Mutex<Option<oneshot::Sender<()>>>,
        released: Mutex<std_mpsc::Receiver<()>>,
    }

    impl Write for Gate {
        type Outcome = ();

        fn products(&self) -> usize {
            1000
        }

        fn shops(&self) -> Vec<ShopId> {
            Vec::new()
        }

        fn run(&self, _: &mut WriteTransaction<'_>, _: Moment) -> Result<(), StoreError> {
            if let Some(began) = self.began.lock().take() {
                began.send(()).unwrap();
            }
            // Ends when the other end is dropped.
            let _ = self.released.lock().recv();
            Ok(())
        }
    }

    /// Creates a product and then fails.
    struct Fails(How);

    #[derive(Clone, Copy)]
    enum How {
        ByError,
        ByPanic,
    }

    impl Write for Fails {
        type Outcome = ();

        fn products(&self) -> usize {
            1
        }

        fn shops(&self) -> Vec<ShopId> {
            vec![shop()]
        }

        fn run(
            &self,
            transaction: &mut WriteTransaction<'_>,
            moment: Moment,
        ) -> Result<(), StoreError> {
            transaction.create(shop(), draft("half written"), moment.now)?;
            match self.0 {
                How::ByError => Err(StoreError::damaged("it was asked to fail")),
                How::ByPanic => panic!("it was asked to panic"),
            }
        }
    }

    /// Ends the writing thread, which no write should be able to do.
    struct Deadly;

    impl Write for Deadly {
        type Outcome = ();

        fn products(&self) -> usize {
            panic!("it was asked to end the thread")
        }

        fn shops(&self) -> Vec<ShopId> {
            Vec::new()
        }

        fn run(&self, _: &mut WriteTransaction<'_>, _: Moment) -> Result<(), StoreError> {
            Ok(())
        }
    }

    fn shop() -> ShopId {
        ShopId::new(1).unwrap()
    }

    fn pass() -> WritePass {
        Caller::new(shop(), Role::Editor).may_write().unwrap()
    }

    fn draft(title: &str) -> Draft {
        Draft {
            title: Title::parse(title).unwrap(),
            description: Description::default(),
            price: Price::parse("$1").unwrap(),
            hidden: false,
            media: vec![],
        }
    }

    fn create(title: &str) -> Create {
        Create { pass: pass(), drafts: vec![(draft(title), None)], once: None }
    }

    fn id_of(outcome: Result<Created, WriteError>) -> ProductId {
        match outcome.unwrap() {
            Created::Now(products) => products[0].id,
            other => panic!("not created: {other:?}"),
        }
    }

    #[tokio::test]
    async fn what_waits_together_is_committed_together_and_in_order() {
        let bench = Bench::new();
        let held = bench.hold().await;
        let mut queued = Vec::new();
        for n in 0..QUEUE {
            queued.push(bench.queue(create(&format!("lamp {n}"))).await);
        }
        drop(held);
        for (n, write) in queued.into_iter().enumerate() {
            assert_eq!(id_of(write.await.unwrap()).get(), n as u64 + 1);
        }
        assert_eq!(bench.transactions.load(Ordering::SeqCst), 2, "the gate's and the group's");
    }

    async fn neighbours_of_a_failing_write_are_stored(how: How) {
        let bench = Bench::new();
        let held = bench.hold().await;
        let before = bench.queue(create("lamp")).await;
        let failing = bench.queue(Fails(how)).await;
        let after = bench.queue(create("lamp")).await;
        drop(held);
        assert_eq!(id_of(before.await.unwrap()).get(), 1);
        assert!(matches!(failing.await.unwrap(), Err(WriteError::Store(_))));
        assert_eq!(id_of(after.await.unwrap()).get(), 2);
        assert_eq!(bench.count(), 2);
        assert_eq!(bench.shops.index(shop()).unwrap().snapshot().product_count(), 2);
        bench.writer.check().unwrap();
    }

    #[tokio::test]
    async fn a_write_that_fails_does_not_fail_its_neighbours() {
        neighbours_of_a_failing_write_are_stored(How::ByError).await;
    }

    #[tokio::test]
    async fn a_write_that_panics_does_not_fail_its_neighbours() {
        neighbours_of_a_failing_write_are_stored(How::ByPanic).await;
    }

    #[tokio::test]
    async fn a_full_queue_is_reported_at_once_and_nothing_is_written() {
        let bench = Bench::new();
        let held = bench.hold().await;
        let mut queued = Vec::new();
        for _ in 0..QUEUE {
            queued.push(bench.queue(create("lamp")).await);
        }
        assert!(matches!(bench.writer.submit(create("rug")).await, Err(WriteError::QueueFull)));
        drop(held);
        for write in queued {
            id_of(write.await.unwrap());
        }
        assert_eq!(bench.count(), QUEUE);
    }

    #[tokio::test]
    async fn what_a_caller_that_went_away_has_queued_is_written() {
        let bench = Bench::new();
        let held = bench.hold().await;
        let gone = bench.queue(create("lamp")).await;
        gone.abort();
        assert!(gone.await.unwrap_err().is_cancelled());
        drop(held);
        assert_eq!(id_of(bench.writer.submit(create("rug")).await).get(), 2);
        assert_eq!(bench.count(), 2);
    }

    #[tokio::test]
    async fn a_writer_that_is_let_go_writes_what_is_queued_first() {
        let bench = Bench::new();
        let held = bench.hold().await;
        for _ in 0..QUEUE {
            bench.queue(create("lamp")).await.abort();
        }
        drop(held);
        let Bench { writer, folder, .. } = bench;
        // The gate's own caller holds the writer until it is answered.
        let mut shared = writer;
        let writer = loop {
            match Arc::try_unwrap(shared) {
                Ok(writer) => break writer,
                Err(still) => shared = still,
            }
            tokio::task::yield_now().await;
        };
        drop(writer);
        let readers = SqliteReaders::new(folder.path().to_owned());
        assert_eq!(readers.counts(shop()).unwrap().products, QUEUE);
    }

    #[tokio::test]
    async fn without_its_thread_a_writer_is_down_and_says_so() {
        let bench = Bench::new();
        let held = bench.hold().await;
        let deadly = bench.queue(Deadly).await;
        let waiting = bench.queue(create("lamp")).await;
        bench.writer.check().unwrap();
        drop(held);
        assert!(matches!(deadly.await.unwrap(), Err(WriteError::Down)));
        assert!(matches!(waiting.await.unwrap(), Err(WriteError::Down)));
        assert!(matches!(bench.writer.submit(create("rug")).await, Err(WriteError::Down)));
        assert!(matches!(bench.writer.check(), Err(WriteError::Down)));
    }

    #[tokio::test]
    async fn while_another_process_holds_the_lock_a_group_waits_once() {
        let bench = Bench::new();
        let mut other = SqliteStore::open(bench.folder.path()).unwrap();
        let locked = other.begin().unwrap();
        let writer = Arc::clone(&bench.writer);
        let mut queued = vec![tokio::spawn(async move { writer.submit(create("lamp")).await })];
        while bench.transactions.load(Ordering::SeqCst) == 0 {
            tokio::task::yield_now().await;
        }
        for _ in 0..QUEUE {
            queued.push(bench.queue(create("lamp")).await);
        }
        for write in queued {
            let outcome = write.await.unwrap();
            assert!(
                matches!(&outcome, Err(WriteError::Store(e)) if e.trouble() == Trouble::Busy),
                "{outcome:?}"
            );
        }
        assert_eq!(bench.transactions.load(Ordering::SeqCst), 2, "the first and the group");
        drop(locked);
        id_of(bench.writer.submit(create("lamp")).await);
        assert_eq!(bench.count(), 1);
    }
}
