//! Which address does what? The router, from the outermost layer to the handlers.
//!
//! A request passes [`observe`] (id, figures, error bodies), [`guard`] (room), [`auth`] (token
//! and rate limit), then its handler in [`products`], [`search`] or [`tokens`], which reads it
//! with [`json`], [`fields`] and [`requests`] and answers with [`wire`].

pub(crate) mod auth;
mod cors;
pub(crate) mod fields;
pub(crate) mod guard;
pub(crate) mod health;
pub mod json;
pub(crate) mod jwt;
pub(crate) mod observe;
pub(crate) mod path;
pub mod problem;
pub(crate) mod products;
pub(crate) mod rate;
pub mod requests;
pub(crate) mod search;
pub(crate) mod tokens;
pub mod wire;

use std::{sync::Arc, time::Duration};

use axum::{
    Router,
    middleware::{from_fn_with_state, map_response},
    response::{IntoResponse, Response},
    routing::{delete, get, post},
};
use engine::Engine;
use metrics_exporter_prometheus::PrometheusHandle;
use tokio::sync::Semaphore;
use tower::util::option_layer;
use tower_http::catch_panic::CatchPanicLayer;

use self::{
    json::BodyLimits, jwt::SignedTokens, observe::RequestIds, problem::ApiError, rate::RateLimits,
};
use crate::{config::Config, serving::ReadinessFlag};

/// The canonical prefix of the API, and the one that the contract's samples use.
const PREFIXES: [&str; 2] = ["/api/v1", "/v1"];

/// What every handler can reach.
pub type App = Arc<Parts>;

/// The parts of a running service.
pub struct Parts {
    pub(crate) engine: Arc<Engine>,
    pub(crate) signed_tokens: Option<SignedTokens>,
    pub(crate) rate_limits: Option<RateLimits>,
    pub(crate) body_limits: BodyLimits,
    pub(crate) head_limits: HeadLimits,
    pub(crate) request_time: Duration,
    pub(crate) places: Semaphore,
    pub(crate) request_ids: RequestIds,
    pub(crate) readiness: Arc<ReadinessFlag>,
    pub(crate) metrics: PrometheusHandle,
    pub(crate) public_metrics: bool,
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
            signed_tokens: config.jwt.as_ref().map(SignedTokens::new).transpose()?,
            rate_limits: config.rate_limit.map(RateLimits::new),
            body_limits: BodyLimits { bytes: limits.body_bytes, read_time: limits.body_read_time },
            head_limits: HeadLimits {
                uri_bytes: limits.uri_bytes,
                header_bytes: limits.header_bytes,
            },
            request_time: limits.request_time,
            places: Semaphore::new(limits.concurrent_requests),
            request_ids: RequestIds::new(process),
            readiness,
            metrics,
            public_metrics: config.metrics.public,
        })
    }
}

/// The whole service.
pub fn router(app: App, config: &Config) -> Router {
    let guarded = api()
        .route_layer(from_fn_with_state(Arc::clone(&app), auth::authenticate))
        .layer(from_fn_with_state(Arc::clone(&app), guard::guard));
    let mut router = Router::new()
        .route("/health/live", get(health::live))
        .route("/health/ready", get(health::ready))
        .route("/metrics", get(health::metrics));
    for prefix in PREFIXES {
        router = router.nest(prefix, guarded.clone());
    }
    router
        .fallback(async || ApiError::NotFound("such address"))
        .layer(map_response(name_refused_methods))
        .layer(CatchPanicLayer::custom(observe::answer_panic))
        .layer(option_layer(cors::layer(&config.cors)))
        .layer(from_fn_with_state(Arc::clone(&app), observe::observe))
        .with_state(app)
}

fn api() -> Router<App> {
    Router::new()
        .route("/products", get(products::list).post(products::create))
        .route(
            "/products/bulk",
            post(products::bulk_create).put(products::bulk_update).delete(products::bulk_delete),
        )
        .route(
            "/products/{product_id}",
            get(products::get).put(products::update).delete(products::delete),
        )
        .route("/search", post(search::search))
        .route("/tokens", get(tokens::list).post(tokens::issue))
        .route("/tokens/{token_id}", delete(tokens::revoke))
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
