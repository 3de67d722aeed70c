//! The response headers of the OpenAPI document, each described once under `components`.

use serde_json::json;
use utoipa::openapi::{
    Ref, ResponseBuilder,
    extensions::Extensions,
    header::{Header, HeaderBuilder},
    schema::ObjectBuilder,
};

use super::json_schema::{integer, string};

pub(crate) const ALLOW: &str = "Allow";
pub(crate) const CACHE_CONTROL: &str = "Cache-Control";
pub(crate) const CATALOG_AGE: &str = "X-Catalog-Age";
pub(crate) const CATALOG_SEQ: &str = "X-Catalog-Seq";
pub(crate) const ETAG: &str = "ETag";
pub(crate) const LOCATION: &str = "Location";
pub(crate) const RATE_LIMIT: &str = "RateLimit";
pub(crate) const RATE_LIMIT_POLICY: &str = "RateLimit-Policy";
pub(crate) const REQUEST_ID: &str = "X-Request-Id";
pub(crate) const RETRY_AFTER: &str = "Retry-After";
pub(crate) const TOTAL_COUNT: &str = "X-Total-Count";
pub(crate) const WWW_AUTHENTICATE: &str = "WWW-Authenticate";

/// Every header with its description.
pub(crate) fn all() -> Vec<(&'static str, Header)> {
    let number = || integer("", 0, i64::MAX as u64);
    let text = || string("");
    vec![
        (ALLOW, always(text(), "The methods that this path takes.")),
        (CACHE_CONTROL, always(text(), "How long a copy may be used without asking again.")),
        (
            CATALOG_AGE,
            sometimes(
                "How many seconds old the answer may be, while the database cannot be asked.",
            ),
        ),
        (
            CATALOG_SEQ,
            sometimes(
                "The last change of the shop that the answer shows at the least. Sent as \
                 `X-Min-Catalog-Seq`, it makes any node wait until it has seen it.",
            ),
        ),
        (
            ETAG,
            always(
                text(),
                "The version of what is in the body, for `If-Match` and `If-None-Match`.",
            ),
        ),
        (LOCATION, always(text(), "Where the new product is read.")),
        (
            RATE_LIMIT,
            sometimes("What the token has left, where requests are limited: `\"token\";r=99;t=1`."),
        ),
        (
            RATE_LIMIT_POLICY,
            sometimes("The limit in force, where there is one: `\"token\";q=100;w=1`."),
        ),
        (
            REQUEST_ID,
            always(text(), "The request's id, in logs too: yours, if you sent a sane one."),
        ),
        (RETRY_AFTER, always(number(), "How many seconds to wait before trying again.")),
        (TOTAL_COUNT, always(number(), "How many entries there are on all pages together.")),
        (WWW_AUTHENTICATE, always(text(), "How to authenticate: `Bearer`.")),
    ]
}

/// Adds references to headers to a response.
pub(crate) fn with_headers(response: ResponseBuilder, names: &[&str]) -> ResponseBuilder {
    names.iter().fold(response, |response, name| {
        response.header_ref(*name, Ref::new(format!("#/components/headers/{name}")))
    })
}

fn always(schema: ObjectBuilder, description: &str) -> Header {
    header(schema, description)
        // The builder has no method for it, but writes its extensions as they are.
        .extensions(Some(Extensions::from_iter([("required", json!(true))])))
        .build()
}

fn sometimes(description: &str) -> Header {
    header(string(""), description).build()
}

fn header(schema: ObjectBuilder, description: &str) -> HeaderBuilder {
    HeaderBuilder::new().schema(Some(schema)).description(Some(description))
}
