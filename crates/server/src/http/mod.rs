//! Which address does what? The router, from the outermost layer to the handlers.
//!
//! A request passes [`observe`] (id, figures, error bodies, responses not yet sent), [`guard`] (room,
//! see [`admission`]), [`auth`] (token and rate limit), then its handler in [`products`], [`search`], [`similar`] or [`tokens`], which
//! reads it with [`json`], [`fields`] and [`requests`] and answers with [`wire`]. What those and
//! the tools of [`mcp`] have in common is in [`actions`].
//!
//! An address is registered together with its description or not at all, so that [`openapi`]
//! has every one of them and [`docs`] shows them. [`pages`] has those for people. [`mcp`] describes
//! itself, in the words of its own protocol.

pub(crate) mod actions;
pub(crate) mod admission;
pub(crate) mod auth;
mod cors;
mod demo;
pub(crate) mod docs;
pub mod explained;
pub mod faults;
pub(crate) mod fields;
pub(crate) mod figures;
mod freshness;
pub(crate) mod guard;
pub(crate) mod health;
pub mod json;
pub(crate) mod jwt;
mod jwt_signatures;
mod key_file;
pub(crate) mod mcp;
pub(crate) mod observe;
pub(crate) mod openapi;
pub(crate) mod pages;
pub(crate) mod path;
pub(crate) mod pool;
pub mod problem;
pub(crate) mod products;
pub(crate) mod rate;
pub mod requests;
pub(crate) mod search;
pub(crate) mod similar;
pub(crate) mod tokens;
pub(crate) mod traffic;
pub mod understood;
pub(crate) mod unsent;
pub mod wire;

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use axum::{
    Router,
    middleware::{from_fn_with_state, map_response},
    response::{IntoResponse, Response},
};
use engine::Engine;
use metrics_exporter_prometheus::PrometheusHandle;
use tower::util::option_layer;
use tower_http::catch_panic::CatchPanicLayer;
use utoipa::openapi::OpenApi;
use utoipa_axum::{router::OpenApiRouter, routes};

use self::{
    admission::Admissions, cors::Origins, json::BodyLimits, jwt::SignedTokens, observe::RequestIds,
    pages::PagePolicy, problem::ApiError, rate::RateLimits, traffic::Traffic,
    unsent::UnsentResponses,
};
use crate::{config::Config, demo::DemoShop, serving::ReadinessFlag};

/// The canonical prefix of the API.
const PREFIX: &str = "/api/v1";
/// The prefix that the contract's samples use; it serves the very same.
const SAMPLES_PREFIX: &str = "/v1";

/// What every handler can reach.
pub type App = Arc<Parts>;

/// The parts of a running service.
pub struct Parts {
    pub(crate) engine: Arc<Engine>,
    pub(crate) signed_tokens: Option<Arc<SignedTokens>>,
    pub(crate) rate_limits: Option<RateLimits>,
    pub(crate) body_limits: BodyLimits,
    pub(crate) head_limits: HeadLimits,
    pub(crate) request_time: Duration,
    pub(crate) search_time: Duration,
    /// Slots and memory of the requests that are let in.
    pub(crate) admissions: Admissions,
    /// Memory of the responses that are not sent yet.
    pub(crate) unsent: UnsentResponses,
    pub(crate) request_ids: RequestIds,
    pub(crate) readiness: Arc<ReadinessFlag>,
    pub(crate) metrics: PrometheusHandle,
    pub(crate) public_metrics: bool,
    /// The demo shop, where this is `shopkeeper demo`.
    pub(crate) demo: Option<DemoShop>,
    pub(crate) page_policy: PagePolicy,
    pub(crate) origins: Origins,
    /// What each shop asks.
    pub(crate) traffic: Traffic,
    pub(crate) started: Instant,
}

/// How large a request's head may be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HeadLimits {
    pub(crate) uri_bytes: usize,
    pub(crate) header_bytes: usize,
}

impl Parts {
    /// Puts the parts together as the configuration says. `process` tells this process's
    /// request ids from those of others.
    pub fn new(
        engine: Arc<Engine>,
        config: &Config,
        readiness: Arc<ReadinessFlag>,
        metrics: PrometheusHandle,
        process: u64,
    ) -> anyhow::Result<Self> {
        let limits = &config.limits;
        Ok(Self {
            engine,
            signed_tokens: config.jwt.as_ref().map(SignedTokens::new).transpose()?.map(Arc::new),
            rate_limits: config.rate_limit.map(RateLimits::new),
            body_limits: BodyLimits { bytes: limits.body_bytes, read_time: limits.body_read_time },
            head_limits: HeadLimits {
                uri_bytes: limits.uri_bytes,
                header_bytes: limits.header_bytes,
            },
            request_time: limits.request_time,
            search_time: limits.search_time,
            admissions: Admissions::new(limits),
            unsent: UnsentResponses::new(limits.response_memory),
            request_ids: RequestIds::new(process),
            readiness,
            metrics,
            public_metrics: config.metrics.public,
            demo: None,
            page_policy: PagePolicy::new(&config.pages),
            origins: Origins::new(&config.cors),
            traffic: Traffic::default(),
            started: Instant::now(),
        })
    }

    /// The same parts, around a demo shop.
    pub(crate) fn with_demo(self, demo: Option<DemoShop>) -> Self {
        Self { demo, ..self }
    }
}

/// The whole service.
pub fn router(app: App, config: &Config) -> Router {
    let api = guarded(&app, api());
    let agents = guarded(&app, mcp::routes());
    let demo = app.demo.as_ref().map(|_| demo::routes()).unwrap_or_default();
    Router::from(described(api.clone()))
        .nest(SAMPLES_PREFIX, api.into())
        .merge(agents)
        .merge(demo)
        .fallback(async || ApiError::NotFound("such address"))
        .layer(map_response(name_refused_methods))
        .layer(CatchPanicLayer::custom(observe::answer_panic))
        .layer(option_layer(cors::layer(&config.cors)))
        .layer(from_fn_with_state(Arc::clone(&app), observe::observe))
        .with_state(app)
}

/// Health and metrics alone, for a listener of their own: nothing that other clients do keeps them
/// from being answered.
pub(crate) fn admin_router(app: App) -> Router {
    let routes = OpenApiRouter::default()
        .routes(routes!(health::live))
        .routes(routes!(health::ready))
        .routes(routes!(health::metrics));
    Router::from(routes)
        .fallback(async || ApiError::NotFound("such address"))
        .layer(map_response(name_refused_methods))
        .layer(map_response(unsent::exempt))
        .layer(CatchPanicLayer::custom(observe::answer_panic))
        .layer(from_fn_with_state(Arc::clone(&app), observe::observe))
        .with_state(app)
}

/// The layers around everything that needs a token.
fn guarded(app: &App, routes: OpenApiRouter<App>) -> OpenApiRouter<App> {
    routes
        .route_layer(from_fn_with_state(Arc::clone(app), freshness::layer))
        .route_layer(from_fn_with_state(Arc::clone(app), auth::authenticate))
        .layer(from_fn_with_state(Arc::clone(app), guard::guard))
}

/// The description of every address, as `/openapi.json` has it.
pub fn document() -> OpenApi {
    described(api()).into_openapi()
}

/// Every address once, with its description: there is no other way in.
fn described(api: OpenApiRouter<App>) -> OpenApiRouter<App> {
    OpenApiRouter::with_openapi(openapi::document_without_operations())
        .nest(PREFIX, api)
        .routes(routes!(health::live))
        .routes(routes!(health::ready))
        .routes(routes!(health::metrics))
        .routes(routes!(openapi::openapi))
        .routes(routes!(docs::docs))
        .routes(routes!(pages::home))
        .routes(routes!(pages::preview))
        .routes(routes!(pages::desk))
        .routes(routes!(pages::asset))
}

/// What needs a token.
fn api() -> OpenApiRouter<App> {
    OpenApiRouter::default()
        .routes(routes!(products::list, products::create))
        .routes(routes!(products::bulk_create, products::bulk_update, products::bulk_delete))
        .routes(routes!(products::get, products::update, products::delete))
        .routes(routes!(search::search))
        .routes(routes!(similar::similar))
        .routes(routes!(tokens::list, tokens::issue))
        .routes(routes!(tokens::revoke))
        .routes(routes!(figures::figures))
}

/// The framework's bare 405 (with its `Allow` header) becomes an error like all others.
async fn name_refused_methods(mut response: Response) -> Response {
    let refused = response.status() == axum::http::StatusCode::METHOD_NOT_ALLOWED
        && response.extensions().get::<ApiError>().is_none();
    if refused {
        response.extensions_mut().insert(ApiError::MethodNotAllowed);
    }
    response.into_response()
}
