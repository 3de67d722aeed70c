//! Write transactions: what a write does to the rows, the same for every store. Each change of a
//! product is recorded in the same transaction.

use catalog::product::{
    Draft, Patch, Product, ProductId, ShopId, attributes::AttributeName, inferred::Inferred,
    key::Key,
};
use embed::{Embedder, Embedding, Text, inference::infer_with};
use jiff::Timestamp;

use super::{
    AppliedChange, ChangeRecord, Committed, LimitExceeded, NewToken, Quotas, RowWrites, ShopUsage,
    StoreError, StoredResponse, VectorChange, VectorRow,
    tally::{Counted, Tally},
};

/// What is derived from a product's texts and attributes, as far as it was made before the
/// transaction; the rest is made in it.
#[derive(Clone, Debug, Default)]
pub struct Derived {
    /// The instant vector of the texts.
    pub embedding: Option<Embedding>,
    /// What texts and attributes state.
    pub inferred: Option<Inferred>,
}

/// A transaction of any store. It is rolled back when it is dropped without a commit.
pub struct WriteTransaction<'store> {
    rows: Box<dyn RowWrites + 'store>,
    /// Makes the instant vector that a product is stored with.
    embedder: Option<&'store dyn Embedder>,
    changes: Vec<AppliedChange>,
    tally: Tally,
}

impl<'store> WriteTransaction<'store> {
    pub(super) fn new(rows: Box<dyn RowWrites + 'store>) -> Self {
        Self { rows, embedder: None, changes: Vec::new(), tally: Tally::default() }
    }

    /// Stores every product together with its instant vector from now on.
    pub fn embedding_with(self, embedder: Option<&'store dyn Embedder>) -> Self {
        Self { embedder, ..self }
    }

    /// Limits what shops may store from now on.
    pub fn limited_to(mut self, quotas: Quotas) -> Self {
        self.tally.set_quotas(quotas);
        self
    }

    /// What a shop takes of its limits, with the earlier writes of this transaction.
    pub fn usage(&mut self, shop: ShopId) -> Result<ShopUsage, StoreError> {
        self.tally.usage(&mut *self.rows, shop)
    }

    /// Reads ahead what is counted of attribute names.
    pub fn prefetch_names<'a>(
        &mut self,
        shop: ShopId,
        names: impl Iterator<Item = &'a AttributeName>,
    ) -> Result<(), StoreError> {
        self.tally.prefetch_names(&mut *self.rows, shop, names)
    }

    /// Creates a product under a new id, where no limit is in the way. No other product may
    /// [hold](Self::key_holder) its key.
    pub fn create(
        &mut self,
        shop: ShopId,
        draft: Draft,
        at: Timestamp,
    ) -> Result<Product, StoreError> {
        let created = self.create_derived(shop, draft, Derived::default(), at)?;
        created.map_err(|limit| StoreError::unexpected(limit.to_string()))
    }

    /// Creates a product, unless the shop would exceed a limit. What is derived from it is made here
    /// unless it is given.
    pub fn create_derived(
        &mut self,
        shop: ShopId,
        draft: Draft,
        derived: Derived,
        at: Timestamp,
    ) -> Result<Result<Product, LimitExceeded>, StoreError> {
        let counted = Some(Counted::from(&draft));
        if let Err(limit) = self.tally.change(&mut *self.rows, shop, None, counted)? {
            return Ok(Err(limit));
        }
        let id = self.rows.next_product_id(shop)?;
        let seq = self.rows.record(shop, id, ChangeRecord::Upserted)?;
        let (title, description) = (draft.title.as_str(), draft.description.as_str());
        let embedding = derived.embedding.or_else(|| self.encode(title, description));
        let inferred = derived.inferred.unwrap_or_else(|| {
            infer_with(title, description, &draft.attributes, embedding.as_ref())
        });
        let product = Product::create(id, shop, draft, inferred, at, seq);
        self.rows.insert_product(&product)?;
        let vectors = self.begin_vectors(&product, embedding)?;
        self.changes.push(AppliedChange::Upserted { product: product.clone(), vectors });
        Ok(Ok(product))
    }

    /// Locks a shop against other writers until the end of the transaction. Lock several shops in
    /// ascending id order.
    pub fn lock_shop(&mut self, shop: ShopId) -> Result<(), StoreError> {
        self.rows.lock_shop(shop)
    }

    /// The product, with the earlier writes of this transaction.
    pub fn product(&mut self, shop: ShopId, id: ProductId) -> Result<Option<Product>, StoreError> {
        self.rows.product(shop, id)
    }

    /// Reads the holders of keys ahead of [`key_holder`](Self::key_holder).
    pub fn prefetch_keys(&mut self, shop: ShopId, keys: &[&Key]) -> Result<(), StoreError> {
        self.rows.prefetch_keys(shop, keys)
    }

    /// The product that holds a key, with the earlier writes of this transaction.
    pub fn key_holder(&mut self, shop: ShopId, key: &Key) -> Result<Option<ProductId>, StoreError> {
        self.rows.key_holder(shop, key)
    }

    /// Changes the fields that the patch names, where no limit is in the way. No other product may
    /// [hold](Self::key_holder) a new key.
    pub fn update(
        &mut self,
        before: Product,
        patch: Patch,
        at: Timestamp,
    ) -> Result<Product, StoreError> {
        let updated = self.update_derived(before, patch, Derived::default(), at)?;
        updated.map_err(|limit| StoreError::unexpected(limit.to_string()))
    }

    /// Updates a product, unless it grows and the shop would exceed a limit. What is derived from
    /// new texts and attributes is made here unless it is given.
    pub fn update_derived(
        &mut self,
        before: Product,
        patch: Patch,
        derived: Derived,
        at: Timestamp,
    ) -> Result<Result<Product, LimitExceeded>, StoreError> {
        let (old, shop) = (Counted::from(&before), before.shop);
        let changed =
            self.tally.change(&mut *self.rows, shop, Some(old), Some(old.with(&patch)))?;
        if let Err(limit) = changed {
            return Ok(Err(limit));
        }
        let seq = self.rows.record(before.shop, before.id, ChangeRecord::Upserted)?;
        let category = before.inferred.likely_category;
        let has_new_text = patch.title.as_ref().is_some_and(|title| *title != before.title)
            || patch.description.as_ref().is_some_and(|text| *text != before.description);
        let has_new_attributes =
            patch.attributes.as_ref().is_some_and(|named| *named != before.attributes);
        let has_new_terms =
            has_new_attributes || patch.key.as_ref().is_some_and(|key| *key != before.key);
        let mut after = before.apply(patch, at, seq);
        let (title, description) = (after.title.as_str(), after.description.as_str());
        let embedding = match has_new_text {
            true => derived.embedding.or_else(|| self.encode(title, description)),
            false => None,
        };
        if has_new_text || has_new_attributes {
            after.inferred = derived.inferred.unwrap_or_else(|| {
                infer_with(title, description, &after.attributes, embedding.as_ref())
            });
        }
        self.rows.update_product(&after)?;
        let vectors = match (has_new_text, has_new_terms) {
            (true, _) => self.begin_vectors(&after, embedding)?,
            (false, true) if after.inferred.likely_category != category => {
                self.stored_vectors(&after)?
            }
            (false, true) => VectorChange::Kept,
            (false, false) => VectorChange::Unchanged,
        };
        self.changes.push(AppliedChange::Upserted { product: after.clone(), vectors });
        Ok(Ok(after))
    }

    /// Deletes a product and its vector.
    pub fn delete(&mut self, product: &Product) -> Result<(), StoreError> {
        let Product { shop, id, .. } = *product;
        // A deletion exceeds no limit.
        let _ = self.tally.change(&mut *self.rows, shop, Some(product.into()), None)?;
        let seq = self.rows.record(shop, id, ChangeRecord::Deleted(product.key.as_ref()))?;
        self.rows.delete_product(shop, id)?;
        self.changes.push(AppliedChange::Deleted { shop, id, seq });
        Ok(())
    }

    /// Replaces the vectors of a product; `false` if the product was deleted or has another text
    /// now.
    pub fn put_vectors(&mut self, row: &VectorRow) -> Result<bool, StoreError> {
        if !self.rows.put_vectors(row)? {
            return Ok(false);
        }
        // Recorded like any other change, because it changes search results.
        let (shop, id) = (row.shop, row.product);
        let seq = self.rows.record(shop, id, ChangeRecord::Embedded)?;
        self.changes.push(AppliedChange::Embedded { shop, id, vectors: row.vectors.clone(), seq });
        Ok(true)
    }

    /// The response stored under an idempotency key at or after `not_before`.
    pub fn stored_response(
        &mut self,
        shop: ShopId,
        key: &str,
        not_before: Timestamp,
    ) -> Result<Option<StoredResponse>, StoreError> {
        self.rows.stored_response(shop, key, not_before)
    }

    /// Stores the response to a request with an idempotency key.
    pub fn store_response(
        &mut self,
        shop: ShopId,
        key: &str,
        response: &StoredResponse,
        at: Timestamp,
    ) -> Result<(), StoreError> {
        self.rows.store_response(shop, key, response, at)
    }

    /// Inserts a token and returns its id.
    pub fn insert_token(&mut self, token: &NewToken<'_>) -> Result<u64, StoreError> {
        self.rows.insert_token(token)
    }

    /// The number of tokens of a shop that work at this time; `limit` if there are more.
    pub fn working_tokens(
        &mut self,
        shop: ShopId,
        at: Timestamp,
        limit: usize,
    ) -> Result<usize, StoreError> {
        self.rows.working_tokens(shop, at, limit)
    }

    /// Removes a few of the tokens of a shop that no longer work, the oldest, beyond the newest
    /// `keep`.
    pub fn remove_ended_tokens(
        &mut self,
        shop: ShopId,
        at: Timestamp,
        keep: usize,
    ) -> Result<(), StoreError> {
        self.rows.remove_ended_tokens(shop, at, keep)
    }

    /// Revokes a token of the shop; `false` if it does not exist or was revoked before.
    pub fn revoke_token(
        &mut self,
        shop: ShopId,
        id: u64,
        at: Timestamp,
    ) -> Result<bool, StoreError> {
        self.rows.revoke_token(shop, id, at)
    }

    /// Makes the transaction durable.
    pub fn commit(self) -> Result<Committed, StoreError> {
        let Self { mut rows, changes, tally, .. } = self;
        tally.write(&mut *rows)?;
        let positions = rows.commit()?;
        Ok(Committed { changes, positions })
    }

    /// The instant vector of a new text; `None` without an instant encoder.
    fn encode(&self, title: &str, description: &str) -> Option<Embedding> {
        self.embedder?.instant(Text::Product { title, description })
    }

    /// Stores the instant vector of a new text, or a row without a vector for the embedding queue.
    fn begin_vectors(
        &mut self,
        product: &Product,
        embedding: Option<Embedding>,
    ) -> Result<VectorChange, StoreError> {
        let row = embedding
            .map(|embedding| VectorRow::new(product.shop, product.id, product.version, embedding));
        self.rows.begin_vectors(product.shop, product.id, product.version, row.as_ref())?;
        Ok(row.map_or(VectorChange::Pending, |row| VectorChange::Set(row.vectors)))
    }

    /// The vector of the texts, to which the index adds another category than before.
    fn stored_vectors(&mut self, product: &Product) -> Result<VectorChange, StoreError> {
        let Some(embedder) = self.embedder else { return Ok(VectorChange::Kept) };
        let vectors = self.rows.vectors(product.shop, product.id, embedder.model())?;
        Ok(vectors.map_or(VectorChange::Pending, VectorChange::Set))
    }
}
