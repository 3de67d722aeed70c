//! Which web pages may call the service from a browser? Those of the configured origins.

use std::time::Duration;

use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use tower_http::cors::{AllowOrigin, CorsLayer};

use super::{
    freshness::{CATALOG_AGE, CATALOG_SEQ},
    observe::REQUEST_ID,
    problem::ApiError,
    products::{IDEMPOTENCY_KEY, TOTAL_COUNT},
};
use crate::config::Cors;

/// How long a browser may remember what it was allowed.
const REMEMBER_FOR: Duration = Duration::from_secs(600);

/// Lets pages of the configured origins in, and no others; `None` where there are none.
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
            REQUEST_ID,
            HeaderName::from_static("mcp-method"),
            HeaderName::from_static("mcp-name"),
            HeaderName::from_static("mcp-protocol-version"),
        ])
        .expose_headers([
            header::ETAG,
            header::LOCATION,
            header::RETRY_AFTER,
            HeaderName::from_static("ratelimit"),
            HeaderName::from_static("ratelimit-policy"),
            CATALOG_AGE,
            CATALOG_SEQ,
            REQUEST_ID,
            TOTAL_COUNT,
        ])
        .max_age(REMEMBER_FOR);
    Some(layer)
}

/// The configured origins, where the server itself must refuse others. A browser sends what a page
/// asks for and only keeps the answer from it; and a page whose name was made to lead here (DNS
/// rebinding) gets the answer too.
pub(crate) struct Origins(Vec<String>);

impl Origins {
    pub(crate) fn new(config: &Cors) -> Self {
        Self(config.origins.clone())
    }

    /// Lets in who is no web page, and pages of the configured origins.
    pub(crate) fn let_in(&self, request: &HeaderMap) -> Result<(), ApiError> {
        let known =
            |origin: &HeaderValue| self.0.iter().any(|known| known == "*" || origin == known);
        match request.get_all(header::ORIGIN).iter().all(known) {
            true => Ok(()),
            false => Err(ApiError::OriginNotAllowed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_pages_of_configured_origins_are_let_in() {
        let check = |configured: &[&str], sent: &[&'static str]| {
            let origins = configured.iter().map(|origin| (*origin).to_owned()).collect();
            let sent = sent.iter().map(|origin| (header::ORIGIN, HeaderValue::from_static(origin)));
            Origins(origins).let_in(&sent.collect()).is_ok()
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
