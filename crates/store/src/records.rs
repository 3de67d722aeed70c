//! The values that pass between the engine and a store.

use std::collections::BTreeMap;

use catalog::product::{
    Product, ProductId, ShopId,
    access::Role,
    attributes::Attributes,
    change::{ChangeKind, Seq},
    inferred::Inferred,
    key::Key,
    price::Money,
};
use embed::{Embedding, Encoder, ModelId, StoredVectors};
use jiff::Timestamp;

use super::ShopUsage;

/// One page of a catalog.
#[derive(Debug)]
pub struct Page {
    /// The products of this page, in order.
    pub products: Vec<Product>,
    /// The number of products on all pages.
    pub total: usize,
}

/// Changes of products, oldest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangesPage {
    /// Every creation, update and deletion.
    pub changes: Vec<ChangeEntry>,
    /// The last of them, or where the page started if there is none.
    pub next: Seq,
    /// Whether there are no changes after these.
    pub is_complete: bool,
}

/// A change of a product.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangeEntry {
    /// Its sequence number.
    pub seq: Seq,
    /// The product.
    pub product: ProductId,
    /// The product's current key, or the one it had when it was deleted.
    pub key: Option<Key>,
    /// The kind of change.
    pub kind: ChangeKind,
}

/// Why changes cannot be listed: records of some were removed, or the store lost the changes up to
/// the given one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChangesExpired {
    /// The shop's last change.
    pub last: Seq,
}

impl ChangesPage {
    /// The page of the changes after `since`, of which `found` holds at least one more than fit.
    pub(super) fn new(mut found: Vec<ChangeEntry>, since: Seq, limit: usize) -> Self {
        let is_complete = found.len() <= limit;
        found.truncate(limit);
        let next = found.last().map_or(since, |last| last.seq);
        Self { changes: found, next, is_complete }
    }
}

/// The product counts of a shop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShopCounts {
    /// The shop.
    pub shop: ShopId,
    /// All products, hidden ones included.
    pub products: usize,
    /// Products that are not hidden.
    pub visible: usize,
}

/// The columns of a product that an index is built from, borrowed from the row.
#[derive(Clone, Debug)]
pub struct ScannedProduct<'row> {
    /// The product's id.
    pub id: ProductId,
    /// The change that wrote the row last.
    pub version: Seq,
    /// Whether the product is hidden from shoppers.
    pub hidden: bool,
    /// The price; `None` if it cannot be parsed.
    pub price: Option<Money>,
    /// The title.
    pub title: &'row str,
    /// The description; may be empty.
    pub description: &'row str,
    /// The key.
    pub key: Option<&'row str>,
    /// The attributes.
    pub attributes: Attributes,
    /// What texts and attributes state.
    pub inferred: Inferred,
    /// The vectors of the requested model, if the product has them.
    pub vectors: Option<StoredVectors>,
    /// The other columns; `None` for a local store, whose rows are never replicated.
    pub unindexed: Option<UnindexedColumns<'row>>,
}

/// The columns of a product that an index does not read, as the database has them. A replica of
/// the row needs them.
#[derive(Clone, Copy, Debug)]
pub struct UnindexedColumns<'row> {
    /// The price as it was entered.
    pub price: &'row str,
    /// The media as JSON.
    pub media: &'row str,
    /// The URL.
    pub url: Option<&'row str>,
    /// The attributes as JSON.
    pub attributes: Option<&'row str>,
    /// Microseconds since 1970.
    pub created_at: i64,
    /// Microseconds since 1970.
    pub updated_at: i64,
}

/// A token row. The secret itself is never stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenRow {
    /// The id, which is part of the token's text.
    pub id: u64,
    /// The only shop that the token gives access to.
    pub shop: ShopId,
    /// The role of its bearer.
    pub role: Role,
    /// A label chosen by the issuer; may be empty.
    pub name: String,
    /// SHA-256 of the secret.
    pub secret_hash: Vec<u8>,
    /// When it was issued.
    pub created_at: Timestamp,
    /// The first moment at which it is not accepted; `None` if it does not expire.
    pub expires_at: Option<Timestamp>,
    /// When it was revoked; `None` if it was not.
    pub revoked_at: Option<Timestamp>,
}

/// One page of a shop's tokens.
#[derive(Debug)]
pub struct TokenPage {
    /// The tokens of this page, by ascending id.
    pub tokens: Vec<TokenRow>,
    /// The number of tokens on all pages.
    pub total: usize,
}

/// Some of the tokens of a store.
#[derive(Debug)]
pub struct TokenBatch {
    /// The tokens, by ascending id.
    pub tokens: Vec<TokenRow>,
    /// The last id that was read; `None` if there are no more.
    pub last: Option<u64>,
}

/// A token to be inserted.
#[derive(Clone, Copy, Debug)]
pub struct NewToken<'a> {
    /// The only shop that the token gives access to.
    pub shop: ShopId,
    /// The role of its bearer.
    pub role: Role,
    /// A label chosen by the issuer; may be empty.
    pub name: &'a str,
    /// SHA-256 of the secret.
    pub secret_hash: &'a [u8],
    /// When it was issued.
    pub created_at: Timestamp,
    /// The first moment at which it is not accepted; `None` if it does not expire.
    pub expires_at: Option<Timestamp>,
}

/// A product whose current text has no vector of the requested quality.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unembedded {
    /// The product's shop.
    pub shop: ShopId,
    /// The product's id.
    pub id: ProductId,
    /// The change that introduced this text.
    pub version: Seq,
    /// The title.
    pub title: String,
    /// The description; may be empty.
    pub description: String,
}

/// The vectors of a product, as stored.
#[derive(Clone, Debug, PartialEq)]
pub struct VectorRow {
    /// The product's shop.
    pub shop: ShopId,
    /// The product's id.
    pub product: ProductId,
    /// The change that introduced the embedded text.
    pub version: Seq,
    /// The model, and with it the vector spaces.
    pub model: ModelId,
    /// The best encoder of the model that took part.
    pub encoder: Encoder,
    /// The vectors.
    pub vectors: StoredVectors,
}

impl VectorRow {
    /// The row of an embedding that was made of this version of a product's text.
    pub fn new(shop: ShopId, product: ProductId, version: Seq, embedding: Embedding) -> Self {
        let vectors = embedding.stored();
        let Embedding { model, encoder, .. } = embedding;
        Self { shop, product, version, model, encoder, vectors }
    }
}

/// What a committed transaction did to one product. Indexes and replicas apply it.
#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "most changes are of the large variant")]
pub enum AppliedChange {
    /// The product was created or updated.
    Upserted {
        /// The new row.
        product: Product,
        /// What happened to its vectors.
        vectors: VectorChange,
    },
    /// The product got better vectors; its row is unchanged.
    Embedded {
        /// The product's shop.
        shop: ShopId,
        /// The product's id.
        id: ProductId,
        /// The new vectors.
        vectors: StoredVectors,
        /// The sequence number of the change.
        seq: Seq,
    },
    /// The product was deleted.
    Deleted {
        /// The product's shop.
        shop: ShopId,
        /// The product's id.
        id: ProductId,
        /// The sequence number of the change.
        seq: Seq,
    },
}

impl AppliedChange {
    /// The product's shop.
    pub fn shop(&self) -> ShopId {
        match self {
            Self::Upserted { product, .. } => product.shop,
            Self::Embedded { shop, .. } | Self::Deleted { shop, .. } => *shop,
        }
    }

    /// The sequence number of the change.
    pub fn seq(&self) -> Seq {
        match self {
            Self::Upserted { product, .. } => product.version,
            Self::Embedded { seq, .. } | Self::Deleted { seq, .. } => *seq,
        }
    }
}

/// What is recorded of a change.
#[derive(Clone, Copy, Debug)]
pub enum ChangeRecord<'a> {
    /// The product was created or updated.
    Upserted,
    /// The product, which had this key, was deleted.
    Deleted(Option<&'a Key>),
    /// The product got a better vector; its row is unchanged.
    Embedded,
}

impl<'a> ChangeRecord<'a> {
    pub(super) fn is_deletion(self) -> bool {
        matches!(self, Self::Deleted(_))
    }

    pub(super) fn is_vector(self) -> bool {
        matches!(self, Self::Embedded)
    }

    /// The key of a deleted product.
    pub(super) fn key(self) -> Option<&'a Key> {
        match self {
            Self::Deleted(key) => key,
            Self::Upserted | Self::Embedded => None,
        }
    }
}

/// What a write did to the vectors of a product. Vectors are those of the current model.
#[derive(Clone, Debug)]
pub enum VectorChange {
    /// The texts, the other terms and the vectors are unchanged.
    Unchanged,
    /// The key or the attributes are new; the embedded texts and the vectors are unchanged.
    Kept,
    /// The texts are new and have no vector yet.
    Pending,
    /// The texts are new and have these vectors.
    Set(StoredVectors),
}

/// Identifies the transaction that made a change.
///
/// A sequence number alone does not: a database that lost its last commits, by a failover to a
/// replica that lagged or by a restore, assigns their numbers again. A stamp is random, so a change
/// with the same number and another stamp is another change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TxStamp(pub Option<i64>);

impl TxStamp {
    /// Whether the store has a record of the change.
    pub(super) fn is_some(self) -> bool {
        self.0.is_some()
    }
}

/// A position in a shop's history: its last change, and the transaction that made it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Position {
    /// The sequence number of the last change.
    pub seq: Seq,
    /// Its transaction; the default where the store records none.
    pub stamp: TxStamp,
}

/// The changes of a shop after a [`Position`].
#[derive(Debug)]
pub enum FeedResult {
    /// The current state of the changed products, and the position after them.
    Changes(Vec<AppliedChange>, Position),
    /// Change records of this age were removed: the shop must be scanned again.
    Truncated,
    /// The history does not contain the position, because the store lost commits. The shop is at
    /// this position instead.
    Diverged(Position),
}

/// How a transaction advanced the position of a shop.
#[derive(Clone, Copy, Debug)]
pub struct PositionChange {
    /// The shop.
    pub shop: ShopId,
    /// The position before the transaction.
    pub before: Position,
    /// The position after it.
    pub after: Position,
}

/// The effects of a committed transaction.
#[derive(Debug, Default)]
pub struct Committed {
    /// The changes, in order.
    pub changes: Vec<AppliedChange>,
    /// How shops advanced; empty for a store that no other process writes to.
    pub positions: Vec<PositionChange>,
}

/// The response to the first request with an idempotency key.
#[derive(Debug)]
pub struct StoredResponse {
    /// A digest of the request.
    pub fingerprint: Vec<u8>,
    /// The response body.
    pub body: Vec<u8>,
}

/// What a [`Cleanup`](super::Cleanup) keeps.
#[derive(Clone, Copy, Debug)]
pub struct Retained {
    /// Responses to idempotency keys from this time on.
    pub responses_since: Timestamp,
    /// Tokens that work, or that have worked until this time or longer.
    pub tokens_since: Timestamp,
    /// The newest change records of each shop.
    pub changes: u64,
}

/// A summary of a store for its operator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreState {
    /// The schema version of its tables.
    pub schema: usize,
    /// The schema version of this program.
    pub known_schema: usize,
    /// The size of the store in bytes.
    pub bytes: u64,
    /// Every shop with products, largest first.
    pub shops: Vec<ShopCounts>,
    /// What these shops take of their limits; empty for a schema that is not up to date.
    pub usage: BTreeMap<ShopId, ShopUsage>,
    /// Vectors by model and encoder; empty for a schema that is not up to date.
    pub vectors: Vec<VectorCount>,
}

/// The number of vectors of one encoder of one model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VectorCount {
    /// The name of the model.
    pub model: String,
    /// The name of the encoder.
    pub encoder: String,
    /// Products with such a vector.
    pub products: usize,
}
