//! Metrics: their descriptions and buckets, and their rendering for Prometheus.

use std::time::Duration;

use engine::Engine;
use metrics_exporter_prometheus::{BuildError, Matcher, PrometheusBuilder, PrometheusHandle};

/// Upper bounds of latency buckets in seconds, finer below 10 ms.
const LATENCY_BUCKETS: &[f64] =
    &[0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0];
/// Upper bounds of the buckets of searches and their stages in seconds: ten per decade, so that
/// interpolated quantiles are exact to a few percent.
#[rustfmt::skip]
const SEARCH_BUCKETS: &[f64] = &[
    0.000_01, 0.000_012_5, 0.000_016, 0.000_02, 0.000_025, 0.000_032, 0.000_04, 0.000_05, 0.000_063, 0.000_08,
    0.000_1, 0.000_125, 0.000_16, 0.000_2, 0.000_25, 0.000_32, 0.000_4, 0.000_5, 0.000_63, 0.000_8,
    0.001, 0.001_25, 0.001_6, 0.002, 0.002_5, 0.003_2, 0.004, 0.005, 0.006_3, 0.008,
    0.01, 0.012_5, 0.016, 0.02, 0.025, 0.032, 0.04, 0.05, 0.063, 0.08,
    0.1, 0.25, 0.5, 1.0, 5.0,
];
/// Upper bounds of the buckets of group sizes, in writes.
const GROUP_BUCKETS: &[f64] = &[1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 1024.0];

/// The time between two upkeeps: at 10,000 requests per second, samples take a few megabytes by then.
const UPKEEP_INTERVAL: Duration = Duration::from_secs(5);

/// Installs the metrics recorder of this process.
pub fn install() -> Result<PrometheusHandle, BuildError> {
    let handle = PrometheusBuilder::new()
        .set_buckets_for_metric(Matcher::Prefix("shopkeeper_search_".to_owned()), SEARCH_BUCKETS)?
        .set_buckets_for_metric(Matcher::Suffix("_seconds".to_owned()), LATENCY_BUCKETS)?
        .set_buckets_for_metric(Matcher::Suffix("_group_size".to_owned()), GROUP_BUCKETS)?
        .install_recorder()?;
    describe();
    Ok(handle)
}

/// Bounds the recorder's memory for as long as it is awaited. The recorder stores single samples of
/// histograms until upkeep adds them to their buckets, which otherwise happens only when metrics are
/// rendered.
pub(crate) async fn run_upkeep(handle: PrometheusHandle) {
    let mut ticks = tokio::time::interval(UPKEEP_INTERVAL);
    loop {
        ticks.tick().await;
        handle.run_upkeep();
    }
}

fn describe() {
    metrics::describe_counter!("shopkeeper_http_requests_total", "Requests answered.");
    metrics::describe_histogram!("shopkeeper_http_request_seconds", "Time to answer a request.");
    metrics::describe_counter!(
        "shopkeeper_connections_closed_total",
        "Idle connections closed for new ones, and connections refused because all were busy."
    );
    metrics::describe_counter!(
        "shopkeeper_mcp_calls_total",
        "Tool calls over the Model Context Protocol."
    );
    metrics::describe_counter!("shopkeeper_writes_total", "Writes by outcome.");
    metrics::describe_histogram!("shopkeeper_write_group_size", "Writes per transaction.");
    metrics::describe_histogram!(
        "shopkeeper_commit_seconds",
        "Time from the begin of a transaction to its commit."
    );
    metrics::describe_gauge!("shopkeeper_index_shops", "Shops with an index in memory.");
    metrics::describe_gauge!("shopkeeper_index_products", "Products in the indexes in memory.");
    metrics::describe_gauge!("shopkeeper_index_bytes", "Memory of the indexes.");
    metrics::describe_counter!(
        "shopkeeper_index_divergences_total",
        "Indexes rebuilt because the database lost commits."
    );
    metrics::describe_counter!(
        "shopkeeper_undecodable_values_total",
        "Stored values that could not be decoded."
    );
    metrics::describe_histogram!("shopkeeper_search_seconds", "Time of a search.");
    metrics::describe_histogram!(
        "shopkeeper_search_stage_seconds",
        "Time of the stages of a search."
    );
    metrics::describe_counter!(
        "shopkeeper_database_searches_total",
        "Searches inside the database, by method."
    );
    metrics::describe_gauge!("shopkeeper_search_cache_bytes", "Memory of the query cache.");
    metrics::describe_counter!(
        "shopkeeper_search_cache_total",
        "Lookups in the query cache, by outcome."
    );
    metrics::describe_gauge!(
        "shopkeeper_writes_waiting",
        "Writes waiting for a commit or for the index."
    );
    metrics::describe_gauge!("shopkeeper_vectors_waiting", "Products waiting for a deep vector.");
    metrics::describe_counter!("shopkeeper_query_vectors_total", "Queries embedded, by encoder.");
    metrics::describe_counter!("shopkeeper_vectors_stored_total", "Products embedded.");
    metrics::describe_counter!("shopkeeper_embed_failures_total", "Embedding batches that failed.");
    metrics::describe_histogram!("shopkeeper_embed_batch_seconds", "Time to embed a batch.");
    metrics::describe_counter!(
        "shopkeeper_token_lookups_total",
        "Tokens looked up in PostgreSQL: known ones are renewed, unknown ones may not exist."
    );
    metrics::describe_gauge!("process_resident_memory_bytes", "Resident memory.");
}

/// Renders all metrics, after updating the gauges.
pub(crate) fn render(handle: &PrometheusHandle, engine: &Engine) -> String {
    let stats = engine.stats();
    metrics::gauge!("shopkeeper_index_shops").set(stats.shops as f64);
    metrics::gauge!("shopkeeper_index_products").set(stats.products as f64);
    metrics::gauge!("shopkeeper_index_bytes").set(stats.index_bytes as f64);
    metrics::gauge!("shopkeeper_search_cache_bytes").set(stats.cache_bytes as f64);
    metrics::gauge!("shopkeeper_writes_waiting").set(stats.writes_waiting as f64);
    if let Some(bytes) = resident_bytes() {
        metrics::gauge!("process_resident_memory_bytes").set(bytes as f64);
    }
    handle.run_upkeep();
    handle.render()
}

/// Resident memory as the kernel reports it; `None` where it does not.
pub(crate) fn resident_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without upkeep, the recorder keeps every sample.
    #[tokio::test(start_paused = true)]
    async fn samples_do_not_accumulate_while_metrics_are_not_rendered() {
        let recorder = PrometheusBuilder::new()
            .set_buckets(LATENCY_BUCKETS)
            .unwrap_or_else(|error| panic!("{error}"))
            .build_recorder();
        tokio::spawn(run_upkeep(recorder.handle()));
        let before = resident_bytes();
        for _ in 0..80 {
            metrics::with_local_recorder(&recorder, || {
                let histogram = metrics::histogram!("shopkeeper_search_seconds");
                (0..100_000).for_each(|n| histogram.record(f64::from(n)));
            });
            tokio::time::sleep(UPKEEP_INTERVAL).await;
        }
        let grown =
            resident_bytes().zip(before).map(|(after, before)| after.saturating_sub(before));
        // Other tests run concurrently. Without upkeep it grows by 131 MB.
        assert!(grown.is_none_or(|grown| grown < 64 << 20), "{grown:?} for 8,000,000 samples");
    }
}
