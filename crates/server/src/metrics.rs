//! Which figures are kept, under which names, and how are they written for Prometheus?

use std::time::Duration;

use engine::Engine;
use metrics_exporter_prometheus::{BuildError, Matcher, PrometheusBuilder, PrometheusHandle};

/// Upper ends of latency buckets, in seconds: fine where searches live, coarse above.
const LATENCY_BUCKETS: &[f64] =
    &[0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0];
/// Upper ends of the buckets of searches and their steps, in seconds: ten to a decade, so that a
/// median is told within a few hundredths.
#[rustfmt::skip]
const SEARCH_BUCKETS: &[f64] = &[
    0.000_01, 0.000_012_5, 0.000_016, 0.000_02, 0.000_025, 0.000_032, 0.000_04, 0.000_05, 0.000_063, 0.000_08,
    0.000_1, 0.000_125, 0.000_16, 0.000_2, 0.000_25, 0.000_32, 0.000_4, 0.000_5, 0.000_63, 0.000_8,
    0.001, 0.001_25, 0.001_6, 0.002, 0.002_5, 0.003_2, 0.004, 0.005, 0.006_3, 0.008,
    0.01, 0.012_5, 0.016, 0.02, 0.025, 0.032, 0.04, 0.05, 0.063, 0.08,
    0.1, 0.25, 0.5, 1.0, 5.0,
];
/// Upper ends of group size buckets, in writes.
const GROUP_BUCKETS: &[f64] = &[1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 1024.0];

/// The pause between two upkeeps: at 10,000 requests a second, a few megabytes gather meanwhile.
const UPKEEP_EVERY: Duration = Duration::from_secs(5);

/// Starts keeping figures for this process.
pub fn install() -> Result<PrometheusHandle, BuildError> {
    let handle = PrometheusBuilder::new()
        .set_buckets_for_metric(Matcher::Prefix("shopkeeper_search_".to_owned()), SEARCH_BUCKETS)?
        .set_buckets_for_metric(Matcher::Suffix("_seconds".to_owned()), LATENCY_BUCKETS)?
        .set_buckets_for_metric(Matcher::Suffix("_group_size".to_owned()), GROUP_BUCKETS)?
        .install_recorder()?;
    describe();
    Ok(handle)
}

/// Keeps the recorder's memory bounded for as long as it is awaited. Samples of histograms are kept
/// one by one until upkeep adds them to their buckets, which otherwise happens only when figures
/// are fetched.
pub(crate) async fn keep_up(handle: PrometheusHandle) {
    let mut ticks = tokio::time::interval(UPKEEP_EVERY);
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
        "Connections closed to make room for another, or refused because all were in use."
    );
    metrics::describe_counter!("shopkeeper_mcp_calls_total", "Calls of tools by agents.");
    metrics::describe_counter!("shopkeeper_writes_total", "Writes stored, or failed.");
    metrics::describe_histogram!("shopkeeper_write_group_size", "Writes in one transaction.");
    metrics::describe_histogram!("shopkeeper_commit_seconds", "Time from begin to durable.");
    metrics::describe_gauge!("shopkeeper_index_shops", "Shops in memory.");
    metrics::describe_gauge!("shopkeeper_index_products", "Products in memory.");
    metrics::describe_gauge!("shopkeeper_index_bytes", "Memory of the shop indexes.");
    metrics::describe_counter!(
        "shopkeeper_index_divergences_total",
        "Shops loaded again because the database lost commits."
    );
    metrics::describe_counter!(
        "shopkeeper_undecodable_values_total",
        "Values of stored rows that could not be decoded."
    );
    metrics::describe_histogram!("shopkeeper_search_seconds", "Time of a search.");
    metrics::describe_histogram!("shopkeeper_search_stage_seconds", "Time of a search's steps.");
    metrics::describe_counter!(
        "shopkeeper_database_searches_total",
        "Searches of shops too large for memory, by how they were done."
    );
    metrics::describe_gauge!("shopkeeper_search_cache_bytes", "Memory of kept answers.");
    metrics::describe_counter!(
        "shopkeeper_search_cache_total",
        "Answers looked for among those kept."
    );
    metrics::describe_gauge!(
        "shopkeeper_writes_waiting",
        "Writes waiting for a commit or for their index."
    );
    metrics::describe_gauge!("shopkeeper_vectors_waiting", "Products without a deep vector.");
    metrics::describe_counter!("shopkeeper_query_vectors_total", "Queries embedded.");
    metrics::describe_counter!("shopkeeper_vectors_stored_total", "Products embedded.");
    metrics::describe_counter!("shopkeeper_embed_failures_total", "Batches not embedded.");
    metrics::describe_histogram!("shopkeeper_embed_batch_seconds", "Time to embed a batch.");
    metrics::describe_gauge!("process_resident_memory_bytes", "Resident memory.");
}

/// The figures as text, those that are only looked at now included.
pub(crate) fn render(handle: &PrometheusHandle, engine: &Engine) -> String {
    let figures = engine.figures();
    metrics::gauge!("shopkeeper_index_shops").set(figures.shops as f64);
    metrics::gauge!("shopkeeper_index_products").set(figures.products as f64);
    metrics::gauge!("shopkeeper_index_bytes").set(figures.index_bytes as f64);
    metrics::gauge!("shopkeeper_search_cache_bytes").set(figures.answer_bytes as f64);
    metrics::gauge!("shopkeeper_writes_waiting").set(figures.writes_waiting as f64);
    if let Some(bytes) = resident_bytes() {
        metrics::gauge!("process_resident_memory_bytes").set(bytes as f64);
    }
    handle.run_upkeep();
    handle.render()
}

/// Resident memory as the kernel counts it; `None` where it does not say.
pub(crate) fn resident_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A sample takes more than its eight bytes until upkeep adds it to a bucket.
    #[tokio::test(start_paused = true)]
    async fn samples_do_not_gather_although_figures_are_not_fetched() {
        let recorder = PrometheusBuilder::new()
            .set_buckets(LATENCY_BUCKETS)
            .unwrap_or_else(|error| panic!("{error}"))
            .build_recorder();
        tokio::spawn(keep_up(recorder.handle()));
        let before = resident_bytes();
        for _ in 0..80 {
            metrics::with_local_recorder(&recorder, || {
                let histogram = metrics::histogram!("shopkeeper_search_seconds");
                (0..100_000).for_each(|n| histogram.record(f64::from(n)));
            });
            tokio::time::sleep(UPKEEP_EVERY).await;
        }
        let grown =
            resident_bytes().zip(before).map(|(after, before)| after.saturating_sub(before));
        // Other tests run beside this one. Without upkeep it grows by 131 MB.
        assert!(grown.is_none_or(|grown| grown < 64 << 20), "{grown:?} for 8,000,000 samples");
    }
}
