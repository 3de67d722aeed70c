//! The rows of a write transaction: reads under the shop's lock, collects the changes in memory,
//! and sends them in one pipeline before the commit.

use std::collections::BTreeMap;

use catalog::product::{
    Product, ProductId, ShopId, attributes::AttributeName, change::Seq, key::Key,
};
use embed::{ModelId, StoredVector, StoredVectors};
use jiff::Timestamp;

use super::{
    super::{
        ChangeRecord, NewToken, Position, PositionChange, RowWrites, ShopUsage, StoreError,
        StoredResponse, TxStamp, UsageChange, VectorRow, decoding,
    },
    flush::{self, Change, ShopChanges},
    halfvec::Halfvec,
    rows::{self, get},
    search::{ROWS_VERSION, SearchState},
    session::{Session, Value},
    statements,
};

/// Product ids that a shop reserves at a time, which is the increment of the sequence.
const BLOCK: u64 = 256;

/// A transaction, which is rolled back when it is dropped without a commit.
pub(super) struct PostgresRows<'store> {
    session: &'store mut Session,
    shops: BTreeMap<ShopId, ShopChanges>,
    /// Where a new shop is searched.
    initial_search: SearchState,
    is_done: bool,
}

impl<'store> PostgresRows<'store> {
    /// A transaction that the session has begun.
    pub(super) fn new(session: &'store mut Session, initial_search: SearchState) -> Self {
        Self { session, shops: BTreeMap::new(), initial_search, is_done: false }
    }

    /// Locks the shop, unless this transaction has locked it already.
    fn shop(&mut self, shop: ShopId) -> Result<&mut ShopChanges, StoreError> {
        if !self.shops.contains_key(&shop) {
            let state = self.lock(shop)?;
            self.shops.insert(shop, state);
        }
        self.shops.get_mut(&shop).ok_or_else(|| StoreError::unexpected("the shop is not locked"))
    }

    fn lock(&mut self, shop: ShopId) -> Result<ShopChanges, StoreError> {
        let number = shop.get().cast_signed();
        let mut found = self.session.query_opt(statements::LOCK_SHOP, &[&number])?;
        if found.is_none() {
            let version = ROWS_VERSION;
            let values: [Value<'_>; 3] = [&number, &self.initial_search.column(), &version];
            self.session.execute(statements::INSERT_SHOP, &values)?;
            found = self.session.query_opt(statements::LOCK_SHOP, &[&number])?;
        }
        let row = found.ok_or_else(|| StoreError::unexpected("the row of a shop is missing"))?;
        let number = |at| Ok::<_, StoreError>(get::<i64>(&row, at)?.cast_unsigned());
        let count = |at| Ok::<_, StoreError>(decoding::count(get(&row, at)?) as u64);
        Ok(ShopChanges {
            before: Position { seq: Seq(number(0)?), stamp: TxStamp(get(&row, 4)?) },
            stamp: get(&row, 5)?,
            last_seq: number(0)?,
            next_product_id: number(1)?,
            product_ids_end: number(2)?,
            search: SearchState::of_column(get(&row, 3)?),
            usage: ShopUsage { products: count(6)?, bytes: count(7)?, attribute_names: count(8)? },
            ..ShopChanges::default()
        })
    }

    fn next_block(&mut self) -> Result<u64, StoreError> {
        let row = self.session.query_one(statements::NEXT_PRODUCT_IDS, &[])?;
        Ok(get::<i64>(&row, 0)?.cast_unsigned())
    }
}

impl Drop for PostgresRows<'_> {
    fn drop(&mut self) {
        if !self.is_done {
            self.session.roll_back();
        }
    }
}

impl RowWrites for PostgresRows<'_> {
    fn lock_shop(&mut self, shop: ShopId) -> Result<(), StoreError> {
        self.shop(shop).map(drop)
    }

    fn next_product_id(&mut self, shop: ShopId) -> Result<ProductId, StoreError> {
        let state = self.shop(shop)?;
        if state.next_product_id >= state.product_ids_end {
            // Larger than all earlier blocks, and reserved for this shop.
            let block = self.next_block()?;
            let state = self.shop(shop)?;
            (state.next_product_id, state.product_ids_end) = (block, block + BLOCK);
        }
        let state = self.shop(shop)?;
        let id = ProductId::new(state.next_product_id);
        state.next_product_id += 1;
        id.ok_or_else(|| StoreError::unexpected("product ids exhausted"))
    }

    fn record(
        &mut self,
        shop: ShopId,
        product: ProductId,
        record: ChangeRecord<'_>,
    ) -> Result<Seq, StoreError> {
        let state = self.shop(shop)?;
        state.last_seq += 1;
        let seq = Seq(state.last_seq);
        state.changes.push(Change {
            seq,
            product,
            is_deletion: record.is_deletion(),
            is_vector: record.is_vector(),
            key: record.key().map(|key| key.as_str().to_owned()),
        });
        Ok(seq)
    }

    fn prefetch_keys(&mut self, shop: ShopId, keys: &[&Key]) -> Result<(), StoreError> {
        let state = self.shop(shop)?;
        let unknown: Vec<Key> = keys
            .iter()
            .filter(|key| !state.holders.contains_key(**key))
            .map(|key| Key::clone(key))
            .collect();
        if unknown.is_empty() {
            return Ok(());
        }
        let texts: Vec<&str> = unknown.iter().map(Key::as_str).collect();
        let number = shop.get().cast_signed();
        let found = self.session.query(statements::PRODUCTS_BY_KEY, &[&number, &texts])?;
        let state = self.shop(shop)?;
        for row in &found {
            if let Some(product) = rows::read(row, 0)? {
                state.note_read(&product);
            }
        }
        for key in unknown {
            state.holders.entry(key).or_insert(None);
        }
        Ok(())
    }

    fn key_holder(&mut self, shop: ShopId, key: &Key) -> Result<Option<ProductId>, StoreError> {
        if self.shop(shop)?.key_holder(key).is_none() {
            self.prefetch_keys(shop, &[key])?;
        }
        Ok(self.shop(shop)?.key_holder(key).flatten())
    }

    fn product(&mut self, shop: ShopId, id: ProductId) -> Result<Option<Product>, StoreError> {
        let state = self.shop(shop)?;
        if let Some(changed) = state.rows.get(&id) {
            return Ok(changed.clone());
        }
        if let Some(read) = state.keyed.get(&id) {
            return Ok(Some(read.clone()));
        }
        let (number, ids) = (shop.get().cast_signed(), vec![id.get().cast_signed()]);
        let found = self.session.query_opt(statements::PRODUCTS, &[&number, &ids])?;
        let Some(row) = found else { return Ok(None) };
        let product = rows::read(&row, 0)?;
        if let Some(product) = &product {
            self.shop(shop)?.note_read(product);
        }
        Ok(product)
    }

    fn insert_product(&mut self, product: &Product) -> Result<(), StoreError> {
        self.update_product(product)
    }

    fn update_product(&mut self, product: &Product) -> Result<(), StoreError> {
        let state = self.shop(product.shop)?;
        if let Some(key) = &product.key {
            state.holders.insert(key.clone(), Some(product.id));
        }
        state.rows.insert(product.id, Some(product.clone()));
        Ok(())
    }

    fn delete_product(&mut self, shop: ShopId, id: ProductId) -> Result<(), StoreError> {
        let state = self.shop(shop)?;
        state.rows.insert(id, None);
        state.vectors.remove(&id);
        Ok(())
    }

    fn usage(&mut self, shop: ShopId) -> Result<ShopUsage, StoreError> {
        Ok(self.shop(shop)?.usage)
    }

    fn name_counts(
        &mut self,
        shop: ShopId,
        names: &[&AttributeName],
    ) -> Result<Vec<u64>, StoreError> {
        // Under the shop's lock: no other node changes the counts meanwhile.
        self.shop(shop)?;
        let names: Vec<&str> = names.iter().map(|name| name.as_str()).collect();
        let found =
            self.session.query(statements::NAME_COUNTS, &[&shop.get().cast_signed(), &names])?;
        found.iter().map(|row| Ok(decoding::count(get(row, 0)?) as u64)).collect()
    }

    fn add_usage(&mut self, shop: ShopId, change: UsageChange) -> Result<(), StoreError> {
        self.shop(shop)?.usage_change = change;
        Ok(())
    }

    fn set_name_counts(
        &mut self,
        shop: ShopId,
        counts: &[(&AttributeName, u64)],
    ) -> Result<(), StoreError> {
        let counts = counts.iter().map(|(name, count)| (name.as_str().to_owned(), *count));
        self.shop(shop)?.name_counts = counts.collect();
        Ok(())
    }

    fn begin_vectors(
        &mut self,
        shop: ShopId,
        product: ProductId,
        version: Seq,
        first: Option<&VectorRow>,
    ) -> Result<(), StoreError> {
        self.shop(shop)?.vectors.insert(product, (version, first.cloned()));
        Ok(())
    }

    fn vectors(
        &mut self,
        shop: ShopId,
        product: ProductId,
        model: &ModelId,
    ) -> Result<Option<StoredVectors>, StoreError> {
        if let Some((_, begun)) = self.shop(shop)?.vectors.get(&product) {
            let of_model = begun.as_ref().filter(|row| row.model == *model);
            return Ok(of_model.map(|row| row.vectors.clone()));
        }
        rows::vectors_of(self.session, shop.get().cast_signed(), product, model)
    }

    fn put_vectors(&mut self, row: &VectorRow) -> Result<bool, StoreError> {
        let state = self.shop(row.shop)?;
        if let Some((version, vector)) = state.vectors.get_mut(&row.product) {
            let fits = *version == row.version;
            if fits {
                *vector = Some(row.clone());
            }
            return Ok(fits);
        }
        if state.rows.get(&row.product).is_some_and(Option::is_none) {
            return Ok(false);
        }
        let changed = self.session.execute(
            statements::PUT_VECTORS,
            &[
                &row.shop.get().cast_signed(),
                &row.product.get().cast_signed(),
                &row.version.0.cast_signed(),
                &row.model.as_str(),
                &row.encoder.as_str(),
                &row.vectors.vector.scale(),
                &Halfvec::from(&row.vectors.vector),
                &row.vectors.deep.as_ref().map(StoredVector::to_bytes),
            ],
        )?;
        Ok(changed > 0)
    }

    fn stored_response(
        &mut self,
        shop: ShopId,
        key: &str,
        not_before: Timestamp,
    ) -> Result<Option<StoredResponse>, StoreError> {
        // Under the shop's lock: of two nodes with the same key, the second sees the response of
        // the first.
        self.shop(shop)?;
        let found = self.session.query_opt(
            statements::STORED_RESPONSE,
            &[&shop.get().cast_signed(), &key, &not_before.as_microsecond()],
        )?;
        let read = |row| Ok(StoredResponse { fingerprint: get(&row, 0)?, body: get(&row, 1)? });
        found.map(read).transpose()
    }

    fn store_response(
        &mut self,
        shop: ShopId,
        key: &str,
        response: &StoredResponse,
        at: Timestamp,
    ) -> Result<(), StoreError> {
        self.shop(shop)?;
        self.session.execute(
            statements::STORE_RESPONSE,
            &[
                &shop.get().cast_signed(),
                &key,
                &response.fingerprint,
                &response.body,
                &at.as_microsecond(),
            ],
        )?;
        Ok(())
    }

    fn insert_token(&mut self, token: &NewToken<'_>) -> Result<u64, StoreError> {
        let row = self.session.query_one(statements::NEXT_TOKEN_ID, &[])?;
        let id: i64 = get(&row, 0)?;
        self.session.execute(
            statements::INSERT_TOKEN,
            &[
                &id,
                &token.shop.get().cast_signed(),
                &token.role.as_str(),
                &token.name,
                &token.secret_hash,
                &token.created_at.as_microsecond(),
                &token.expires_at.map(Timestamp::as_microsecond),
            ],
        )?;
        Ok(id.cast_unsigned())
    }

    fn working_tokens(
        &mut self,
        shop: ShopId,
        at: Timestamp,
        limit: usize,
    ) -> Result<usize, StoreError> {
        let (shop, limit) = (shop.get().cast_signed(), limit as i64);
        let values: [Value<'_>; 3] = [&shop, &at.as_microsecond(), &limit];
        let row = self.session.query_one(statements::WORKING_TOKENS, &values)?;
        get(&row, 0).map(decoding::count)
    }

    fn remove_ended_tokens(
        &mut self,
        shop: ShopId,
        at: Timestamp,
        keep: usize,
    ) -> Result<(), StoreError> {
        let (shop, keep) = (shop.get().cast_signed(), keep as i64);
        let values: [Value<'_>; 3] = [&shop, &at.as_microsecond(), &keep];
        self.session.execute(statements::REMOVE_ENDED_TOKENS, &values).map(drop)
    }

    fn revoke_token(&mut self, shop: ShopId, id: u64, at: Timestamp) -> Result<bool, StoreError> {
        let Ok(id) = i64::try_from(id) else { return Ok(false) };
        let shop = shop.get().cast_signed();
        let values: [Value<'_>; 3] = [&id, &shop, &at.as_microsecond()];
        Ok(self.session.execute(statements::REVOKE_TOKEN, &values)? > 0)
    }

    fn commit(mut self: Box<Self>) -> Result<Vec<PositionChange>, StoreError> {
        let shops = std::mem::take(&mut self.shops);
        let all: Vec<_> =
            shops.iter().flat_map(|(shop, state)| flush::statements_for(*shop, state)).collect();
        if !all.is_empty() {
            self.session.execute_all(&all)?;
        }
        let committed = self.session.commit();
        self.is_done = true;
        if committed.is_err() {
            // The outcome of the commit is unknown; the next transaction uses another connection.
            self.session.mark_broken();
        }
        committed?;
        Ok(shops.iter().filter_map(|(shop, state)| state.position_change(*shop)).collect())
    }
}
