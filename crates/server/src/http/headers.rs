//! The names of the service's own headers.

use axum::http::HeaderName;

/// The id of a request, on requests that name one and on every response.
pub(crate) const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// The number of entries on all pages of a list.
pub(crate) const TOTAL_COUNT: HeaderName = HeaderName::from_static("x-total-count");
/// The client's key for a create, which makes it safe to repeat.
pub(crate) const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
/// The last change that a response reflects.
pub(crate) const CATALOG_SEQ: HeaderName = HeaderName::from_static("x-catalog-seq");
/// The age of a response in seconds, while the database is unavailable.
pub(crate) const CATALOG_AGE: HeaderName = HeaderName::from_static("x-catalog-age");
/// The change that a request requires.
pub(crate) const MIN_CATALOG_SEQ: HeaderName = HeaderName::from_static("x-min-catalog-seq");
