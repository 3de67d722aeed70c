//! What does one write transaction do? It changes rows and records every change with them.

use std::collections::BTreeMap;

use catalog::{
    access::Role,
    change::ChangeKind,
    product::{Draft, Patch, Product, ProductId, ShopId},
};
use jiff::Timestamp;

use super::{Committed, Meaning, Remembered, RowWrites, StoreError, Touched, VectorRow};
use crate::embed::{Embedder, Embedding, Text};

/// A transaction of any store. Dropped without a commit, it never happened.
pub struct WriteTransaction<'store> {
    rows: Box<dyn RowWrites + 'store>,
    /// Makes the vector that a product is stored with, if anybody does.
    embedder: Option<&'store dyn Embedder>,
    touched: Vec<Touched>,
    count_changes: BTreeMap<ShopId, (i64, i64)>,
}

impl<'store> WriteTransaction<'store> {
    pub(super) fn of(rows: Box<dyn RowWrites + 'store>) -> Self {
        Self { rows, embedder: None, touched: Vec::new(), count_changes: BTreeMap::new() }
    }

    /// From now on every product is stored together with its instant vector.
    pub fn embedding_with(self, embedder: Option<&'store dyn Embedder>) -> Self {
        Self { embedder, ..self }
    }

    /// Creates a product under a number that was never used.
    pub fn create(
        &mut self,
        shop: ShopId,
        draft: Draft,
        at: Timestamp,
    ) -> Result<Product, StoreError> {
        self.create_embedded(shop, draft, None, at)
    }

    /// Creates a product whose instant vector may have been made already.
    pub fn create_embedded(
        &mut self,
        shop: ShopId,
        draft: Draft,
        embedding: Option<Embedding>,
        at: Timestamp,
    ) -> Result<Product, StoreError> {
        let id = self.rows.next_product_id(shop)?;
        let seq = self.rows.record(shop, id, ChangeKind::Upserted)?;
        let product = Product::create(id, shop, draft, at, seq);
        self.rows.insert_product(&product)?;
        let meaning = self.begin_vector(&product, embedding)?;
        self.count(shop, 1, i64::from(!product.hidden));
        self.touched.push(Touched::Upserted { product: product.clone(), meaning });
        Ok(product)
    }

    /// Keeps all others from writing to this shop until the end. Who needs several holds them in
    /// ascending order.
    pub fn hold(&mut self, shop: ShopId) -> Result<(), StoreError> {
        self.rows.hold(shop)
    }

    /// The product as this transaction sees it.
    pub fn product(&mut self, shop: ShopId, id: ProductId) -> Result<Option<Product>, StoreError> {
        self.rows.product(shop, id)
    }

    /// Changes the fields that the patch names and keeps the others.
    pub fn update(
        &mut self,
        before: Product,
        patch: Patch,
        at: Timestamp,
    ) -> Result<Product, StoreError> {
        let seq = self.rows.record(before.shop, before.id, ChangeKind::Upserted)?;
        let was_visible = !before.hidden;
        let says_other = patch.title.as_ref().is_some_and(|title| *title != before.title)
            || patch.description.as_ref().is_some_and(|text| *text != before.description);
        let after = before.apply(patch, at, seq);
        self.rows.update_product(&after)?;
        let meaning = if says_other { self.begin_vector(&after, None)? } else { Meaning::AsBefore };
        self.count(after.shop, 0, i64::from(!after.hidden) - i64::from(was_visible));
        self.touched.push(Touched::Upserted { product: after.clone(), meaning });
        Ok(after)
    }

    /// Removes a product.
    pub fn delete(&mut self, product: &Product) -> Result<(), StoreError> {
        let Product { shop, id, .. } = *product;
        let seq = self.rows.record(shop, id, ChangeKind::Deleted)?;
        self.rows.delete_product(shop, id)?;
        self.count(shop, -1, -i64::from(!product.hidden));
        self.touched.push(Touched::Deleted { shop, id, seq });
        Ok(())
    }

    /// Keeps a better vector; `false` if the product is gone or has another text by now.
    pub fn put_vector(&mut self, row: &VectorRow) -> Result<bool, StoreError> {
        if !self.rows.put_vector(row)? {
            return Ok(false);
        }
        // A change like others: what searches find is not what they found before.
        let (shop, id) = (row.shop, row.product);
        let seq = self.rows.record(shop, id, ChangeKind::Upserted)?;
        self.touched.push(Touched::Embedded { shop, id, vector: row.vector.clone(), seq });
        Ok(true)
    }

    /// The answer remembered under a key since `not_before`.
    pub fn recall(
        &mut self,
        shop: ShopId,
        key: &str,
        not_before: Timestamp,
    ) -> Result<Option<Remembered>, StoreError> {
        self.rows.recall(shop, key, not_before)
    }

    /// Remembers an answer under a key.
    pub fn remember(
        &mut self,
        shop: ShopId,
        key: &str,
        what: &Remembered,
        at: Timestamp,
    ) -> Result<(), StoreError> {
        self.rows.remember(shop, key, what, at)
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
        self.rows.insert_token(shop, role, name, secret_hash, created_at, expires_at)
    }

    /// Revokes a token of the shop; `false` if there is none that still works.
    pub fn revoke_token(
        &mut self,
        shop: ShopId,
        id: u64,
        at: Timestamp,
    ) -> Result<bool, StoreError> {
        self.rows.revoke_token(shop, id, at)
    }

    /// Makes everything durable and says what was done.
    pub fn commit(self) -> Result<Committed, StoreError> {
        let Self { mut rows, touched, count_changes, .. } = self;
        for (shop, (products, visible)) in count_changes {
            rows.add_counts(shop, products, visible)?;
        }
        let steps = rows.commit()?;
        Ok(Committed { touched, steps })
    }

    /// Keeps the first vector of a new text, or makes room for it.
    fn begin_vector(
        &mut self,
        product: &Product,
        embedding: Option<Embedding>,
    ) -> Result<Meaning, StoreError> {
        let (title, description) = (product.title.as_str(), product.description.as_str());
        let encode = || self.embedder?.instant(Text::Product { title, description });
        let row = embedding.or_else(encode).map(|embedding| VectorRow {
            shop: product.shop,
            product: product.id,
            version: product.version,
            model: embedding.model,
            encoder: embedding.encoder,
            vector: embedding.vector.stored(),
        });
        self.rows.begin_vector(product.shop, product.id, product.version, row.as_ref())?;
        Ok(row.map_or(Meaning::Unknown, |row| Meaning::Known(row.vector)))
    }

    fn count(&mut self, shop: ShopId, products: i64, visible: i64) {
        let change = self.count_changes.entry(shop).or_default();
        change.0 += products;
        change.1 += visible;
    }
}
