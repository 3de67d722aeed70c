//! The body of the response with a shop's stats.

use serde::Serialize;
use serde_json::json;
use utoipa::ToSchema;

use super::describe::{api, described_responses};
use crate::http::{enums, traffic::LatencyHistogram};

/// How a shop is doing.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ShopStats {
    /// The token's shop.
    #[schema(minimum = 1)]
    pub(crate) shop_id: u64,
    /// The token's role.
    #[schema(schema_with = enums::role)]
    pub(crate) role: &'static str,
    /// The shop's products.
    pub(crate) products: ProductStats,
    /// The shop's searches since the server started.
    pub(crate) searches: RequestStats,
    /// The shop's writes since the server started.
    pub(crate) writes: RequestStats,
    /// The process that serves all shops; `null` for those who may not see `/metrics`.
    #[schema(required)]
    pub(crate) process: Option<ProcessStats>,
}

/// How many products a shop has.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ProductStats {
    /// Those that shoppers find.
    pub(crate) visible: usize,
    /// Those that they do not.
    pub(crate) hidden: usize,
}

/// One kind of work for a shop.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RequestStats {
    /// Requests answered.
    pub(crate) count: u64,
    /// Those of them answered with a status of 500 or more.
    pub(crate) failed: u64,
    /// The median response time in milliseconds; `null` before the first request.
    #[schema(required)]
    pub(crate) p50_ms: Option<f64>,
    /// The 95th percentile of the response times in milliseconds; `null` before the first request.
    #[schema(required)]
    pub(crate) p95_ms: Option<f64>,
    /// The 99th percentile of the response times in milliseconds; `null` before the first request.
    #[schema(required)]
    pub(crate) p99_ms: Option<f64>,
    /// The number of requests by response time, shortest first. The difference of two readings is
    /// what happened between them.
    pub(crate) times: Vec<LatencyBucket>,
}

/// Requests that took about as long.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct LatencyBucket {
    /// The longest response time of the bucket, in milliseconds.
    pub(crate) up_to_ms: f64,
    /// How many.
    pub(crate) count: u64,
}

/// The process that serves all shops.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ProcessStats {
    /// How long it has run.
    pub(crate) uptime_seconds: u64,
    /// Resident memory; `null` where the system does not say.
    #[schema(required)]
    pub(crate) memory_bytes: Option<u64>,
    /// Memory of the indexes, part of the above.
    pub(crate) index_bytes: usize,
    /// Writes waiting to be stored.
    pub(crate) writes_waiting: usize,
    /// Products that still wait for the best vector the model can make of them; `null` without a
    /// model.
    #[schema(required)]
    pub(crate) vectors_waiting: Option<usize>,
}

impl From<&LatencyHistogram> for RequestStats {
    fn from(histogram: &LatencyHistogram) -> Self {
        let snapshot = histogram.snapshot();
        let milliseconds = |time: std::time::Duration| time.as_secs_f64() * 1000.0;
        let quantile = |share| snapshot.quantile(share).map(milliseconds);
        Self {
            count: snapshot.answered,
            failed: snapshot.failed,
            p50_ms: quantile(0.5),
            p95_ms: quantile(0.95),
            p99_ms: quantile(0.99),
            times: snapshot
                .times
                .iter()
                .map(|(end, count)| LatencyBucket { up_to_ms: milliseconds(*end), count: *count })
                .collect(),
        }
    }
}

described_responses!(
    StatsFound,
    "200" => api::<ShopStats>(
        "How the shop is doing.",
        json!({"shop_id": 1, "role": "EDITOR", "products": {"visible": 1190, "hidden": 12},
            "searches": {"count": 3, "failed": 0, "p50_ms": 1.2, "p95_ms": 2.9, "p99_ms": 2.9,
                "times": [{"up_to_ms": 1.2, "count": 2}, {"up_to_ms": 2.9, "count": 1}]},
            "writes": {"count": 0, "failed": 0, "p50_ms": null, "p95_ms": null, "p99_ms": null,
                "times": []},
            "process": {"uptime_seconds": 3600, "memory_bytes": 73400320, "index_bytes": 2097152,
                "writes_waiting": 0, "vectors_waiting": 0}}),
        &[],
    )
);
