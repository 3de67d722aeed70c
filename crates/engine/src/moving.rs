//! How does a catalog move from a data folder into a database? Shop by shop, with its numbers,
//! times, versions, vectors, tokens and keys, and counted and compared in the end.
//!
//! A move that was cut off goes on where it stopped. Until it is done, no node starts on the
//! database: half a catalog is worse than none.

use std::{collections::HashMap, ops::ControlFlow, path::Path};

use catalog::{
    access::{Caller, ReadPass, Role},
    product::{ProductId, ShopId},
};
use ring::digest;
use thiserror::Error;

use crate::store::{
    Arrival, DataFolder, FolderInUse, FullScan, Postgres, PostgresSettings, SqliteReaders,
    SqliteStore, StoreError, StoreInfo, TokenReads, VectorRow,
};

/// Products that are sent together.
const CHUNK: usize = 500;

/// What was moved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moved {
    /// Shops with products.
    pub shops: usize,
    /// Their products.
    pub products: usize,
    /// Vectors of products.
    pub vectors: usize,
    /// Tokens, working or not.
    pub tokens: usize,
    /// Remembered answers to idempotency keys.
    pub keys: usize,
}

/// A catalog was not moved.
#[derive(Debug, Error)]
pub enum MoveError {
    /// A server runs on the folder, or it is unusable.
    #[error(transparent)]
    Folder(#[from] FolderInUse),
    /// There is nothing to move.
    #[error("there is no catalog in the folder")]
    NoCatalog,
    /// The folder's database failed.
    #[error("the database in the folder cannot be read")]
    Source(#[source] StoreError),
    /// The database failed.
    #[error("the database cannot be used")]
    Target(#[source] StoreError),
    /// The database is somebody's already.
    #[error("the database holds a catalog already; move into an empty one")]
    NotEmpty,
    /// Both sides were compared, and differ.
    #[error("{what} of shop {shop} differ after the move; nothing was taken from the folder")]
    Differs {
        /// The shop.
        shop: ShopId,
        /// What differs.
        what: &'static str,
    },
}

/// Moves everything, telling after each shop how many products are there by now.
pub fn move_store(
    folder: &Path,
    database: &PostgresSettings,
    report: &mut dyn FnMut(ShopId, usize),
) -> Result<Moved, MoveError> {
    if !SqliteStore::is_in(folder) {
        return Err(MoveError::NoCatalog);
    }
    // Nobody writes meanwhile.
    let folder = DataFolder::take(folder)?;
    let source = SqliteStore::open(folder.path()).map_err(MoveError::Source)?;
    let readers = SqliteReaders::new(folder.path().to_owned());
    let (last_id, last_seq) = source.counters().map_err(MoveError::Source)?;
    let postgres = Postgres::new(database).map_err(MoveError::Target)?;
    postgres.migrate().map_err(MoveError::Target)?;
    let mut target =
        postgres.begin_move().map_err(MoveError::Target)?.ok_or(MoveError::NotEmpty)?;
    let mut moved = Moved::default();
    for counts in readers.shops().map_err(MoveError::Source)? {
        let shop = counts.shop;
        let mut vectors = HashMap::new();
        readers
            .scan_vectors(shop, &mut |row| drop(vectors.insert(row.product, row)))
            .map_err(MoveError::Source)?;
        send(&readers, &mut target, shop, &vectors)?;
        target.finish_shop(counts, last_seq).map_err(MoveError::Target)?;
        moved.shops += 1;
        moved.products += counts.products;
        moved.vectors += vectors.len();
        report(shop, moved.products);
    }
    let tokens = readers.tokens(None).map_err(MoveError::Source)?;
    moved.tokens = tokens.len();
    target.put_tokens(&tokens).map_err(MoveError::Target)?;
    let keys = source.remembered().map_err(MoveError::Source)?;
    moved.keys = keys.len();
    target.put_keys(&keys).map_err(MoveError::Target)?;
    target.reserve_numbers(last_id).map_err(MoveError::Target)?;
    let arrived = postgres.readers();
    for counts in readers.shops().map_err(MoveError::Source)? {
        let shop = counts.shop;
        let here = arrived.counts(shop).map_err(MoveError::Target)?;
        if here != counts {
            return Err(MoveError::Differs { shop, what: "the counts" });
        }
        let sums = (
            checksum(&readers, shop).map_err(MoveError::Source)?,
            checksum(&arrived, shop).map_err(MoveError::Target)?,
        );
        if sums.0 != sums.1 {
            return Err(MoveError::Differs { shop, what: "the products" });
        }
    }
    target.finish().map_err(MoveError::Target)?;
    Ok(moved)
}

/// Sends a shop's products that are not there yet.
fn send(
    readers: &SqliteReaders,
    target: &mut Arrival,
    shop: ShopId,
    vectors: &HashMap<ProductId, VectorRow>,
) -> Result<(), MoveError> {
    let there = target.last_product(shop).map_err(MoveError::Target)?;
    let mut chunk = Vec::with_capacity(CHUNK);
    let mut sent = Ok(());
    readers
        .for_each_product(&everything(shop), &mut |product| {
            if Some(product.id) <= there {
                return ControlFlow::Continue(());
            }
            chunk.push(product);
            if chunk.len() == CHUNK {
                sent = target.put(shop, &chunk, vectors);
                chunk.clear();
            }
            if sent.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })
        .map_err(MoveError::Source)?;
    sent.and_then(|()| match chunk.is_empty() {
        true => Ok(()),
        false => target.put(shop, &chunk, vectors),
    })
    .map_err(MoveError::Target)
}

/// A digest of all products and vectors of a shop, the same for the same.
fn checksum(readers: &dyn FullScan, shop: ShopId) -> Result<Vec<u8>, StoreError> {
    let mut sum = digest::Context::new(&digest::SHA256);
    readers.for_each_product(&everything(shop), &mut |product| {
        sum.update(format!("{product:?}\n").as_bytes());
        ControlFlow::Continue(())
    })?;
    readers.scan_vectors(shop, &mut |row| {
        let VectorRow { product, model, encoder, vector, .. } = &row;
        let said = format!("{product} {} {}\n", model.as_str(), encoder.as_str());
        sum.update(said.as_bytes());
        sum.update(&vector.to_bytes());
    })?;
    Ok(sum.finish().as_ref().to_vec())
}

fn everything(shop: ShopId) -> ReadPass {
    Caller::new(shop, Role::Viewer).may_read()
}

#[cfg(test)]
mod tests {
    use catalog::{
        price::Price,
        product::{Description, Draft, Patch, Product, Title},
    };
    use jiff::Timestamp;

    use super::*;
    use crate::{
        embed::{Encoder, ModelId, Vector},
        store::{CatalogStore, ProductReads, Remembered, conformance::settings},
    };

    fn shop(number: u64) -> ShopId {
        ShopId::new(number).unwrap()
    }

    /// A folder with two shops, a gap in the numbers, vectors, a token and a key.
    fn fill(folder: &Path) -> Vec<Product> {
        let at = Timestamp::from_microsecond(1_700_000_000_000_001).unwrap();
        let mut store = SqliteStore::open(folder).unwrap();
        let mut transaction = store.begin().unwrap();
        let mut made = Vec::new();
        for n in 0..1203 {
            let draft = Draft {
                title: Title::parse(&format!("Lamp {n} \"é\"")).unwrap(),
                description: Description::default(),
                price: Price::parse("$1").unwrap(),
                hidden: n % 7 == 0,
                media: vec![],
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
                vector: Vector::towards(numbers).unwrap().stored(),
            };
            let _ = transaction.put_vector(&row).unwrap();
        }
        let said = Remembered { fingerprint: vec![1], answer: vec![2] };
        transaction.remember(shop(1), "key", &said, at).unwrap();
        transaction.insert_token(shop(1), Role::Admin, "ops", &[7; 32], at, None).unwrap();
        transaction.commit().unwrap();
        made
    }

    #[test]
    fn everything_arrives_as_it_was_and_numbers_go_on() {
        let folder = tempfile::tempdir().unwrap();
        let made = fill(folder.path());
        let database = settings(&testkit::postgres().database());
        let moved = move_store(folder.path(), &database, &mut |_, _| {}).unwrap();
        assert_eq!((moved.shops, moved.products), (2, 1202));
        assert_eq!((moved.tokens, moved.keys), (1, 1));
        assert!(moved.vectors >= 9, "{moved:?}");
        let postgres = Postgres::new(&database).unwrap();
        let readers = postgres.readers();
        for product in made.iter().step_by(100) {
            let found = readers.product(&everything(product.shop), product.id).unwrap();
            assert_eq!(found.as_ref(), Some(product));
        }
        assert_eq!(readers.tokens(None).unwrap()[0].secret_hash, [7; 32]);
        let mut store = postgres.store();
        let mut transaction = store.begin().unwrap();
        let key = transaction.recall(shop(1), "key", Timestamp::UNIX_EPOCH).unwrap().unwrap();
        assert_eq!(key.answer, [2]);
        let last = made.last().unwrap();
        let draft = Draft {
            title: last.title.clone(),
            description: last.description.clone(),
            price: last.price.clone(),
            hidden: false,
            media: vec![],
        };
        let next = transaction.create(shop(1), draft, Timestamp::UNIX_EPOCH).unwrap();
        // The last number went with the product that was deleted: it is not used again.
        assert!(next.id.get() > last.id.get() + 1, "{next:?}");
        assert!(next.version > last.version);
        transaction.commit().unwrap();
        // A database with a catalog is not moved into.
        let again = move_store(folder.path(), &database, &mut |_, _| {});
        assert!(matches!(again, Err(MoveError::NotEmpty)));
    }

    #[test]
    fn a_move_that_was_cut_off_goes_on_and_nobody_starts_meanwhile() {
        let folder = tempfile::tempdir().unwrap();
        let made = fill(folder.path());
        let database = settings(&testkit::postgres().database());
        let postgres = Postgres::new(&database).unwrap();
        postgres.migrate().unwrap();
        let mut target = postgres.begin_move().unwrap().unwrap();
        let first: Vec<_> =
            made.iter().filter(|product| product.shop == shop(1)).take(50).cloned().collect();
        let mut vectors = HashMap::new();
        let source = SqliteReaders::new(folder.path().to_owned());
        source.scan_vectors(shop(1), &mut |row| drop(vectors.insert(row.product, row))).unwrap();
        target.put(shop(1), &first, &vectors).unwrap();
        drop(target);
        assert!(postgres.check_schema().is_err());
        // What is not as it was is noticed.
        let change = |title: &str| {
            let name = name(&database);
            let id = first[0].id;
            let update = format!("UPDATE products SET title = '{title}' WHERE id = {id}");
            testkit::postgres().psql(&name, &update);
        };
        change("another");
        let moved = move_store(folder.path(), &database, &mut |_, _| {});
        assert!(matches!(moved, Err(MoveError::Differs { what: "the products", .. })), "{moved:?}");
        assert!(postgres.check_schema().is_err());
        change(first[0].title.as_str());
        let moved = move_store(folder.path(), &database, &mut |_, _| {}).unwrap();
        assert_eq!(moved.products, 1202);
        postgres.check_schema().unwrap();
    }

    fn name(database: &PostgresSettings) -> String {
        database.address.to_string().rsplit_once('/').unwrap().1.to_owned()
    }
}
