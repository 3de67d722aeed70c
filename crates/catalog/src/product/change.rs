//! Change records. Every write gets a sequence number, which orders the changes of a shop.

use std::fmt;

use crate::product::id::{ProductId, ShopId};

/// The sequence number of a change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Seq(pub u64);

impl fmt::Display for Seq {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// What a change did to a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    /// Created or updated; its row has the current content.
    Upserted,
    /// Deleted.
    Deleted,
}

/// One change, recorded in the transaction that made it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// Its sequence number.
    pub seq: Seq,
    /// The shop of the product.
    pub shop: ShopId,
    /// The changed product.
    pub product: ProductId,
    /// The kind of change.
    pub kind: ChangeKind,
}
