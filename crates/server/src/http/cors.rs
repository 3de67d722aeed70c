//! Which web pages may call the service from a browser? Those of the configured origins.

use std::time::Duration;

use axum::http::{HeaderValue, Method, header};
use tower_http::cors::{AllowOrigin, CorsLayer};

use super::{
    freshness::{CATALOG_AGE, CATALOG_SEQ},
    observe::REQUEST_ID,
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
        ])
        .expose_headers([
            header::ETAG,
            header::LOCATION,
            header::RETRY_AFTER,
            header::HeaderName::from_static("ratelimit"),
            header::HeaderName::from_static("ratelimit-policy"),
            CATALOG_AGE,
            CATALOG_SEQ,
            REQUEST_ID,
            TOTAL_COUNT,
        ])
        .max_age(REMEMBER_FOR);
    Some(layer)
}
