//! What do answers look like? The bodies of the contract, written from the domain's types.

use catalog::{
    media::{Media, MediaKind},
    product::Product,
};
use engine::{
    SearchResults, embed::Encoder, store::TokenRow, tokens::IssuedToken, writes::Refusal,
};
use jiff::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

use super::{explained::ExplanationBody, openapi, problem::Fault, understood::Understood};

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
    #[schema(schema_with = openapi::choices::media_kind)]
    kind: &'static str,
}

impl MediaBody {
    /// `None` for a kind that this version does not know: clients would not know it either.
    fn of(media: &Media) -> Option<Self> {
        match media.kind() {
            MediaKind::Image => Some(Self { url: media.url().to_owned(), kind: "image" }),
            MediaKind::Unknown(_) => None,
        }
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
            shop_id: product.shop.get(),
            created_at: time(product.created_at),
            updated_at: time(product.updated_at),
            explanation: None,
        }
    }
}

/// RFC 3339 in UTC, always with microseconds, so that texts compare like times.
pub(crate) fn time(at: Timestamp) -> String {
    format!("{at:.6}")
}

/// A part of the catalog.
#[derive(Debug, Serialize, ToSchema)]
pub struct ProductPage {
    /// The products, by id or in the order that was asked for.
    pub products: Vec<ProductBody>,
    /// How many products there are on all pages.
    pub total: usize,
}

/// A product that is gone.
#[derive(Debug, Serialize, ToSchema)]
pub struct ProductGone {
    /// Its id, which is never used again.
    #[schema(minimum = 1)]
    pub id: u64,
    /// `true`.
    pub deleted: bool,
}

/// What became of a bulk create.
#[derive(Debug, Serialize, ToSchema)]
pub struct BulkCreated {
    /// How many products were created.
    pub created_count: usize,
    /// Their ids, in the order of the request.
    pub created_ids: Vec<u64>,
    /// What was wrong with the others, by place in the request: at least one fault of each, and
    /// at most 100 in all.
    #[schema(max_items = 100)]
    pub errors: Vec<ElementFault>,
    /// How many faults there are beside those in `errors`, where there are more.
    #[serde(skip_serializing_if = "is_zero")]
    #[schema(required = false, minimum = 1)]
    pub errors_omitted: usize,
}

/// What became of a bulk update.
#[derive(Debug, Serialize, ToSchema)]
pub struct BulkUpdated {
    /// How many elements were applied.
    pub updated_count: usize,
    /// Their ids, in the order of the request.
    pub updated_ids: Vec<u64>,
    /// What was wrong with the others, by place in the request: at least one fault of each, and
    /// at most 100 in all.
    #[schema(max_items = 100)]
    pub errors: Vec<ElementFault>,
    /// How many faults there are beside those in `errors`, where there are more.
    #[serde(skip_serializing_if = "is_zero")]
    #[schema(required = false, minimum = 1)]
    pub errors_omitted: usize,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// What became of a bulk delete.
#[derive(Debug, Serialize, ToSchema)]
pub struct BulkDeleted {
    /// How many products were there and are gone now.
    pub deleted_count: usize,
}

/// One thing that is wrong with one element of a bulk request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct ElementFault {
    /// The element's place in the request, from 0.
    pub index: usize,
    /// The product's id, in a bulk update.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub id: Option<u64>,
    /// What is wrong, for programs.
    #[schema(schema_with = openapi::choices::fault_code)]
    pub code: &'static str,
    /// What is wrong, for people.
    pub message: String,
    /// The field at fault, where one is.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub field: Option<String>,
}

impl ElementFault {
    pub(crate) fn new(index: usize, id: Option<u64>, fault: Fault) -> Self {
        Self { index, id, code: fault.code, message: fault.message, field: fault.field }
    }

    pub(crate) fn refused(index: usize, id: u64, refusal: Refusal) -> Self {
        let (code, message) = match refusal {
            Refusal::NotFound => ("not_found", "there is no such product"),
            Refusal::Changed => ("precondition_failed", "the product has changed"),
        };
        Self { index, id: Some(id), code, message: message.to_owned(), field: None }
    }
}

/// What a search found.
#[derive(Debug, Serialize, ToSchema)]
pub struct SearchAnswer {
    /// The products, best first or in the order that was asked for.
    pub products: Vec<ProductBody>,
    /// The query as it was asked.
    pub query: String,
    /// How many products were found in all: exact, whatever the page, unless `total_is_exact` says otherwise.
    pub total: usize,
    /// `false` where there may be more, as in shops that are searched inside the database; left out where `total` is exact.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub total_is_exact: Option<bool>,
    /// How the query was read.
    pub understood: Understood,
    /// Which encoder told what the query means.
    #[schema(schema_with = openapi::choices::encoder, required)]
    pub encoder: Option<&'static str>,
}

impl SearchAnswer {
    /// The answer to a query.
    pub fn of(query: &str, found: &SearchResults) -> Self {
        let product = |product: &Product| ProductBody {
            explanation: found.explanations.get(&product.id).map(ExplanationBody::from),
            ..ProductBody::from(product)
        };
        Self {
            products: found.products.iter().map(product).collect(),
            total: found.total,
            total_is_exact: (!found.is_total_exact).then_some(false),
            understood: Understood::of(query, &found.parsed),
            encoder: found.encoder.map(Encoder::as_str),
            query: query.to_owned(),
        }
    }
}

/// Products like another one.
#[derive(Debug, Serialize, ToSchema)]
pub struct SimilarProducts {
    /// The products, nearest first.
    pub products: Vec<ProductBody>,
}

/// A token that was just issued.
#[derive(Serialize, ToSchema)]
pub struct NewToken {
    /// Its number.
    #[schema(minimum = 1)]
    id: u64,
    /// The token itself: shown this once, kept only as a hash.
    token: String,
    /// The shop it belongs to.
    #[schema(minimum = 1)]
    shop_id: u64,
    /// What it lets its bearer do.
    #[schema(schema_with = openapi::choices::role)]
    role: &'static str,
    /// What its owner called it.
    name: String,
    /// When it was issued.
    #[schema(format = DateTime)]
    created_at: String,
    /// When it stops working; `null` for never.
    #[schema(format = DateTime, required)]
    expires_at: Option<String>,
}

impl From<IssuedToken> for NewToken {
    fn from(issued: IssuedToken) -> Self {
        Self {
            id: issued.id,
            token: issued.token,
            shop_id: issued.shop.get(),
            role: issued.role.as_str(),
            name: issued.name,
            created_at: time(issued.created_at),
            expires_at: issued.expires_at.map(time),
        }
    }
}

/// A token that was issued before.
#[derive(Serialize, ToSchema)]
#[schema(as = Token)]
pub struct TokenBody {
    /// Its number.
    #[schema(minimum = 1)]
    id: u64,
    /// The shop it belongs to.
    #[schema(minimum = 1)]
    shop_id: u64,
    /// What it lets its bearer do.
    #[schema(schema_with = openapi::choices::role)]
    role: &'static str,
    /// What its owner called it.
    name: String,
    /// When it was issued.
    #[schema(format = DateTime)]
    created_at: String,
    /// When it stops working; `null` for never.
    #[schema(format = DateTime, required)]
    expires_at: Option<String>,
    /// When it was revoked; `null` if it was not.
    #[schema(format = DateTime, required)]
    revoked_at: Option<String>,
}

impl From<TokenRow> for TokenBody {
    fn from(row: TokenRow) -> Self {
        Self {
            id: row.id,
            shop_id: row.shop.get(),
            role: row.role.as_str(),
            name: row.name,
            created_at: time(row.created_at),
            expires_at: row.expires_at.map(time),
            revoked_at: row.revoked_at.map(time),
        }
    }
}
