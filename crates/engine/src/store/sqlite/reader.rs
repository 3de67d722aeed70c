//! What is in the store? Reads, each from a consistent snapshot, never waiting for the writer.

use std::{
    ops::ControlFlow,
    path::{Path, PathBuf},
};

use catalog::{
    access::{ReadPass, Sight},
    change::Seq,
    price::Money,
    product::{Product, ProductId, ShopId},
};
use parking_lot::Mutex;
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::{
    super::{
        CatalogReads, Meaning, Page, Scanned, ShopCounts, StoreError, TokenRow, Touched,
        Unembedded, VectorRow, columns,
    },
    SqliteStore, rows, vectors,
};
use crate::embed::{Encoder, ModelId};

/// Idle connections kept for the next reader.
const IDLE_CONNECTIONS: usize = 16;

/// A pool of connections that can only read.
#[derive(Debug)]
pub struct SqliteReaders {
    folder: PathBuf,
    idle: Mutex<Vec<Connection>>,
}

const TOKEN_COLUMNS: &str =
    "id, shop_id, role, name, secret_hash, created_at, expires_at, revoked_at";

impl SqliteReaders {
    /// SqliteReaders of the database in `folder`, which a [`SqliteStore`] has opened before.
    pub fn new(folder: PathBuf) -> Self {
        Self { folder, idle: Mutex::new(Vec::new()) }
    }

    /// Where the database is.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Runs `work` in one read transaction: whatever it asks, it sees one state.
    pub(super) fn read<T>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.read_at_once(|connection| {
            let transaction = connection.unchecked_transaction()?;
            let answer = work(&transaction)?;
            transaction.finish()?;
            Ok(answer)
        })
    }

    /// Runs `work`, which asks one question alone: a statement sees one state by itself.
    fn read_at_once<T>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let idle = self.idle.lock().pop();
        let connection = match idle {
            Some(connection) => connection,
            None => SqliteStore::open_reader(&self.folder)?,
        };
        let answer = work(&connection)?;
        // A connection that failed above is dropped with its state instead of being kept.
        let mut idle = self.idle.lock();
        if idle.len() < IDLE_CONNECTIONS {
            idle.push(connection);
        }
        Ok(answer)
    }
}

impl CatalogReads for SqliteReaders {
    fn products(&self, pass: &ReadPass, ids: &[ProductId]) -> Result<Vec<Product>, StoreError> {
        self.read(|connection| {
            let mut statement = connection.prepare_cached(&format!(
                "SELECT {columns} FROM products WHERE id = ?1 AND shop_id = ?2",
                columns = rows::COLUMNS
            ))?;
            let mut found = Vec::with_capacity(ids.len());
            for id in ids {
                let mut row = statement.query(params![id.get(), pass.shop().get()])?;
                if let Some(row) = row.next()? {
                    let product = rows::read(row)?;
                    if pass.sight() == Sight::Everything || !product.hidden {
                        found.push(product);
                    }
                }
            }
            Ok(found)
        })
    }

    fn refused(
        &self,
        shop: ShopId,
        ids: &[ProductId],
        allowed: &dyn Fn(&str, &str) -> bool,
    ) -> Result<Vec<ProductId>, StoreError> {
        self.read(|connection| {
            let mut statement = connection.prepare_cached(
                "SELECT title, description FROM products WHERE id = ?1 AND shop_id = ?2",
            )?;
            let mut refused = Vec::new();
            for id in ids {
                let mut row = statement.query(params![id.get(), shop.get()])?;
                if let Some(row) = row.next()?
                    && !allowed(rows::read_text(row, 0)?, rows::read_text(row, 1)?)
                {
                    refused.push(*id);
                }
            }
            Ok(refused)
        })
    }

    fn page(&self, pass: &ReadPass, limit: usize, offset: usize) -> Result<Page, StoreError> {
        self.read(|connection| {
            let counts = counts_of(connection, pass.shop())?;
            let (filter, total) = match pass.sight() {
                Sight::Everything => ("", counts.products),
                Sight::VisibleOnly => ("AND hidden = 0", counts.visible),
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
                products.push(rows::read(row)?);
            }
            Ok(Page { products, total })
        })
    }

    fn scan(
        &self,
        shop: ShopId,
        model: Option<&ModelId>,
        visit: &mut dyn FnMut(Scanned<'_>),
    ) -> Result<Seq, StoreError> {
        self.read(|connection| {
            let seq = last_change_of(connection)?;
            let mut statement = connection.prepare_cached(
                "SELECT id, products.version, hidden, price, title, description, vector
                 FROM products LEFT JOIN vectors ON product_id = id AND model = ?2
                 WHERE products.shop_id = ?1 ORDER BY id",
            )?;
            let mut rows = statement.query(params![shop.get(), model.map(ModelId::as_str)])?;
            while let Some(row) = rows.next()? {
                visit(Scanned {
                    id: columns::read_product_id(row.get(0)?)?,
                    version: Seq(row.get::<_, i64>(1)?.cast_unsigned()),
                    hidden: row.get(2)?,
                    price: Money::parse(rows::read_text(row, 3)?).map_err(columns::unexpected)?,
                    title: rows::read_text(row, 4)?,
                    description: rows::read_text(row, 5)?,
                    vector: rows::read_vector(row, 6)?,
                });
            }
            Ok(seq)
        })
    }

    fn every_product(
        &self,
        pass: &ReadPass,
        visit: &mut dyn FnMut(Product) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        let filter = match pass.sight() {
            Sight::Everything => "",
            Sight::VisibleOnly => "AND hidden = 0",
        };
        self.read(|connection| {
            let mut statement = connection.prepare_cached(&format!(
                "SELECT {columns} FROM products WHERE shop_id = ?1 {filter} ORDER BY id",
                columns = rows::COLUMNS
            ))?;
            let mut rows = statement.query([pass.shop().get()])?;
            while let Some(row) = rows.next()? {
                if visit(rows::read(row)?).is_break() {
                    break;
                }
            }
            Ok(())
        })
    }

    fn is_shared(&self) -> bool {
        false
    }

    fn changes_since(
        &self,
        shop: ShopId,
        model: Option<&ModelId>,
        since: Seq,
    ) -> Result<Option<(Vec<Touched>, Seq)>, StoreError> {
        self.read(|connection| {
            let last = last_change_of(connection)?;
            let kept: Option<i64> = connection
                .prepare_cached("SELECT min(seq) FROM changes")?
                .query_row([], |row| row.get(0))?;
            let first = kept.map_or(last.0 + 1, i64::cast_unsigned);
            if since.0 + 1 < first {
                return Ok(None);
            }
            let mut changed = connection.prepare_cached(
                "SELECT product_id, max(seq) FROM changes WHERE shop_id = ?1 AND seq > ?2
                 GROUP BY product_id ORDER BY max(seq)",
            )?;
            let mut found = changed.query(params![shop.get(), since.0])?;
            let mut touched = Vec::new();
            while let Some(row) = found.next()? {
                let id = columns::read_product_id(row.get(0)?)?;
                let seq = Seq(row.get::<_, i64>(1)?.cast_unsigned());
                touched.push(touched_now(connection, shop, id, seq, model)?);
            }
            Ok(Some((touched, last)))
        })
    }

    fn last_changes(&self, shops: &[ShopId]) -> Result<Vec<(ShopId, Seq)>, StoreError> {
        let last = self.read(last_change_of)?;
        Ok(shops.iter().map(|shop| (*shop, last)).collect())
    }

    fn last_change(&self, _: ShopId) -> Result<Seq, StoreError> {
        self.read(last_change_of)
    }

    fn is_near(&self) -> bool {
        true
    }

    fn check(&self) -> Result<(), StoreError> {
        self.read(last_change_of).map(drop)
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
                shops.push(read_counts(row)?);
            }
            Ok(shops)
        })
    }

    fn counts(&self, shop: ShopId) -> Result<ShopCounts, StoreError> {
        self.read(|connection| counts_of(connection, shop))
    }

    fn token(&self, id: u64) -> Result<Option<TokenRow>, StoreError> {
        let Ok(id) = i64::try_from(id) else { return Ok(None) };
        self.read_at_once(|connection| {
            let mut statement = connection
                .prepare_cached(&format!("SELECT {TOKEN_COLUMNS} FROM tokens WHERE id = ?1"))?;
            let mut rows = statement.query([id])?;
            rows.next()?.map(read_token).transpose()
        })
    }

    fn tokens(&self, shop: Option<ShopId>) -> Result<Vec<TokenRow>, StoreError> {
        self.read(|connection| {
            let mut statement = connection.prepare_cached(&format!(
                "SELECT {TOKEN_COLUMNS} FROM tokens WHERE ?1 IS NULL OR shop_id = ?1 ORDER BY id"
            ))?;
            let mut rows = statement.query([shop.map(ShopId::get)])?;
            let mut tokens = Vec::new();
            while let Some(row) = rows.next()? {
                tokens.push(read_token(row)?);
            }
            Ok(tokens)
        })
    }

    fn unembedded(
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

    fn scan_vectors(
        &self,
        shop: ShopId,
        visit: &mut dyn FnMut(VectorRow),
    ) -> Result<(), StoreError> {
        self.read(|connection| vectors::scan(connection, shop, visit))
    }
}

/// What became of a product that a change touched.
fn touched_now(
    connection: &Connection,
    shop: ShopId,
    id: ProductId,
    seq: Seq,
    model: Option<&ModelId>,
) -> Result<Touched, StoreError> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {columns}, (SELECT vector FROM vectors WHERE product_id = id AND model = ?3)
         FROM products WHERE id = ?1 AND shop_id = ?2",
        columns = rows::COLUMNS
    ))?;
    let mut found = statement.query(params![id.get(), shop.get(), model.map(ModelId::as_str)])?;
    Ok(match found.next()? {
        None => Touched::Deleted { shop, id, seq },
        Some(row) => Touched::Upserted {
            product: rows::read(row)?,
            meaning: rows::read_vector(row, 10)?.map_or(Meaning::Unknown, Meaning::Known),
        },
    })
}

fn last_change_of(connection: &Connection) -> Result<Seq, StoreError> {
    let mut statement = connection.prepare_cached("SELECT seq FROM counters")?;
    Ok(Seq(statement.query_row([], |row| row.get::<_, i64>(0))?.cast_unsigned()))
}

fn counts_of(connection: &Connection, shop: ShopId) -> Result<ShopCounts, StoreError> {
    let mut statement = connection
        .prepare_cached("SELECT id, product_count, visible_count FROM shops WHERE id = ?1")?;
    let counts = statement
        .query_row([shop.get()], |row| Ok(read_counts(row)))
        .optional()?
        .transpose()?
        .unwrap_or(ShopCounts { shop, products: 0, visible: 0 });
    Ok(counts)
}

fn read_counts(row: &Row<'_>) -> Result<ShopCounts, StoreError> {
    Ok(ShopCounts {
        shop: columns::read_shop_id(row.get(0)?)?,
        products: row.get::<_, u32>(1)? as usize,
        visible: row.get::<_, u32>(2)? as usize,
    })
}

fn read_token(row: &Row<'_>) -> Result<TokenRow, StoreError> {
    let role: String = row.get(2)?;
    let time = |microseconds: Option<i64>| microseconds.map(columns::read_time).transpose();
    Ok(TokenRow {
        id: row.get::<_, i64>(0)?.cast_unsigned(),
        shop: columns::read_shop_id(row.get(1)?)?,
        role: role.parse().map_err(|_| StoreError::damaged(format!("the role {role}")))?,
        name: row.get(3)?,
        secret_hash: row.get(4)?,
        created_at: columns::read_time(row.get(5)?)?,
        expires_at: time(row.get(6)?)?,
        revoked_at: time(row.get(7)?)?,
    })
}
