//! How is this shop doing? Its products and its traffic, for the desk.

use std::sync::Arc;

use axum::{Json, extract::State};
use serde::Serialize;
use utoipa::ToSchema;

use super::{
    App,
    auth::Bearer,
    openapi::{
        self, OPERATION,
        answers::ShopFiguresTold,
        problems::{ApiProblems, RoleProblems},
    },
    problem::ApiError,
    traffic::Tally,
};
use crate::metrics;

/// How a shop is doing.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ShopFigures {
    /// The token's shop.
    #[schema(minimum = 1)]
    shop_id: u64,
    /// The token's role.
    #[schema(schema_with = openapi::choices::role)]
    role: &'static str,
    /// The shop's products.
    products: ProductFigures,
    /// The shop's searches since the server started.
    searches: WorkFigures,
    /// The shop's writes since the server started.
    writes: WorkFigures,
    /// The process that serves all shops; `null` for those who may not see `/metrics`.
    #[schema(required)]
    process: Option<ProcessFigures>,
}

/// How many products a shop has.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ProductFigures {
    /// Those that shoppers find.
    visible: usize,
    /// Those that they do not.
    hidden: usize,
}

/// One kind of work for a shop.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct WorkFigures {
    /// Requests answered.
    count: u64,
    /// Those of them answered with a status of 500 or more.
    failed: u64,
    /// Half of them were answered within so many milliseconds; `null` before the first.
    #[schema(required)]
    p50_ms: Option<f64>,
    /// 95 of 100 were.
    #[schema(required)]
    p95_ms: Option<f64>,
    /// 99 of 100 were.
    #[schema(required)]
    p99_ms: Option<f64>,
    /// How many were answered in how many milliseconds, shortest first. The difference of two
    /// readings is what happened between them.
    times: Vec<TimeFigure>,
}

/// Requests that took about as long.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct TimeFigure {
    /// At most so long, in milliseconds.
    up_to_ms: f64,
    /// How many.
    count: u64,
}

/// The process that serves all shops.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ProcessFigures {
    /// How long it has run.
    uptime_seconds: u64,
    /// Resident memory; `null` where the system does not say.
    #[schema(required)]
    memory_bytes: Option<u64>,
    /// Memory of the indexes, part of the above.
    index_bytes: usize,
    /// Writes waiting to be stored.
    writes_waiting: usize,
    /// Products that still wait for the best vector the model can make of them; `null` without a
    /// model.
    #[schema(required)]
    vectors_waiting: Option<usize>,
}

impl From<&Tally> for WorkFigures {
    fn from(tally: &Tally) -> Self {
        let counted = tally.counted();
        let milliseconds = |time: std::time::Duration| time.as_secs_f64() * 1000.0;
        let quantile = |share| counted.quantile(share).map(milliseconds);
        Self {
            count: counted.answered,
            failed: counted.failed,
            p50_ms: quantile(0.5),
            p95_ms: quantile(0.95),
            p99_ms: quantile(0.99),
            times: counted
                .times
                .iter()
                .map(|(end, count)| TimeFigure { up_to_ms: milliseconds(*end), count: *count })
                .collect(),
        }
    }
}

/// The shop's figures
///
/// Products and traffic of the token's own shop, and of no other. Figures of the whole process
/// are there for those who may see `/metrics`.
#[utoipa::path(
    get,
    path = "/figures",
    operation_id = "get_figures",
    tag = OPERATION,
    responses(ShopFiguresTold, ApiProblems, RoleProblems),
    security(("bearer" = [])),
    extensions(("x-required-role" = json!("EDITOR")))
)]
pub(crate) async fn figures(
    State(app): State<App>,
    caller: Bearer,
) -> Result<Json<ShopFigures>, ApiError> {
    caller.may_write()?;
    let counts = app.engine.counts(caller.may_read()).await?;
    let traffic = app.traffic.of(caller.shop());
    let sees_process = app.public_metrics || caller.may_administer().is_ok();
    Ok(Json(ShopFigures {
        shop_id: caller.shop().get(),
        role: caller.role().as_str(),
        products: ProductFigures {
            visible: counts.visible,
            hidden: counts.products - counts.visible,
        },
        searches: WorkFigures::from(&traffic.searches),
        writes: WorkFigures::from(&traffic.writes),
        process: match sees_process {
            true => Some(process(&app).await?),
            false => None,
        },
    }))
}

async fn process(app: &App) -> Result<ProcessFigures, ApiError> {
    let held = app.engine.figures();
    let engine = Arc::clone(&app.engine);
    // Counting many rows takes a while.
    let waiting = tokio::task::spawn_blocking(move || match engine.has_model() {
        true => engine.waiting_for_vectors().map(Some),
        false => Ok(None),
    });
    Ok(ProcessFigures {
        vectors_waiting: waiting.await.map_err(|_| ApiError::Internal)??,
        uptime_seconds: app.started.elapsed().as_secs(),
        memory_bytes: metrics::resident_bytes(),
        index_bytes: held.index_bytes,
        writes_waiting: held.writes_waiting,
    })
}
