use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use catalog::{
    product::{Draft, Product, Title, access::Visibility, change::Seq, price::Price},
    text::analysis::QueryTerms,
};
use embed::ModelId;
use jiff::Timestamp;
use store::{CatalogStore, INDEX_FOLDER as FOLDER, Retained, SqliteReaders, SqliteStore};
use tempfile::TempDir;

use super::*;
use crate::system::{Clock, RandomSource};

const NOW: Timestamp = Timestamp::UNIX_EPOCH;
const MIN_PRODUCTS: usize = 10;
const PRODUCTS: usize = 40;

fn shop() -> ShopId {
    ShopId::new(1).unwrap()
}

/// A data folder with products, and the shops in memory of a process that uses it.
struct Bench {
    folder: TempDir,
    store: SqliteStore,
    registry: ShopRegistry,
}

impl Bench {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(folder.path()).unwrap();
        let registry = registry(folder.path(), None);
        let mut bench = Self { folder, store, registry };
        (0..PRODUCTS).for_each(|number| drop(bench.create(&format!("lamp {number}"))));
        bench
    }

    /// The shops in memory of a new process.
    fn restart(self) -> Self {
        let Self { folder, store, registry: old } = self;
        drop((store, old));
        let store = SqliteStore::open(folder.path()).unwrap();
        let registry = registry(folder.path(), None);
        Self { folder, store, registry }
    }

    fn write<T>(&mut self, work: impl FnOnce(&mut store::WriteTransaction<'_>) -> T) -> T {
        let mut transaction = self.store.begin().unwrap();
        let outcome = work(&mut transaction);
        self.registry.apply_and_wait(transaction.commit().unwrap());
        outcome
    }

    fn create(&mut self, title: &str) -> Product {
        let draft = Draft::new(Title::parse(title).unwrap(), Price::parse("$1").unwrap());
        self.write(|transaction| transaction.create(shop(), draft, NOW).unwrap())
    }

    fn delete(&mut self, product: &Product) {
        self.write(|transaction| transaction.delete(product).unwrap());
    }

    /// Loads the shop, and returns whether that used its file.
    fn loads_from_file(&self) -> bool {
        self.registry.index(shop()).unwrap();
        let table = self.registry.table.lock();
        table.ready(shop()).unwrap().file.written_at.is_some()
    }

    fn found(&self, word: &str) -> usize {
        let snapshot = self.registry.index(shop()).unwrap().snapshot();
        snapshot.search_words(&QueryTerms::of(word), Visibility::All, 0, 1000).total
    }

    /// Loads the shop and writes its file, as at shutdown.
    fn save(&self) {
        self.registry.index(shop()).unwrap();
        self.registry.save_due(true, &|| false);
    }

    fn files(&self) -> Vec<PathBuf> {
        let Ok(entries) = fs::read_dir(self.folder.path().join(FOLDER)) else { return Vec::new() };
        entries.map(|entry| entry.unwrap().path()).collect()
    }

    /// A backup of the database, as the guide makes it.
    fn back_up(&self, to: &Path) {
        let file = self.folder.path().join("shopkeeper.db");
        let connection = rusqlite::Connection::open(file).unwrap();
        connection.execute("VACUUM INTO ?1", [to.to_str().unwrap()]).unwrap();
    }

    /// Replaces the database by a backup.
    fn put_back(self, backup: &Path) -> Self {
        let Self { folder, store, registry: old } = self;
        drop((store, old));
        for name in ["shopkeeper.db-wal", "shopkeeper.db-shm"] {
            let _ = fs::remove_file(folder.path().join(name));
        }
        fs::copy(backup, folder.path().join("shopkeeper.db")).unwrap();
        let store = SqliteStore::open(folder.path()).unwrap();
        let registry = registry(folder.path(), None);
        Self { folder, store, registry }
    }
}

fn registry(folder: &Path, model: Option<ModelId>) -> ShopRegistry {
    let readers = Arc::new(SqliteReaders::new(folder.to_owned()));
    let random: RandomSource = Arc::new(fastrand::fill);
    let sources: (Clock, _) = (Arc::new(Timestamp::now), random);
    let files = IndexFiles::open(folder, Arc::clone(&readers), MIN_PRODUCTS, sources);
    ShopRegistry::new(readers, model, usize::MAX).with_index_files(Some(files))
}

#[test]
fn a_restart_restores_the_index_and_applies_later_changes() {
    let mut bench = Bench::new();
    let gone = bench.create("lamp that goes");
    assert!(!bench.loads_from_file());
    bench.save();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(bench.files().iter().map(|file| mode(file)).collect::<Vec<_>>(), [0o600]);
    assert_eq!(mode(&bench.folder.path().join(FOLDER)), 0o700);
    // The process is killed before these are in a file.
    bench.delete(&gone);
    bench.create("torch");
    let bench = bench.restart();
    assert!(bench.loads_from_file());
    assert_eq!((bench.found("lamp"), bench.found("torch"), bench.found("goes")), (PRODUCTS, 1, 0));
    let table = bench.registry.table.lock();
    let ready = table.ready(shop()).unwrap();
    assert_eq!(ready.file.unsaved, 2);
    assert_eq!(ready.position().seq, bench.registry.readers.last_change(shop()).unwrap());
}

#[test]
fn a_folder_with_the_name_of_a_file_is_removed() {
    let bench = Bench::new();
    bench.save();
    let file = bench.files().remove(0);
    let folder = bench.folder.path().join(FOLDER);
    // The named file, one that is not named, and what has a name of another kind.
    fs::remove_file(&file).unwrap();
    let (unnamed, foreign) = (folder.join(format!("1-{:016x}.idx", 7)), folder.join("mine"));
    for path in [&file, &unnamed, &foreign] {
        fs::create_dir_all(path.join("inside")).unwrap();
    }
    let bench = bench.restart();
    assert!(!unnamed.exists());
    assert!(!bench.loads_from_file());
    assert_eq!(bench.found("lamp"), PRODUCTS);
    assert_eq!(bench.files(), [foreign]);
    bench.save();
    assert!(bench.restart().loads_from_file());
}

#[test]
fn a_file_is_replaced_and_an_unfinished_one_is_removed() {
    let mut bench = Bench::new();
    bench.save();
    let first = bench.files();
    // Nothing has changed.
    bench.save();
    assert_eq!(bench.files(), first);
    bench.create("lamp and another");
    bench.save();
    let second = bench.files();
    assert!(second.len() == 1 && second != first);
    // The process is killed before the database names the next file.
    let unfinished = bench.folder.path().join(FOLDER).join("1-00000000000000ff.idx");
    fs::write(&unfinished, "incomplete").unwrap();
    let bench = bench.restart();
    assert_eq!(bench.files(), second);
    assert!(bench.loads_from_file());
    assert_eq!(bench.found("lamp"), PRODUCTS + 1);
}

#[test]
fn a_damaged_or_missing_file_is_discarded() {
    let bench = Bench::new();
    bench.save();
    let file = bench.files().remove(0);
    let mut bytes = fs::read(&file).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&file, bytes).unwrap();
    let bench = bench.restart();
    assert!(!bench.loads_from_file());
    assert_eq!((bench.found("lamp"), bench.files()), (PRODUCTS, Vec::new()));
    bench.save();
    fs::remove_dir_all(bench.folder.path().join(FOLDER)).unwrap();
    let bench = bench.restart();
    assert!(!bench.loads_from_file());
    bench.save();
    assert!(bench.restart().loads_from_file());
}

#[test]
fn the_file_of_a_database_that_was_replaced_is_discarded() {
    let mut bench = Bench::new();
    let backups = tempfile::tempdir().unwrap();
    let (before, after) = (backups.path().join("before"), backups.path().join("after"));
    bench.back_up(&before);
    bench.create("torch");
    bench.save();
    bench.back_up(&after);
    let files = bench.files();
    // The backup knows this file.
    let bench = bench.put_back(&after);
    assert!(bench.loads_from_file());
    assert_eq!(bench.files(), files);
    // This one does not, even when its changes have reached the same numbers.
    let mut bench = bench.put_back(&before);
    (0..3).for_each(|_| drop(bench.create("chair")));
    assert!(bench.registry.readers.last_change(shop()).unwrap() > Seq(PRODUCTS as u64 + 1));
    assert!(!bench.loads_from_file());
    assert_eq!((bench.found("torch"), bench.found("chair")), (0, 3));
    assert_eq!(bench.files(), Vec::<PathBuf>::new());
}

#[test]
fn a_file_that_lacks_too_much_is_discarded() {
    let mut bench = Bench::new();
    bench.save();
    (0..PRODUCTS / 8 + 1).for_each(|_| drop(bench.create("chair")));
    let bench = bench.restart();
    assert!(!bench.loads_from_file());
    assert_eq!(bench.found("chair"), PRODUCTS / 8 + 1);

    let mut bench = Bench::new();
    bench.save();
    bench.create("chair");
    bench.create("chair");
    let mut cleanup = SqliteStore::cleanup(bench.folder.path().to_owned());
    let retained = Retained { responses_since: NOW, tokens_since: NOW, changes: 1 };
    while !cleanup.remove_some(&retained, 1000).unwrap() {}
    let bench = bench.restart();
    assert!(!bench.loads_from_file());
    assert_eq!(bench.found("chair"), 2);
}

#[test]
fn a_file_of_another_model_is_discarded() {
    let bench = Bench::new();
    bench.save();
    let registry = registry(bench.folder.path(), Some(ModelId::new("other")));
    registry.index(shop()).unwrap();
    assert!(registry.table.lock().ready(shop()).unwrap().file.written_at.is_none());
    assert_eq!(bench.files(), Vec::<PathBuf>::new());
}

#[test]
fn a_shop_that_becomes_small_has_no_file() {
    let mut bench = Bench::new();
    let made: Vec<Product> = (0..5).map(|_| bench.create("chair")).collect();
    bench.save();
    assert_eq!(bench.files().len(), 1);
    let pass =
        catalog::product::access::Caller::new(shop(), catalog::product::access::Role::Viewer)
            .may_read();
    let readers = SqliteReaders::new(bench.folder.path().to_owned());
    let lamps = store::ProductReads::page(&readers, &pass, PRODUCTS, 0).unwrap().products;
    lamps.iter().for_each(|product| bench.delete(product));
    bench.save();
    assert_eq!((bench.files(), bench.found("chair")), (Vec::new(), made.len()));
}

#[test]
fn a_file_that_cannot_be_written_stops_nothing() {
    let mut bench = Bench::new();
    fs::write(bench.folder.path().join(FOLDER), "in the way").unwrap();
    bench.save();
    bench.create("chair");
    assert_eq!(bench.found("chair"), 1);
    fs::remove_file(bench.folder.path().join(FOLDER)).unwrap();
    bench.save();
    assert_eq!(bench.files().len(), 1);
}

#[test]
fn a_file_is_due_when_it_lacks_a_tenth_or_is_a_day_old() {
    let at = |minutes: i64| NOW + SignedDuration::from_mins(minutes);
    let state = |unsaved| FileState { written_at: Some(NOW), unsaved };
    assert!(FileState::unsaved(1000).is_due(1000, NOW, false));
    assert!(!state(100).is_due(1000, at(9), false));
    assert!(state(100).is_due(1000, at(10), false));
    assert!(!state(99).is_due(1000, at(60), false));
    assert!(state(1).is_due(1000, at(24 * 60), false));
    assert!(!state(0).is_due(1000, at(24 * 60), false));
    assert!(state(10).is_due(1000, at(1), true));
    assert!(!state(9).is_due(1000, at(1), true));
}
