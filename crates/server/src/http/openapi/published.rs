//! How are texts that never change while the process runs handed out? Made once, with a tag by
//! which a client's copy is recognised.

use std::sync::LazyLock;

use axum::{
    body::Bytes,
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use utoipa::openapi::schema::{AdditionalProperties, ObjectBuilder, Type};

use super::{answers::Document, parameters::IfNoneMatch, problems::AnyProblems};
use crate::http::unsent::Uncounted;

/// How long a copy is used without asking: a new version is seen soon after a restart.
const FRESH_FOR: HeaderValue = HeaderValue::from_static("public, max-age=300");

/// A text that was made once.
pub(crate) struct Published {
    media_type: HeaderValue,
    text: Bytes,
    tag: HeaderValue,
    kept: HeaderValue,
}

impl Published {
    pub(crate) fn new(media_type: HeaderValue, text: String) -> Self {
        let digest = ring::digest::digest(&ring::digest::SHA256, text.as_bytes());
        let short: String =
            digest.as_ref().iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        let tag = HeaderValue::from_str(&format!("\"{short}\""))
            .unwrap_or_else(|_| unreachable!("hexadecimal digits are header text"));
        Self { media_type, text: text.into(), tag, kept: FRESH_FOR }
    }

    /// Says otherwise how long a copy is good for.
    pub(crate) fn kept(self, kept: HeaderValue) -> Self {
        Self { kept, ..self }
    }

    /// The text, or word that the client's copy is still good.
    pub(crate) fn answer(&self, request: &HeaderMap) -> Response {
        let headers =
            [(header::ETAG, self.tag.clone()), (header::CACHE_CONTROL, self.kept.clone())];
        let known = request.get(header::IF_NONE_MATCH).is_some_and(|tags| self.is_among(tags));
        if known {
            return (StatusCode::NOT_MODIFIED, headers).into_response();
        }
        let kind = [(header::CONTENT_TYPE, self.media_type.clone())];
        let mut response = (headers, kind, self.text.clone()).into_response();
        response.extensions_mut().insert(Uncounted);
        response
    }

    fn is_among(&self, tags: &HeaderValue) -> bool {
        let tags = tags.to_str().unwrap_or_default();
        let weak = |tag: &str| tag.trim().trim_start_matches("W/") == self.tag;
        tags.trim() == "*" || tags.split(',').any(weak)
    }
}

static DOCUMENT: LazyLock<Published> = LazyLock::new(|| {
    let text = serde_json::to_string(&crate::http::document())
        .unwrap_or_else(|_| unreachable!("a document always serialises"));
    Published::new(HeaderValue::from_static("application/json"), text)
});

/// What such a document is; its own standard says it in full.
pub(super) fn document_schema() -> ObjectBuilder {
    ObjectBuilder::new()
        .schema_type(Type::Object)
        .description(Some("A document of OpenAPI 3.1."))
        .required("openapi")
        .required("paths")
        .additional_properties(Some(AdditionalProperties::FreeForm(true)))
}

/// This document
///
/// The description of every address of the service, made from its code.
#[utoipa::path(
    get,
    path = "/openapi.json",
    operation_id = "get_openapi",
    tag = super::OPERATION,
    params(IfNoneMatch),
    responses(Document, AnyProblems),
    security(()),
    extensions(("x-required-role" = json!("none")))
)]
pub(crate) async fn openapi(headers: HeaderMap) -> Response {
    DOCUMENT.answer(&headers)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(tags: Option<&str>) -> StatusCode {
        let text = Published::new(HeaderValue::from_static("text/plain"), "hello".to_owned());
        let tags = tags.map(|tags| tags.replace("TAG", text.tag.to_str().unwrap()));
        let request = tags.iter().map(|tags| (header::IF_NONE_MATCH, tags.parse().unwrap()));
        text.answer(&request.collect()).status()
    }

    #[test]
    fn a_good_copy_is_not_sent_again() {
        assert_eq!(status(None), StatusCode::OK);
        assert_eq!(status(Some("\"other\"")), StatusCode::OK);
        assert_eq!(status(Some("TAG")), StatusCode::NOT_MODIFIED);
        assert_eq!(status(Some("\"other\", W/TAG")), StatusCode::NOT_MODIFIED);
        assert_eq!(status(Some("*")), StatusCode::NOT_MODIFIED);
    }
}
