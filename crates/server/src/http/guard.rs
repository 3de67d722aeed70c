//! May this request come in? Size of its head first, then a slot among those at work.

use axum::{
    extract::{OriginalUri, Request, State},
    middleware::Next,
    response::Response,
};

use super::{App, problem::ApiError};

/// Bytes of a header line besides name and value: `": "` and the line break.
const HEADER_LINE_EXTRA: usize = 4;

pub(crate) async fn guard(
    State(app): State<App>,
    mut request: Request,
    next: Next,
) -> Result<Response, ApiError> {
    let limits = app.head_limits;
    // The request's own address lacks the prefix that led here.
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
    let admission = app.admissions.admit()?;
    request.extensions_mut().insert(admission.clone());
    let response = next.run(request).await;
    drop(admission);
    Ok(response)
}
