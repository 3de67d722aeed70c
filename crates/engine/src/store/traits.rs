//! The traits that both stores, SQLite and PostgreSQL, implement: write transactions, and reads
//! split by consumer, which never wait for writers. The conformance suite runs on both.

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

/// What a store is and how much it holds. Every other trait of readers builds on it.
pub trait StoreInfo: Send + Sync {
    /// Whether other processes write products to this store too.
    fn is_shared(&self) -> bool;

    /// Whether a point read is fast enough to run on an async thread.
    fn is_local(&self) -> bool;

    /// Health check: whether the store can be read right now.
    fn check(&self) -> Result<(), StoreError>;

    /// Every shop with at least one product, largest first.
    fn shops(&self) -> Result<Vec<ShopCounts>, StoreError>;

    /// The product counts of a shop; zeros for an unknown shop.
    fn counts(&self, shop: ShopId) -> Result<ShopCounts, StoreError>;
}

/// Point reads and pages, for the API.
pub trait ProductReads: StoreInfo {
    /// One product; `None` if it does not exist or the pass does not show it.
    fn product(&self, pass: &ReadPass, id: ProductId) -> Result<Option<Product>, StoreError> {
        Ok(self.products(pass, &[id])?.pop())
    }

    /// The products with these ids, in this order, without those that do not exist or that the
    /// pass does not show.
    fn products(&self, pass: &ReadPass, ids: &[ProductId]) -> Result<Vec<Product>, StoreError>;

    /// A page of the catalog, by ascending id.
    fn page(&self, pass: &ReadPass, limit: usize, offset: usize) -> Result<Page, StoreError>;
}

/// Reads of whole shops, for exports and store migration. The store cannot reclaim old row
/// versions while a scan runs, so visitors must be quick.
pub trait FullScan: StoreInfo {
    /// Calls `visit` with every product that the pass shows, by ascending id and from one
    /// snapshot, until it breaks.
    fn for_each_product(
        &self,
        pass: &ReadPass,
        visit: &mut dyn FnMut(Product) -> ControlFlow<()>,
    ) -> Result<(), StoreError>;

    /// Calls `visit` with every vector of a shop, by ascending product id.
    fn scan_vectors(
        &self,
        shop: ShopId,
        visit: &mut dyn FnMut(VectorRow),
    ) -> Result<(), StoreError>;
}

/// Reads that a search of an index in memory needs.
pub trait SearchReads: StoreInfo {
    /// The rows of search hits, in this order, without those that do not exist or that the pass
    /// does not show. A row may be as old as the index that found it.
    fn hits(&self, pass: &ReadPass, ids: &[ProductId]) -> Result<Vec<Product>, StoreError>;

    /// The ids among `ids` whose title and description are not `allowed`. Deleted products are not
    /// returned.
    fn rejected_by_text(
        &self,
        shop: ShopId,
        ids: &[ProductId],
        allowed: &dyn Fn(&str, &str) -> bool,
    ) -> Result<Vec<ProductId>, StoreError>;
}

/// The change feed: how an index follows the store.
pub trait ChangeReads: StoreInfo {
    /// The current state of all products that changed after `since`, with their vectors of this
    /// model. Detects whether the shop's history still contains `since`.
    fn changes_since(
        &self,
        shop: ShopId,
        model: Option<&ModelId>,
        since: Position,
    ) -> Result<News, StoreError>;

    /// The current positions of those of these shops that exist.
    fn positions(&self, shops: &[ShopId]) -> Result<Vec<(ShopId, Position)>, StoreError>;

    /// The last committed change of this shop; in a store that numbers the changes of all shops
    /// together, of any shop.
    fn last_change(&self, shop: ShopId) -> Result<Seq, StoreError>;
}

/// What builds shop indexes and keeps them current.
pub trait IndexSource: ChangeReads {
    /// Calls `visit` with every product of a shop, by ascending id and with its vector of this
    /// model, and returns the position that the shop was read at.
    fn scan(
        &self,
        shop: ShopId,
        model: Option<&ModelId>,
        visit: &mut dyn FnMut(Scanned<'_>),
    ) -> Result<Position, StoreError>;

    /// Called before the index of a scanned shop publishes these changes: a store that keeps a
    /// local replica of the shop's rows applies them to it.
    fn replicate(&self, _shop: ShopId, _changes: &[&Touched]) {}

    /// Called when the index of a scanned shop was evicted: drops the local replica, if any.
    fn drop_replica(&self, _shop: ShopId) {}
}

/// Reads of API tokens.
pub trait TokenReads: StoreInfo {
    /// The token with this id.
    fn token(&self, id: u64) -> Result<Option<TokenRow>, StoreError>;

    /// The tokens of a shop, or of all shops, in the order of their ids.
    fn tokens(&self, shop: Option<ShopId>) -> Result<Vec<TokenRow>, StoreError>;
}

/// The products that wait for a vector, derived from the rows.
pub trait EmbeddingQueue: StoreInfo {
    /// Leases the newest products without a vector of this model by this encoder or a better one.
    /// No other process gets them until this one calls again, ends or takes too long.
    fn lease_unembedded(
        &self,
        model: &str,
        encoder: Encoder,
        limit: usize,
    ) -> Result<Vec<Unembedded>, StoreError>;

    /// The number of products without a vector of this model by this encoder or a better one.
    fn unembedded_count(&self, model: &str, encoder: Encoder) -> Result<usize, StoreError>;
}

/// All reads of a store, for the composition root. Each read sees one snapshot.
pub trait CatalogReads:
    ProductReads + FullScan + SearchReads + IndexSource + TokenReads + EmbeddingQueue
{
}

impl<S> CatalogReads for S where
    S: ProductReads + FullScan + SearchReads + IndexSource + TokenReads + EmbeddingQueue
{
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
