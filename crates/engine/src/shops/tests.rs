//! Do shops come into memory, stay up to date and leave as they should?

use std::{
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    thread,
    time::{Duration, Instant},
};

use catalog::{
    access::Visibility,
    analysis::QueryTerms,
    price::Price,
    product::{Description, Draft, Patch, ProductId, Title},
};
use jiff::Timestamp;
use parking_lot::Mutex;
use tempfile::TempDir;

use super::*;
use crate::store::{CatalogStore, Committed, SqliteReaders, SqliteStore, WriteTransaction};

const NOW: Timestamp = Timestamp::UNIX_EPOCH;

struct Bench {
    _folder: TempDir,
    store: Mutex<SqliteStore>,
    shops: Shops,
}

impl Bench {
    fn new(memory_budget: usize) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Mutex::new(SqliteStore::open(folder.path()).unwrap());
        let readers = Arc::new(SqliteReaders::new(folder.path().to_owned()));
        Self { _folder: folder, store, shops: Shops::new(readers, None, memory_budget) }
    }

    /// Stores something; the indexes are not told of it yet.
    fn store<T>(
        &self,
        work: impl FnOnce(&mut WriteTransaction<'_>) -> Result<T, StoreError>,
    ) -> (T, Committed) {
        let mut store = self.store.lock();
        let mut transaction = store.begin().unwrap();
        let outcome = work(&mut transaction).unwrap();
        (outcome, transaction.commit().unwrap())
    }

    /// Stores something and shows it to the indexes, as the writer does.
    fn write<T>(&self, work: impl FnOnce(&mut WriteTransaction<'_>) -> Result<T, StoreError>) -> T {
        let (outcome, touched) = self.store(work);
        self.shops.apply_and_wait(touched);
        outcome
    }

    fn create(&self, shop: ShopId, title: &str) -> Product {
        self.write(|transaction| transaction.create(shop, draft(title), NOW))
    }

    fn rename(&self, product: Product, title: &str) -> Product {
        let title = Some(Title::parse(title).unwrap());
        let patch = Patch { title, ..Patch::default() };
        self.write(|transaction| transaction.update(product, patch, NOW))
    }

    /// Begins to load a shop, as the first search of it does.
    fn begin_loading(&self, shop: ShopId) -> Loading<'_> {
        Loading::begin(&self.shops, &mut self.shops.slots.lock(), shop, true)
    }

    /// The ids that a word finds, ascending.
    fn find(&self, shop: ShopId, word: &str) -> Vec<ProductId> {
        let snapshot = self.shops.index(shop).unwrap().snapshot();
        let found = snapshot.search_words(&QueryTerms::of(word), Visibility::All, 0, 100_000);
        assert_eq!(found.total, found.hits.len());
        let mut ids: Vec<_> = found.hits.iter().map(|hit| hit.product).collect();
        ids.sort_unstable();
        ids
    }
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

fn shop(number: u64) -> ShopId {
    ShopId::new(number).unwrap()
}

#[test]
fn a_shop_that_loads_while_its_products_change_misses_nothing() {
    let bench = Bench::new(usize::MAX);
    let shop = shop(1);
    let kept = bench.create(shop, "old");
    let renamed = bench.create(shop, "old");
    let gone = bench.create(shop, "old");
    // Reads the rows, then waits before it is ready, while the products change.
    let mut loading = bench.begin_loading(shop);
    let index = loading.read().unwrap();
    let renamed = bench.rename(renamed, "new");
    bench.write(|transaction| transaction.delete(&gone));
    let made = bench.create(shop, "new");
    let index = loading.finish(index).unwrap();
    assert_eq!(index.snapshot().seq(), made.version);
    assert_eq!(bench.find(shop, "old"), [kept.id]);
    assert_eq!(bench.find(shop, "new"), [renamed.id, made.id]);
}

#[test]
fn a_shop_does_not_go_back_to_before_its_rows_were_read() {
    let bench = Bench::new(usize::MAX);
    let shop = shop(1);
    let product = bench.create(shop, "first");
    let mut loading = bench.begin_loading(shop);
    let product = bench.rename(product, "second");
    // The third change is committed and read, but the indexes have not been told of it yet.
    let ((), touched) = bench.store(|transaction| transaction.delete(&product));
    let index = loading.read().unwrap();
    loading.finish(index).unwrap();
    assert_eq!(bench.find(shop, "second"), []);
    bench.shops.apply_and_wait(touched);
    assert_eq!(bench.find(shop, "second"), []);
}

#[test]
fn a_load_that_ends_leaves_the_next_load_of_its_shop_alone() {
    let bench = Bench::new(usize::MAX);
    let shop = shop(1);
    let mut first = bench.begin_loading(shop);
    let index = first.read().unwrap();
    first.finish(index).unwrap();
    // Before the first has let go, the shop leaves memory and is loaded again.
    bench.shops.slots.lock().remove(shop);
    let mut second = bench.begin_loading(shop);
    let index = second.read().unwrap();
    drop(first);
    let made = bench.create(shop, "lamp");
    second.finish(index).unwrap();
    assert_eq!(bench.find(shop, "lamp"), [made.id]);
}

#[test]
fn whoever_waits_for_a_shop_gets_it_when_it_is_loaded() {
    let bench = Bench::new(usize::MAX);
    let shop = shop(1);
    let made = bench.create(shop, "lamp");
    let mut loading = bench.begin_loading(shop);
    thread::scope(|scope| {
        let waiting: Vec<_> = (0..4).map(|_| scope.spawn(|| bench.find(shop, "lamp"))).collect();
        let index = loading.read().unwrap();
        loading.finish(index).unwrap();
        drop(loading);
        for found in waiting {
            assert_eq!(found.join().unwrap(), [made.id]);
        }
    });
}

#[test]
fn whoever_waits_for_a_load_that_fails_loads_it_again() {
    let bench = Bench::new(usize::MAX);
    let shop = shop(1);
    let made = bench.create(shop, "lamp");
    let loading = bench.begin_loading(shop);
    thread::scope(|scope| {
        let waiting: Vec<_> = (0..4).map(|_| scope.spawn(|| bench.find(shop, "lamp"))).collect();
        drop(loading);
        for found in waiting {
            assert_eq!(found.join().unwrap(), [made.id]);
        }
    });
}

/// Searches of several shops force each other out of memory all the while.
#[test]
fn what_was_answered_is_found_however_often_shops_come_and_go() {
    const WRITES: u64 = 300;
    let bench = Bench::new(1);
    let answered = AtomicU64::new(0);
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !done.load(Ordering::Acquire) {
                    let at_least = answered.load(Ordering::Acquire) as usize;
                    let found = bench.find(shop(1), "lamp").len();
                    assert!(found >= at_least, "{found} found of {at_least} answered");
                }
            });
        }
        scope.spawn(|| {
            while !done.load(Ordering::Acquire) {
                bench.find(shop(2), "rug");
            }
        });
        let mut last = None;
        for _ in 0..WRITES {
            let made = bench.create(shop(1), "lamp");
            answered.fetch_add(1, Ordering::Release);
            last = Some(made);
            bench.create(shop(2), "rug");
        }
        done.store(true, Ordering::Release);
        let last = last.unwrap();
        assert_eq!(bench.find(shop(1), "lamp").last(), Some(&last.id));
    });
    assert_eq!(bench.find(shop(1), "lamp").len() as u64, WRITES);
}

#[test]
fn the_shop_unused_for_longest_leaves_first() {
    let bench = Bench::new(usize::MAX);
    for number in 1..=3 {
        bench.create(shop(number), "lamp");
        bench.find(shop(number), "lamp");
    }
    bench.find(shop(1), "lamp");
    let one = bench.shops.holdings().bytes / 3;
    let mut slots = bench.shops.slots.lock();
    slots.keep_within(one * 2, &*bench.shops.readers);
    let mut left: Vec<_> = slots.by_shop.keys().copied().collect();
    left.sort_unstable();
    assert_eq!(left, [shop(1), shop(3)]);
    slots.keep_within(0, &*bench.shops.readers);
    assert_eq!(slots.by_shop.keys().copied().collect::<Vec<_>>(), [shop(1)]);
    assert!(slots.bytes > 0);
}

#[test]
fn shops_that_grow_by_writes_stay_within_the_budget() {
    let bench = Bench::new(20_000);
    for number in 1..=4 {
        bench.create(shop(number), "lamp");
        bench.find(shop(number), "lamp");
    }
    assert_eq!(bench.shops.holdings().shops, 4);
    for n in 0..200 {
        bench.create(shop(n % 4 + 1), &format!("lamp number{n} of many{n} words{n} new{n}"));
        let held = bench.shops.holdings();
        assert!(held.shops == 1 || held.bytes <= 20_000, "{held:?}");
    }
    for number in 1..=4 {
        assert_eq!(bench.find(shop(number), "lamp").len(), 51);
    }
}

/// A product that takes long to index.
fn long_draft(number: usize) -> Draft {
    let text: String = (0..2_000).map(|word| format!("w{number}x{word} ")).collect();
    Draft { description: Description::parse(&text).unwrap(), ..draft("rug") }
}

#[test]
fn a_load_that_applies_what_it_missed_blocks_no_other_shop() {
    let bench = Bench::new(usize::MAX);
    let (large, other) = (shop(1), shop(2));
    bench.create(other, "lamp");
    bench.find(other, "lamp");
    let mut loading = bench.begin_loading(large);
    let index = loading.read().unwrap();
    for number in 0..30 {
        bench.write(|transaction| transaction.create(large, long_draft(number), NOW));
    }
    let is_over = AtomicBool::new(false);
    let (took, slowest) = thread::scope(|scope| {
        let looking = scope.spawn(|| {
            let mut slowest = Duration::ZERO;
            while !is_over.load(Ordering::Acquire) {
                let asked = Instant::now();
                bench.shops.in_memory(other).unwrap();
                slowest = slowest.max(asked.elapsed());
            }
            slowest
        });
        let started = Instant::now();
        loading.finish(index).unwrap();
        let took = started.elapsed();
        is_over.store(true, Ordering::Release);
        (took, looking.join().unwrap())
    });
    assert_eq!(bench.find(large, "rug").len(), 30);
    assert!(slowest * 2 < took, "{slowest:?} of {took:?}");
}

/// Writes that come while a load catches up are answered once they are applied, so that the load
/// comes to an end.
#[test]
fn writes_during_a_catch_up_wait_and_are_seen() {
    let bench = Bench::new(usize::MAX);
    let shop = shop(1);
    let mut loading = bench.begin_loading(shop);
    let index = loading.read().unwrap();
    let is_loaded = AtomicBool::new(false);
    let written = thread::scope(|scope| {
        let writing = scope.spawn(|| {
            let mut written = 0;
            while !is_loaded.load(Ordering::Acquire) || written < 50 {
                bench.write(|transaction| transaction.create(shop, long_draft(written), NOW));
                written += 1;
            }
            written
        });
        while bench.shops.seen(shop) < Some(Seq(5)) {
            thread::yield_now();
        }
        loading.finish(index).unwrap();
        drop(loading);
        is_loaded.store(true, Ordering::Release);
        writing.join().unwrap()
    });
    assert_eq!(bench.find(shop, "rug").len(), written);
}

#[test]
fn changes_that_are_too_many_to_keep_are_read_from_the_store() {
    let bench = Bench::new(usize::MAX);
    let shop = shop(1);
    let mut loading = bench.begin_loading(shop);
    let index = loading.read().unwrap();
    if let Some(Slot::Loading { missed }) = bench.shops.slots.lock().by_shop.get_mut(&shop) {
        missed.overflow();
    }
    let made = bench.create(shop, "lamp");
    loading.finish(index).unwrap();
    assert_eq!(bench.find(shop, "lamp"), [made.id]);
}

#[test]
fn shops_that_are_only_written_to_stay_within_the_budget() {
    let bench = Bench::new(1);
    bench.create(shop(1), "lamp");
    bench.shops.index_unused(shop(1)).unwrap();
    assert_eq!(bench.shops.holdings().shops, 0);
}

#[tokio::test]
async fn requests_wait_for_one_load_and_get_its_outcome() {
    let Bench { _folder, shops, .. } = Bench::new(usize::MAX);
    let loader = Loader::start(Arc::new(shops)).unwrap();
    let (one, other) = tokio::join!(loader.index(shop(1)), loader.index(shop(1)));
    assert!(Arc::ptr_eq(&one.unwrap(), &other.unwrap()));
}

#[tokio::test]
async fn requests_get_the_error_of_a_load_that_fails() {
    let nowhere = Arc::new(SqliteReaders::new("/nowhere".into()));
    let loader = Loader::start(Arc::new(Shops::new(nowhere, None, usize::MAX))).unwrap();
    for _ in 0..2 {
        let (one, other) = tokio::join!(loader.index(shop(1)), loader.index(shop(1)));
        assert!(matches!(one, Err(LoadError::Failed(_))), "{:?}", one.err());
        assert!(matches!(other, Err(LoadError::Failed(_))), "{:?}", other.err());
    }
}

#[test]
fn a_shop_that_was_written_to_is_loaded_if_it_fits_and_leaves_first() {
    let budget = 3 * BYTES_PER_PRODUCT;
    let bench = Bench::new(budget);
    bench.create(shop(1), "lamp");
    assert!(bench.shops.has_room_for(shop(1)));
    for _ in 0..4 {
        bench.create(shop(2), "rug");
    }
    assert!(!bench.shops.has_room_for(shop(2)), "four products take more than three");
    bench.find(shop(1), "lamp");
    bench.create(shop(3), "mug");
    bench.shops.index_unused(shop(3)).unwrap();
    let mut slots = bench.shops.slots.lock();
    let too_much = slots.bytes;
    slots.keep_within(too_much - 1, &*bench.shops.readers);
    assert_eq!(slots.by_shop.keys().copied().collect::<Vec<_>>(), [shop(1)]);
}

/// Large batches of a shop are applied by other threads than small ones, and still in order.
#[test]
fn changes_are_applied_in_order_and_shown_when_their_guard_is_gone() {
    let Bench { _folder, store, shops } = Bench::new(usize::MAX);
    let shops = Arc::new(shops);
    let readers = Arc::clone(&shops.readers);
    let mut applier = Applier::start(Arc::clone(&shops), None).unwrap();
    let mut store = store.into_inner();
    let mut write = |work: &mut dyn FnMut(&mut WriteTransaction<'_>)| {
        let mut transaction = store.begin().unwrap();
        work(&mut transaction);
        let (guard, shown) = std::sync::mpsc::channel::<()>();
        let guard: Guard = Arc::new(Mutex::new(guard));
        let mut batches = Batch::by_shop(transaction.commit().unwrap());
        batches.values_mut().for_each(|batch| batch.guard(Arc::clone(&guard)));
        applier.apply(batches.into_values());
        shown
    };
    let total = |number, word: &str| {
        let snapshot = shops.in_memory(shop(number)).unwrap().snapshot();
        snapshot.search_words(&QueryTerms::of(word), Visibility::All, 0, 1000).total
    };
    for number in 1..=2 {
        shops.index(shop(number)).unwrap();
    }
    let mut waiting = Vec::new();
    for round in 0..6 {
        let mut made = Vec::new();
        // Much text for one shop, and at once little that changes it.
        waiting.push(write(&mut |transaction| {
            let many = (0..4).map(|n| transaction.create(shop(1), long_draft(round * 4 + n), NOW));
            made = many.map(Result::unwrap).collect();
        }));
        waiting.push(write(&mut |transaction| {
            let title = Some(Title::parse("mat").unwrap());
            let patch = Patch { title, ..Patch::default() };
            transaction.update(made[0].clone(), patch, NOW).unwrap();
            transaction.delete(&made[1]).unwrap();
        }));
        // Little for another shop, which is shown before this returns: the writer applies it.
        let shown = write(&mut |transaction| {
            transaction.create(shop(2), draft("lamp"), NOW).unwrap();
        });
        assert_eq!(shown.try_recv(), Err(std::sync::mpsc::TryRecvError::Disconnected));
        assert_eq!(total(2, "lamp"), round + 1);
    }
    waiting.into_iter().for_each(|shown| assert!(shown.recv().is_err()));
    assert_eq!((total(1, "rug"), total(1, "mat")), (12, 6));
    drop(applier);
    assert_eq!(readers.counts(shop(1)).unwrap().products, 18);
}
