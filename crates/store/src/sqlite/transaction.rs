//! The rows of a write transaction in SQLite.

use std::{
    collections::{BTreeMap, btree_map::Entry},
    sync::LazyLock,
};

use catalog::product::{
    Product, ProductId, ShopId, attributes::AttributeName, change::Seq, http_url::ProductUrl,
    key::Key,
};
use embed::{ModelId, StoredVector, StoredVectors};
use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};

use super::{
    super::{
        ChangeRecord, NewToken, PositionChange, RowWrites, ShopUsage, StoreError, StoredResponse,
        UsageChange, VectorRow, columns, decoding,
    },
    changes, rows, tokens,
};

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
    last_text: u64,
    has_new_texts: bool,
    shops: BTreeMap<ShopId, ShopChanges>,
}

/// The changes of a transaction to the row of a shop.
struct ShopChanges {
    last_seq: u64,
    records: i64,
    usage: UsageChange,
}

impl<'store> SqliteRows<'store> {
    pub(super) fn begin(connection: &'store mut Connection) -> Result<Self, StoreError> {
        let sql = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let (last_product_id, last_text) = sql
            .prepare_cached("SELECT product_id, text_order FROM counters")?
            .query_row([], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?)))?;
        Ok(Self {
            sql,
            last_product_id: last_product_id.cast_unsigned(),
            last_text: last_text.cast_unsigned(),
            has_new_texts: false,
            shops: BTreeMap::new(),
        })
    }

    fn shop(&mut self, shop: ShopId) -> Result<&mut ShopChanges, StoreError> {
        Ok(match self.shops.entry(shop) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(unknown) => {
                let last_seq = changes::last(&self.sql, shop)?.0;
                unknown.insert(ShopChanges { last_seq, records: 0, usage: UsageChange::default() })
            }
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
        let changed = self.shop(shop)?;
        changed.last_seq += 1;
        changed.records += 1;
        let seq = changed.last_seq;
        self.sql
            .prepare_cached(
                "INSERT INTO changes (shop_id, seq, product_id, deleted, is_vector, key)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            )?
            .execute(params![
                shop.get(),
                seq,
                product.get(),
                record.is_deletion(),
                record.is_vector(),
                record.key().map(Key::as_str),
            ])?;
        Ok(Seq(seq))
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

    fn usage(&mut self, shop: ShopId) -> Result<ShopUsage, StoreError> {
        let found = self
            .sql
            .prepare_cached(
                "SELECT product_count, stored_bytes, attribute_names FROM shops WHERE id = ?1",
            )?
            .query_row([shop.get()], |row| {
                let number = |at| Ok::<_, rusqlite::Error>(decoding::count(row.get(at)?) as u64);
                Ok(ShopUsage {
                    products: number(0)?,
                    bytes: number(1)?,
                    attribute_names: number(2)?,
                })
            })
            .optional()?;
        Ok(found.unwrap_or_default())
    }

    fn name_counts(
        &mut self,
        shop: ShopId,
        names: &[&AttributeName],
    ) -> Result<Vec<u64>, StoreError> {
        let mut statement = self.sql.prepare_cached(
            "SELECT products FROM attribute_names WHERE shop_id = ?1 AND name = ?2",
        )?;
        let mut count = |name: &&AttributeName| {
            let found = statement.query_row(params![shop.get(), name.as_str()], |row| row.get(0));
            Ok(found.optional()?.map_or(0, |count| decoding::count(count) as u64))
        };
        names.iter().map(&mut count).collect()
    }

    fn add_usage(&mut self, shop: ShopId, change: UsageChange) -> Result<(), StoreError> {
        self.shop(shop)?.usage = change;
        Ok(())
    }

    fn set_name_counts(
        &mut self,
        shop: ShopId,
        counts: &[(&AttributeName, u64)],
    ) -> Result<(), StoreError> {
        let mut put = self
            .sql
            .prepare_cached("INSERT OR REPLACE INTO attribute_names VALUES (?1, ?2, ?3)")?;
        let mut remove = self
            .sql
            .prepare_cached("DELETE FROM attribute_names WHERE shop_id = ?1 AND name = ?2")?;
        for (name, count) in counts {
            match count {
                0 => remove.execute(params![shop.get(), name.as_str()])?,
                count => put.execute(params![shop.get(), name.as_str(), count])?,
            };
        }
        Ok(())
    }

    fn begin_vectors(
        &mut self,
        shop: ShopId,
        product: ProductId,
        version: Seq,
        first: Option<&VectorRow>,
    ) -> Result<(), StoreError> {
        self.last_text += 1;
        self.has_new_texts = true;
        self.sql
            .prepare_cached(
                "INSERT OR REPLACE INTO vectors
                     (product_id, shop_id, version, model, encoder, vector, deep, text_order)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
            )?
            .execute(params![
                product.get(),
                shop.get(),
                version.0,
                first.map(|row| row.model.as_str()),
                first.map(|row| row.encoder.as_str()),
                first.map(|row| row.vectors.vector.to_bytes()),
                first.and_then(|row| Some(row.vectors.deep.as_ref()?.to_bytes())),
                self.last_text,
            ])?;
        Ok(())
    }

    fn vectors(
        &mut self,
        shop: ShopId,
        product: ProductId,
        model: &ModelId,
    ) -> Result<Option<StoredVectors>, StoreError> {
        let mut statement = self.sql.prepare_cached(
            "SELECT vector, deep FROM vectors
             WHERE product_id = ?1 AND shop_id = ?2 AND model = ?3",
        )?;
        let mut found = statement.query(params![product.get(), shop.get(), model.as_str()])?;
        let (number, of) = (product.get().cast_signed(), shop.get().cast_signed());
        found.next()?.map_or(Ok(None), |row| rows::read_vectors(row, 0, of, number))
    }

    fn put_vectors(&mut self, row: &VectorRow) -> Result<bool, StoreError> {
        let changed = self
            .sql
            .prepare_cached(
                "UPDATE vectors SET model = ?4, encoder = ?5, vector = ?6, deep = ?7
                 WHERE product_id = ?1 AND shop_id = ?2 AND version = ?3",
            )?
            .execute(params![
                row.product.get(),
                row.shop.get(),
                row.version.0,
                row.model.as_str(),
                row.encoder.as_str(),
                row.vectors.vector.to_bytes(),
                row.vectors.deep.as_ref().map(StoredVector::to_bytes),
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

    fn working_tokens(
        &mut self,
        shop: ShopId,
        at: Timestamp,
        limit: usize,
    ) -> Result<usize, StoreError> {
        tokens::working(&self.sql, shop, at, limit)
    }

    fn remove_ended_tokens(
        &mut self,
        shop: ShopId,
        at: Timestamp,
        keep: usize,
    ) -> Result<(), StoreError> {
        tokens::remove_ended(&self.sql, shop, at, keep)
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
        // A new product has a new text.
        if self.has_new_texts {
            self.sql
                .prepare_cached("UPDATE counters SET product_id = ?1, text_order = ?2")?
                .execute([self.last_product_id, self.last_text])?;
        }
        for (shop, ShopChanges { last_seq, records, usage }) in &self.shops {
            self.sql
                .prepare_cached(
                    "INSERT INTO shops (id, last_seq, change_count, product_count, visible_count,
                                        stored_bytes, attribute_names)
                     VALUES (?1, ?2, ?3, ?4, ?5, max(?6, 0), max(?7, 0))
                     ON CONFLICT (id) DO UPDATE SET
                         last_seq = ?2,
                         change_count = change_count + ?3,
                         product_count = product_count + ?4,
                         visible_count = visible_count + ?5,
                         stored_bytes = max(stored_bytes + ?6, 0),
                         attribute_names = max(attribute_names + ?7, 0)",
                )?
                .execute(params![
                    shop.get(),
                    last_seq,
                    records,
                    usage.products,
                    usage.visible,
                    usage.bytes,
                    usage.attribute_names,
                ])?;
        }
        self.sql.commit()?;
        Ok(Vec::new())
    }
}
