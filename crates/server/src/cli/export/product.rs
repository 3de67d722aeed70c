//! The exported fields of a product, in the same order for every source.

use catalog::product::Product;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use store::AttributesJson;

use crate::http::responses::{
    inferred::{CategoryBody, InferredAttributesBody},
    products::time,
};

/// The columns of a table, in the order of [`Exported`]'s fields.
pub(super) const COLUMNS: [&str; 14] = [
    "id",
    "title",
    "description",
    "price",
    "hidden",
    "media",
    "shop_id",
    "created_at",
    "updated_at",
    "key",
    "url",
    "attributes",
    "category",
    "inferred_attributes",
];

/// A product in an export.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::cli) struct Exported {
    pub(super) id: u64,
    pub(super) title: String,
    pub(super) description: String,
    pub(super) price: String,
    pub(super) hidden: bool,
    pub(super) media: Vec<Picture>,
    pub(super) shop_id: u64,
    pub(super) created_at: String,
    pub(super) updated_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) key: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) url: Option<String>,
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub(super) attributes: Map<String, Value>,
    /// What the service infers. An import leaves it out, and infers again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) category: Option<Value>,
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub(super) inferred_attributes: Map<String, Value>,
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
        let picture = |item: &catalog::product::media::Media| Picture {
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
            key: product.key.as_ref().map(|key| key.as_str().to_owned()),
            url: product.url.as_ref().map(|url| url.as_str().to_owned()),
            attributes: object(&AttributesJson(&product.attributes)),
            category: CategoryBody::of(product).and_then(|body| serde_json::to_value(body).ok()),
            inferred_attributes: object(&InferredAttributesBody::of(product)),
        }
    }
}

impl Exported {
    /// The cells of a row. No address has a space, so spaces part the pictures. Attributes are
    /// JSON: products differ in their names, and their types must outlast the table. A category is
    /// its path.
    pub(super) fn cells(&self) -> [String; COLUMNS.len()] {
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
            self.key.clone().unwrap_or_default(),
            self.url.clone().unwrap_or_default(),
            json_cell(&self.attributes),
            self.category.as_ref().map(path).unwrap_or_default(),
            json_cell(&self.inferred_attributes),
        ]
    }
}

fn json_cell(values: &Map<String, Value>) -> String {
    match values.is_empty() {
        true => String::new(),
        false => Value::Object(values.clone()).to_string(),
    }
}

/// The path of a category: `Furniture > Sofas`.
fn path(category: &Value) -> String {
    let names: Vec<_> =
        category["path"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    names.join(" > ")
}

/// Values by name as the API returns them.
fn object(values: &impl Serialize) -> Map<String, Value> {
    match serde_json::to_value(values) {
        Ok(Value::Object(values)) => values,
        _ => Map::new(),
    }
}
