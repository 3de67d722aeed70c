//! What does the service say about itself? The OpenAPI document, apart from the operations,
//! which describe themselves where they are handled.
//!
//! [`bodies`] has what may be sent, [`parameters`] what may stand beside it, [`answers`] what
//! comes back, [`choices`] the words that some fields are limited to, [`problems`] what comes back
//! instead, and [`errors`] what that means.

pub(crate) mod answers;
pub(crate) mod bodies;
pub(crate) mod choices;
pub(crate) mod errors;
mod headers;
pub(crate) mod parameters;
pub(crate) mod problems;
mod published;
#[cfg(test)]
mod tests;
mod vocabulary;

use utoipa::openapi::{
    Components, ComponentsBuilder, InfoBuilder, LicenseBuilder, OpenApi, OpenApiBuilder, Tag,
    security::{HttpAuthScheme, HttpBuilder, SecurityScheme},
    tag::TagBuilder,
};

pub(crate) use published::{__path_openapi, Published, openapi};

use self::{
    bodies::{
        NewMedia, NewProduct, NewProducts, ProductChanges, ProductDeletion, ProductEdit,
        ProductEdits, SearchRequest, TokenRequest, Understand,
    },
    choices::{Encoder, FaultCode, ProblemCode, Role},
};
use super::{
    explained::{ExplainedBonus, ExplainedMeaning, ExplainedTerm, ExplainedWords, ExplanationBody},
    figures::{ProcessFigures, ProductFigures, ShopFigures, TimeFigure, WorkFigures},
    health::Health,
    problem::{Fault, Problem},
    understood::{
        CharacterSpan, Understood, UnderstoodConstraint, UnderstoodCorrection, UnderstoodExclusion,
        UnderstoodSort,
    },
    wire::{
        BulkCreated, BulkDeleted, BulkUpdated, ElementFault, MediaBody, NewToken, ProductBody,
        SearchAnswer, SimilarProducts, TokenBody,
    },
};

/// The tag of operations on products.
pub(crate) const PRODUCTS: &str = "Products";
/// The tag of search.
pub(crate) const SEARCH: &str = "Search";
/// The tag of operations on tokens.
pub(crate) const TOKENS: &str = "Tokens";
/// The tag of what an operator looks at.
pub(crate) const OPERATION: &str = "Operation";
/// The tag of pages for people.
pub(crate) const PAGES: &str = "Pages";

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

/// The document before any operation has joined it.
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
        .schema_from::<NewProduct>()
        .schema_from::<NewProducts>()
        .schema_from::<NewMedia>()
        .schema_from::<ProductChanges>()
        .schema_from::<ProductEdit>()
        .schema_from::<ProductEdits>()
        .schema_from::<ProductDeletion>()
        .schema_from::<SearchRequest>()
        .schema_from::<Understand>()
        .schema_from::<TokenRequest>()
        .schema_from::<ProductBody>()
        .schema_from::<BulkCreated>()
        .schema_from::<BulkUpdated>()
        .schema_from::<BulkDeleted>()
        .schema_from::<SearchAnswer>()
        .schema_from::<SimilarProducts>()
        .schema_from::<Understood>()
        .schema_from::<UnderstoodConstraint>()
        .schema_from::<UnderstoodExclusion>()
        .schema_from::<UnderstoodCorrection>()
        .schema_from::<UnderstoodSort>()
        .schema_from::<CharacterSpan>()
        .schema_from::<ExplanationBody>()
        .schema_from::<ExplainedWords>()
        .schema_from::<ExplainedTerm>()
        .schema_from::<ExplainedBonus>()
        .schema_from::<ExplainedMeaning>()
        .schema_from::<NewToken>()
        .schema_from::<TokenBody>()
        .schema_from::<Health>()
        .schema_from::<ShopFigures>()
        .schema_from::<ProductFigures>()
        .schema_from::<WorkFigures>()
        .schema_from::<TimeFigure>()
        .schema_from::<ProcessFigures>()
        .schema_from::<Problem>()
        .schema_from::<Fault>()
        .schema_from::<ElementFault>()
        .schema_from::<MediaBody>()
        .schema("OpenApiDocument", published::document_schema())
        .schema_from::<Role>()
        .schema_from::<Encoder>()
        .schema_from::<ProblemCode>()
        .schema_from::<FaultCode>()
        .responses_from_iter(problems::all());
    headers::all()
        .into_iter()
        .fold(components, |components, (name, header)| components.header(name, header))
        .build()
}
