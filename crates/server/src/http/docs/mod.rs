//! What does a person read about the service? One page, made on the server from the OpenAPI
//! document: no script, nothing from elsewhere.
//!
//! [`page`] says what is on it, [`schema`] and [`curl`] write its parts, [`spec`] reads the
//! document and [`html`] keeps text from becoming markup.

mod curl;
mod html;
mod page;
mod schema;
mod spec;
#[cfg(test)]
mod tests;

use std::sync::LazyLock;

use axum::{
    http::{HeaderMap, HeaderValue, header},
    response::{IntoResponse, Response},
};
use base64::{Engine, engine::general_purpose::STANDARD};

use super::openapi::{
    OPERATION, Published, answers::Page, parameters::IfNoneMatch, problems::AnyProblems,
};

const STYLE: &str = include_str!("style.css");

static PAGE: LazyLock<Published> = LazyLock::new(|| {
    let page = page::page(&spec::Spec::new(&super::document()), STYLE);
    Published::new(HeaderValue::from_static("text/html; charset=utf-8"), page)
});

/// What a browser lets the page do: show itself in its own style.
static POLICY: LazyLock<HeaderValue> = LazyLock::new(|| {
    let digest = ring::digest::digest(&ring::digest::SHA256, STYLE.as_bytes());
    let policy = format!(
        "default-src 'none'; style-src 'sha256-{}'; base-uri 'none'; form-action 'none'; \
         frame-ancestors 'none'",
        STANDARD.encode(digest)
    );
    HeaderValue::from_str(&policy).unwrap_or_else(|_| unreachable!("base64 is header text"))
});

/// The documentation as a page
///
/// The OpenAPI document for people, with an explanation of every error. It loads nothing from
/// elsewhere.
#[utoipa::path(
    get,
    path = "/docs",
    operation_id = "get_docs",
    tag = OPERATION,
    params(IfNoneMatch),
    responses(Page, AnyProblems),
    security(()),
    extensions(("x-required-role" = json!("none")))
)]
pub(crate) async fn docs(headers: HeaderMap) -> Response {
    let guards = [
        (header::CONTENT_SECURITY_POLICY, POLICY.clone()),
        (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
        (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
    ];
    (guards, PAGE.answer(&headers)).into_response()
}
