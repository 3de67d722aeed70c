//! The admission layer: checks the size of a request's head, then takes an admission slot.

use std::sync::Arc;

use axum::{
    extract::{OriginalUri, Request, State},
    middleware::Next,
    response::Response,
};

use super::control::AdmissionControl;
use crate::http::errors::ApiError;

/// Bytes of a header line besides name and value: `": "` and the line break.
const HEADER_LINE_EXTRA: usize = 4;

/// Holds a slot for a request until it is answered, except while its body arrives.
pub(crate) async fn admit(
    State(control): State<Arc<AdmissionControl>>,
    mut request: Request,
    next: Next,
) -> Result<Response, ApiError> {
    let limits = control.head_limits;
    // Nested routers strip their prefix from the URI of the request itself.
    let uri = request.extensions().get().map_or(request.uri(), |OriginalUri(uri)| uri);
    let uri_bytes = uri.path_and_query().map_or(0, |target| target.as_str().len());
    if uri_bytes > limits.uri_bytes {
        return Err(ApiError::UriTooLong { limit: limits.uri_bytes });
    }
    let header_bytes: usize = request
        .headers()
        .iter()
        .map(|(name, value)| name.as_str().len() + value.len() + HEADER_LINE_EXTRA)
        .sum();
    if header_bytes > limits.header_bytes {
        return Err(ApiError::HeadersTooLarge { limit: limits.header_bytes });
    }
    let admission = control.admit()?;
    request.extensions_mut().insert(admission.clone());
    let response = next.run(request).await;
    drop(admission);
    Ok(response)
}
