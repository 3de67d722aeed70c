//! The endpoints of health probes and metrics.

use axum::{
    Json,
    extract::State,
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Response},
};
use engine::EngineError;

use crate::{
    http::{
        app::App,
        errors::{
            ApiError,
            responses::{AnyProblems, TokenProblems},
        },
        openapi::tags::OPERATION,
        responses::health::{Alive, Health, Metrics, Ready},
    },
    metrics,
    readiness::Readiness,
};

const DATABASE_AWAY: &str = "the database is away; what is in memory is shown";
const DAMAGED: &str = "the database file is damaged; the log says what was found";
const WRITER_DOWN: &str = "the writer is down; restart the server";

/// Is the process alive?
///
/// Restart it when this does not answer, or answers 503.
#[utoipa::path(
    get,
    path = "/health/live",
    operation_id = "get_liveness",
    tag = OPERATION,
    responses(AnyProblems, Alive),
    security(()),
    extensions(("x-required-role" = json!("none")))
)]
pub(crate) async fn live(State(app): State<App>) -> Response {
    match app.engine.check_writer() {
        Ok(()) => Json(Health { status: "ok" }).into_response(),
        Err(_) => unavailable(WRITER_DOWN),
    }
}

/// Is the service ready?
///
/// Yes when the store can be read, the writer is there, shops are in memory, and the server is
/// not stopping. Send requests elsewhere while it is not. A node whose database is away stays
/// ready, and says so, while it has shops in memory to show: elsewhere it is likely away too.
#[utoipa::path(
    get,
    path = "/health/ready",
    operation_id = "get_readiness",
    tag = OPERATION,
    responses(AnyProblems, Ready),
    security(()),
    extensions(("x-required-role" = json!("none")))
)]
pub(crate) async fn ready(State(app): State<App>) -> Response {
    let status = match app.readiness.get() {
        Readiness::Ready | Readiness::WarmingUp if app.engine.is_damaged() => DAMAGED,
        Readiness::Ready => match app.engine.check().await {
            Ok(()) if app.engine.is_database_unavailable() => {
                return Json(Health { status: DATABASE_AWAY }).into_response();
            }
            Ok(()) => return Json(Health { status: "ok" }).into_response(),
            Err(EngineError::Write(_)) => WRITER_DOWN,
            Err(_) => "the store cannot be read",
        },
        Readiness::WarmingUp => "shops are being loaded",
        Readiness::Stopping => "the server is stopping",
    };
    unavailable(status)
}

fn unavailable(status: &'static str) -> Response {
    (StatusCode::SERVICE_UNAVAILABLE, Json(Health { status })).into_response()
}

/// Figures for Prometheus
///
/// Open to everyone where the service listens on a loopback address, and for ADMIN tokens alone
/// where it does not, unless `metrics.public` says otherwise.
#[utoipa::path(
    get,
    path = "/metrics",
    operation_id = "get_metrics",
    tag = OPERATION,
    responses(Metrics, TokenProblems, AnyProblems),
    security((), ("bearer" = [])),
    extensions(("x-required-role" = json!("none")))
)]
pub(crate) async fn metrics(
    State(app): State<App>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    render_metrics(&app, app.public_metrics, &headers).await
}

/// The same on the admin listener.
pub(crate) async fn admin_metrics(
    State(app): State<App>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    render_metrics(&app, app.public_admin_metrics, &headers).await
}

async fn render_metrics(
    app: &App,
    is_public: bool,
    headers: &HeaderMap,
) -> Result<Response, ApiError> {
    if !is_public {
        app.authenticator.identify(headers).await?.0.may_administer()?;
    }
    let text = metrics::render(&app.metrics, &app.engine);
    Ok(([(header::CONTENT_TYPE, "text/plain; version=0.0.4")], text).into_response())
}
