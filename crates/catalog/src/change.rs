//! In what order did the catalog change? Every write has a place in one sequence.

use std::fmt;

use crate::product::{ProductId, ShopId};

/// The place of a change in the store's one sequence of changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Seq(pub u64);

impl fmt::Display for Seq {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// What happened to a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    /// It was created or updated: its row says what it is now.
    Upserted,
    /// It no longer exists.
    Deleted,
}

/// One change, recorded in the transaction that made it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// Its place in the sequence.
    pub seq: Seq,
    /// The shop it happened in.
    pub shop: ShopId,
    /// The product it happened to.
    pub product: ProductId,
    /// What happened.
    pub kind: ChangeKind,
}
