//! Store migration: copies the catalog of a data folder into a PostgreSQL database.
//!
//! Shops are copied one by one, with their ids, times, versions, vectors, tokens and idempotency
//! keys, and both sides are compared at the end. A migration that was interrupted resumes where it
//! stopped; until it is complete, no node starts on the database.

use std::{collections::HashMap, ops::ControlFlow, path::Path};

use catalog::product::{
    ShopId,
    access::{Caller, ReadPass, Role},
};
use embed::StoredVector;
use ring::digest;
use thiserror::Error;

use store::{
    BulkLoad, ChangeReads, DataFolder, FolderInUse, FullScan, Postgres, PostgresReaders,
    PostgresSettings, SqliteReaders, SqliteStore, StoreError, StoreInfo, TokenReads, VectorRow,
};

/// Products per transaction.
const CHUNK: usize = 500;

/// What was copied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Migrated {
    /// Shops with products.
    pub shops: usize,
    /// Products of all shops.
    pub products: usize,
    /// Vectors of products.
    pub vectors: usize,
    /// Tokens, including expired and revoked ones.
    pub tokens: usize,
    /// Stored responses to idempotency keys.
    pub keys: usize,
}

/// Why a catalog was not migrated. The data folder is never changed.
#[derive(Debug, Error)]
pub enum MigrationError {
    /// A server runs on the folder, or it is unusable.
    #[error(transparent)]
    Folder(#[from] FolderInUse),
    /// The folder has no database.
    #[error("there is no catalog in the folder")]
    NoCatalog,
    /// The folder's database failed.
    #[error("the database in the folder cannot be read")]
    Source(#[source] StoreError),
    /// The PostgreSQL database failed.
    #[error("the database cannot be used")]
    Target(#[source] StoreError),
    /// The PostgreSQL database has a catalog.
    #[error("the database holds a catalog already; migrate into an empty one")]
    NotEmpty,
    /// Source and target differ after the copy.
    #[error("{what} of shop {shop} differ after the copy; the folder is unchanged")]
    Differs {
        /// The shop.
        shop: ShopId,
        /// What differs.
        what: &'static str,
    },
}

/// Copies everything. Calls `report` after each shop with the products copied so far.
pub fn migrate_store(
    folder: &Path,
    database: &PostgresSettings,
    report: &mut dyn FnMut(ShopId, usize),
) -> Result<Migrated, MigrationError> {
    if !SqliteStore::is_in(folder) {
        return Err(MigrationError::NoCatalog);
    }
    // Locked, so that the source does not change meanwhile.
    let folder = DataFolder::lock(folder)?;
    let source = SqliteStore::open(folder.path()).map_err(MigrationError::Source)?;
    let readers = SqliteReaders::new(folder.path().to_owned());
    let postgres = Postgres::new(database).map_err(MigrationError::Target)?;
    postgres.migrate().map_err(MigrationError::Target)?;
    let target = postgres.begin_bulk_load().map_err(MigrationError::Target)?;
    let mut target = target.ok_or(MigrationError::NotEmpty)?;
    let mut migrated = Migrated::default();
    let usage = readers.usage().map_err(MigrationError::Source)?;
    for counts in readers.shops().map_err(MigrationError::Source)? {
        migrated.vectors += copy_shop(&readers, &mut target, counts.shop)?;
        let last = readers.last_change(counts.shop).map_err(MigrationError::Source)?;
        let names = readers.name_counts(counts.shop).map_err(MigrationError::Source)?;
        let usage = usage.get(&counts.shop).copied().unwrap_or_default();
        target.finish_shop(counts, usage, &names, last).map_err(MigrationError::Target)?;
        migrated.shops += 1;
        migrated.products += counts.products;
        report(counts.shop, migrated.products);
    }
    migrated.tokens = copy_tokens(&readers, &mut target)?;
    let keys = source.stored_responses().map_err(MigrationError::Source)?;
    migrated.keys = keys.len();
    target.put_keys(&keys).map_err(MigrationError::Target)?;
    let last_token = source.last_token_id().map_err(MigrationError::Source)?;
    target.reserve_token_ids(last_token).map_err(MigrationError::Target)?;
    let last_id = source.last_product_id().map_err(MigrationError::Source)?;
    target.reserve_product_ids(last_id).map_err(MigrationError::Target)?;
    compare(&readers, &postgres.readers())?;
    target.finish().map_err(MigrationError::Target)?;
    Ok(migrated)
}

/// Copies the products of a shop that were not copied before, and returns how many vectors the shop
/// has.
fn copy_shop(
    readers: &SqliteReaders,
    target: &mut BulkLoad,
    shop: ShopId,
) -> Result<usize, MigrationError> {
    let mut vectors = HashMap::new();
    readers
        .scan_vectors(shop, &mut |row| drop(vectors.insert(row.product, row)))
        .map_err(MigrationError::Source)?;
    let last_copied = target.last_product(shop).map_err(MigrationError::Target)?;
    let mut chunk = Vec::with_capacity(CHUNK);
    let mut copied = Ok(());
    readers
        .for_each_product(&everything(shop), &mut |product| {
            if Some(product.id) <= last_copied {
                return ControlFlow::Continue(());
            }
            chunk.push(product);
            if chunk.len() == CHUNK {
                copied = target.put(shop, &chunk, &vectors);
                chunk.clear();
            }
            if copied.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })
        .map_err(MigrationError::Source)?;
    if copied.is_ok() && !chunk.is_empty() {
        copied = target.put(shop, &chunk, &vectors);
    }
    copied.map_err(MigrationError::Target)?;
    Ok(vectors.len())
}

/// Copies the tokens of all shops, and returns how many there are.
fn copy_tokens(readers: &SqliteReaders, target: &mut BulkLoad) -> Result<usize, MigrationError> {
    let (mut copied, mut after) = (0, Some(0));
    while let Some(last) = after {
        let batch = readers.token_batch(None, last, CHUNK).map_err(MigrationError::Source)?;
        target.put_tokens(&batch.tokens).map_err(MigrationError::Target)?;
        copied += batch.tokens.len();
        after = batch.last;
    }
    Ok(copied)
}

/// Compares the counts, products and vectors of every shop.
fn compare(source: &SqliteReaders, target: &PostgresReaders) -> Result<(), MigrationError> {
    for counts in source.shops().map_err(MigrationError::Source)? {
        let shop = counts.shop;
        if target.counts(shop).map_err(MigrationError::Target)? != counts {
            return Err(MigrationError::Differs { shop, what: "the counts" });
        }
        let expected = checksum(source, shop).map_err(MigrationError::Source)?;
        if checksum(target, shop).map_err(MigrationError::Target)? != expected {
            return Err(MigrationError::Differs { shop, what: "the products" });
        }
    }
    Ok(())
}

/// A digest of all products and vectors of a shop.
fn checksum(readers: &dyn FullScan, shop: ShopId) -> Result<Vec<u8>, StoreError> {
    let mut sum = digest::Context::new(&digest::SHA256);
    readers.for_each_product(&everything(shop), &mut |product| {
        sum.update(format!("{product:?}\n").as_bytes());
        ControlFlow::Continue(())
    })?;
    readers.scan_vectors(shop, &mut |row| {
        let VectorRow { product, model, encoder, vectors, .. } = &row;
        let header = format!("{product} {} {}\n", model.as_str(), encoder.as_str());
        sum.update(header.as_bytes());
        sum.update(&vectors.vector.to_bytes());
        sum.update(&vectors.deep.as_ref().map(StoredVector::to_bytes).unwrap_or_default());
    })?;
    Ok(sum.finish().as_ref().to_vec())
}

fn everything(shop: ShopId) -> ReadPass {
    Caller::new(shop, Role::Viewer).may_read()
}

#[cfg(test)]
mod tests {
    use catalog::product::{
        Draft, Patch, Product, Title,
        attributes::{AttributeName, AttributeValue, Attributes, Number},
        change::Seq,
        http_url::ProductUrl,
        key::Key,
        price::Price,
    };
    use embed::{Encoder, ModelId, StoredVectors, Vector};
    use jiff::Timestamp;
    use store::{CatalogStore, ChangesExpired, NewToken, ProductReads, StoredResponse};

    use super::*;
    use store::testing::settings;

    fn shop(number: u64) -> ShopId {
        ShopId::new(number).unwrap()
    }

    /// A folder with two shops, a gap in the ids, vectors, a token and an idempotency key.
    fn fill(folder: &Path) -> Vec<Product> {
        let at = Timestamp::from_microsecond(1_700_000_000_000_001).unwrap();
        let mut store = SqliteStore::open(folder).unwrap();
        let mut transaction = store.begin().unwrap();
        let mut made = Vec::new();
        for n in 0..1203 {
            let width = AttributeValue::Number(Number::new(n as f64 / 7.0).unwrap());
            let width = (AttributeName::parse("width").unwrap(), width);
            let draft = Draft {
                hidden: n % 7 == 0,
                key: (n % 3 == 0).then(|| Key::parse(&format!("sku {n}")).unwrap()),
                url: (n % 5 == 0).then(|| ProductUrl::parse("https://a.example/1").unwrap()),
                attributes: Attributes::new(vec![width]),
                ..Draft::new(
                    Title::parse(&format!("Lamp {n} \"é\"")).unwrap(),
                    Price::parse("$1").unwrap(),
                )
            };
            made.push(transaction.create(shop(n % 2 + 1), draft, at).unwrap());
        }
        let gone = made.pop().unwrap();
        transaction.delete(&gone).unwrap();
        let patch = Patch { hidden: Some(true), ..Patch::default() };
        made[5] = transaction.update(made[5].clone(), patch, at).unwrap();
        for product in &made[..10] {
            let numbers = (0..8).map(|n| (n as f32 - 3.0) * product.id.get() as f32).collect();
            let row = VectorRow {
                shop: product.shop,
                product: product.id,
                version: made[5].version.min(product.version),
                model: ModelId::new("m"),
                encoder: Encoder::Deep,
                vectors: StoredVectors {
                    vector: Vector::normalized(numbers).unwrap().stored(),
                    deep: (product.id.get() % 2 == 0)
                        .then(|| Vector::normalized(vec![1.0, -2.0]).unwrap().stored()),
                },
            };
            let _ = transaction.put_vectors(&row).unwrap();
        }
        let response = StoredResponse { fingerprint: vec![1], body: vec![2] };
        transaction.store_response(shop(1), "key", &response, at).unwrap();
        let token = NewToken {
            shop: shop(1),
            role: Role::Admin,
            name: "ops",
            secret_hash: &[7; 32],
            created_at: at,
            expires_at: None,
        };
        transaction.insert_token(&token).unwrap();
        transaction.commit().unwrap();
        made
    }

    #[test]
    fn the_copy_is_identical_and_ids_continue() {
        let folder = tempfile::tempdir().unwrap();
        let made = fill(folder.path());
        let database = settings(&testkit::postgres().database());
        let usage = SqliteReaders::new(folder.path().to_owned()).usage().unwrap();
        let usage = [1, 2].map(|of| usage[&shop(of)]);
        let migrated = migrate_store(folder.path(), &database, &mut |_, _| {}).unwrap();
        assert_eq!((migrated.shops, migrated.products), (2, 1202));
        assert_eq!((migrated.tokens, migrated.keys), (1, 1));
        assert!(migrated.vectors >= 9, "{migrated:?}");
        let postgres = Postgres::new(&database).unwrap();
        let readers = postgres.readers();
        for product in made.iter().step_by(100) {
            let found = readers.product(&everything(product.shop), product.id).unwrap();
            assert_eq!(found.as_ref(), Some(product));
        }
        let tokens = readers.token_page(shop(1), 10, 0).unwrap().tokens;
        assert_eq!(tokens[0].secret_hash, [7; 32]);
        let key = Key::parse("sku 300").unwrap();
        let keyed = readers.products_by_key(&everything(shop(1)), &[key]).unwrap();
        assert_eq!(keyed, [made[300].clone()]);
        // Change records are not copied: who follows them starts over, unless up to date.
        let last = readers.last_change(shop(1)).unwrap();
        let expired = ChangesExpired { last };
        assert_eq!(readers.changes(shop(1), Seq(0), 10).unwrap(), Err(expired));
        assert!(readers.changes(shop(1), last, 10).unwrap().unwrap().changes.is_empty());
        let mut store = postgres.store();
        let mut transaction = store.begin().unwrap();
        let key =
            transaction.stored_response(shop(1), "key", Timestamp::UNIX_EPOCH).unwrap().unwrap();
        assert_eq!(key.body, [2]);
        let last = made.last().unwrap();
        let draft = Draft {
            description: last.description.clone(),
            ..Draft::new(last.title.clone(), last.price.clone())
        };
        let moved = [1, 2].map(|of| transaction.usage(shop(of)).unwrap());
        assert_eq!(moved, usage);
        assert_eq!(moved[0].attribute_names, 1);
        let next = transaction.create(shop(1), draft, Timestamp::UNIX_EPOCH).unwrap();
        // The id of the deleted product is not assigned again.
        assert!(next.id.get() > last.id.get() + 1, "{next:?}");
        assert!(next.version > last.version);
        transaction.commit().unwrap();
        // A database with a catalog is rejected.
        let again = migrate_store(folder.path(), &database, &mut |_, _| {});
        assert!(matches!(again, Err(MigrationError::NotEmpty)));
    }

    #[test]
    fn an_interrupted_migration_resumes_and_blocks_nodes_meanwhile() {
        let folder = tempfile::tempdir().unwrap();
        let made = fill(folder.path());
        let database = settings(&testkit::postgres().database());
        let postgres = Postgres::new(&database).unwrap();
        postgres.migrate().unwrap();
        let mut target = postgres.begin_bulk_load().unwrap().unwrap();
        let first: Vec<_> =
            made.iter().filter(|product| product.shop == shop(1)).take(50).cloned().collect();
        let mut vectors = HashMap::new();
        let source = SqliteReaders::new(folder.path().to_owned());
        source.scan_vectors(shop(1), &mut |row| drop(vectors.insert(row.product, row))).unwrap();
        target.put(shop(1), &first, &vectors).unwrap();
        drop(target);
        assert!(postgres.check_schema().is_err());
        // Differences are detected.
        let change = |title: &str| {
            let name = name(&database);
            let id = first[0].id;
            let update = format!("UPDATE products SET title = '{title}' WHERE id = {id}");
            testkit::postgres().psql(&name, &update);
        };
        change("another");
        let migrated = migrate_store(folder.path(), &database, &mut |_, _| {});
        assert!(
            matches!(migrated, Err(MigrationError::Differs { what: "the products", .. })),
            "{migrated:?}"
        );
        assert!(postgres.check_schema().is_err());
        change(first[0].title.as_str());
        let migrated = migrate_store(folder.path(), &database, &mut |_, _| {}).unwrap();
        assert_eq!(migrated.products, 1202);
        postgres.check_schema().unwrap();
    }

    fn name(database: &PostgresSettings) -> String {
        database.address.to_string().rsplit_once('/').unwrap().1.to_owned()
    }
}
