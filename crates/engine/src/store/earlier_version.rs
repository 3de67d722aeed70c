//! Stores that the version before keys and attributes has filled, and the version before inference:
//! everything in them is read, and they take what is new.

use std::sync::Arc;

use catalog::{
    access::{Caller, ReadPass, Role},
    attributes::{AttributeName, AttributeValue, Attributes},
    change::{ChangeKind, Seq},
    inference::Inferred,
    key::Key,
    product::{Patch, Product, ProductId, ShopId},
};
use jiff::Timestamp;
use rusqlite::Connection;
use tempfile::TempDir;

use super::{
    CatalogReads, CatalogStore, Cleanup, Postgres, ScannedProduct, SqliteReaders, SqliteStore,
    StoreErrorKind, conformance::settings,
};
use crate::inference::infer;

const FOLDER: &str = include_str!("earlier_version/folder.sql");
const DATABASE: &str = include_str!("earlier_version/database.sql");

/// A store of the earlier version.
trait Earlier {
    fn new() -> Self;

    /// Runs statements, in the dialect of the store, before the store is opened.
    fn execute(&self, statements: &str);

    /// Opens the store, which migrates it at first.
    fn open(&self) -> (Box<dyn CatalogStore>, Arc<dyn CatalogReads>);

    /// Gives a migrated store the tables of the version before inference.
    fn remove_inference(&self);
}

struct EarlierFolder(TempDir);

impl Earlier for EarlierFolder {
    fn new() -> Self {
        let made = Self(tempfile::tempdir().unwrap());
        made.execute(FOLDER);
        made
    }

    fn execute(&self, statements: &str) {
        let connection = Connection::open(self.0.path().join("shopkeeper.db")).unwrap();
        connection.execute_batch(statements).unwrap();
    }

    fn open(&self) -> (Box<dyn CatalogStore>, Arc<dyn CatalogReads>) {
        let store = SqliteStore::open(self.0.path()).unwrap();
        (Box::new(store), Arc::new(SqliteReaders::new(self.0.path().to_owned())))
    }

    fn remove_inference(&self) {
        self.execute(
            "ALTER TABLE products DROP COLUMN inferred; ALTER TABLE shops DROP COLUMN index_file;
             ALTER TABLE counters DROP COLUMN inference;
             ALTER TABLE counters DROP COLUMN inferred_to;
             PRAGMA user_version = 3",
        );
    }
}

impl EarlierFolder {
    fn cleanup(&self) -> Box<dyn Cleanup> {
        SqliteStore::cleanup(self.0.path().to_owned())
    }

    /// Products with values of another version of the inference.
    fn outdated_count(&self) -> usize {
        let connection = Connection::open(self.0.path().join("shopkeeper.db")).unwrap();
        let count = "SELECT count(*) FROM products WHERE substr(inferred, 1, 1) <> ?1";
        connection.query_row(count, [[Inferred::VERSION]], |row| row.get(0)).unwrap()
    }
}

struct EarlierDatabase {
    name: String,
    postgres: Postgres,
}

impl Earlier for EarlierDatabase {
    fn new() -> Self {
        let url = testkit::postgres().database();
        let postgres = Postgres::new(&settings(&url)).unwrap();
        let made = Self { name: url.rsplit_once('/').unwrap().1.to_owned(), postgres };
        made.execute(DATABASE);
        let too_old = made.postgres.check_schema().unwrap_err();
        assert_eq!(too_old.kind(), StoreErrorKind::TooOld);
        made
    }

    fn execute(&self, statements: &str) {
        testkit::postgres().psql(&self.name, statements);
    }

    fn open(&self) -> (Box<dyn CatalogStore>, Arc<dyn CatalogReads>) {
        self.postgres.migrate().unwrap();
        self.postgres.check_schema().unwrap();
        (Box::new(self.postgres.store()), Arc::new(self.postgres.readers()))
    }

    fn remove_inference(&self) {
        self.execute(
            "ALTER TABLE products DROP COLUMN inferred;
             ALTER TABLE shops DROP COLUMN search_inference, DROP COLUMN search_inferred_to;
             UPDATE schema_version SET version = 6",
        );
    }
}

fn shop(number: u64) -> ShopId {
    ShopId::new(number).unwrap()
}

fn viewer() -> ReadPass {
    Caller::new(shop(1), Role::Viewer).may_read()
}

fn id(number: u64) -> ProductId {
    ProductId::new(number).unwrap()
}

/// What the texts and attributes of a product state.
fn stated(product: &Product) -> Inferred {
    infer(product.title.as_str(), product.description.as_str(), &product.attributes)
}

/// Products of the version before inference, and those with values that mean nothing, get what their
/// texts state.
fn missing_values_are_inferred<E: Earlier>(nothing: &str) {
    let earlier = E::new();
    drop(earlier.open());
    earlier.remove_inference();
    let (mut store, readers) = earlier.open();
    let all_are_inferred = || {
        let mut products = readers.page(&viewer(), 10, 0).unwrap().products.into_iter();
        assert!(
            products.len() == 3 && products.all(|product| product.inferred == stated(&product))
        );
        let mut scanned = 0;
        let scan = &mut |row: ScannedProduct<'_>| {
            assert_eq!(row.inferred, infer(row.title, row.description, &row.attributes));
            scanned += 1;
        };
        readers.scan(shop(1), None, scan).unwrap();
        assert_eq!(scanned, 3);
    };
    all_are_inferred();
    for value in ["NULL", nothing] {
        earlier.execute(&format!("UPDATE products SET inferred = {value}"));
        all_are_inferred();
    }
    // A write stores what was inferred, whatever it changes.
    let mut transaction = store.begin().unwrap();
    let dress = transaction.product(shop(1), id(1)).unwrap().unwrap();
    let patch = Patch { hidden: Some(true), ..Patch::default() };
    let dress = transaction.update(dress, patch, Timestamp::UNIX_EPOCH).unwrap();
    transaction.commit().unwrap();
    earlier.execute("UPDATE products SET title = 'Red wool rug' WHERE id = 1");
    let found = readers.products(&viewer(), &[id(1)]).unwrap().remove(0);
    assert_eq!((found.inferred, found.title.as_str()), (dress.inferred, "Red wool rug"));
    assert_ne!(found.inferred, stated(&found));
}

fn everything_is_read(store: &mut dyn CatalogStore, readers: &dyn CatalogReads) {
    let page = readers.page(&viewer(), 10, 0).unwrap();
    let shown: Vec<_> = page
        .products
        .iter()
        .map(|row| (row.id.get(), row.title.as_str(), row.price.text(), row.hidden))
        .collect();
    let expected = [
        (1, "Green linen dress", "$39.90", false),
        (2, "Crème \"brûlée\" bowl 绿茶", "1 299,50 ₽", false),
        (3, "Hidden lamp", "€5", true),
    ];
    assert_eq!((shown, page.total), (expected.to_vec(), 3));
    assert_eq!(page.products[0].media[1].url(), "https://img.example/dress-back.jpg");
    assert_eq!(page.products[0].description.as_str(), "Light and airy.\nMachine washable.");
    assert!(page.products.iter().all(|row| row.price.money().is_some()));
    for product in &page.products {
        assert_eq!((&product.key, &product.url), (&None, &None));
        assert!(product.attributes.is_empty());
        assert_eq!(product.inferred, stated(product));
    }
    assert_ne!(page.products[0].inferred, Inferred::default());
    assert_eq!(readers.counts(shop(2)).unwrap().visible, 1);
    let tokens = readers.tokens(None).unwrap();
    let tokens: Vec<_> = tokens
        .iter()
        .map(|row| (row.id, row.shop.get(), row.role, row.name.as_str(), row.expires_at.is_some()))
        .collect();
    let expected = [
        (1, 1, Role::Editor, "shop one", false),
        (2, 2, Role::Editor, "", false),
        (3, 1, Role::Shopper, "storefront", true),
    ];
    assert_eq!(tokens, expected);
    for (number, vectors) in [(1, 3), (2, 1)] {
        let mut found = 0;
        readers.scan_vectors(shop(number), &mut |_| found += 1).unwrap();
        assert_eq!(found, vectors);
    }
    let mut transaction = store.begin().unwrap();
    let response = transaction.stored_response(shop(1), "first-delivery", Timestamp::UNIX_EPOCH);
    assert!(response.unwrap().unwrap().body.starts_with(b"{\"created_count\":2,"));
}

fn the_store_is_read_and_takes_keys<E: Earlier>() {
    let earlier = E::new();
    let (mut store, readers) = earlier.open();
    everything_is_read(&mut *store, &*readers);
    // Stored vectors are among the old changes, because their records do not say so.
    let old = readers.changes(shop(1), Seq(0), 100).unwrap().unwrap();
    assert!(old.is_complete && old.changes.iter().all(|entry| entry.key.is_none()));
    let deleted = old.changes.iter().find(|entry| entry.kind == ChangeKind::Deleted).unwrap();
    assert_eq!((deleted.product, deleted.seq), (id(4), old.next));

    let key = Key::parse("dress-1").unwrap();
    let brand = AttributeName::parse("brand").unwrap();
    let brand = Attributes::new(vec![(brand, AttributeValue::Text("Acme".into()))]);
    let mut transaction = store.begin().unwrap();
    let dress = transaction.product(shop(1), id(1)).unwrap().unwrap();
    let patch =
        Patch { key: Some(Some(key.clone())), attributes: Some(brand.clone()), ..Patch::default() };
    let dress = transaction.update(dress, patch, Timestamp::UNIX_EPOCH).unwrap();
    transaction.commit().unwrap();
    drop((store, readers));

    let (mut store, readers) = earlier.open();
    let found = readers.products_by_key(&viewer(), std::slice::from_ref(&key)).unwrap();
    assert_eq!(found, std::slice::from_ref(&dress));
    assert_eq!((found[0].key.as_ref(), &found[0].attributes), (Some(&key), &brand));
    let new = readers.changes(shop(1), old.next, 100).unwrap().unwrap();
    assert_eq!((new.changes.len(), new.changes[0].key.as_ref()), (1, Some(&key)));
    let mut transaction = store.begin().unwrap();
    assert_eq!(transaction.key_holder(shop(1), &key).unwrap(), Some(dress.id));
    assert_eq!(transaction.key_holder(shop(2), &key).unwrap(), None);
}

/// What was removed before the migration has expired after it.
fn removed_changes_stay_removed<E: Earlier>(removal: &str) {
    let earlier = E::new();
    earlier.execute(removal);
    let (_store, readers) = earlier.open();
    let listed = |of, since| readers.changes(shop(of), Seq(since), 100).unwrap();
    assert_eq!(listed(1, 0), None);
    assert_eq!(listed(1, 2), None);
    assert!(!listed(1, 3).unwrap().changes.is_empty());
}

#[test]
fn a_folder_is_read_and_takes_keys() {
    the_store_is_read_and_takes_keys::<EarlierFolder>();
}

#[test]
fn a_database_is_read_and_takes_keys() {
    the_store_is_read_and_takes_keys::<EarlierDatabase>();
}

#[test]
fn missing_values_of_a_folder_are_inferred() {
    missing_values_are_inferred::<EarlierFolder>("X'00010203'");
}

#[test]
fn missing_values_of_a_database_are_inferred() {
    missing_values_are_inferred::<EarlierDatabase>(r"'\x00010203'");
}

#[test]
fn products_of_a_folder_are_inferred_again_once() {
    let earlier = EarlierFolder::new();
    let (_store, readers) = earlier.open();
    let outdate = || earlier.execute("UPDATE products SET inferred = X'00010203'");
    outdate();
    assert_eq!(earlier.outdated_count(), 4);
    let mut cleanup = earlier.cleanup();
    assert!(!cleanup.infer_some(3).unwrap());
    assert_eq!(earlier.outdated_count(), 1);
    // The process ends between two batches.
    let mut cleanup = earlier.cleanup();
    assert!(cleanup.infer_some(3).unwrap());
    assert_eq!(earlier.outdated_count(), 0);
    let products = readers.page(&viewer(), 10, 0).unwrap().products;
    assert!(products.iter().all(|product| product.inferred == stated(product)));
    // Rows are not read again until the next version of the inference.
    outdate();
    assert!(cleanup.infer_some(3).unwrap());
    assert_eq!(earlier.outdated_count(), 4);
    earlier.execute("UPDATE counters SET inference = 2");
    assert!(!cleanup.infer_some(3).unwrap() && cleanup.infer_some(3).unwrap());
    assert_eq!(earlier.outdated_count(), 0);
}

#[test]
fn changes_removed_from_a_folder_stay_removed() {
    removed_changes_stay_removed::<EarlierFolder>("DELETE FROM changes WHERE seq <= 3");
}

#[test]
fn changes_removed_from_a_database_stay_removed() {
    let removal = "DELETE FROM changes WHERE shop_id = 1 AND seq <= 3;
                   DELETE FROM changes WHERE shop_id = 2";
    removed_changes_stay_removed::<EarlierDatabase>(removal);
}
