//! Tests of the writer on SQLite.

use std::{
    sync::{atomic::AtomicU64, mpsc as std_mpsc},
    thread,
    time::Duration,
};

use catalog::product::{
    Description, Draft, ProductId, ShopId, Title,
    access::{Caller, Role, WritePass},
    attributes::{AttributeName, AttributeValue, Attributes},
    price::Price,
};
use jiff::{SignedDuration, Timestamp};
use parking_lot::Mutex;
use store::{
    Derived, Quotas, SqliteReaders, SqliteStore, StoreError, StoreErrorKind, StoreInfo,
    WriteTransaction,
};
use tempfile::TempDir;
use tokio::sync::oneshot;

use super::*;
use crate::{
    replication::ShopRegistry,
    writes::{Create, Created, TxContext},
};

/// The writes of one shop that may wait.
const QUEUE: usize = 8;
const BUSY_TIMEOUT: Duration = Duration::from_millis(300);

/// A writer on a new data folder. Its clock counts transactions: each reads it once.
struct Bench {
    writer: Arc<Writer>,
    transactions: Arc<AtomicU64>,
    readers: Arc<SqliteReaders>,
    shops: Arc<ShopRegistry>,
    folder: TempDir,
}

impl Bench {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(folder.path()).unwrap();
        store.wait_at_most(BUSY_TIMEOUT);
        let readers = Arc::new(SqliteReaders::new(folder.path().to_owned()));
        let shops = Arc::new(ShopRegistry::new(readers.clone(), None, usize::MAX));
        let transactions = Arc::new(AtomicU64::new(0));
        let counter = Arc::clone(&transactions);
        let clock: Clock = Arc::new(move || {
            let seconds = counter.fetch_add(1, Ordering::SeqCst);
            Timestamp::from_second(seconds as i64).unwrap()
        });
        let settings = WriterSettings {
            queue: 2 * QUEUE,
            group_products: 100,
            response_retention: SignedDuration::from_hours(24),
            quotas: Quotas::default(),
        };
        let applier = Applier::start(Arc::clone(&shops), None).unwrap();
        let writer = Writer::start(Box::new(store), applier, None, clock, settings).unwrap();
        Self { writer: Arc::new(writer), transactions, readers, shops, folder }
    }

    /// Blocks the writer thread until the returned sender is dropped, so that the writes queued
    /// meanwhile become one group.
    async fn block(&self) -> std_mpsc::Sender<()> {
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
            assert!(!queued.is_finished(), "it did not wait");
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

    fn run(&self, _: &mut WriteTransaction<'_>, _: TxContext) -> Result<(), StoreError> {
        if let Some(began) = self.began.lock().take() {
            began.send(()).unwrap();
        }
        // Fails once the sender is dropped.
        let _ = self.released.lock().recv();
        Ok(())
    }
}

/// Creates a product, then fails.
struct Failing(How);

#[derive(Clone, Copy)]
enum How {
    ByError,
    ByPanic,
}

impl Write for Failing {
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
        context: TxContext,
    ) -> Result<(), StoreError> {
        transaction.create(shop(), draft("half written"), context.now)?;
        match self.0 {
            How::ByError => Err(StoreError::unexpected("the test made it fail")),
            How::ByPanic => panic!("the test made it panic"),
        }
    }
}

/// Ends the writer thread by a panic outside of a transaction.
struct EndsThread;

impl Write for EndsThread {
    type Outcome = ();

    fn products(&self) -> usize {
        panic!("the test made it end the thread")
    }

    fn shops(&self) -> Vec<ShopId> {
        Vec::new()
    }

    fn run(&self, _: &mut WriteTransaction<'_>, _: TxContext) -> Result<(), StoreError> {
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
    Draft::new(Title::parse(title).unwrap(), Price::parse("$1").unwrap())
}

fn create(title: &str) -> Create {
    Create { pass: pass(), drafts: vec![(draft(title), Derived::default())], idempotency: None }
}

fn id_of(outcome: Result<Created, WriteError>) -> ProductId {
    match outcome.unwrap() {
        Created::New(made) => made[0].as_ref().unwrap().id,
        other => panic!("not created: {other:?}"),
    }
}

#[tokio::test]
async fn queued_writes_are_committed_together_and_in_order() {
    let bench = Bench::new();
    let blocked = bench.block().await;
    let mut queued = Vec::new();
    for n in 0..QUEUE {
        queued.push(bench.queue(create(&format!("lamp {n}"))).await);
    }
    drop(blocked);
    for (n, write) in queued.into_iter().enumerate() {
        assert_eq!(id_of(write.await.unwrap()).get(), n as u64 + 1);
    }
    assert_eq!(bench.transactions.load(Ordering::SeqCst), 2, "the gate's and the group's");
}

/// Writes that are retried one by one are counted once.
#[tokio::test]
async fn usage_is_exact_after_a_write_of_the_group_failed() {
    let bench = Bench::new();
    let with_name = |name: &str| {
        let mut write = create("lamp");
        let value = (AttributeName::parse(name).unwrap(), AttributeValue::Boolean(true));
        write.drafts[0].0.attributes = Attributes::new(vec![value]);
        write
    };
    for how in [How::ByError, How::ByPanic] {
        let blocked = bench.block().await;
        let before = bench.queue(with_name("a")).await;
        let failing = bench.queue(Failing(how)).await;
        let after = bench.queue(with_name("b")).await;
        drop(blocked);
        id_of(before.await.unwrap());
        assert!(failing.await.unwrap().is_err());
        id_of(after.await.unwrap());
    }
    let usage = bench.readers.usage().unwrap()[&shop()];
    let lamp = ("lamp".len() + "$1".len() + "[]".len() + r#"{"a":true}"#.len()) as u64;
    assert_eq!((usage.products, usage.attribute_names, usage.bytes), (4, 2, 4 * lamp));
    let names = bench.readers.name_counts(shop()).unwrap();
    assert_eq!(names, [("a".to_owned(), 2), ("b".to_owned(), 2)]);
}

async fn other_writes_of_the_group_are_stored(how: How) {
    let bench = Bench::new();
    let blocked = bench.block().await;
    let before = bench.queue(create("lamp")).await;
    let failing = bench.queue(Failing(how)).await;
    let after = bench.queue(create("lamp")).await;
    drop(blocked);
    assert_eq!(id_of(before.await.unwrap()).get(), 1);
    assert!(matches!(failing.await.unwrap(), Err(WriteError::Store(_))));
    assert_eq!(id_of(after.await.unwrap()).get(), 2);
    assert_eq!(bench.count(), 2);
    assert_eq!(bench.shops.index(shop()).unwrap().snapshot().product_count(), 2);
    bench.writer.check().unwrap();
}

#[tokio::test]
async fn a_failing_write_does_not_fail_its_group() {
    other_writes_of_the_group_are_stored(How::ByError).await;
}

#[tokio::test]
async fn a_panicking_write_does_not_fail_its_group() {
    other_writes_of_the_group_are_stored(How::ByPanic).await;
}

#[tokio::test]
async fn the_write_of_a_cancelled_caller_is_not_begun() {
    let bench = Bench::new();
    let blocked = bench.block().await;
    let gone = bench.queue(create("lamp")).await;
    gone.abort();
    assert!(gone.await.unwrap_err().is_cancelled());
    drop(blocked);
    assert_eq!(id_of(bench.writer.submit(create("rug")).await).get(), 1);
    assert_eq!(bench.count(), 1);
}

#[tokio::test]
async fn background_work_waits_for_room_that_abandoned_writes_make() {
    let bench = Bench::new();
    let blocked = bench.block().await;
    for id in [1, 2] {
        let pass = Caller::new(ShopId::new(id).unwrap(), Role::Editor).may_write().unwrap();
        for _ in 0..QUEUE {
            let gone = bench.queue(Create { pass, ..create("lamp") }).await;
            gone.abort();
            assert!(gone.await.unwrap_err().is_cancelled());
        }
    }
    let weak = bench.writer.downgrade();
    let waiting = tokio::task::spawn_blocking(move || weak.submit_blocking(create("rug")));
    drop(blocked);
    id_of(waiting.await.unwrap());
    assert_eq!(bench.count(), 1);
}

#[tokio::test]
async fn shops_take_turns_by_their_products() {
    let bench = Bench::new();
    let of = |id: u64, products: usize| {
        let pass = Caller::new(ShopId::new(id).unwrap(), Role::Editor).may_write().unwrap();
        let drafts = vec![(draft("lamp"), Derived::default()); products];
        Create { pass, drafts, idempotency: None }
    };
    let blocked = bench.block().await;
    let mut bulk = Vec::new();
    for _ in 0..QUEUE {
        bulk.push(bench.queue(of(1, 10)).await);
    }
    let mut single = Vec::new();
    for _ in 0..QUEUE {
        single.push(bench.queue(of(2, 1)).await);
    }
    drop(blocked);
    let mut ids = Vec::new();
    for write in single {
        ids.push(id_of(write.await.unwrap()).get());
    }
    assert_eq!(ids, [11, 12, 13, 14, 15, 16, 17, 18], "after the first ten of shop 1");
    for (n, write) in bulk.into_iter().enumerate().skip(1) {
        assert_eq!(id_of(write.await.unwrap()).get(), 9 + 10 * n as u64);
    }
}

#[tokio::test]
async fn an_index_that_is_being_updated_delays_writes_of_its_shop_only() {
    let bench = Bench::new();
    let index = bench.shops.index(shop()).unwrap();
    let (release, released) = std_mpsc::channel::<()>();
    let (lock, is_locked) = oneshot::channel();
    let locked = thread::spawn(move || {
        let _update_lock = index.lock_updates();
        lock.send(()).unwrap();
        // Fails once the sender is dropped.
        let _ = released.recv();
    });
    is_locked.await.unwrap();
    let long = Description::parse(&"word ".repeat(4_000)).unwrap();
    let mut heavy = create("rug");
    heavy.drafts[0].0.description = long;
    let heavy = bench.queue(heavy).await;
    let light = bench.queue(create("rug")).await;
    let other = Caller::new(ShopId::new(2).unwrap(), Role::Editor).may_write().unwrap();
    for _ in 0..5 {
        id_of(bench.writer.submit(Create { pass: other, ..create("lamp") }).await);
    }
    assert!(!heavy.is_finished() && !light.is_finished());
    drop(release);
    locked.join().unwrap();
    id_of(heavy.await.unwrap());
    id_of(light.await.unwrap());
    assert_eq!(bench.shops.index(shop()).unwrap().snapshot().product_count(), 2);
}

#[tokio::test]
async fn a_shop_leaves_half_of_the_queue_to_others() {
    let bench = Bench::new();
    let blocked = bench.block().await;
    let mut queued = Vec::new();
    for _ in 0..QUEUE {
        queued.push(bench.queue(create("lamp")).await);
    }
    assert!(matches!(bench.writer.submit(create("rug")).await, Err(WriteError::QueueFull)));
    let other = Caller::new(ShopId::new(2).unwrap(), Role::Editor).may_write().unwrap();
    queued.push(bench.queue(Create { pass: other, ..create("rug") }).await);
    drop(blocked);
    for write in queued {
        id_of(write.await.unwrap());
    }
    assert_eq!(bench.count(), QUEUE);
}

#[tokio::test]
async fn dropping_the_writer_commits_the_queue_first() {
    let bench = Bench::new();
    let blocked = bench.block().await;
    let weak = Arc::new(bench.writer.downgrade());
    let submit = |_| {
        let weak = Arc::clone(&weak);
        tokio::task::spawn_blocking(move || weak.submit_blocking(create("lamp")))
    };
    let queued: Vec<_> = (0..QUEUE).map(submit).collect();
    while bench.writer.waiting() < QUEUE {
        tokio::task::yield_now().await;
    }
    drop(blocked);
    let Bench { writer, folder, .. } = bench;
    // The caller of the gate shares the writer until it is acknowledged.
    let mut shared = writer;
    let writer = loop {
        match Arc::try_unwrap(shared) {
            Ok(writer) => break writer,
            Err(still) => shared = still,
        }
        tokio::task::yield_now().await;
    };
    drop(writer);
    for write in queued {
        id_of(write.await.unwrap());
    }
    let readers = SqliteReaders::new(folder.path().to_owned());
    assert_eq!(readers.counts(shop()).unwrap().products, QUEUE);
}

#[tokio::test]
async fn the_health_check_fails_without_the_thread() {
    let bench = Bench::new();
    let blocked = bench.block().await;
    let ending = bench.queue(EndsThread).await;
    let waiting = bench.queue(create("lamp")).await;
    bench.writer.check().unwrap();
    drop(blocked);
    assert!(matches!(ending.await.unwrap(), Err(WriteError::Down)));
    assert!(matches!(waiting.await.unwrap(), Err(WriteError::Down)));
    assert!(matches!(bench.writer.submit(create("rug")).await, Err(WriteError::Down)));
    assert!(matches!(bench.writer.check(), Err(WriteError::Down)));
}

#[tokio::test]
async fn a_group_waits_once_for_the_lock_of_another_process() {
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
            matches!(&outcome, Err(WriteError::Store(e)) if e.kind() == StoreErrorKind::Busy),
            "{outcome:?}"
        );
    }
    assert_eq!(bench.transactions.load(Ordering::SeqCst), 2, "the first and the group");
    drop(locked);
    id_of(bench.writer.submit(create("lamp")).await);
    assert_eq!(bench.count(), 1);
}
