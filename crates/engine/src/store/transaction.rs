//! What does one write transaction do? It changes rows and records every change with them.

use std::collections::BTreeMap;

use catalog::{
    access::Role,
    change::{Change, ChangeKind, Seq},
    product::{Draft, Patch, Product, ProductId, ShopId},
};
use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};

use super::{StoreError, rows};

/// What a transaction did to one product, for the index to follow once it is committed.
#[derive(Clone, Debug)]
pub enum Touched {
    /// It exists and is like this now.
    Upserted(Product),
    /// It is gone.
    Deleted {
        /// Its shop.
        shop: ShopId,
        /// Its number.
        id: ProductId,
    },
}

impl Touched {
    /// The shop it happened in.
    pub fn shop(&self) -> ShopId {
        match self {
            Self::Upserted(product) => product.shop,
            Self::Deleted { shop, .. } => *shop,
        }
    }
}

/// The answer that was given to the first request with an idempotency key.
#[derive(Debug)]
pub struct Remembered {
    /// What the first request said.
    pub fingerprint: Vec<u8>,
    /// What it was answered.
    pub answer: Vec<u8>,
}

/// A transaction that holds the write lock. Dropped without a commit, it never happened.
pub struct WriteTransaction<'store> {
    pub(super) sql: Transaction<'store>,
    last_product_id: u64,
    last_seq: u64,
    touched: Vec<Touched>,
    count_changes: BTreeMap<ShopId, (i64, i64)>,
}

impl<'store> WriteTransaction<'store> {
    pub(super) fn begin(connection: &'store mut Connection) -> Result<Self, StoreError> {
        let sql = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let (last_product_id, last_seq) = sql
            .prepare_cached("SELECT product_id, seq FROM counters")?
            .query_row([], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?)))?;
        Ok(Self {
            sql,
            last_product_id: last_product_id.cast_unsigned(),
            last_seq: last_seq.cast_unsigned(),
            touched: Vec::new(),
            count_changes: BTreeMap::new(),
        })
    }

    /// Creates a product under a number that was never used.
    pub fn create(
        &mut self,
        shop: ShopId,
        draft: Draft,
        at: Timestamp,
    ) -> Result<Product, StoreError> {
        let id = self.next_product_id()?;
        let seq = self.record(shop, id, ChangeKind::Upserted)?;
        let product = Product::create(id, shop, draft, at, seq);
        self.sql
            .prepare_cached(&format!(
                "INSERT INTO products ({columns}) VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10)",
                columns = rows::COLUMNS
            ))?
            .execute(params![
                product.id.get(),
                product.shop.get(),
                product.title.as_str(),
                product.description.as_str(),
                product.price.text(),
                product.hidden,
                rows::media_column(&product.media),
                product.created_at.as_microsecond(),
                product.updated_at.as_microsecond(),
                product.version.0,
            ])?;
        self.expect_vector(id, shop, seq)?;
        self.count(shop, 1, i64::from(!product.hidden));
        self.touched.push(Touched::Upserted(product.clone()));
        Ok(product)
    }

    /// The product as this transaction sees it.
    pub fn product(&self, shop: ShopId, id: ProductId) -> Result<Option<Product>, StoreError> {
        let mut statement = self.sql.prepare_cached(&format!(
            "SELECT {columns} FROM products WHERE id = ?1 AND shop_id = ?2",
            columns = rows::COLUMNS
        ))?;
        let mut found = statement.query(params![id.get(), shop.get()])?;
        found.next()?.map(rows::read).transpose()
    }

    /// Changes the fields that the patch names and keeps the others.
    pub fn update(
        &mut self,
        before: Product,
        patch: Patch,
        at: Timestamp,
    ) -> Result<Product, StoreError> {
        let seq = self.record(before.shop, before.id, ChangeKind::Upserted)?;
        let was_visible = !before.hidden;
        let says_other = patch.title.as_ref().is_some_and(|title| *title != before.title)
            || patch.description.as_ref().is_some_and(|text| *text != before.description);
        let after = before.apply(patch, at, seq);
        self.sql
            .prepare_cached(
                "UPDATE products SET title = ?2, description = ?3, price = ?4, hidden = ?5,
                     media = ?6, updated_at = ?7, version = ?8 WHERE id = ?1",
            )?
            .execute(params![
                after.id.get(),
                after.title.as_str(),
                after.description.as_str(),
                after.price.text(),
                after.hidden,
                rows::media_column(&after.media),
                after.updated_at.as_microsecond(),
                after.version.0,
            ])?;
        if says_other {
            self.expect_vector(after.id, after.shop, seq)?;
        }
        self.count(after.shop, 0, i64::from(!after.hidden) - i64::from(was_visible));
        self.touched.push(Touched::Upserted(after.clone()));
        Ok(after)
    }

    /// Removes a product.
    pub fn delete(&mut self, product: &Product) -> Result<(), StoreError> {
        self.record(product.shop, product.id, ChangeKind::Deleted)?;
        self.sql
            .prepare_cached("DELETE FROM products WHERE id = ?1")?
            .execute([product.id.get()])?;
        self.count(product.shop, -1, -i64::from(!product.hidden));
        self.touched.push(Touched::Deleted { shop: product.shop, id: product.id });
        Ok(())
    }

    /// The answer remembered under a key since `not_before`.
    pub fn recall(
        &self,
        shop: ShopId,
        key: &str,
        not_before: Timestamp,
    ) -> Result<Option<Remembered>, StoreError> {
        let found = self
            .sql
            .prepare_cached(
                "SELECT fingerprint, answer FROM idempotency_keys
                 WHERE shop_id = ?1 AND key = ?2 AND created_at >= ?3",
            )?
            .query_row(params![shop.get(), key, not_before.as_microsecond()], |row| {
                Ok(Remembered { fingerprint: row.get(0)?, answer: row.get(1)? })
            })
            .optional()?;
        Ok(found)
    }

    /// Remembers an answer under a key.
    pub fn remember(
        &mut self,
        shop: ShopId,
        key: &str,
        what: &Remembered,
        at: Timestamp,
    ) -> Result<(), StoreError> {
        self.sql
            .prepare_cached("INSERT OR REPLACE INTO idempotency_keys VALUES (?1, ?2, ?3, ?4, ?5)")?
            .execute(params![
                shop.get(),
                key,
                what.fingerprint,
                what.answer,
                at.as_microsecond()
            ])?;
        Ok(())
    }

    /// Forgets answers older than `before` and all but the newest `keep_changes` changes.
    pub fn tidy(&mut self, before: Timestamp, keep_changes: u64) -> Result<(), StoreError> {
        self.sql
            .prepare_cached("DELETE FROM idempotency_keys WHERE created_at < ?1")?
            .execute([before.as_microsecond()])?;
        self.sql
            .prepare_cached("DELETE FROM changes WHERE seq <= ?1")?
            .execute([self.last_seq.saturating_sub(keep_changes)])?;
        Ok(())
    }

    /// Keeps a new token and returns its number.
    pub fn insert_token(
        &mut self,
        shop: ShopId,
        role: Role,
        name: &str,
        secret_hash: &[u8],
        created_at: Timestamp,
        expires_at: Option<Timestamp>,
    ) -> Result<u64, StoreError> {
        self.sql
            .prepare_cached(
                "INSERT INTO tokens (shop_id, role, name, secret_hash, created_at, expires_at)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            )?
            .execute(params![
                shop.get(),
                role.as_str(),
                name,
                secret_hash,
                created_at.as_microsecond(),
                expires_at.map(Timestamp::as_microsecond),
            ])?;
        Ok(self.sql.last_insert_rowid().cast_unsigned())
    }

    /// Revokes a token of the shop; `false` if there is none that still works.
    pub fn revoke_token(
        &mut self,
        shop: ShopId,
        id: u64,
        at: Timestamp,
    ) -> Result<bool, StoreError> {
        let Ok(id) = i64::try_from(id) else { return Ok(false) };
        let revoked = self
            .sql
            .prepare_cached(
                "UPDATE tokens SET revoked_at = ?3
                 WHERE id = ?1 AND shop_id = ?2 AND revoked_at IS NULL",
            )?
            .execute(params![id, shop.get(), at.as_microsecond()])?;
        Ok(revoked > 0)
    }

    /// Makes everything durable and says what was touched, in order, and up to which change.
    pub fn commit(self) -> Result<(Vec<Touched>, Seq), StoreError> {
        let Self { sql, last_product_id, last_seq, touched, count_changes } = self;
        if !touched.is_empty() {
            sql.prepare_cached("UPDATE counters SET product_id = ?1, seq = ?2")?
                .execute(params![last_product_id, last_seq])?;
        }
        for (shop, (products, visible)) in count_changes {
            sql.prepare_cached(
                "INSERT INTO shops (id, product_count, visible_count) VALUES (?1, ?2, ?3)
                 ON CONFLICT (id) DO UPDATE SET
                     product_count = product_count + excluded.product_count,
                     visible_count = visible_count + excluded.visible_count",
            )?
            .execute(params![shop.get(), products, visible])?;
        }
        sql.commit()?;
        Ok((touched, Seq(last_seq)))
    }

    fn next_product_id(&mut self) -> Result<ProductId, StoreError> {
        self.last_product_id += 1;
        ProductId::new(self.last_product_id)
            .ok_or_else(|| StoreError::damaged("the product ids are used up"))
    }

    /// Writes the change record that belongs to a row's change.
    fn record(
        &mut self,
        shop: ShopId,
        product: ProductId,
        kind: ChangeKind,
    ) -> Result<Seq, StoreError> {
        self.last_seq += 1;
        let change = Change { seq: Seq(self.last_seq), shop, product, kind };
        self.sql.prepare_cached("INSERT INTO changes VALUES (?1, ?2, ?3, ?4)")?.execute(
            params![
                change.seq.0,
                change.shop.get(),
                change.product.get(),
                change.kind == ChangeKind::Deleted,
            ],
        )?;
        Ok(change.seq)
    }

    fn count(&mut self, shop: ShopId, products: i64, visible: i64) {
        let change = self.count_changes.entry(shop).or_default();
        change.0 += products;
        change.1 += visible;
    }
}
