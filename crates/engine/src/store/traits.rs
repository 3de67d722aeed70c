//! The traits that both stores, SQLite and PostgreSQL, implement: write transactions, and reads
//! split by consumer, which never wait for writers. The conformance suite runs on both.

use std::ops::ControlFlow;

use catalog::{
    access::ReadPass,
    attributes::AttributeName,
    change::Seq,
    key::Key,
    product::{Product, ProductId, ShopId},
};
use jiff::Timestamp;
use tokio::sync::oneshot;

use super::{
    ChangeRecord, ChangesExpired, ChangesPage, FeedResult, NewToken, Page, Position,
    PositionChange, Retained, ScannedProduct, ShopCounts, ShopUsage, StoreError, StoredResponse,
    TokenBatch, TokenPage, TokenRow, Unembedded, UsageChange, VectorRow, WriteTransaction,
};
use crate::embed::{Encoder, ModelId, StoredVector};

/// Tokens that [`TokenReads::for_each_token`] reads at a time.
const TOKENS_AT_A_TIME: usize = 1000;

/// The writing side of a store.
pub trait CatalogStore: Send {
    /// Begins a transaction, which is rolled back when it is dropped without a commit.
    fn begin(&mut self) -> Result<WriteTransaction<'_>, StoreError>;

    /// Called between two transactions, for maintenance that must not run inside of one.
    fn maintain(&mut self) {}

    /// Called when a transaction could not be committed.
    fn failed(&mut self, _error: &StoreError) {}
}

/// Removes rows that have expired, and brings rows of earlier versions up to date. Never part of a
/// transaction that writes products.
pub trait Cleanup: Send {
    /// Removes at most about `batch` rows of each kind in a transaction of its own: responses to
    /// idempotency keys, tokens and change records that are not retained. `true` if there are none
    /// left.
    fn remove_some(&mut self, retained: &Retained, batch: usize) -> Result<bool, StoreError>;

    /// Replaces what another version of the inference has stored, for at most `batch` products in a
    /// transaction of its own; what is read stays the same. `true` if there are none left, or if
    /// rows are read too rarely for it to pay.
    fn infer_some(&mut self, _batch: usize) -> Result<bool, StoreError> {
        Ok(true)
    }
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

    /// The products with these keys, in this order, without those that do not exist or that the
    /// pass does not show.
    fn products_by_key(&self, pass: &ReadPass, keys: &[Key]) -> Result<Vec<Product>, StoreError>;

    /// At most `limit` changes of a shop's products after `since`, unless records of such changes
    /// were removed or the shop has no change `since`.
    fn changes(
        &self,
        shop: ShopId,
        since: Seq,
        limit: usize,
    ) -> Result<Result<ChangesPage, ChangesExpired>, StoreError>;

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

    /// The ids among `ids` whose title, description and strings of attributes are not `allowed`.
    /// Deleted products are not returned.
    fn rejected_by_text(
        &self,
        shop: ShopId,
        ids: &[ProductId],
        allowed: &dyn Fn(&str, &str, &str) -> bool,
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
    ) -> Result<FeedResult, StoreError>;

    /// The current positions of those of these shops that exist.
    fn positions(&self, shops: &[ShopId]) -> Result<Vec<(ShopId, Position)>, StoreError>;

    /// The last committed change of this shop.
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
        visit: &mut dyn FnMut(ScannedProduct<'_>),
    ) -> Result<Position, StoreError>;
}

/// A token, or the lookup to wait for.
pub enum TokenLookup {
    /// The token, or that there is none.
    Done(Result<Option<TokenRow>, StoreError>),
    /// A lookup that is under way.
    Waiting(oneshot::Receiver<Result<Option<TokenRow>, StoreError>>),
}

/// Reads of API tokens.
pub trait TokenReads: StoreInfo {
    /// The token with this id.
    fn token(&self, id: u64) -> Result<Option<TokenRow>, StoreError>;

    /// The token with this id, without waiting for a store that is not local.
    fn find_token(&self, id: u64) -> TokenLookup {
        TokenLookup::Done(self.token(id))
    }

    /// Whether this id was not looked up lately, so that finding its token takes waiting.
    fn is_unknown_token(&self, _id: u64) -> bool {
        false
    }

    /// Notes that this process has issued a token.
    fn token_issued(&self, _id: u64) {}

    /// At most `limit` tokens of a shop, or of all shops, after this id.
    fn token_batch(
        &self,
        shop: Option<ShopId>,
        after: u64,
        limit: usize,
    ) -> Result<TokenBatch, StoreError>;

    /// A page of a shop's tokens, by ascending id.
    fn token_page(
        &self,
        shop: ShopId,
        limit: usize,
        offset: usize,
    ) -> Result<TokenPage, StoreError>;

    /// Calls `visit` with every token of a shop, or of all shops, by ascending id until it breaks.
    /// The visitor may be slow: no read is in progress meanwhile.
    fn for_each_token(
        &self,
        shop: Option<ShopId>,
        visit: &mut dyn FnMut(TokenRow) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        let mut after = Some(0);
        while let Some(last) = after {
            let batch = self.token_batch(shop, last, TOKENS_AT_A_TIME)?;
            if batch.tokens.into_iter().try_for_each(&mut *visit).is_break() {
                break;
            }
            after = batch.last;
        }
        Ok(())
    }
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

/// The rows inside a transaction. [`WriteTransaction`] decides which of them a write changes.
pub trait RowWrites {
    /// Locks a shop against other writers until the end of the transaction. Lock several shops in
    /// ascending id order.
    fn lock_shop(&mut self, shop: ShopId) -> Result<(), StoreError>;

    /// A product id that is larger than all earlier ones and is never assigned again.
    fn next_product_id(&mut self, shop: ShopId) -> Result<ProductId, StoreError>;

    /// Records a change under the shop's next sequence number.
    fn record(
        &mut self,
        shop: ShopId,
        product: ProductId,
        record: ChangeRecord<'_>,
    ) -> Result<Seq, StoreError>;

    /// Reads the holders of keys at once, where [`key_holder`](Self::key_holder) would have to ask
    /// for each.
    fn prefetch_keys(&mut self, _: ShopId, _: &[&Key]) -> Result<(), StoreError> {
        Ok(())
    }

    /// The product that holds a key, with the earlier writes of this transaction.
    fn key_holder(&mut self, shop: ShopId, key: &Key) -> Result<Option<ProductId>, StoreError>;

    /// The product, with the earlier writes of this transaction.
    fn product(&mut self, shop: ShopId, id: ProductId) -> Result<Option<Product>, StoreError>;

    /// Inserts a row.
    fn insert_product(&mut self, product: &Product) -> Result<(), StoreError>;

    /// Updates a row.
    fn update_product(&mut self, product: &Product) -> Result<(), StoreError>;

    /// Deletes a row and its vector.
    fn delete_product(&mut self, shop: ShopId, id: ProductId) -> Result<(), StoreError>;

    /// What the shop took before this transaction.
    fn usage(&mut self, shop: ShopId) -> Result<ShopUsage, StoreError>;

    /// How many products of the shop had each of these attribute names before this transaction.
    fn name_counts(
        &mut self,
        shop: ShopId,
        names: &[&AttributeName],
    ) -> Result<Vec<u64>, StoreError>;

    /// Adds to the counts of a shop; once in a transaction.
    fn add_usage(&mut self, shop: ShopId, change: UsageChange) -> Result<(), StoreError>;

    /// Stores how many products of the shop have attribute names; once in a transaction.
    fn set_name_counts(
        &mut self,
        shop: ShopId,
        counts: &[(&AttributeName, u64)],
    ) -> Result<(), StoreError>;

    /// Replaces the vector of the old text by `first`, or by a row without a vector.
    fn begin_vector(
        &mut self,
        shop: ShopId,
        product: ProductId,
        version: Seq,
        first: Option<&VectorRow>,
    ) -> Result<(), StoreError>;

    /// The vector of a product, with the earlier writes of this transaction; `None` if it has none of this
    /// model.
    fn vector(
        &mut self,
        shop: ShopId,
        product: ProductId,
        model: &ModelId,
    ) -> Result<Option<StoredVector>, StoreError>;

    /// Stores a vector; `false` if the product was deleted or has another text now.
    fn put_vector(&mut self, row: &VectorRow) -> Result<bool, StoreError>;

    /// The response stored under an idempotency key at or after `not_before`.
    fn stored_response(
        &mut self,
        shop: ShopId,
        key: &str,
        not_before: Timestamp,
    ) -> Result<Option<StoredResponse>, StoreError>;

    /// Stores the response to a request with an idempotency key.
    fn store_response(
        &mut self,
        shop: ShopId,
        key: &str,
        response: &StoredResponse,
        at: Timestamp,
    ) -> Result<(), StoreError>;

    /// Inserts a token and returns its id.
    fn insert_token(&mut self, token: &NewToken<'_>) -> Result<u64, StoreError>;

    /// The number of tokens of a shop that work at this time; `limit` if there are more.
    fn working_tokens(
        &mut self,
        shop: ShopId,
        at: Timestamp,
        limit: usize,
    ) -> Result<usize, StoreError>;

    /// Removes a few of the tokens of a shop that no longer work, the oldest, beyond the newest
    /// `keep`.
    fn remove_ended_tokens(
        &mut self,
        shop: ShopId,
        at: Timestamp,
        keep: usize,
    ) -> Result<(), StoreError>;

    /// Revokes a token of the shop; `false` if it does not exist or was revoked before.
    fn revoke_token(&mut self, shop: ShopId, id: u64, at: Timestamp) -> Result<bool, StoreError>;

    /// Makes the transaction durable, and returns how it advanced the shops.
    fn commit(self: Box<Self>) -> Result<Vec<PositionChange>, StoreError>;
}
