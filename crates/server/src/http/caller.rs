//! The authenticated caller of a request.

use std::ops::Deref;

use axum::{extract::FromRequestParts, http::request::Parts};
use catalog::product::access::Caller;

use super::errors::ApiError;

/// The caller of an API request: proof that its token was verified.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bearer(pub(super) Caller);

impl Deref for Bearer {
    type Target = Caller;

    fn deref(&self) -> &Caller {
        &self.0
    }
}

impl<S: Sync> FromRequestParts<S> for Bearer {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        // Absent only if a route was mounted outside the authentication layer.
        parts.extensions.get().copied().ok_or(ApiError::MissingToken)
    }
}

/// The key by which requests of one token are counted.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum TokenKey {
    /// A stored token, by its id.
    Opaque(u64),
    /// A signed token, by its shop and subject.
    Signed(u64, String),
}
