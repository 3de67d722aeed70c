//! Cross-origin requests: only web pages of the configured origins may call the service.

use std::time::Duration;

use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use tower_http::cors::{AllowOrigin, CorsLayer};

use crate::{
    config::Cors,
    http::{
        errors::ApiError,
        headers::{
            CATALOG_AGE, CATALOG_SEQ, IDEMPOTENCY_KEY, MIN_CATALOG_SEQ, REQUEST_ID, TOTAL_COUNT,
        },
    },
};

/// How long a browser may cache a preflight response.
const PREFLIGHT_MAX_AGE: Duration = Duration::from_secs(600);

/// Allows pages of the configured origins; `None` where none are configured.
pub(crate) fn layer(config: &Cors) -> Option<CorsLayer> {
    if config.origins.is_empty() {
        return None;
    }
    let origins = if config.origins.iter().any(|origin| origin == "*") {
        AllowOrigin::any()
    } else {
        AllowOrigin::list(
            config.origins.iter().filter_map(|origin| HeaderValue::from_str(origin).ok()),
        )
    };
    let layer = CorsLayer::new()
        .allow_origin(origins)
        .allow_methods([Method::GET, Method::POST, Method::PUT, Method::DELETE])
        .allow_headers([
            header::AUTHORIZATION,
            header::CONTENT_TYPE,
            header::IF_MATCH,
            header::IF_NONE_MATCH,
            IDEMPOTENCY_KEY,
            MIN_CATALOG_SEQ,
            REQUEST_ID,
            HeaderName::from_static("traceparent"),
            HeaderName::from_static("tracestate"),
            HeaderName::from_static("mcp-method"),
            HeaderName::from_static("mcp-name"),
            HeaderName::from_static("mcp-protocol-version"),
        ])
        .expose_headers([
            header::ALLOW,
            header::ETAG,
            header::LOCATION,
            header::RETRY_AFTER,
            HeaderName::from_static("ratelimit"),
            HeaderName::from_static("ratelimit-policy"),
            CATALOG_AGE,
            CATALOG_SEQ,
            REQUEST_ID,
            TOTAL_COUNT,
            header::WWW_AUTHENTICATE,
        ])
        .max_age(PREFLIGHT_MAX_AGE);
    Some(layer)
}

/// The configured origins, for routes where the server itself rejects others. CORS alone does not
/// suffice: a browser sends the request and only hides the response from the page, and with DNS
/// rebinding the page gets the response too.
pub(crate) struct Origins(Vec<String>);

impl Origins {
    pub(crate) fn new(config: &Cors) -> Self {
        Self(config.origins.clone())
    }

    /// Accepts requests without an `Origin`, and those of the configured origins.
    pub(crate) fn check(&self, request: &HeaderMap) -> Result<(), ApiError> {
        let is_known =
            |origin: &HeaderValue| self.0.iter().any(|known| known == "*" || origin == known);
        match request.get_all(header::ORIGIN).iter().all(is_known) {
            true => Ok(()),
            false => Err(ApiError::OriginNotAllowed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_pages_of_configured_origins_are_accepted() {
        let check = |configured: &[&str], sent: &[&'static str]| {
            let origins = configured.iter().map(|origin| (*origin).to_owned()).collect();
            let sent = sent.iter().map(|origin| (header::ORIGIN, HeaderValue::from_static(origin)));
            Origins(origins).check(&sent.collect()).is_ok()
        };
        let shop = "https://shop.example";
        assert!(check(&[], &[]));
        assert!(check(&[shop], &[]));
        assert!(check(&[shop], &[shop]));
        assert!(check(&["*"], &["https://evil.example"]));
        assert!(!check(&[], &[shop]));
        assert!(!check(&[], &["null"]));
        assert!(!check(&[shop], &["https://shop.example:8443"]));
        assert!(!check(&[shop], &["http://shop.example"]));
    }
}
