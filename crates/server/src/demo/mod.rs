//! The demo shop of `shopkeeper demo`: products and pictures from the folder `demo`, embedded in the
//! binary.
//!
//! [`products`] parses the products, [`pictures`] renders their pictures, [`seeding`] writes the
//! products and issues tokens, and [`mod@welcome`] prints how to use them.

mod attributes;
mod colors;
mod drawings;
pub(crate) mod pictures;
pub(crate) mod products;
mod public_url;
mod seeding;
mod welcome;

use catalog::product::ShopId;

pub use public_url::PublicUrl;
pub(crate) use seeding::open;
pub(crate) use welcome::welcome;

/// The id of the demo shop.
const SHOP: u64 = 1;

/// The demo shop, for its pages.
pub(crate) struct DemoShop {
    /// The id of the shop.
    pub(crate) shop: ShopId,
    /// A SHOPPER token, which may be sent to browsers.
    pub(crate) shopper_token: String,
    /// The URL prefix of the pictures.
    pub(crate) pictures: String,
}

fn shop() -> ShopId {
    ShopId::new(SHOP).unwrap_or_else(|| unreachable!("the number is positive"))
}
