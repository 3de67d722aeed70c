//! What passes between the engine and a store?

use catalog::{
    access::Role,
    change::Seq,
    price::Money,
    product::{Product, ProductId, ShopId},
};
use jiff::Timestamp;

use crate::embed::{Encoder, ModelId, StoredVector};

/// Part of a shop's catalog, and how long the whole is.
#[derive(Debug)]
pub struct Page {
    /// The products of this page.
    pub products: Vec<Product>,
    /// How many there are on all pages.
    pub total: usize,
}

/// How many products a shop has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShopCounts {
    /// The shop.
    pub shop: ShopId,
    /// All its products.
    pub products: usize,
    /// Those that are not hidden.
    pub visible: usize,
}

/// What a search index needs to know of a product, straight from its row.
#[derive(Clone, Debug)]
pub struct Scanned<'row> {
    /// Its number.
    pub id: ProductId,
    /// The change that wrote it last.
    pub version: Seq,
    /// Whether search leaves it out.
    pub hidden: bool,
    /// Its price; `None` where it cannot be parsed.
    pub price: Option<Money>,
    /// Its title.
    pub title: &'row str,
    /// Its description.
    pub description: &'row str,
    /// Its vector of the model asked for.
    pub vector: Option<StoredVector>,
}

/// A token as the store keeps it: never the secret, only its hash.
#[derive(Clone, Debug)]
pub struct TokenRow {
    /// Its number, part of the token itself.
    pub id: u64,
    /// The shop it belongs to.
    pub shop: ShopId,
    /// What it lets its bearer do.
    pub role: Role,
    /// What its owner called it.
    pub name: String,
    /// SHA-256 of the secret.
    pub secret_hash: Vec<u8>,
    /// When it was issued.
    pub created_at: Timestamp,
    /// When it stops working, if ever.
    pub expires_at: Option<Timestamp>,
    /// When it was revoked, if it was.
    pub revoked_at: Option<Timestamp>,
}

/// A product whose text waits to be embedded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unembedded {
    /// Its shop.
    pub shop: ShopId,
    /// The product.
    pub id: ProductId,
    /// The change that gave it this text.
    pub version: Seq,
    /// Its title.
    pub title: String,
    /// Its description, or nothing.
    pub description: String,
}

/// A vector and what it belongs to.
#[derive(Clone, Debug, PartialEq)]
pub struct VectorRow {
    /// The product's shop.
    pub shop: ShopId,
    /// The product.
    pub product: ProductId,
    /// The change that gave the product the text it was made of.
    pub version: Seq,
    /// The space it lies in.
    pub model: ModelId,
    /// How it was made.
    pub encoder: Encoder,
    /// The vector.
    pub vector: StoredVector,
}

/// What a transaction did to one product, for the index to follow once it is committed.
#[derive(Clone, Debug)]
pub enum Touched {
    /// It exists and is like this now.
    Upserted {
        /// The product.
        product: Product,
        /// What it means.
        meaning: Meaning,
    },
    /// It means this.
    Embedded {
        /// Its shop.
        shop: ShopId,
        /// Its number.
        id: ProductId,
        /// Its vector.
        vector: StoredVector,
        /// The change that gave it the vector.
        seq: Seq,
    },
    /// It is gone.
    Deleted {
        /// Its shop.
        shop: ShopId,
        /// Its number.
        id: ProductId,
        /// The change that took it away.
        seq: Seq,
    },
}

impl Touched {
    /// The shop it happened in.
    pub fn shop(&self) -> ShopId {
        match self {
            Self::Upserted { product, .. } => product.shop,
            Self::Embedded { shop, .. } | Self::Deleted { shop, .. } => *shop,
        }
    }

    /// The change that did it.
    pub fn seq(&self) -> Seq {
        match self {
            Self::Upserted { product, .. } => product.version,
            Self::Embedded { seq, .. } | Self::Deleted { seq, .. } => *seq,
        }
    }
}

/// What a write did to a product's meaning. Vectors are of the model in force.
#[derive(Clone, Debug)]
pub enum Meaning {
    /// Nothing: its texts are the same.
    AsBefore,
    /// It has new texts, and the model makes no vectors at once.
    Unknown,
    /// It has new texts and this vector.
    Known(StoredVector),
}

/// Identifies the transaction that made a change.
///
/// A change number alone does not: a database that lost its last commits, by a failover to a
/// replica that did not have them or by a restore, gives their numbers out again. A stamp is random,
/// so a change of the same number with another stamp is another change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stamp(pub(super) Option<i64>);

impl Stamp {
    /// Whether there is a record of the change.
    pub(super) fn is_some(self) -> bool {
        self.0.is_some()
    }
}

/// A place in a shop's history: its last change, and the transaction that made it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Position {
    /// The last change.
    pub seq: Seq,
    /// What made it; the default where a store records none, or no such change.
    pub stamp: Stamp,
}

/// What happened in a shop after a [`Position`].
#[derive(Debug)]
pub enum News {
    /// What the products that changed are now, and the position that this brings a reader to.
    Since(Vec<Touched>, Position),
    /// The record of changes does not go back so far.
    TooOld,
    /// The store's history does not contain the position: commits were lost. This is where the
    /// shop is instead.
    Diverged(Position),
}

/// How a transaction moved a shop on.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// The shop.
    pub shop: ShopId,
    /// Where it was.
    pub before: Position,
    /// Where it is.
    pub after: Position,
}

/// What a transaction did.
#[derive(Debug, Default)]
pub struct Committed {
    /// The products it changed, in order.
    pub touched: Vec<Touched>,
    /// How it moved shops on; empty for a store that no other process writes to.
    pub steps: Vec<Step>,
}

/// The answer that was given to the first request with an idempotency key.
#[derive(Debug)]
pub struct Remembered {
    /// What the first request said.
    pub fingerprint: Vec<u8>,
    /// What it was answered.
    pub answer: Vec<u8>,
}

/// A store at one moment, for its operator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreState {
    /// The version of its tables.
    pub schema: usize,
    /// The version that this program knows.
    pub known_schema: usize,
    /// Bytes that everything takes.
    pub bytes: u64,
    /// Every shop with products, largest first.
    pub shops: Vec<ShopCounts>,
    /// Vectors by model and encoder; none of tables that know of none.
    pub vectors: Vec<VectorCount>,
}

/// The vectors that one encoder of one model has made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VectorCount {
    /// The model.
    pub model: String,
    /// The encoder.
    pub encoder: String,
    /// How many.
    pub products: usize,
}
