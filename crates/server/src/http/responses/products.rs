//! The bodies of responses with products.

use catalog::product::{
    Product,
    attributes::Attributes,
    media::{Media, MediaKind},
};
use jiff::Timestamp;
use serde::{Serialize, Serializer};
use serde_json::{Value, json};
use store::AttributesJson;
use utoipa::{
    ToSchema,
    openapi::{Ref, schema::Object},
};

use super::{
    describe::{api, api_empty, api_list, described_responses, not_modified, with_links},
    explanation::ExplanationBody,
    inferred::{CategoryBody, InferredAttributesBody, category_example},
};
use crate::http::{
    json_schema::{described_reference, one_of},
    requests::merchant_data::attributes_example,
    response_headers::{ETAG, LOCATION, TOTAL_COUNT},
};

/// A product.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Product)]
pub struct ProductBody {
    /// Assigned by the service; growing, never used again.
    #[schema(minimum = 1)]
    id: u64,
    /// As written.
    title: String,
    /// As written.
    description: String,
    /// As written, with its currency.
    price: String,
    /// Whether search leaves it out.
    hidden: bool,
    /// Its pictures.
    media: Vec<MediaBody>,
    /// The merchant's own identifier, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    key: Option<String>,
    /// The address of its page, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, format = "http-url")]
    url: Option<String>,
    /// What the merchant states about it, if anything.
    #[serde(skip_serializing_if = "Attributes::is_empty", serialize_with = "attributes_json")]
    #[schema(schema_with = attributes_field, required = false)]
    attributes: Attributes,
    /// Where it belongs, as far as its texts say so; left out if that is not likely enough.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    category: Option<CategoryBody>,
    /// What its texts state and the merchant does not, if anything.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    inferred_attributes: Option<InferredAttributesBody>,
    /// The shop it belongs to.
    #[schema(minimum = 1)]
    shop_id: u64,
    /// When it was created.
    #[schema(format = DateTime)]
    created_at: String,
    /// When it was last written.
    #[schema(format = DateTime)]
    updated_at: String,
    /// Why it was found; in answers to searches that ask for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    explanation: Option<ExplanationBody>,
}

/// A picture of a product.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Media)]
pub struct MediaBody {
    /// Its address. Never fetched by the service.
    #[schema(format = "http-url")]
    url: String,
    /// What it is: `image`.
    #[serde(rename = "type")]
    #[schema(schema_with = media_type)]
    kind: &'static str,
}

impl MediaBody {
    /// `None` for a type that this version does not know: clients would not know it either.
    fn of(media: &Media) -> Option<Self> {
        match media.kind() {
            MediaKind::Image => Some(Self { url: media.url().to_owned(), kind: "image" }),
            MediaKind::Unknown(_) => None,
        }
    }
}

impl ProductBody {
    /// The same product with the explanation of its score.
    pub(super) fn explained(self, explanation: Option<ExplanationBody>) -> Self {
        Self { explanation, ..self }
    }
}

impl From<&Product> for ProductBody {
    fn from(product: &Product) -> Self {
        Self {
            id: product.id.get(),
            title: product.title.as_str().to_owned(),
            description: product.description.as_str().to_owned(),
            price: product.price.text().to_owned(),
            hidden: product.hidden,
            media: product.media.iter().filter_map(MediaBody::of).collect(),
            key: product.key.as_ref().map(|key| key.as_str().to_owned()),
            url: product.url.as_ref().map(|url| url.as_str().to_owned()),
            attributes: product.attributes.clone(),
            category: CategoryBody::of(product),
            inferred_attributes: InferredAttributesBody::of(product),
            shop_id: product.shop.get(),
            created_at: time(product.created_at),
            updated_at: time(product.updated_at),
            explanation: None,
        }
    }
}

fn attributes_json<S: Serializer>(attributes: &Attributes, to: S) -> Result<S::Ok, S::Error> {
    AttributesJson(attributes).serialize(to)
}

fn attributes_field() -> Ref {
    described_reference("Attributes", "What the merchant states about it, if anything.")
}

/// RFC 3339 in UTC, always with microseconds, so that strings compare like times.
pub(crate) fn time(at: Timestamp) -> String {
    format!("{at:.6}")
}

/// A part of the catalog.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ProductPage {
    /// The products, by id or in the requested order.
    pub products: Vec<ProductBody>,
    /// How many products there are on all pages.
    pub total: usize,
}

/// A product that is gone.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct DeletedProduct {
    /// Its id, which is never used again.
    #[schema(minimum = 1)]
    pub id: u64,
    /// `true`.
    pub deleted: bool,
}

fn media_type() -> Object {
    one_of(["image"]).description(Some("What it is.")).build()
}

/// The product of examples.
pub(super) fn product_example() -> Value {
    json!({"id": 17, "title": "Linen sofa", "description": "Three seats, washable covers.",
        "price": "$899.00", "hidden": false,
        "media": [{"url": "https://example.com/sofa.jpg", "type": "image"}],
        "key": "SOFA-3-GREEN", "url": "https://example.com/linen-sofa",
        "attributes": attributes_example(), "category": category_example(),
        "inferred_attributes": {"material": ["linen"]}, "shop_id": 1, "created_at": "2026-01-02T03:04:05.678901Z",
        "updated_at": "2026-01-02T03:04:05.678901Z"})
}

described_responses!(
    ProductCreated,
    "201" => with_links(
        api::<ProductBody>("The product as it was created.", product_example(), &[LOCATION]),
        &["get_product", "similar_products", "update_product", "delete_product"],
        "product_id",
    )
);

described_responses!(
    ProductFound,
    "200" => api::<ProductBody>("The product.", product_example(), &[ETAG]),
    "304" => not_modified(&[ETAG]),
);

described_responses!(
    ProductUpdated,
    "200" => with_links(
        api::<ProductBody>("The product as it is now.", product_example(), &[ETAG]),
        &["get_product", "delete_product"],
        "product_id",
    )
);

described_responses!(ProductDeleted, "204" => api_empty("The product is gone."));

described_responses!(
    ProductList,
    "200" => api_list::<ProductBody>(
        "The products, in ascending order of id, or as `ids`, `keys` or `sort` say.",
        product_example(),
        &[TOTAL_COUNT],
    )
);
