//! The OpenAPI document, except for the operations: their handlers describe them.
//!
//! Request and response types give the schemas. [`endpoint`] serves the document.

pub(crate) mod endpoint;
pub(crate) mod tags;
#[cfg(test)]
mod tests;

use utoipa::{
    PartialSchema, ToSchema,
    openapi::{
        Components, ComponentsBuilder, InfoBuilder, LicenseBuilder, OpenApi, OpenApiBuilder, Tag,
        security::{HttpAuthScheme, HttpBuilder, SecurityScheme},
        tag::TagBuilder,
    },
};

use self::tags::{OPERATION, PAGES, PRODUCTS, SEARCH, TOKENS};
use super::{
    enums::{Encoder, Role},
    errors::{self, codes::FaultCode, problem::Problem, reference::ProblemCode},
    requests::{
        filter::{Exclusions, Filter, NumberRange, PriceRange},
        merchant_data::AttributesSchema,
        products::{
            NewMedia, NewProduct, NewProducts, ProductChanges, ProductDeletion, ProductEdit,
            ProductEdits, ProductUpsert, ProductUpserts,
        },
        search::{SearchRequest, Understand},
        tokens::TokenRequest,
    },
    response_headers,
    responses::{
        bulk::{BulkCreated, BulkDeleted, BulkUpdated, BulkUpserted},
        changes::ChangesPageBody,
        facets::{AttributeFacetBody, FacetsSchema, PriceFacetBody},
        health::Health,
        inferred::CategoryFacetBody,
        search::{SearchAnswer, SimilarProducts},
        stats::ShopStats,
        tokens::{NewToken, TokenBody},
    },
};

const ABOUT: &str = "\
A product catalog with search in shoppers' own words.

Products are created, updated, read and deleted one by one or up to 100 at a time. A write that was \
answered is stored for good and seen by the very next search, list and read.

Every address under `/api/v1` is served under `/v1` too, with the same meaning.

Every API request carries a token in the header `Authorization: Bearer <token>`. A token belongs to \
one shop, sees that shop alone, and has a role; each role includes the ones before: SHOPPER reads \
and searches visible products, VIEWER sees hidden ones too, EDITOR writes products, ADMIN issues and \
revokes tokens. `x-required-role` of an operation names the weakest role that may call it.

Bodies are JSON, sent with `Content-Type: application/json`. Fields that are not described here are \
refused, and `null` never stands for leaving a field out. Every error is a problem of RFC 9457, \
`application/problem+json`; its `type` is the place on this service's page `/docs` that explains it. \
A known path with a method it does not take answers 405, one that does not exist 404.

Every answer has the header `X-Request-Id`, by which logs know the request. Send your own in the same \
header: up to 128 letters, digits and `-_.:+/=`; anything else is replaced.

Every answer to a token has the header `X-Catalog-Seq`: the last change of the shop that it shows at the \
least. Send the number back as `X-Min-Catalog-Seq`, and the answer shows that change too, whichever node \
gives it; a node that does not see it within 5 seconds answers 503, and so does every node at once where \
the shop has no such change.

Agents reach the same products with the same tokens by the Model Context Protocol, at `/mcp`; it lists \
its own tools and is no part of this document.

Answers may grow new fields; those described here stay.";

/// The document without operations.
pub(crate) fn document_without_operations() -> OpenApi {
    let license = LicenseBuilder::new().name("Apache-2.0").identifier(Some("Apache-2.0")).build();
    let info = InfoBuilder::new()
        .title("Shopkeeper")
        .version(env!("CARGO_PKG_VERSION"))
        .description(Some(ABOUT))
        .license(Some(license))
        .build();
    OpenApiBuilder::new()
        .info(info)
        .tags(Some([
            tag(PRODUCTS, "The shop's catalog."),
            tag(SEARCH, "Products by what a shopper says, and what is like them."),
            tag(TOKENS, "Who may call the service for this shop."),
            tag(OPERATION, "Is it alive, how is it doing, and what can it do?"),
            tag(PAGES, "What people look at, in a browser."),
        ]))
        .components(Some(components()))
        .build()
}

fn tag(name: &str, description: &str) -> Tag {
    TagBuilder::new().name(name).description(Some(description)).build()
}

/// The schemas of these types, and of the types of their fields, by name.
macro_rules! schemas {
    ($($type:ty),+ $(,)?) => {{
        let mut schemas = Vec::new();
        $(
            schemas.push((<$type>::name().into_owned(), <$type>::schema()));
            <$type>::schemas(&mut schemas);
        )+
        schemas
    }};
}

fn components() -> Components {
    let bearer = HttpBuilder::new()
        .scheme(HttpAuthScheme::Bearer)
        .description(Some(
            "A token of the service (`shk_…`), or a signed one (JWT) of your identity provider \
             where configured.",
        ))
        .build();
    let components = ComponentsBuilder::new()
        .security_scheme("bearer", SecurityScheme::Http(bearer))
        .schemas_from_iter(schemas![
            NewProduct,
            NewProducts,
            NewMedia,
            ProductChanges,
            ProductEdit,
            ProductEdits,
            ProductUpsert,
            ProductUpserts,
            ProductDeletion,
            AttributesSchema,
            SearchRequest,
            Filter,
            Exclusions,
            PriceRange,
            NumberRange,
            Understand,
            TokenRequest,
            BulkCreated,
            BulkUpdated,
            BulkUpserted,
            ChangesPageBody,
            BulkDeleted,
            SearchAnswer,
            FacetsSchema,
            AttributeFacetBody,
            PriceFacetBody,
            CategoryFacetBody,
            SimilarProducts,
            NewToken,
            TokenBody,
            Health,
            ShopStats,
            Problem,
            Role,
            Encoder,
            ProblemCode,
            FaultCode,
        ])
        .schema("OpenApiDocument", endpoint::document_schema())
        .responses_from_iter(errors::responses::all());
    response_headers::all()
        .into_iter()
        .fold(components, |components, (name, header)| components.header(name, header))
        .build()
}
