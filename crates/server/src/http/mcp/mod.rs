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
    App,
    auth::Bearer,
    json::{self, Unread},
    observe::RequestId,
    problem::{ApiError, Fault},
};

/// The longest id and the longest name of a method in a message.
const MAX_REPEATED_BYTES: usize = 255;

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
    let unread = Request::from_parts(parts.clone(), body);
    let bytes = Unread::from_request(unread, &app).await?.bytes().await?;
    // The SDK would take an object that names a field twice, and repeat what it does not know.
    check_length(&json::parse(&bytes)?)?;
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

/// Refuses a message with parts that the answer would repeat at length.
fn check_length(message: &Value) -> Result<(), ApiError> {
    let is_long = |name: &&str| {
        let text = message.get(name).and_then(Value::as_str);
        text.is_some_and(|text| text.len() > MAX_REPEATED_BYTES)
    };
    ["id", "method"].iter().copied().find(|name| is_long(name)).map_or(Ok(()), |name| {
        let message = format!("must be at most {MAX_REPEATED_BYTES} bytes long");
        Err(ApiError::fault(Fault::new(name, "too_long", message)))
    })
}

/// The SDK's answer. Those that are no message of the protocol are errors, which are told like all
/// others.
fn in_our_words(response: Response) -> Result<Response, ApiError> {
    let status = response.status();
    let is_message = response.headers().contains_key(header::CONTENT_TYPE);
    match status {
        _ if status.is_success() || is_message => Ok(response),
        StatusCode::BAD_REQUEST => Err(ApiError::UnsupportedProtocolVersion),
        StatusCode::UNSUPPORTED_MEDIA_TYPE => Err(ApiError::fault(Fault::of_whole(
            "wrong_type",
            "must be one JSON-RPC 2.0 message of the Model Context Protocol",
        ))),
        _ => {
            tracing::error!(status = status.as_u16(), "a message found no answer");
            Err(ApiError::Internal)
        }
    }
}
