//! Content that does not change while the process runs, with entity tags for conditional requests.

use axum::{
    body::Bytes,
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};

use super::describe::{described_responses, not_modified, open, text};
use crate::http::response_headers::{CACHE_CONTROL, ETAG};

/// The default `Cache-Control`: clients see a new version soon after a restart.
const FIVE_MINUTES: HeaderValue = HeaderValue::from_static("public, max-age=300");

/// Content that is built once.
pub(crate) struct StaticContent {
    media_type: HeaderValue,
    text: Bytes,
    tag: HeaderValue,
    cache_control: HeaderValue,
}

impl StaticContent {
    pub(crate) fn new(media_type: HeaderValue, text: String) -> Self {
        let digest = ring::digest::digest(&ring::digest::SHA256, text.as_bytes());
        let short: String =
            digest.as_ref().iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        let tag = HeaderValue::from_str(&format!("\"{short}\""))
            .unwrap_or_else(|_| unreachable!("hexadecimal digits are header text"));
        Self { media_type, text: text.into(), tag, cache_control: FIVE_MINUTES }
    }

    /// The same content with another `Cache-Control`.
    pub(crate) fn with_cache_control(self, cache_control: HeaderValue) -> Self {
        Self { cache_control, ..self }
    }

    /// The content, or a 304 if the client has it.
    pub(crate) fn respond(&self, request: &HeaderMap) -> Response {
        let headers =
            [(header::ETAG, self.tag.clone()), (header::CACHE_CONTROL, self.cache_control.clone())];
        let known = request.get(header::IF_NONE_MATCH).is_some_and(|tags| self.is_among(tags));
        if known {
            return (StatusCode::NOT_MODIFIED, headers).into_response();
        }
        let kind = [(header::CONTENT_TYPE, self.media_type.clone())];
        (headers, kind, self.text.clone()).into_response()
    }

    fn is_among(&self, tags: &HeaderValue) -> bool {
        let tags = tags.to_str().unwrap_or_default();
        let weak = |tag: &str| tag.trim().trim_start_matches("W/") == self.tag;
        tags.trim() == "*" || tags.split(',').any(weak)
    }
}

described_responses!(
    Page,
    "200" => open("The page.", "text/html", text("<!doctype html>…"), &[ETAG, CACHE_CONTROL]),
    "304" => not_modified(&[ETAG, CACHE_CONTROL]),
);

described_responses!(
    Asset,
    "200" => open("The file.", "text/javascript", text("export const …"), &[ETAG, CACHE_CONTROL])
        .content("text/css", text(":root { … }"))
        .content("image/svg+xml", text("<svg …/>")),
    "304" => not_modified(&[ETAG, CACHE_CONTROL]),
);

#[cfg(test)]
mod tests {
    use super::*;

    fn status(tags: Option<&str>) -> StatusCode {
        let text = StaticContent::new(HeaderValue::from_static("text/plain"), "hello".to_owned());
        let tags = tags.map(|tags| tags.replace("TAG", text.tag.to_str().unwrap()));
        let request = tags.iter().map(|tags| (header::IF_NONE_MATCH, tags.parse().unwrap()));
        text.respond(&request.collect()).status()
    }

    #[test]
    fn content_that_the_client_has_is_not_sent_again() {
        assert_eq!(status(None), StatusCode::OK);
        assert_eq!(status(Some("\"other\"")), StatusCode::OK);
        assert_eq!(status(Some("TAG")), StatusCode::NOT_MODIFIED);
        assert_eq!(status(Some("\"other\", W/TAG")), StatusCode::NOT_MODIFIED);
        assert_eq!(status(Some("*")), StatusCode::NOT_MODIFIED);
    }
}
