//! The endpoint of a shop's stats.

use std::sync::Arc;

use axum::{Json, extract::State};

use crate::{
    http::{
        app::App,
        caller::Bearer,
        errors::{
            ApiError,
            responses::{ApiProblems, RoleProblems},
        },
        openapi::tags::OPERATION,
        responses::stats::{ProcessStats, ProductStats, RequestStats, ShopStats, StatsFound},
    },
    metrics,
};

/// The shop's stats
///
/// Products and traffic of the token's own shop, and of no other. Stats of the whole process are
/// there for those who may see `/metrics`.
#[utoipa::path(
    get,
    path = "/figures",
    operation_id = "get_stats",
    tag = OPERATION,
    responses(StatsFound, ApiProblems, RoleProblems),
    security(("bearer" = [])),
    extensions(("x-required-role" = json!("EDITOR")))
)]
pub(crate) async fn stats(
    State(app): State<App>,
    caller: Bearer,
) -> Result<Json<ShopStats>, ApiError> {
    caller.may_write()?;
    let counts = app.engine.counts(caller.may_read()).await?;
    let traffic = app.traffic.of(caller.shop());
    let sees_process = app.public_metrics || caller.may_administer().is_ok();
    Ok(Json(ShopStats {
        shop_id: caller.shop().get(),
        role: caller.role().as_str(),
        products: ProductStats {
            visible: counts.visible,
            hidden: counts.products - counts.visible,
        },
        searches: RequestStats::from(&traffic.searches),
        writes: RequestStats::from(&traffic.writes),
        process: match sees_process {
            true => Some(process(&app).await?),
            false => None,
        },
    }))
}

async fn process(app: &App) -> Result<ProcessStats, ApiError> {
    let held = app.engine.stats();
    let engine = Arc::clone(&app.engine);
    // Counting rows may block for a while.
    let waiting = tokio::task::spawn_blocking(move || match engine.has_model() {
        true => engine.pending_vectors().map(Some),
        false => Ok(None),
    });
    Ok(ProcessStats {
        vectors_waiting: waiting.await.map_err(|_| ApiError::Internal)??,
        uptime_seconds: app.started.elapsed().as_secs(),
        memory_bytes: metrics::resident_bytes(),
        index_bytes: held.index_bytes,
        writes_waiting: held.writes_waiting,
    })
}
