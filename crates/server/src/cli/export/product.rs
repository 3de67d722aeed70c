//! The exported fields of a product, in the same order for every source.

use catalog::product::Product;
use serde::{Deserialize, Serialize};

use crate::http::responses::products::time;

/// The columns of a table, in the order of [`Exported`]'s fields.
pub(super) const COLUMNS: [&str; 9] = [
    "id",
    "title",
    "description",
    "price",
    "hidden",
    "media",
    "shop_id",
    "created_at",
    "updated_at",
];

/// A product in an export.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Exported {
    pub(super) id: u64,
    pub(super) title: String,
    pub(super) description: String,
    pub(super) price: String,
    pub(super) hidden: bool,
    pub(super) media: Vec<Picture>,
    pub(super) shop_id: u64,
    pub(super) created_at: String,
    pub(super) updated_at: String,
}

/// A picture in an export.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Picture {
    pub(super) url: String,
    #[serde(rename = "type")]
    pub(super) kind: String,
}

impl From<&Product> for Exported {
    fn from(product: &Product) -> Self {
        let picture = |item: &catalog::media::Media| Picture {
            url: item.url().to_owned(),
            kind: item.kind().as_str().to_owned(),
        };
        Self {
            id: product.id.get(),
            title: product.title.as_str().to_owned(),
            description: product.description.as_str().to_owned(),
            price: product.price.text().to_owned(),
            hidden: product.hidden,
            media: product.media.iter().map(picture).collect(),
            shop_id: product.shop.get(),
            created_at: time(product.created_at),
            updated_at: time(product.updated_at),
        }
    }
}

impl Exported {
    /// The cells of a row. No address has a space, so spaces part the pictures.
    pub(super) fn cells(&self) -> [String; 9] {
        let urls: Vec<_> = self.media.iter().map(|picture| picture.url.as_str()).collect();
        [
            self.id.to_string(),
            self.title.clone(),
            self.description.clone(),
            self.price.clone(),
            self.hidden.to_string(),
            urls.join(" "),
            self.shop_id.to_string(),
            self.created_at.clone(),
            self.updated_at.clone(),
        ]
    }
}
