//! The rows of a write transaction in SQLite.

use std::sync::LazyLock;

use catalog::{
    change::Seq,
    http_url::ProductUrl,
    key::Key,
    product::{Product, ProductId, ShopId},
};
use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};

use super::{
    super::{
        ChangeRecord, NewToken, PositionChange, RowWrites, StoreError, StoredResponse, VectorRow,
        columns, decoding,
    },
    rows,
};
use crate::embed::{ModelId, StoredVector};

static INSERT_PRODUCT: LazyLock<String> = LazyLock::new(|| {
    format!(
        "INSERT INTO products ({columns}) VALUES
             (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)",
        columns = rows::COLUMNS
    )
});

/// A transaction that holds the write lock from the start.
pub(super) struct SqliteRows<'store> {
    sql: Transaction<'store>,
    last_product_id: u64,
    last_seq: u64,
    changed: bool,
}

impl<'store> SqliteRows<'store> {
    pub(super) fn begin(connection: &'store mut Connection) -> Result<Self, StoreError> {
        let sql = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let (last_product_id, last_seq) = sql
            .prepare_cached("SELECT product_id, seq FROM counters")?
            .query_row([], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?)))?;
        Ok(Self {
            sql,
            last_product_id: last_product_id.cast_unsigned(),
            last_seq: last_seq.cast_unsigned(),
            changed: false,
        })
    }
}

impl RowWrites for SqliteRows<'_> {
    /// Nothing to do: the transaction holds the write lock of the whole file.
    fn lock_shop(&mut self, _: ShopId) -> Result<(), StoreError> {
        Ok(())
    }

    fn next_product_id(&mut self, _: ShopId) -> Result<ProductId, StoreError> {
        self.last_product_id += 1;
        ProductId::new(self.last_product_id)
            .ok_or_else(|| StoreError::unexpected("product ids exhausted"))
    }

    fn record(
        &mut self,
        shop: ShopId,
        product: ProductId,
        record: ChangeRecord<'_>,
    ) -> Result<Seq, StoreError> {
        self.last_seq += 1;
        self.changed = true;
        self.sql
            .prepare_cached(
                "INSERT INTO changes (seq, shop_id, product_id, deleted, is_vector, key)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            )?
            .execute(params![
                self.last_seq,
                shop.get(),
                product.get(),
                record.is_deletion(),
                record.is_vector(),
                record.key().map(Key::as_str),
            ])?;
        Ok(Seq(self.last_seq))
    }

    fn key_holder(&mut self, shop: ShopId, key: &Key) -> Result<Option<ProductId>, StoreError> {
        let found = self
            .sql
            .prepare_cached("SELECT id FROM products WHERE shop_id = ?1 AND key = ?2")?
            .query_row(params![shop.get(), key.as_str()], |row| row.get(0))
            .optional()?;
        Ok(found.and_then(|id| decoding::product_id(shop.get().cast_signed(), id)))
    }

    fn product(&mut self, shop: ShopId, id: ProductId) -> Result<Option<Product>, StoreError> {
        let mut statement = self.sql.prepare_cached(&format!(
            "SELECT {columns} FROM products WHERE id = ?1 AND shop_id = ?2",
            columns = rows::COLUMNS
        ))?;
        let mut found = statement.query(params![id.get(), shop.get()])?;
        found.next()?.map_or(Ok(None), rows::read)
    }

    fn insert_product(&mut self, product: &Product) -> Result<(), StoreError> {
        self.sql.prepare_cached(&INSERT_PRODUCT)?.execute(params![
            product.id.get(),
            product.shop.get(),
            product.title.as_str(),
            product.description.as_str(),
            product.price.text(),
            product.hidden,
            columns::media_column(&product.media),
            product.created_at.as_microsecond(),
            product.updated_at.as_microsecond(),
            product.version.0,
            product.key.as_ref().map(Key::as_str),
            product.url.as_ref().map(ProductUrl::as_str),
            columns::attributes_column(&product.attributes),
            product.inferred.to_bytes(),
        ])?;
        Ok(())
    }

    fn update_product(&mut self, product: &Product) -> Result<(), StoreError> {
        self.sql
            .prepare_cached(
                "UPDATE products SET title = ?3, description = ?4, price = ?5, hidden = ?6,
                     media = ?7, updated_at = ?8, version = ?9, key = ?10, url = ?11,
                     attributes = ?12, inferred = ?13
                 WHERE id = ?1 AND shop_id = ?2",
            )?
            .execute(params![
                product.id.get(),
                product.shop.get(),
                product.title.as_str(),
                product.description.as_str(),
                product.price.text(),
                product.hidden,
                columns::media_column(&product.media),
                product.updated_at.as_microsecond(),
                product.version.0,
                product.key.as_ref().map(Key::as_str),
                product.url.as_ref().map(ProductUrl::as_str),
                columns::attributes_column(&product.attributes),
                product.inferred.to_bytes(),
            ])?;
        Ok(())
    }

    fn delete_product(&mut self, shop: ShopId, id: ProductId) -> Result<(), StoreError> {
        self.sql
            .prepare_cached("DELETE FROM products WHERE id = ?1 AND shop_id = ?2")?
            .execute(params![id.get(), shop.get()])?;
        Ok(())
    }

    fn add_counts(&mut self, shop: ShopId, products: i64, visible: i64) -> Result<(), StoreError> {
        self.sql
            .prepare_cached(
                "INSERT INTO shops (id, product_count, visible_count) VALUES (?1, ?2, ?3)
                 ON CONFLICT (id) DO UPDATE SET
                     product_count = product_count + excluded.product_count,
                     visible_count = visible_count + excluded.visible_count",
            )?
            .execute(params![shop.get(), products, visible])?;
        Ok(())
    }

    fn begin_vector(
        &mut self,
        shop: ShopId,
        product: ProductId,
        version: Seq,
        first: Option<&VectorRow>,
    ) -> Result<(), StoreError> {
        self.sql
            .prepare_cached("INSERT OR REPLACE INTO vectors VALUES (?1, ?2, ?3, ?4, ?5, ?6)")?
            .execute(params![
                product.get(),
                shop.get(),
                version.0,
                first.map(|row| row.model.as_str()),
                first.map(|row| row.encoder.as_str()),
                first.map(|row| row.vector.to_bytes()),
            ])?;
        Ok(())
    }

    fn vector(
        &mut self,
        shop: ShopId,
        product: ProductId,
        model: &ModelId,
    ) -> Result<Option<StoredVector>, StoreError> {
        let mut statement = self.sql.prepare_cached(
            "SELECT vector FROM vectors WHERE product_id = ?1 AND shop_id = ?2 AND model = ?3",
        )?;
        let mut found = statement.query(params![product.get(), shop.get(), model.as_str()])?;
        let (number, of) = (product.get().cast_signed(), shop.get().cast_signed());
        found.next()?.map_or(Ok(None), |row| rows::read_vector(row, 0, of, number))
    }

    fn put_vector(&mut self, row: &VectorRow) -> Result<bool, StoreError> {
        let changed = self
            .sql
            .prepare_cached(
                "UPDATE vectors SET model = ?4, encoder = ?5, vector = ?6
                 WHERE product_id = ?1 AND shop_id = ?2 AND version = ?3",
            )?
            .execute(params![
                row.product.get(),
                row.shop.get(),
                row.version.0,
                row.model.as_str(),
                row.encoder.as_str(),
                row.vector.to_bytes(),
            ])?;
        Ok(changed > 0)
    }

    fn stored_response(
        &mut self,
        shop: ShopId,
        key: &str,
        not_before: Timestamp,
    ) -> Result<Option<StoredResponse>, StoreError> {
        let found = self
            .sql
            .prepare_cached(
                "SELECT fingerprint, answer FROM idempotency_keys
                 WHERE shop_id = ?1 AND key = ?2 AND created_at >= ?3",
            )?
            .query_row(params![shop.get(), key, not_before.as_microsecond()], |row| {
                Ok(StoredResponse { fingerprint: row.get(0)?, body: row.get(1)? })
            })
            .optional()?;
        Ok(found)
    }

    fn store_response(
        &mut self,
        shop: ShopId,
        key: &str,
        response: &StoredResponse,
        at: Timestamp,
    ) -> Result<(), StoreError> {
        self.sql
            .prepare_cached("INSERT OR REPLACE INTO idempotency_keys VALUES (?1, ?2, ?3, ?4, ?5)")?
            .execute(params![
                shop.get(),
                key,
                response.fingerprint,
                response.body,
                at.as_microsecond()
            ])?;
        Ok(())
    }

    fn insert_token(&mut self, token: &NewToken<'_>) -> Result<u64, StoreError> {
        self.sql
            .prepare_cached(
                "INSERT INTO tokens (shop_id, role, name, secret_hash, created_at, expires_at)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            )?
            .execute(params![
                token.shop.get(),
                token.role.as_str(),
                token.name,
                token.secret_hash,
                token.created_at.as_microsecond(),
                token.expires_at.map(Timestamp::as_microsecond),
            ])?;
        Ok(self.sql.last_insert_rowid().cast_unsigned())
    }

    fn revoke_token(&mut self, shop: ShopId, id: u64, at: Timestamp) -> Result<bool, StoreError> {
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

    fn commit(self: Box<Self>) -> Result<Vec<PositionChange>, StoreError> {
        if self.changed {
            self.sql
                .prepare_cached("UPDATE counters SET product_id = ?1, seq = ?2")?
                .execute(params![self.last_product_id, self.last_seq])?;
        }
        self.sql.commit()?;
        Ok(Vec::new())
    }
}
