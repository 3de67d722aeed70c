//! How does an agent use the shop? The Model Context Protocol at `/mcp`, over streamable HTTP.
//!
//! A message has passed the same layers as every API request when it comes here. [`endpoint`] reads
//! it as other bodies are read and hands it to the SDK, which knows the protocol; the SDK asks
//! [`agent`], which has the tools of [`tools`] (their arguments and results: [`schemas`]) do their
//! work ([`calls`]) and tells what came of it ([`results`]).
//!
//! Nothing is kept between two messages, so that any node can answer any of them, and every answer
//! is one JSON document.

mod agent;
mod calls;
mod results;
mod schemas;
#[cfg(test)]
mod tests;
mod tools;

use std::sync::Arc;

use axum::{
    body::Body,
    extract::{Request, State},
    http::{HeaderValue, StatusCode, header},
    response::Response,
    routing::post,
};
use rmcp::transport::streamable_http_server::{
    StreamableHttpServerConfig, StreamableHttpService, session::never::NeverSessionManager,
};
use utoipa_axum::router::OpenApiRouter;

use self::agent::Agent;
use super::{
    App,
    auth::Bearer,
    json,
    observe::RequestId,
    problem::{ApiError, Fault},
};

/// The address, which its own protocol describes: there is nothing an OpenAPI client could do here.
pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::default().route("/mcp", post(endpoint))
}

/// One message of the protocol.
async fn endpoint(
    State(app): State<App>,
    caller: Bearer,
    request: Request,
) -> Result<Response, ApiError> {
    app.origins.let_in(request.headers())?;
    let (mut parts, body) = request.into_parts();
    let bytes = json::read_bytes(&parts.headers, body, app.body_limits).await?;
    // The SDK would take an object that names a field twice.
    json::parse(&bytes)?;
    let RequestId(request_id) = parts.extensions.remove().ok_or(ApiError::Internal)?;
    // Whose token it is and where it comes from is settled; and like all addresses this one
    // answers in JSON, whatever else would be accepted.
    parts.headers.remove(header::AUTHORIZATION);
    parts.headers.insert(header::HOST, HeaderValue::from_static("localhost"));
    parts
        .headers
        .insert(header::ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
    let max_bytes = app.body_limits.bytes;
    let agent = Agent::new(app, *caller, request_id);
    let service = StreamableHttpService::new(
        move || Ok(agent.clone()),
        Arc::new(NeverSessionManager::default()),
        StreamableHttpServerConfig::default()
            .with_legacy_session_mode(false)
            .with_json_response(true)
            .with_max_request_body_bytes(max_bytes),
    );
    let response = service.handle(Request::from_parts(parts, Body::from(bytes))).await;
    in_our_words(response.map(Body::new))
}

/// The SDK's answer. Those that are no message of the protocol are errors, which are told like all
/// others.
fn in_our_words(response: Response) -> Result<Response, ApiError> {
    let status = response.status();
    let is_message = response.headers().contains_key(header::CONTENT_TYPE);
    match status {
        _ if status.is_success() || is_message => Ok(response),
        StatusCode::BAD_REQUEST => Err(ApiError::UnsupportedProtocolVersion),
        StatusCode::UNSUPPORTED_MEDIA_TYPE => Err(ApiError::Validation(vec![Fault::of_whole(
            "wrong_type",
            "must be one JSON-RPC 2.0 message of the Model Context Protocol",
        )])),
        _ => {
            tracing::error!(status = status.as_u16(), "a message found no answer");
            Err(ApiError::Internal)
        }
    }
}
