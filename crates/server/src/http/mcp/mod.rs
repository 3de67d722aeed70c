//! The Model Context Protocol for agents, at `/mcp`, over streamable HTTP.
//!
//! A message passes the same layers as an API request. [`endpoint`] reads it like other bodies and
//! passes it to the SDK, which implements the protocol. The SDK calls [`agent`], which lists the
//! [`tools`] with their [`descriptions`] and [`schemas`], runs them with [`calls`], and formats
//! their [`results`].
//!
//! The server keeps no session: any node can answer any message, and every response is one JSON
//! document.

mod agent;
mod calls;
mod descriptions;
mod results;
mod schemas;
#[cfg(test)]
mod tests;
mod tools;

use std::sync::Arc;

use axum::{
    body::Body,
    extract::{FromRequest, Request, State},
    http::{HeaderValue, StatusCode, header},
    response::Response,
    routing::post,
};
use rmcp::transport::streamable_http_server::{
    StreamableHttpServerConfig, StreamableHttpService, session::never::NeverSessionManager,
};
use serde_json::Value;
use utoipa_axum::router::OpenApiRouter;

use self::agent::Agent;
use super::{
    app::App,
    caller::Bearer,
    errors::{ApiError, ValidationError},
    request_log::RequestId,
    requests::{body::RequestBody, json},
};

/// The longest id and the longest method name in a message.
const MAX_REPEATED_BYTES: usize = 255;

/// The route, which is not part of the OpenAPI document: the protocol describes itself.
pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::default().route("/mcp", post(endpoint))
}

/// Answers one message of the protocol.
async fn endpoint(
    State(app): State<App>,
    caller: Bearer,
    request: Request,
) -> Result<Response, ApiError> {
    app.origins.check(request.headers())?;
    let (mut parts, body) = request.into_parts();
    let copy = Request::from_parts(parts.clone(), body);
    let bytes = RequestBody::from_request(copy, &app).await?.bytes().await?;
    // The SDK accepts objects with repeated fields, and repeats unknown names in its responses.
    check_length(&json::parse(&bytes)?)?;
    let RequestId(request_id) = parts.extensions.remove().ok_or(ApiError::Internal)?;
    // Token and origin are verified; the SDK's own checks of `Host` and `Accept` must pass. The
    // response is JSON whatever the client accepts.
    parts.headers.remove(header::AUTHORIZATION);
    parts.headers.insert(header::HOST, HeaderValue::from_static("localhost"));
    parts
        .headers
        .insert(header::ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
    let max_bytes = app.body_reader.limits.bytes;
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
    map_errors(response.map(Body::new))
}

/// Rejects a message with long parts that the response would repeat.
fn check_length(message: &Value) -> Result<(), ApiError> {
    let is_long = |name: &&str| {
        let text = message.get(name).and_then(Value::as_str);
        text.is_some_and(|text| text.len() > MAX_REPEATED_BYTES)
    };
    ["id", "method"].iter().copied().find(|name| is_long(name)).map_or(Ok(()), |name| {
        let message = format!("must be at most {MAX_REPEATED_BYTES} bytes long");
        Err(ApiError::invalid(ValidationError::new(name, "too_long", message)))
    })
}

/// The SDK's response. One that is no message of the protocol becomes an [`ApiError`].
fn map_errors(response: Response) -> Result<Response, ApiError> {
    let status = response.status();
    let is_message = response.headers().contains_key(header::CONTENT_TYPE);
    match status {
        _ if status.is_success() || is_message => Ok(response),
        StatusCode::BAD_REQUEST => Err(ApiError::UnsupportedProtocolVersion),
        StatusCode::UNSUPPORTED_MEDIA_TYPE => Err(ApiError::invalid(ValidationError::of_whole(
            "wrong_type",
            "must be one JSON-RPC 2.0 message of the Model Context Protocol",
        ))),
        _ => {
            tracing::error!(status = status.as_u16(), "the MCP SDK failed to answer a message");
            Err(ApiError::Internal)
        }
    }
}
