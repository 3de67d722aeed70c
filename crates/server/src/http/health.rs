//! Is the service alive, ready, and how is it doing?

use axum::{
    Json,
    extract::State,
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Response},
};
use serde::Serialize;
use utoipa::ToSchema;

use super::{App, auth, problem::ApiError};
use crate::{metrics, serving::Readiness};

/// How the service is.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Health {
    /// `ok`, or what it is waiting for.
    status: &'static str,
}

/// The process answers.
pub(crate) async fn live() -> Json<Health> {
    Json(Health { status: "ok" })
}

/// The store can be read, shops are in memory, and the server is not stopping.
pub(crate) async fn ready(State(app): State<App>) -> Response {
    let status = match app.readiness.get() {
        Readiness::Ready => match app.engine.check() {
            Ok(()) => return Json(Health { status: "ok" }).into_response(),
            Err(_) => "the store cannot be read",
        },
        Readiness::WarmingUp => "shops are being loaded",
        Readiness::Stopping => "the server is stopping",
    };
    (StatusCode::SERVICE_UNAVAILABLE, Json(Health { status })).into_response()
}

/// The figures, as Prometheus reads them.
pub(crate) async fn metrics(
    State(app): State<App>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    if !app.public_metrics {
        auth::identify(&app, &headers)?.0.may_administer()?;
    }
    let text = metrics::render(&app.metrics, &app.engine);
    Ok(([(header::CONTENT_TYPE, "text/plain; version=0.0.4")], text).into_response())
}
