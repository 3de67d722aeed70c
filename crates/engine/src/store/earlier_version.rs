//! Stores that the version before keys and attributes has filled, and the version before inference:
//! everything in them is read, and they take what is new.

use std::sync::Arc;

use catalog::{
    access::{Caller, ReadPass, Role},
    attributes::{AttributeName, AttributeValue, Attributes},
    change::{ChangeKind, Seq},
    http_url::ProductUrl,
    inference::Inferred,
    key::Key,
    price::Price,
    product::{Draft, Patch, Product, ProductId, ShopId, Title},
};
use jiff::Timestamp;
use rusqlite::Connection;
use tempfile::TempDir;

use super::{
    CatalogReads, CatalogStore, Cleanup, Derived, FeedResult, LimitExceeded, Position, Postgres,
    Retained, ScannedProduct, SqliteReaders, SqliteStore, StoreErrorKind, conformance::settings,
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

    /// Gives a migrated store the tables of the version before limits.
    fn remove_usage(&self);
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
            "DROP TABLE attribute_names;
             ALTER TABLE shops DROP COLUMN stored_bytes;
             ALTER TABLE shops DROP COLUMN attribute_names;
             DROP INDEX tokens_by_end; DROP INDEX tokens_of_shop_by_end;
             ALTER TABLE counters RENAME COLUMN text_order TO seq;
             DROP INDEX vectors_by_model; ALTER TABLE vectors DROP COLUMN text_order;
             CREATE INDEX vectors_by_model ON vectors (model, encoder, version);
             ALTER TABLE shops DROP COLUMN last_seq; ALTER TABLE shops DROP COLUMN change_count;
             ALTER TABLE shops DROP COLUMN truncated_to;
             ALTER TABLE products DROP COLUMN inferred; ALTER TABLE shops DROP COLUMN index_file;
             ALTER TABLE counters DROP COLUMN inference;
             ALTER TABLE counters DROP COLUMN inferred_to;
             PRAGMA user_version = 3",
        );
    }

    fn remove_usage(&self) {
        self.execute(
            "DROP TABLE attribute_names;
             ALTER TABLE shops DROP COLUMN stored_bytes;
             ALTER TABLE shops DROP COLUMN attribute_names;
             PRAGMA user_version = 7",
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
            "DROP TABLE attribute_names;
             DROP INDEX tokens_by_end; DROP INDEX tokens_of_shop_by_end;
             ALTER TABLE products DROP COLUMN inferred;
             ALTER TABLE shops DROP COLUMN search_inference, DROP COLUMN search_inferred_to,
                 DROP COLUMN stored_bytes, DROP COLUMN attribute_names;
             UPDATE schema_version SET version = 6",
        );
    }

    fn remove_usage(&self) {
        self.execute(
            "DROP TABLE attribute_names;
             ALTER TABLE shops DROP COLUMN stored_bytes, DROP COLUMN attribute_names;
             UPDATE schema_version SET version = 8",
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

fn with_names(names: std::ops::Range<usize>) -> Draft {
    let named = names.map(|n| {
        let name = AttributeName::parse(&format!("n{n}")).unwrap();
        (name, AttributeValue::Text("é".into()))
    });
    let (title, price) = (Title::parse("Lampe é").unwrap(), Price::parse("$1").unwrap());
    Draft { attributes: Attributes::new(named.collect()), ..Draft::new(title, price) }
}

/// What shops take is counted by the migration as it would have been write by write.
fn usage_is_counted<E: Earlier>() {
    let earlier = E::new();
    let (mut store, readers) = earlier.open();
    let mut transaction = store.begin().unwrap();
    for n in 0..5 {
        let draft = Draft {
            key: (n == 0).then(|| Key::parse("é").unwrap()),
            url: (n == 1).then(|| ProductUrl::parse("https://a.example/").unwrap()),
            ..with_names(n..2 * n)
        };
        transaction.create(shop(1), draft, Timestamp::UNIX_EPOCH).unwrap();
    }
    let odd = transaction.create(shop(2), with_names(0..1), Timestamp::UNIX_EPOCH).unwrap();
    let usage = [1, 2, 3].map(|of| transaction.usage(shop(of)).unwrap());
    assert_eq!((usage[0].attribute_names, usage[1].attribute_names), (7, 1));
    transaction.commit().unwrap();
    drop((store, readers));

    earlier.remove_usage();
    let (mut store, readers) = earlier.open();
    let mut transaction = store.begin().unwrap();
    assert_eq!([1, 2, 3].map(|of| transaction.usage(shop(of)).unwrap()), usage);
    // Its names make room with it.
    transaction.delete(&odd).unwrap();
    assert_eq!(transaction.usage(shop(2)).unwrap().attribute_names, 0);
    drop(transaction);
    drop((store, readers));

    earlier.remove_usage();
    for column in ["'nonsense'", "'[1]'", "'{\"a\": null}'"] {
        let id = odd.id;
        earlier.execute(&format!("UPDATE products SET attributes = {column} WHERE id = {id}"));
        let (mut store, _readers) = earlier.open();
        let mut transaction = store.begin().unwrap();
        assert_eq!(transaction.usage(shop(2)).unwrap().attribute_names, 0, "{column}");
        drop(transaction);
        earlier.remove_usage();
    }
}

/// A shop from before the limit keeps what it has.
fn more_names_than_the_limit_are_kept<E: Earlier>() {
    let earlier = E::new();
    let (mut store, readers) = earlier.open();
    let mut transaction = store.begin().unwrap();
    let made = [0..40, 40..80].map(|names| {
        transaction.create(shop(1), with_names(names), Timestamp::UNIX_EPOCH).unwrap().id
    });
    transaction.commit().unwrap();
    drop((store, readers));
    // As if other products had them.
    earlier.execute("UPDATE shops SET attribute_names = 5999");
    let (mut store, readers) = earlier.open();
    let mut transaction = store.begin().unwrap();
    let at = Timestamp::UNIX_EPOCH;
    let mut update = |id, patch| {
        let before = transaction.product(shop(1), id).unwrap().unwrap();
        transaction.update_derived(before, patch, Derived::default(), at).unwrap().map(drop)
    };
    let attributes_of =
        |names| Patch { attributes: Some(with_names(names).attributes), ..Patch::default() };
    assert_eq!(update(made[0], Patch { hidden: Some(true), ..Patch::default() }), Ok(()));
    assert_eq!(update(made[0], attributes_of(20..60)), Ok(()));
    assert_eq!(update(made[1], attributes_of(90..91)), Err(LimitExceeded::AttributeNames));
    assert_eq!(update(made[1], attributes_of(50..51)), Ok(()));
    let created = transaction.create_derived(shop(1), with_names(0..1), Derived::default(), at);
    assert_eq!(created.unwrap().map(drop), Err(LimitExceeded::AttributeNames), "n0 was given up");
    let created = transaction.create_derived(shop(1), with_names(55..60), Derived::default(), at);
    assert!(created.unwrap().is_ok());
    transaction.commit().unwrap();
    assert_eq!(readers.products(&viewer(), &made).unwrap()[1].attributes.len(), 1);
}

#[test]
fn usage_of_a_folder_is_counted() {
    usage_is_counted::<EarlierFolder>();
}

#[test]
fn usage_of_a_database_is_counted() {
    usage_is_counted::<EarlierDatabase>();
}

#[test]
fn more_names_than_the_limit_are_kept_in_a_folder() {
    more_names_than_the_limit_are_kept::<EarlierFolder>();
}

#[test]
fn more_names_than_the_limit_are_kept_in_a_database() {
    more_names_than_the_limit_are_kept::<EarlierDatabase>();
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
    let tokens = readers.token_batch(None, 0, 10).unwrap().tokens;
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
    assert!(listed(1, 0).is_err() && listed(1, 2).is_err());
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

/// Clients, followers and index files hold numbers that the earlier version gave out to all shops
/// together: no shop is behind them, and none is given out again.
#[test]
fn the_numbers_of_a_folder_continue_in_each_shop() {
    let earlier = EarlierFolder::new();
    let (mut store, readers) = earlier.open();
    for of in [1, 2] {
        assert_eq!(readers.last_change(shop(of)).unwrap(), Seq(12));
        for since in 0..=12 {
            assert!(readers.changes(shop(of), Seq(since), 100).unwrap().is_ok());
        }
    }
    assert_eq!(readers.last_change(shop(3)).unwrap(), Seq(0));
    let mut transaction = store.begin().unwrap();
    for (of, number) in [(1, 1), (2, 5), (1, 2)] {
        let product = transaction.product(shop(of), id(number)).unwrap().unwrap();
        transaction.delete(&product).unwrap();
    }
    transaction.commit().unwrap();
    let listed = |of, since| {
        let page = readers.changes(shop(of), Seq(since), 100).unwrap().unwrap();
        page.changes.iter().map(|entry| entry.seq.0).collect::<Vec<_>>()
    };
    assert_eq!((listed(1, 8), listed(2, 0)), (vec![11, 12, 13, 14], vec![9, 10, 13]));
    // As many are kept of each shop as are to be, gaps or not.
    let epoch = Timestamp::UNIX_EPOCH;
    let retained = Retained { responses_since: epoch, tokens_since: epoch, changes: 3 };
    let mut cleanup = earlier.cleanup();
    while !cleanup.remove_some(&retained, 2).unwrap() {}
    assert_eq!((listed(1, 11), listed(2, 0)), (vec![12, 13, 14], vec![9, 10, 13]));
    assert!(readers.changes(shop(1), Seq(10), 100).unwrap().is_err());
    let since = |seq| Position { seq: Seq(seq), ..Position::default() };
    let followed = |of, seq| readers.changes_since(shop(of), None, since(seq)).unwrap();
    assert!(matches!(followed(1, 10), FeedResult::Truncated));
    assert!(matches!(followed(1, 11), FeedResult::Changes(changes, _) if changes.len() == 3));
    assert!(matches!(followed(2, 11), FeedResult::Changes(changes, _) if changes.len() == 1));
}
