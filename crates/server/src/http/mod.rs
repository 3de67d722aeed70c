//! The HTTP interface: the router, from the outermost layer to the handlers.
//!
//! A request passes these modules in order: [`request_log`] (id, time limit, metrics, error
//! bodies), [`host`] (a valid `Host`), [`admission`] (size and slot), [`auth`] (token and rate
//! limit), [`consistency`] (required change), then a handler in [`handlers`], which reads it with
//! [`requests`], calls the engine, and answers with [`responses`] or one of [`errors`]. [`mcp`]
//! offers the same to agents, [`pages`] to people.
//!
//! A path is registered together with its description or not at all, so that the document of
//! [`openapi`] has every one of them. The exceptions are [`mcp`], which describes itself in its own
//! protocol, and the paths of the demo.

pub(crate) mod admission;
pub(crate) mod app;
pub(crate) mod auth;
pub(crate) mod caller;
mod consistency;
mod enums;
pub mod errors;
pub(crate) mod handlers;
pub(crate) mod headers;
mod host;
mod json_schema;
mod mcp;
mod openapi;
mod page_policy;
pub(crate) mod pages;
pub(crate) mod request_log;
pub mod requests;
mod response_headers;
pub mod responses;
pub(crate) mod traffic;

use std::sync::Arc;

use axum::{
    Extension, Router,
    http::header,
    middleware::{from_fn, from_fn_with_state, map_response},
    response::{IntoResponse, Response},
    routing::get,
};
use tower::util::option_layer;
use tower_http::catch_panic::CatchPanicLayer;
use utoipa::openapi::OpenApi;
use utoipa_axum::{router::OpenApiRouter, routes};

pub use self::app::{App, AppState};
use self::{
    admission::response_memory,
    auth::cors,
    errors::ApiError,
    handlers::{demo, health},
    openapi::endpoint::ApiDocument,
};
use crate::config::Config;

/// The canonical prefix of the API.
const PREFIX: &str = "/api/v1";
/// A second prefix of the same paths, which the samples of the contract use.
const SAMPLES_PREFIX: &str = "/v1";

/// The router of the service.
pub fn router(app: App, config: &Config) -> Router {
    let api = with_token(&app, handlers::routes());
    let agents = with_token(&app, mcp::routes());
    let demo = app.demo.as_ref().map(|_| demo::routes()).unwrap_or_default();
    let request_log = from_fn_with_state(Arc::clone(&app.request_log), request_log::layer);
    let (described, document) = described(api.clone()).split_for_parts();
    described
        .nest(SAMPLES_PREFIX, api.into())
        .merge(agents)
        .merge(demo)
        .fallback(async || ApiError::NotFound("such address"))
        .layer(Extension(ApiDocument::new(document)))
        .layer(map_response(describe_405))
        .layer(CatchPanicLayer::custom(request_log::panic_response))
        .layer(option_layer(cors::layer(&config.cors)))
        .layer(from_fn(host::layer))
        .layer(request_log)
        .with_state(app)
}

/// Only health and metrics, for a listener of their own that requests of clients cannot block.
pub(crate) fn admin_router(app: App) -> Router {
    let routes = Router::from(health_routes()).route("/metrics", get(health::admin_metrics));
    let fallback = async || ApiError::NotFound("such address");
    without_admission(app, routes.fallback(fallback))
}

/// Only health, for connections that are accepted while all others are in use.
pub(crate) fn probe_router(app: App) -> Router {
    let overloaded = async || {
        let all_in_use = "all connections are in use".to_owned();
        ([(header::CONNECTION, "close")], ApiError::Unavailable(all_in_use))
    };
    without_admission(app, Router::from(health_routes()).fallback(overloaded))
}

fn health_routes() -> OpenApiRouter<App> {
    OpenApiRouter::default().routes(routes!(health::live)).routes(routes!(health::ready))
}

/// Adds the layers of routes whose callers are probes and scrapers.
fn without_admission(app: App, routes: Router<App>) -> Router {
    let request_log = from_fn_with_state(Arc::clone(&app.request_log), request_log::layer);
    routes
        .layer(map_response(describe_405))
        .layer(map_response(response_memory::exempt))
        .layer(CatchPanicLayer::custom(request_log::panic_response))
        .layer(from_fn(host::layer))
        .layer(request_log)
        .with_state(app)
}

/// Adds the layers of routes that need a token.
fn with_token(app: &App, routes: OpenApiRouter<App>) -> OpenApiRouter<App> {
    let authenticator = Arc::clone(&app.authenticator);
    routes
        .route_layer(from_fn_with_state(Arc::clone(&app.engine), consistency::layer))
        .route_layer(from_fn_with_state(authenticator, auth::layer::authenticate))
        .layer(from_fn_with_state(Arc::clone(&app.admission), admission::layer::admit))
}

/// The OpenAPI document with every operation.
pub fn document() -> OpenApi {
    described(handlers::routes()).into_openapi()
}

/// Every described path once.
fn described(api: OpenApiRouter<App>) -> OpenApiRouter<App> {
    OpenApiRouter::with_openapi(openapi::document_without_operations())
        .nest(PREFIX, api)
        .routes(routes!(health::live))
        .routes(routes!(health::ready))
        .routes(routes!(health::metrics))
        .routes(routes!(openapi::endpoint::openapi))
        .routes(routes!(pages::docs::docs))
        .routes(routes!(pages::home))
        .routes(routes!(pages::preview))
        .routes(routes!(pages::admin))
        .routes(routes!(pages::asset))
}

/// Turns the framework's bare 405, with its `Allow` header, into an [`ApiError`].
async fn describe_405(mut response: Response) -> Response {
    let is_bare = response.status() == axum::http::StatusCode::METHOD_NOT_ALLOWED
        && response.extensions().get::<ApiError>().is_none();
    if is_bare {
        response.extensions_mut().insert(ApiError::MethodNotAllowed);
    }
    response.into_response()
}
