//! The traits that both stores, SQLite and PostgreSQL, implement: write transactions, and reads
//! split by consumer, which never wait for writers. The conformance suite runs on both.

use std::ops::ControlFlow;

use catalog::product::{Product, ProductId, ShopId, access::ReadPass, change::Seq, key::Key};
use embed::{Encoder, ModelId};
use tokio::sync::oneshot;

use super::{
    ChangesExpired, ChangesPage, FeedResult, Page, Position, Retained, ScannedProduct, ShopCounts,
    StoreError, TokenBatch, TokenPage, TokenRow, Unembedded, VectorRow, WriteTransaction,
};

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
