//! The trait of the rows that a write transaction reads and writes, which both stores implement.

use catalog::product::{
    Product, ProductId, ShopId, attributes::AttributeName, change::Seq, key::Key,
};
use embed::{ModelId, StoredVectors};
use jiff::Timestamp;

use super::{
    ChangeRecord, NewToken, PositionChange, ShopUsage, StoreError, StoredResponse, UsageChange,
    VectorRow,
};

/// The rows inside a transaction. [`WriteTransaction`](super::WriteTransaction) decides which of
/// them a write changes.
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

    /// Replaces the vectors of the old text by `first`, or by a row without a vector.
    fn begin_vectors(
        &mut self,
        shop: ShopId,
        product: ProductId,
        version: Seq,
        first: Option<&VectorRow>,
    ) -> Result<(), StoreError>;

    /// The vectors of a product, with the earlier writes of this transaction; `None` if it has none of this
    /// model.
    fn vectors(
        &mut self,
        shop: ShopId,
        product: ProductId,
        model: &ModelId,
    ) -> Result<Option<StoredVectors>, StoreError>;

    /// Stores vectors; `false` if the product was deleted or has another text now.
    fn put_vectors(&mut self, row: &VectorRow) -> Result<bool, StoreError>;

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
