//! One conformance suite for all stores: every test runs on SQLite, on PostgreSQL, and on
//! PostgreSQL read with failover. One file per trait of [`super::traits`].

/// Runs each test on each store, on a new store every time.
macro_rules! on_every_store {
    ($($test:ident),+ $(,)?) => {
        on_every_store!(@on sqlite OnSqlite $($test)+);
        on_every_store!(@on postgres OnPostgres $($test)+);
        on_every_store!(@on postgres_failover OnPostgresWithFailover $($test)+);
    };
    (@on $module:ident $subject:ident $($test:ident)+) => {
        mod $module {
            use $crate::store_conformance::{$subject, Subject};

            $(#[test]
            fn $test() {
                super::$test(&$subject::new());
            })+
        }
    };
}

mod catalog_store;
mod change_reads;
mod changes;
mod cleanup;
mod embedding_queue;
mod full_scan;
mod index_source;
mod inferred_values;
mod limits;
mod merchant_data;
mod product_reads;
mod search_reads;
mod store_info;
mod token_reads;

use std::{
    collections::BTreeSet,
    ops::ControlFlow,
    sync::{Arc, Barrier},
    thread,
};

use catalog::product::{
    Description, Draft, Patch, Product, ProductId, ShopId, Title,
    access::{Caller, ReadPass, Role},
    change::Seq,
    media::{Media, MediaKind},
    price::Price,
};
use embed::{Encoder, ModelId, StoredVectors, Vector};
use jiff::{SignedDuration, Timestamp};
use store::{
    AppliedChange, CatalogReads, CatalogStore, Cleanup, Derived, FeedResult, NewToken, Position,
    Postgres, Retained, ShopCounts, SqliteReaders, SqliteStore, StoreError, StoreErrorKind,
    StoredResponse, TokenRow, TxStamp, VectorChange, VectorRow, WriteTransaction,
    testing::settings,
};
use tempfile::TempDir;

use crate::replication::{FailoverReaders, LocalReplica, TOKEN_LEASE};

const NOW: Timestamp = Timestamp::UNIX_EPOCH;

/// A new store and everything that accesses it.
trait Subject: Sync {
    fn new() -> Self;
    fn store(&self) -> Box<dyn CatalogStore>;
    fn readers(&self) -> Arc<dyn CatalogReads>;
    fn cleanup(&self) -> Box<dyn Cleanup>;

    /// Replaces what is inferred of all products by values of another version of the inference.
    fn outdate_inferred_values(&self);

    /// Waits until a revoked token stops working everywhere.
    fn wait_for_revocation(&self) {}
}

struct OnSqlite(TempDir);

impl Subject for OnSqlite {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn store(&self) -> Box<dyn CatalogStore> {
        Box::new(SqliteStore::open(self.0.path()).unwrap())
    }

    fn readers(&self) -> Arc<dyn CatalogReads> {
        self.store();
        Arc::new(SqliteReaders::new(self.0.path().to_owned()))
    }

    fn cleanup(&self) -> Box<dyn Cleanup> {
        SqliteStore::cleanup(self.0.path().to_owned())
    }

    fn outdate_inferred_values(&self) {
        let connection = rusqlite::Connection::open(self.0.path().join("shopkeeper.db")).unwrap();
        connection.execute("UPDATE products SET inferred = X'00010203'", []).unwrap();
    }
}

struct OnPostgres {
    url: String,
    postgres: Postgres,
}

impl Subject for OnPostgres {
    fn new() -> Self {
        let url = testkit::postgres().database();
        let postgres = Postgres::new(&settings(&url)).unwrap();
        postgres.migrate().unwrap();
        Self { url, postgres }
    }

    fn store(&self) -> Box<dyn CatalogStore> {
        Box::new(self.postgres.store())
    }

    fn readers(&self) -> Arc<dyn CatalogReads> {
        Arc::new(self.postgres.readers())
    }

    fn cleanup(&self) -> Box<dyn Cleanup> {
        self.postgres.cleanup()
    }

    fn outdate_inferred_values(&self) {
        let name = self.url.rsplit_once('/').unwrap().1;
        testkit::postgres().psql(name, r"UPDATE products SET inferred = '\x00010203'");
    }
}

/// Readers with a local replica, which serves reads while the database is unavailable.
struct OnPostgresWithFailover {
    database: OnPostgres,
    scratch: TempDir,
}

impl Subject for OnPostgresWithFailover {
    fn new() -> Self {
        Self { database: OnPostgres::new(), scratch: tempfile::tempdir().unwrap() }
    }

    fn store(&self) -> Box<dyn CatalogStore> {
        self.database.store()
    }

    fn readers(&self) -> Arc<dyn CatalogReads> {
        let replica = LocalReplica::create(self.scratch.path(), 2);
        Arc::new(FailoverReaders::start(&self.database.postgres, replica).unwrap())
    }

    fn cleanup(&self) -> Box<dyn Cleanup> {
        self.database.cleanup()
    }

    fn outdate_inferred_values(&self) {
        self.database.outdate_inferred_values();
    }

    fn wait_for_revocation(&self) {
        thread::sleep(TOKEN_LEASE);
    }
}

fn shop(number: u64) -> ShopId {
    ShopId::new(number).unwrap()
}

fn sees(of: u64, role: Role) -> ReadPass {
    Caller::new(shop(of), role).may_read()
}

fn draft(title: &str, hidden: bool) -> Draft {
    Draft { hidden, ..Draft::new(Title::parse(title).unwrap(), Price::parse("$1").unwrap()) }
}

/// Runs `work` in a transaction of its own.
fn write<T>(
    store: &mut dyn CatalogStore,
    work: impl FnOnce(&mut WriteTransaction<'_>) -> Result<T, StoreError>,
) -> (T, Vec<AppliedChange>) {
    let mut transaction = store.begin().unwrap();
    let done = work(&mut transaction).unwrap();
    (done, transaction.commit().unwrap().changes)
}

/// The current position of a shop.
fn position(readers: &dyn CatalogReads, of: u64) -> Position {
    readers.positions(&[shop(of)]).unwrap()[0].1
}

/// Runs the cleanup to its end in small batches.
fn clean(cleanup: &mut dyn Cleanup, since: Timestamp, changes: u64) {
    let retained = Retained { responses_since: since, tokens_since: since, changes };
    while !cleanup.remove_some(&retained, 2).unwrap() {}
}

/// The ids of the tokens of a shop, or of all shops.
fn token_ids(readers: &dyn CatalogReads, of: Option<u64>) -> Vec<u64> {
    let mut ids = Vec::new();
    let mut visit = |row: TokenRow| {
        ids.push(row.id);
        ControlFlow::Continue(())
    };
    readers.for_each_token(of.map(shop), &mut visit).unwrap();
    ids
}

fn create(store: &mut dyn CatalogStore, of: u64, title: &str, hidden: bool) -> Product {
    write(store, |transaction| transaction.create(shop(of), draft(title, hidden), NOW)).0
}

fn ids(products: &[Product]) -> Vec<u64> {
    products.iter().map(|product| product.id.get()).collect()
}

/// A random vector for the current text of a product.
fn vector_of(product: &Product, model: &str, seed: u64) -> VectorRow {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut vector = |dims: usize| {
        Vector::normalized((0..dims).map(|_| random.f32() - 0.5).collect()).unwrap().stored()
    };
    let vectors =
        StoredVectors { vector: vector(64), deep: (!seed.is_multiple_of(4)).then(|| vector(24)) };
    VectorRow {
        shop: product.shop,
        product: product.id,
        version: product.version,
        model: ModelId::new(model),
        encoder: Encoder::Deep,
        vectors,
    }
}

fn put(store: &mut dyn CatalogStore, row: &VectorRow) -> bool {
    write(store, |transaction| transaction.put_vectors(row)).0
}

fn vectors(readers: &dyn CatalogReads, of: u64) -> Vec<VectorRow> {
    let mut found = Vec::new();
    readers.scan_vectors(shop(of), &mut |row| found.push(row)).unwrap();
    found
}
