//! Shops are loaded, kept up to date and evicted correctly.

use std::{
    cell::Cell,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread,
};

use catalog::{
    product::{
        Description, Draft, Patch, Product, ProductId, ShopId, Title,
        access::Visibility,
        attributes::{AttributeName, AttributeValue, Attributes},
        change::Seq,
        key::Key,
        price::Price,
    },
    text::analysis::QueryTerms,
};
use embed::{BuiltIn, Embedder, Embedding, Encoder, ModelFiles, Text, Vector};
use index::{DocVectors, Snapshot};
use jiff::Timestamp;
use parking_lot::Mutex;
use store::{
    CatalogStore, Committed, SqliteReaders, SqliteStore, StoreError, VectorRow, WriteTransaction,
};
use tempfile::TempDir;

use super::{
    load::ShopLoad,
    registry::BYTES_PER_PRODUCT,
    table::{LoadReason, ShopState},
    *,
};

const NOW: Timestamp = Timestamp::UNIX_EPOCH;

struct Bench {
    _folder: TempDir,
    embedder: Option<BuiltIn>,
    store: Mutex<SqliteStore>,
    registry: ShopRegistry,
}

impl Bench {
    fn new(memory_limit: usize) -> Self {
        Self::with_model(memory_limit, None)
    }

    fn with_model(memory_limit: usize, embedder: Option<BuiltIn>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Mutex::new(SqliteStore::open(folder.path()).unwrap());
        let readers = Arc::new(SqliteReaders::new(folder.path().to_owned()));
        let model = embedder.as_ref().map(|embedder| embedder.model().clone());
        let registry = ShopRegistry::new(readers, model, memory_limit);
        Self { _folder: folder, embedder, store, registry }
    }

    /// Commits a transaction without applying it to the indexes.
    fn store<T>(
        &self,
        work: impl FnOnce(&mut WriteTransaction<'_>) -> Result<T, StoreError>,
    ) -> (T, Committed) {
        let mut store = self.store.lock();
        let embedder = self.embedder.as_ref().map(|embedder| embedder as &dyn Embedder);
        let mut transaction = store.begin().unwrap().embedding_with(embedder);
        let outcome = work(&mut transaction).unwrap();
        (outcome, transaction.commit().unwrap())
    }

    /// Commits a transaction and applies it to the indexes, as the writer does.
    fn write<T>(&self, work: impl FnOnce(&mut WriteTransaction<'_>) -> Result<T, StoreError>) -> T {
        let (outcome, committed) = self.store(work);
        self.registry.apply_and_wait(committed);
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

    /// Begins to load a shop, as its first search does.
    fn begin_load(&self, shop: ShopId) -> ShopLoad<'_> {
        ShopLoad::begin(&self.registry, &mut self.registry.table.lock(), shop, LoadReason::Search)
    }

    /// The ids that a word matches, ascending.
    fn find(&self, shop: ShopId, word: &str) -> Vec<ProductId> {
        let snapshot = self.registry.index(shop).unwrap().snapshot();
        let found = snapshot.search_words(&QueryTerms::of(word), Visibility::All, 0, 100_000);
        assert_eq!(found.total, found.hits.len());
        let mut ids: Vec<_> = found.hits.iter().map(|hit| hit.product).collect();
        ids.sort_unstable();
        ids
    }
}

fn draft(title: &str) -> Draft {
    Draft::new(Title::parse(title).unwrap(), Price::parse("$1").unwrap())
}

fn shop(number: u64) -> ShopId {
    ShopId::new(number).unwrap()
}

/// An index adds the category of a product to its vector, in whichever order it gets to know both.
#[test]
fn vectors_are_those_of_an_index_that_is_loaded() {
    let model = BuiltIn::new(ModelFiles::embedded(), 1).unwrap();
    let text = Text::Query("a corner sofa");
    let instant = model.instant(text).unwrap();
    let deep = Some(Vector::normalized(vec![0.5; 16]).unwrap());
    let deep = Embedding { encoder: Encoder::Deep, deep, ..instant };
    let bench = Bench::with_model(usize::MAX, Some(model));
    let index = bench.registry.index(shop(1)).unwrap();
    let made = bench.create(shop(1), "U-shape family sectional (navy)");
    let vector = || {
        let (readers, model) = (Arc::clone(&bench.registry.readers), &bench.registry.model);
        let other = ShopRegistry::new(readers, model.clone(), usize::MAX);
        let loaded = other.index(shop(1)).unwrap().snapshot();
        let vectors = |snapshot: &Snapshot| {
            let DocVectors { vector, deep } = snapshot.vectors(made.id);
            [vector, deep].map(|numbers| numbers.map(<[i8]>::to_vec))
        };
        let loaded = vectors(&loaded);
        assert_eq!(vectors(&index.snapshot()), loaded);
        loaded
    };
    let update = |patch: Patch| {
        bench.write(|transaction| {
            let before = transaction.product(shop(1), made.id)?.unwrap();
            transaction.update(before, patch, NOW)
        })
    };
    let product_type = |category: &str| {
        let name = AttributeName::parse("product_type").unwrap();
        let stated = Attributes::new(vec![(name, AttributeValue::Text(category.into()))]);
        Patch { attributes: Some(stated), ..Patch::default() }
    };
    let first = vector();
    update(product_type("Furniture > Tables"));
    let of_a_table = vector();
    assert_ne!(first, of_a_table);
    let key = Some(Some(Key::parse("sectional").unwrap()));
    update(Patch { key, ..Patch::default() });
    assert_eq!(vector(), of_a_table);
    let row = VectorRow::new(shop(1), made.id, made.version, deep);
    assert!(bench.write(|transaction| transaction.put_vectors(&row)));
    let deep_table = vector();
    assert_ne!(deep_table, of_a_table);
    assert_eq!((&of_a_table[1], &deep_table[1]), (&None, &Some(vec![127; 16])));
    update(product_type("Furniture > Sofas"));
    assert_ne!(vector(), deep_table);
    update(product_type("Furniture > Tables"));
    assert_eq!(vector(), deep_table, "the store has the vector of the text alone");
}

#[test]
fn a_load_includes_changes_that_commit_meanwhile() {
    let bench = Bench::new(usize::MAX);
    let shop = shop(1);
    let kept = bench.create(shop, "old");
    let renamed = bench.create(shop, "old");
    let gone = bench.create(shop, "old");
    // The products change between the scan and the publication of the index.
    let mut load = bench.begin_load(shop);
    let index = load.scan().unwrap();
    let renamed = bench.rename(renamed, "new");
    bench.write(|transaction| transaction.delete(&gone));
    let made = bench.create(shop, "new");
    let index = load.finish(index).unwrap();
    assert_eq!(index.snapshot().seq(), made.version);
    assert_eq!(bench.find(shop, "old"), [kept.id]);
    assert_eq!(bench.find(shop, "new"), [renamed.id, made.id]);
}

#[test]
fn pending_changes_do_not_set_back_rows_that_the_scan_read() {
    let bench = Bench::new(usize::MAX);
    let shop = shop(1);
    let product = bench.create(shop, "first");
    let mut load = bench.begin_load(shop);
    let product = bench.rename(product, "second");
    // The scan reads the third change before it is applied to the indexes.
    let ((), committed) = bench.store(|transaction| transaction.delete(&product));
    let index = load.scan().unwrap();
    load.finish(index).unwrap();
    assert_eq!(bench.find(shop, "second"), []);
    bench.registry.apply_and_wait(committed);
    assert_eq!(bench.find(shop, "second"), []);
}

#[test]
fn the_end_of_a_load_does_not_disturb_the_next_load_of_its_shop() {
    let bench = Bench::new(usize::MAX);
    let shop = shop(1);
    let mut first = bench.begin_load(shop);
    let index = first.scan().unwrap();
    first.finish(index).unwrap();
    // Before the first load is dropped, the shop is evicted and loaded again.
    bench.registry.table.lock().evict(shop, EvictionReason::MemoryLimit);
    let mut second = bench.begin_load(shop);
    let index = second.scan().unwrap();
    drop(first);
    let made = bench.create(shop, "lamp");
    second.finish(index).unwrap();
    assert_eq!(bench.find(shop, "lamp"), [made.id]);
}

#[test]
fn threads_that_wait_for_a_load_get_its_index() {
    let bench = Bench::new(usize::MAX);
    let shop = shop(1);
    let made = bench.create(shop, "lamp");
    let mut load = bench.begin_load(shop);
    thread::scope(|scope| {
        let waiting: Vec<_> = (0..4).map(|_| scope.spawn(|| bench.find(shop, "lamp"))).collect();
        let index = load.scan().unwrap();
        load.finish(index).unwrap();
        drop(load);
        for found in waiting {
            assert_eq!(found.join().unwrap(), [made.id]);
        }
    });
}

#[test]
fn a_thread_that_waits_for_a_failed_load_loads_again() {
    let bench = Bench::new(usize::MAX);
    let shop = shop(1);
    let made = bench.create(shop, "lamp");
    let load = bench.begin_load(shop);
    thread::scope(|scope| {
        let waiting: Vec<_> = (0..4).map(|_| scope.spawn(|| bench.find(shop, "lamp"))).collect();
        drop(load);
        for found in waiting {
            assert_eq!(found.join().unwrap(), [made.id]);
        }
    });
}

/// Searches of several shops evict each other all the time.
#[test]
fn acknowledged_writes_are_found_despite_evictions() {
    const WRITES: u64 = 300;
    let bench = Bench::new(1);
    let acknowledged = AtomicU64::new(0);
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !done.load(Ordering::Acquire) {
                    let at_least = acknowledged.load(Ordering::Acquire) as usize;
                    let found = bench.find(shop(1), "lamp").len();
                    assert!(found >= at_least, "{found} found of {at_least} acknowledged");
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
            acknowledged.fetch_add(1, Ordering::Release);
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
fn the_least_recently_used_shop_is_evicted_first() {
    let bench = Bench::new(usize::MAX);
    for number in 1..=3 {
        bench.create(shop(number), "lamp");
        bench.find(shop(number), "lamp");
    }
    bench.find(shop(1), "lamp");
    let one = bench.registry.memory_usage().bytes / 3;
    let mut table = bench.registry.table.lock();
    table.enforce_limit(one * 2);
    let mut left: Vec<_> = table.states.keys().copied().collect();
    left.sort_unstable();
    assert_eq!(left, [shop(1), shop(3)]);
    table.enforce_limit(0);
    assert_eq!(table.states.keys().copied().collect::<Vec<_>>(), [shop(1)]);
    assert!(table.bytes > 0);
}

#[test]
fn shops_that_grow_by_writes_stay_within_the_memory_limit() {
    let bench = Bench::new(20_000);
    for number in 1..=4 {
        bench.create(shop(number), "lamp");
        bench.find(shop(number), "lamp");
    }
    assert_eq!(bench.registry.memory_usage().shops, 4);
    for n in 0..200 {
        bench.create(shop(n % 4 + 1), &format!("lamp number{n} of many{n} words{n} new{n}"));
        let held = bench.registry.memory_usage();
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
fn applying_pending_changes_blocks_no_other_shop() {
    let bench = Bench::new(usize::MAX);
    let (large, other) = (shop(1), shop(2));
    bench.create(other, "lamp");
    bench.find(other, "lamp");
    let mut load = bench.begin_load(large);
    let index = load.scan().unwrap();
    for number in 0..30 {
        bench.write(|transaction| transaction.create(large, long_draft(number), NOW));
    }
    let rounds = Cell::new(0);
    load.on_pending = Some(Box::new(|| {
        assert!(bench.registry.table.try_lock().is_some());
        bench.registry.in_memory(other).unwrap();
        rounds.set(rounds.get() + 1);
    }));
    load.finish(index).unwrap();
    assert_eq!(rounds.get(), 1);
    drop(load);
    assert_eq!(bench.find(large, "rug").len(), 30);
}

/// Writes during the second round of pending changes are acknowledged once they are applied, so
/// that the load comes to an end.
#[test]
fn writes_while_pending_changes_are_applied_wait_and_are_visible() {
    let bench = Bench::new(usize::MAX);
    let shop = shop(1);
    let mut load = bench.begin_load(shop);
    let index = load.scan().unwrap();
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
        while bench.registry.visible_seq(shop) < Some(Seq(5)) {
            thread::yield_now();
        }
        load.finish(index).unwrap();
        drop(load);
        is_loaded.store(true, Ordering::Release);
        writing.join().unwrap()
    });
    assert_eq!(bench.find(shop, "rug").len(), written);
}

#[test]
fn pending_changes_beyond_the_limit_are_read_from_the_store() {
    let bench = Bench::new(usize::MAX);
    let shop = shop(1);
    let mut load = bench.begin_load(shop);
    let index = load.scan().unwrap();
    if let Some(ShopState::Loading(pending)) = bench.registry.table.lock().states.get_mut(&shop) {
        pending.overflow();
    }
    let made = bench.create(shop, "lamp");
    load.finish(index).unwrap();
    assert_eq!(bench.find(shop, "lamp"), [made.id]);
}

#[test]
fn prefetched_shops_stay_within_the_memory_limit() {
    let bench = Bench::new(1);
    bench.create(shop(1), "lamp");
    bench.registry.get_or_load(shop(1), LoadReason::Write).unwrap();
    assert_eq!(bench.registry.memory_usage().shops, 0);
}

#[tokio::test]
async fn concurrent_requests_share_one_load() {
    let Bench { _folder, registry, .. } = Bench::new(usize::MAX);
    let loader = Loader::start(Arc::new(registry)).unwrap();
    let (one, other) = tokio::join!(loader.index(shop(1)), loader.index(shop(1)));
    assert!(Arc::ptr_eq(&one.unwrap(), &other.unwrap()));
}

#[tokio::test]
async fn requests_get_the_error_of_a_failed_load() {
    let nowhere = Arc::new(SqliteReaders::new("/nowhere".into()));
    let loader = Loader::start(Arc::new(ShopRegistry::new(nowhere, None, usize::MAX))).unwrap();
    for _ in 0..2 {
        let (one, other) = tokio::join!(loader.index(shop(1)), loader.index(shop(1)));
        assert!(matches!(one, Err(LoadError::Failed(_))), "{:?}", one.err());
        assert!(matches!(other, Err(LoadError::Failed(_))), "{:?}", other.err());
    }
}

#[test]
fn a_prefetched_shop_must_fit_and_is_evicted_first() {
    let budget = 3 * BYTES_PER_PRODUCT;
    let bench = Bench::new(budget);
    bench.create(shop(1), "lamp");
    assert!(bench.registry.has_room_for(shop(1)));
    for _ in 0..4 {
        bench.create(shop(2), "rug");
    }
    assert!(!bench.registry.has_room_for(shop(2)), "four products take more than three");
    bench.find(shop(1), "lamp");
    bench.create(shop(3), "mug");
    bench.registry.get_or_load(shop(3), LoadReason::Write).unwrap();
    let mut table = bench.registry.table.lock();
    let too_much = table.bytes;
    table.enforce_limit(too_much - 1);
    assert_eq!(table.states.keys().copied().collect::<Vec<_>>(), [shop(1)]);
}

/// Large batches of a shop are applied by other threads than small ones, but in order.
#[test]
fn changes_are_applied_in_order_and_visible_when_their_guard_is_dropped() {
    let Bench { _folder, store, registry, .. } = Bench::new(usize::MAX);
    let registry = Arc::new(registry);
    let readers = Arc::clone(&registry.readers);
    let mut applier = Applier::start(Arc::clone(&registry), None).unwrap();
    let mut store = store.into_inner();
    let mut write = |work: &mut dyn FnMut(&mut WriteTransaction<'_>)| {
        let mut transaction = store.begin().unwrap();
        work(&mut transaction);
        let (guard, shown) = std::sync::mpsc::channel::<()>();
        let guard: VisibilityGuard = Arc::new(Mutex::new(guard));
        let mut batches = ChangeBatch::by_shop(transaction.commit().unwrap());
        batches.values_mut().for_each(|batch| batch.add_guard(Arc::clone(&guard)));
        applier.apply(batches.into_values());
        shown
    };
    let total = |number, word: &str| {
        let snapshot = registry.in_memory(shop(number)).unwrap().snapshot();
        snapshot.search_words(&QueryTerms::of(word), Visibility::All, 0, 1000).total
    };
    for number in 1..=2 {
        registry.index(shop(number)).unwrap();
    }
    let mut waiting = Vec::new();
    for round in 0..6 {
        let mut made = Vec::new();
        // Much text for one shop, followed at once by a small change of it.
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
        // A small change of another shop is visible at once: the writer applies it inline.
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
