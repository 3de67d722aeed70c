//! Reads, each from a consistent snapshot, which never wait for the writer.

use std::{
    ops::ControlFlow,
    path::{Path, PathBuf},
};

use catalog::product::{
    Product, ProductId, ShopId,
    access::{ReadPass, Visibility},
    change::Seq,
    key::Key,
};
use embed::{Encoder, ModelId, inference::stored_or_inferred};
use parking_lot::Mutex;
use rusqlite::{Connection, Row, params};

use super::{
    super::{
        AppliedChange, ChangeReads, ChangesExpired, ChangesPage, EmbeddingQueue, FeedResult,
        FullScan, IndexSource, Page, Position, ProductReads, ScannedProduct, SearchReads,
        ShopCounts, StoreError, StoreInfo, TxStamp, Unembedded, VectorChange, VectorRow, decoding,
    },
    changes,
    damage::Damage,
    database_file::open_reader,
    rows, vectors,
};

/// Idle connections kept for the next reader.
const IDLE_CONNECTIONS: usize = 16;

/// A pool of connections that can only read.
#[derive(Debug)]
pub struct SqliteReaders {
    folder: PathBuf,
    idle: Mutex<Vec<Connection>>,
    damage: Damage,
}

impl SqliteReaders {
    /// Readers of the database in `folder`, which a [`SqliteStore`](super::SqliteStore) has opened
    /// before.
    pub fn new(folder: PathBuf) -> Self {
        Self { folder, idle: Mutex::default(), damage: Damage::default() }
    }

    /// Whether the database was found damaged, by these readers or by others who note it there.
    pub fn damage(&self) -> Damage {
        self.damage.clone()
    }

    /// The data folder.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Runs `work` in one read transaction, so that all its queries see one snapshot.
    pub(super) fn read<T>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.read_single(|connection| {
            // Prepared once for each connection, unlike the statements of `rusqlite::Transaction`.
            connection.prepare_cached("BEGIN")?.execute([])?;
            let result = work(connection)?;
            connection.prepare_cached("COMMIT")?.execute([])?;
            Ok(result)
        })
    }

    /// Runs `work`, a single query, which sees one snapshot without a transaction.
    pub(super) fn read_single<T>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let idle = self.idle.lock().pop();
        let connection = match idle {
            Some(connection) => connection,
            None => self.damage.noted(open_reader(&self.folder))?,
        };
        let result = self.damage.noted(work(&connection))?;
        // A connection that failed above is dropped instead of being reused.
        let mut idle = self.idle.lock();
        if idle.len() < IDLE_CONNECTIONS {
            idle.push(connection);
        }
        Ok(result)
    }
}

impl StoreInfo for SqliteReaders {
    fn is_shared(&self) -> bool {
        false
    }

    fn is_local(&self) -> bool {
        true
    }

    fn check(&self) -> Result<(), StoreError> {
        let check = |connection: &Connection| {
            let mut statement = connection.prepare_cached("SELECT product_id FROM counters")?;
            Ok(statement.query_row([], |_| Ok(()))?)
        };
        self.read_single(check)
    }

    fn shops(&self) -> Result<Vec<ShopCounts>, StoreError> {
        self.read(|connection| {
            let mut statement = connection.prepare_cached(
                "SELECT id, product_count, visible_count FROM shops
                 WHERE product_count > 0 ORDER BY product_count DESC, id",
            )?;
            let mut rows = statement.query([])?;
            let mut shops = Vec::new();
            while let Some(row) = rows.next()? {
                shops.extend(read_counts(row)?);
            }
            Ok(shops)
        })
    }

    fn counts(&self, shop: ShopId) -> Result<ShopCounts, StoreError> {
        self.read(|connection| counts_of(connection, shop))
    }
}

impl ProductReads for SqliteReaders {
    fn products(&self, pass: &ReadPass, ids: &[ProductId]) -> Result<Vec<Product>, StoreError> {
        self.read(|connection| {
            let mut statement = connection.prepare_cached(&format!(
                "SELECT {columns} FROM products WHERE id = ?1 AND shop_id = ?2",
                columns = rows::COLUMNS
            ))?;
            let mut found = Vec::with_capacity(ids.len());
            for id in ids {
                let mut row = statement.query(params![id.get(), pass.shop().get()])?;
                if let Some(row) = row.next()?
                    && let Some(product) = rows::read(row)?
                    && (pass.visibility() == Visibility::All || !product.hidden)
                {
                    found.push(product);
                }
            }
            Ok(found)
        })
    }

    fn products_by_key(&self, pass: &ReadPass, keys: &[Key]) -> Result<Vec<Product>, StoreError> {
        self.read(|connection| {
            let mut statement = connection.prepare_cached(&format!(
                "SELECT {columns} FROM products WHERE shop_id = ?1 AND key = ?2",
                columns = rows::COLUMNS
            ))?;
            let mut found = Vec::with_capacity(keys.len());
            for key in keys {
                let mut row = statement.query(params![pass.shop().get(), key.as_str()])?;
                found.extend(row.next()?.map_or(Ok(None), rows::read)?);
            }
            found.retain(|product| pass.visibility() == Visibility::All || !product.hidden);
            Ok(found)
        })
    }

    fn changes(
        &self,
        shop: ShopId,
        since: Seq,
        limit: usize,
    ) -> Result<Result<ChangesPage, ChangesExpired>, StoreError> {
        self.read(|connection| changes::page(connection, shop, since, limit))
    }

    fn page(&self, pass: &ReadPass, limit: usize, offset: usize) -> Result<Page, StoreError> {
        self.read(|connection| {
            let counts = counts_of(connection, pass.shop())?;
            let (filter, total) = match pass.visibility() {
                Visibility::All => ("", counts.products),
                Visibility::VisibleOnly => ("AND hidden = 0", counts.visible),
            };
            // The inner query walks a narrow index, so that skipping rows does not read them.
            let mut statement = connection.prepare_cached(&format!(
                "SELECT {columns} FROM products WHERE id IN (
                     SELECT id FROM products WHERE shop_id = ?1 {filter}
                     ORDER BY id LIMIT ?2 OFFSET ?3
                 ) ORDER BY id",
                columns = rows::COLUMNS
            ))?;
            let offset = i64::try_from(offset).unwrap_or(i64::MAX);
            let mut rows = statement.query(params![pass.shop().get(), limit as i64, offset])?;
            let mut products = Vec::with_capacity(limit.min(total));
            while let Some(row) = rows.next()? {
                products.extend(rows::read(row)?);
            }
            Ok(Page { products, total })
        })
    }
}

impl FullScan for SqliteReaders {
    fn for_each_product(
        &self,
        pass: &ReadPass,
        visit: &mut dyn FnMut(Product) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        let filter = match pass.visibility() {
            Visibility::All => "",
            Visibility::VisibleOnly => "AND hidden = 0",
        };
        self.read(|connection| {
            let mut statement = connection.prepare_cached(&format!(
                "SELECT {columns} FROM products WHERE shop_id = ?1 {filter} ORDER BY id",
                columns = rows::COLUMNS
            ))?;
            let mut rows = statement.query([pass.shop().get()])?;
            while let Some(row) = rows.next()? {
                if rows::read(row)?.is_some_and(|product| visit(product).is_break()) {
                    break;
                }
            }
            Ok(())
        })
    }

    fn scan_vectors(
        &self,
        shop: ShopId,
        visit: &mut dyn FnMut(VectorRow),
    ) -> Result<(), StoreError> {
        self.read(|connection| vectors::scan(connection, shop, visit))
    }
}

impl SearchReads for SqliteReaders {
    fn hits(&self, pass: &ReadPass, ids: &[ProductId]) -> Result<Vec<Product>, StoreError> {
        self.products(pass, ids)
    }

    fn rejected_by_text(
        &self,
        shop: ShopId,
        ids: &[ProductId],
        allowed: &dyn Fn(&str, &str, &str) -> bool,
    ) -> Result<Vec<ProductId>, StoreError> {
        self.read(|connection| {
            let mut statement = connection.prepare_cached(
                "SELECT title, description, attributes FROM products
                 WHERE id = ?1 AND shop_id = ?2",
            )?;
            let mut refused = Vec::new();
            for id in ids {
                let mut row = statement.query(params![id.get(), shop.get()])?;
                if let Some(row) = row.next()?
                    && !allowed(
                        &rows::read_text(row, 0)?,
                        &rows::read_text(row, 1)?,
                        &rows::read_attribute_text(row, 2)?,
                    )
                {
                    refused.push(*id);
                }
            }
            Ok(refused)
        })
    }
}

impl ChangeReads for SqliteReaders {
    fn changes_since(
        &self,
        shop: ShopId,
        model: Option<&ModelId>,
        since: Position,
    ) -> Result<FeedResult, StoreError> {
        self.read(|connection| {
            let (history, since) = (changes::history(connection, shop)?, since.seq);
            if history.last < since {
                return Ok(FeedResult::Diverged(position(history.last)));
            }
            if since < history.truncated_to {
                return Ok(FeedResult::Truncated);
            }
            let mut changed = connection.prepare_cached(
                "SELECT product_id, max(seq) FROM changes WHERE shop_id = ?1 AND seq > ?2
                 GROUP BY product_id ORDER BY max(seq)",
            )?;
            let mut found = changed.query(params![shop.get(), since.0])?;
            let mut changes = Vec::new();
            while let Some(row) = found.next()? {
                let number = shop.get().cast_signed();
                let Some(id) = decoding::product_id(number, row.get(0)?) else { continue };
                let seq = decoding::seq(row.get(1)?);
                changes.push(current_state(connection, shop, id, seq, model)?);
            }
            Ok(FeedResult::Changes(changes, position(history.last)))
        })
    }

    fn positions(&self, shops: &[ShopId]) -> Result<Vec<(ShopId, Position)>, StoreError> {
        self.read(|connection| {
            let of = |shop: &ShopId| Ok((*shop, position(changes::last(connection, *shop)?)));
            shops.iter().map(of).collect()
        })
    }

    fn last_change(&self, shop: ShopId) -> Result<Seq, StoreError> {
        self.read_single(|connection| changes::last(connection, shop))
    }
}

impl IndexSource for SqliteReaders {
    fn scan(
        &self,
        shop: ShopId,
        model: Option<&ModelId>,
        visit: &mut dyn FnMut(ScannedProduct<'_>),
    ) -> Result<Position, StoreError> {
        self.read(|connection| {
            let read_at = position(changes::last(connection, shop)?);
            let mut statement = connection.prepare_cached(
                "SELECT id, products.version, hidden, price, title, description, key, attributes,
                     inferred, vector, deep
                 FROM products LEFT JOIN vectors ON product_id = id AND model = ?2
                 WHERE products.shop_id = ?1 ORDER BY id",
            )?;
            let mut rows = statement.query(params![shop.get(), model.map(ModelId::as_str)])?;
            let shop = shop.get().cast_signed();
            while let Some(row) = rows.next()? {
                let number = row.get(0)?;
                let Some(id) = decoding::product_id(shop, number) else { continue };
                let attributes = rows::read_optional_text(row, 7)?;
                let attributes = decoding::attributes(shop, number, attributes.as_deref());
                let (title, description) = (rows::read_text(row, 4)?, rows::read_text(row, 5)?);
                let stored = rows::read_optional_bytes(row, 8)?;
                visit(ScannedProduct {
                    id,
                    version: decoding::seq(row.get(1)?),
                    hidden: row.get(2)?,
                    price: decoding::money(shop, number, &rows::read_text(row, 3)?),
                    inferred: stored_or_inferred(stored, &title, &description, &attributes),
                    title: &title,
                    description: &description,
                    key: rows::read_optional_text(row, 6)?.as_deref(),
                    attributes,
                    vectors: rows::read_vectors(row, 9, shop, number)?,
                    unindexed: None,
                });
            }
            Ok(read_at)
        })
    }
}

impl EmbeddingQueue for SqliteReaders {
    fn lease_unembedded(
        &self,
        model: &str,
        encoder: Encoder,
        limit: usize,
    ) -> Result<Vec<Unembedded>, StoreError> {
        self.read(|connection| vectors::unembedded(connection, model, encoder, limit))
    }

    fn unembedded_count(&self, model: &str, encoder: Encoder) -> Result<usize, StoreError> {
        self.read(|connection| vectors::unembedded_count(connection, model, encoder))
    }
}

/// The current state of a changed product.
fn current_state(
    connection: &Connection,
    shop: ShopId,
    id: ProductId,
    seq: Seq,
    model: Option<&ModelId>,
) -> Result<AppliedChange, StoreError> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {columns}, (SELECT vector FROM vectors WHERE product_id = id AND model = ?3),
             (SELECT deep FROM vectors WHERE product_id = id AND model = ?3)
         FROM products WHERE id = ?1 AND shop_id = ?2",
        columns = rows::COLUMNS
    ))?;
    let mut found = statement.query(params![id.get(), shop.get(), model.map(ModelId::as_str)])?;
    let Some(row) = found.next()? else { return Ok(AppliedChange::Deleted { shop, id, seq }) };
    let (number, of) = (id.get().cast_signed(), shop.get().cast_signed());
    let vectors = rows::read_vectors(row, rows::COLUMN_COUNT, of, number)?;
    let vectors = vectors.map_or(VectorChange::Pending, VectorChange::Set);
    Ok(match rows::read(row)? {
        None => AppliedChange::Deleted { shop, id, seq },
        Some(product) => AppliedChange::Upserted { product, vectors },
    })
}

/// No other process writes to this file, so a sequence number alone identifies a change.
fn position(seq: Seq) -> Position {
    Position { seq, stamp: TxStamp::default() }
}

fn counts_of(connection: &Connection, shop: ShopId) -> Result<ShopCounts, StoreError> {
    let mut statement = connection
        .prepare_cached("SELECT id, product_count, visible_count FROM shops WHERE id = ?1")?;
    let mut found = statement.query([shop.get()])?;
    let counts = found.next()?.map_or(Ok(None), read_counts)?;
    Ok(counts.unwrap_or(ShopCounts { shop, products: 0, visible: 0 }))
}

fn read_counts(row: &Row<'_>) -> Result<Option<ShopCounts>, StoreError> {
    let (products, visible) = (decoding::count(row.get(1)?), decoding::count(row.get(2)?));
    let shop = decoding::shop_id(row.get(0)?);
    Ok(shop.map(|shop| ShopCounts { shop, products, visible }))
}
