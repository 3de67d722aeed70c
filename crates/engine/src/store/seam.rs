//! What does the engine need of a store? Transactions that write, reads that never wait for
//! them, and rows; SQLite and PostgreSQL both give it.

use std::ops::ControlFlow;

use catalog::{
    access::{ReadPass, Role},
    change::{ChangeKind, Seq},
    product::{Product, ProductId, ShopId},
};
use jiff::Timestamp;

use super::{
    News, Page, Position, Remembered, Scanned, ShopCounts, Step, StoreError, TokenRow, Touched,
    Unembedded, VectorRow, WriteTransaction,
};
use crate::embed::{Encoder, ModelId};

/// The side of a store that writes.
pub trait CatalogStore: Send {
    /// Begins a transaction. Dropped without a commit, it never happened.
    fn begin(&mut self) -> Result<WriteTransaction<'_>, StoreError>;

    /// A pause between two transactions, for whatever the store puts off until then.
    fn rest(&mut self) {}
}

/// Removes what a store no longer needs. Never part of a transaction that writes products.
pub trait Cleanup: Send {
    /// Removes at most about `batch` rows in a transaction of its own: answers to idempotency keys
    /// that are older than `expired_before`, and change records beyond the newest `keep_changes`.
    /// `true` if there are none left.
    fn remove_some(
        &mut self,
        expired_before: Timestamp,
        keep_changes: u64,
        batch: usize,
    ) -> Result<bool, StoreError>;
}

/// The side of a store that reads. Each read sees one state of the store.
pub trait CatalogReads: Send + Sync {
    /// One product, if it exists and the reader gets to see it.
    fn product(&self, pass: &ReadPass, id: ProductId) -> Result<Option<Product>, StoreError> {
        Ok(self.products(pass, &[id])?.pop())
    }

    /// The products with these ids, in this order; unknown and unseen ones are left out.
    fn products(&self, pass: &ReadPass, ids: &[ProductId]) -> Result<Vec<Product>, StoreError>;

    /// The products that a shop's index found: as it shows them, or as they are by now.
    fn found(&self, pass: &ReadPass, ids: &[ProductId]) -> Result<Vec<Product>, StoreError> {
        self.products(pass, ids)
    }

    /// Those of the products with these ids whose title and description are not `allowed`. What
    /// is gone meanwhile is not among them.
    fn refused(
        &self,
        shop: ShopId,
        ids: &[ProductId],
        allowed: &dyn Fn(&str, &str) -> bool,
    ) -> Result<Vec<ProductId>, StoreError>;

    /// A page of the catalog, by ascending id.
    fn page(&self, pass: &ReadPass, limit: usize, offset: usize) -> Result<Page, StoreError>;

    /// Hands every product of a shop to `visit`, by ascending id and with its vector of this
    /// model, and returns the position the shop was read at. Reads no more of a row than the visitor
    /// gets to see.
    fn scan(
        &self,
        shop: ShopId,
        model: Option<&ModelId>,
        visit: &mut dyn FnMut(Scanned<'_>),
    ) -> Result<Position, StoreError>;

    /// A shop that was scanned for an index is about to show these changes, in this order: what is
    /// kept of its rows must show them first.
    fn keep_up(&self, _shop: ShopId, _changes: &[&Touched]) {}

    /// A shop that was scanned for an index has left memory: nothing of it need be kept.
    fn let_go(&self, _shop: ShopId) {}

    /// Hands every product in sight to `visit`, by ascending id and all of one state, until it has
    /// seen enough. A store cannot tidy up meanwhile, so a visitor should not dawdle.
    fn every_product(
        &self,
        pass: &ReadPass,
        visit: &mut dyn FnMut(Product) -> ControlFlow<()>,
    ) -> Result<(), StoreError>;

    /// Whether other processes write products to this store too.
    fn is_shared(&self) -> bool;

    /// What the products that changed after `since` are now, with their vectors of this model.
    /// Finds out whether the shop's history still contains `since`.
    fn changes_since(
        &self,
        shop: ShopId,
        model: Option<&ModelId>,
        since: Position,
    ) -> Result<News, StoreError>;

    /// Where each of these shops that exists is now.
    fn positions(&self, shops: &[ShopId]) -> Result<Vec<(ShopId, Position)>, StoreError>;

    /// The last change that was committed, as far as it can concern this shop.
    fn last_change(&self, shop: ShopId) -> Result<Seq, StoreError>;

    /// Whether a small read is quick enough for a thread that must not wait.
    fn is_near(&self) -> bool;

    /// Whether the store can be read right now.
    fn check(&self) -> Result<(), StoreError>;

    /// Every shop with products, largest first.
    fn shops(&self) -> Result<Vec<ShopCounts>, StoreError>;

    /// How many products a shop has.
    fn counts(&self, shop: ShopId) -> Result<ShopCounts, StoreError>;

    /// The token with this number.
    fn token(&self, id: u64) -> Result<Option<TokenRow>, StoreError>;

    /// The tokens of a shop, or of all shops, in the order they were issued.
    fn tokens(&self, shop: Option<ShopId>) -> Result<Vec<TokenRow>, StoreError>;

    /// The newest products that have no vector of this model by this encoder or a better one.
    fn unembedded(
        &self,
        model: &str,
        encoder: Encoder,
        limit: usize,
    ) -> Result<Vec<Unembedded>, StoreError>;

    /// As [`unembedded`](Self::unembedded), but products that this process has for itself: no other
    /// is handed them until this one asks again.
    fn claim_unembedded(
        &self,
        model: &str,
        encoder: Encoder,
        limit: usize,
    ) -> Result<Vec<Unembedded>, StoreError> {
        self.unembedded(model, encoder, limit)
    }

    /// How many products have no vector of this model by this encoder or a better one.
    fn unembedded_count(&self, model: &str, encoder: Encoder) -> Result<usize, StoreError>;

    /// Hands every vector of a shop to `visit`, by ascending product.
    fn scan_vectors(
        &self,
        shop: ShopId,
        visit: &mut dyn FnMut(VectorRow),
    ) -> Result<(), StoreError>;
}

/// The rows inside a transaction. [`WriteTransaction`] says which of them a write changes.
pub trait RowWrites {
    /// Keeps all others from writing to this shop until the end. Who needs several holds them in
    /// ascending order.
    fn hold(&mut self, shop: ShopId) -> Result<(), StoreError>;

    /// A product number of this shop that is larger than any before and is never given out again.
    fn next_product_id(&mut self, shop: ShopId) -> Result<ProductId, StoreError>;

    /// Writes the change record that belongs to a row's change, under the shop's next number.
    fn record(
        &mut self,
        shop: ShopId,
        product: ProductId,
        kind: ChangeKind,
    ) -> Result<Seq, StoreError>;

    /// The product as this transaction sees it.
    fn product(&mut self, shop: ShopId, id: ProductId) -> Result<Option<Product>, StoreError>;

    /// A new row.
    fn insert_product(&mut self, product: &Product) -> Result<(), StoreError>;

    /// The row as it is from now on.
    fn update_product(&mut self, product: &Product) -> Result<(), StoreError>;

    /// Removes the row and its vector.
    fn delete_product(&mut self, shop: ShopId, id: ProductId) -> Result<(), StoreError>;

    /// Changes how many products a shop has, and how many of them are not hidden.
    fn add_counts(&mut self, shop: ShopId, products: i64, visible: i64) -> Result<(), StoreError>;

    /// Keeps the first vector of a new text, or makes room for it; one of an older text is
    /// forgotten.
    fn begin_vector(
        &mut self,
        shop: ShopId,
        product: ProductId,
        version: Seq,
        first: Option<&VectorRow>,
    ) -> Result<(), StoreError>;

    /// Keeps a vector; `false` if the product is gone or has another text by now.
    fn put_vector(&mut self, row: &VectorRow) -> Result<bool, StoreError>;

    /// The answer remembered under a key since `not_before`.
    fn recall(
        &mut self,
        shop: ShopId,
        key: &str,
        not_before: Timestamp,
    ) -> Result<Option<Remembered>, StoreError>;

    /// Remembers an answer under a key.
    fn remember(
        &mut self,
        shop: ShopId,
        key: &str,
        what: &Remembered,
        at: Timestamp,
    ) -> Result<(), StoreError>;

    /// Keeps a new token and returns its number.
    fn insert_token(
        &mut self,
        shop: ShopId,
        role: Role,
        name: &str,
        secret_hash: &[u8],
        created_at: Timestamp,
        expires_at: Option<Timestamp>,
    ) -> Result<u64, StoreError>;

    /// Revokes a token of the shop; `false` if there is none that still works.
    fn revoke_token(&mut self, shop: ShopId, id: u64, at: Timestamp) -> Result<bool, StoreError>;

    /// Makes everything durable, and says how it moved the shops on.
    fn commit(self: Box<Self>) -> Result<Vec<Step>, StoreError>;
}
