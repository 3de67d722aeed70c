//! What shops take of their limits: products, bytes and attribute names.
//!
//! A name takes a place for as long as a product of the shop has it. The bytes of a product are
//! those of its texts, price, media, key, URL and attributes as they are stored.

use catalog::product::attributes::MAX_SHOP_NAMES;
use thiserror::Error;

/// The most that each shop may store; `None` for no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Quotas {
    /// Products.
    pub products: Option<u64>,
    /// Bytes of all products.
    pub bytes: Option<u64>,
}

/// The limit of a shop that a write would exceed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum LimitExceeded {
    /// [`Quotas::products`].
    #[error("the shop has its quota of {limit} products")]
    Products {
        /// The quota.
        limit: u64,
    },
    /// [`Quotas::bytes`].
    #[error("the products of the shop would exceed its quota of {limit} bytes")]
    Bytes {
        /// The quota.
        limit: u64,
    },
    /// [`MAX_SHOP_NAMES`].
    #[error(
        "the product brings new attribute names, and the products of a shop may have \
         {MAX_SHOP_NAMES} distinct ones"
    )]
    AttributeNames,
}

/// What a shop takes of its limits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ShopUsage {
    /// Products.
    pub products: u64,
    /// Bytes of all products.
    pub bytes: u64,
    /// Distinct attribute names.
    pub attribute_names: u64,
}

/// How a transaction changes the counts of a shop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UsageChange {
    /// Products.
    pub products: i64,
    /// Products that are not hidden.
    pub visible: i64,
    /// Bytes of all products.
    pub bytes: i64,
    /// Distinct attribute names.
    pub attribute_names: i64,
}

impl ShopUsage {
    /// What the shop takes after a change.
    pub(super) fn after(self, change: UsageChange) -> Self {
        Self {
            products: self.products.saturating_add_signed(change.products),
            bytes: self.bytes.saturating_add_signed(change.bytes),
            attribute_names: self.attribute_names.saturating_add_signed(change.attribute_names),
        }
    }
}

impl UsageChange {
    pub(super) fn and(self, other: Self) -> Self {
        Self {
            products: self.products + other.products,
            visible: self.visible + other.visible,
            bytes: self.bytes + other.bytes,
            attribute_names: self.attribute_names + other.attribute_names,
        }
    }
}
