//! The API reference at `/docs`: one page, rendered on the server from the OpenAPI document,
//! without scripts or external resources.
//!
//! [`page`] renders it, [`schema`] and [`curl`] render its parts, [`spec`] reads the document, and
//! [`html`] escapes text.

mod curl;
mod html;
mod page;
mod schema;
mod spec;
#[cfg(test)]
mod tests;

use std::sync::{Arc, LazyLock};

use axum::{
    Extension,
    http::{HeaderMap, HeaderValue, header},
    response::{IntoResponse, Response},
};
use base64::{Engine, engine::general_purpose::STANDARD};

use crate::http::{
    errors::responses::AnyProblems,
    openapi::{endpoint::ApiDocument, tags::OPERATION},
    requests::headers::IfNoneMatch,
    responses::static_content::{Page, StaticContent},
};

const STYLE: &str = include_str!("style.css");

/// The Content-Security-Policy of the page: nothing but its own style.
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
pub(crate) async fn docs(
    Extension(document): Extension<Arc<ApiDocument>>,
    headers: HeaderMap,
) -> Response {
    let content = document.page.get_or_init(|| {
        let page = page::page(&spec::Spec::new(&document.openapi), STYLE);
        StaticContent::new(HeaderValue::from_static("text/html; charset=utf-8"), page)
    });
    let security_headers = [
        (header::CONTENT_SECURITY_POLICY, POLICY.clone()),
        (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
    ];
    (security_headers, content.respond(&headers)).into_response()
}
