//! What is the demo shop? Products and pictures written for this project (the folder `demo`), kept inside the binary,
//! that `shopkeeper demo` puts into a shop for people to try.
//!
//! [`goods`] reads the products, [`pictures`] draws them, [`opening`] fills the shop and issues its tokens, and
//! [`mod@welcome`] says how to get in.

mod drawings;
pub(crate) mod goods;
mod opening;
pub(crate) mod pictures;
mod public_url;
mod tints;
mod welcome;

use catalog::product::ShopId;

pub(crate) use opening::open;
pub use public_url::PublicUrl;
pub(crate) use welcome::welcome;

/// The number of the demo shop.
const SHOP: u64 = 1;

/// The open demo shop, as its pages need it.
pub(crate) struct DemoShop {
    /// Which shop it is.
    pub(crate) shop: ShopId,
    /// A token of the role SHOPPER, which may ship in a browser.
    pub(crate) shopper_token: String,
    /// What the addresses of the pictures begin with, as the products have them.
    pub(crate) pictures: String,
}

fn shop() -> ShopId {
    ShopId::new(SHOP).unwrap_or_else(|| unreachable!("the number is positive"))
}
