//! Exports spans to a collector, on a thread of its own.

use std::{
    io::Read,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use async_trait::async_trait;
use embed::http_client;
use opentelemetry::{KeyValue, trace::TracerProvider};
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use opentelemetry_otlp::{ExporterBuildError, Protocol, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::{
    Resource,
    error::OTelSdkResult,
    trace::{
        BatchConfigBuilder, BatchSpanProcessor, Sampler, SdkTracerProvider, SpanData, SpanExporter,
    },
};
use tracing::{Subscriber, info, level_filters::LevelFilter, warn};
use tracing_subscriber::{Layer, filter::Targets, registry::LookupSpan};

use crate::config::Telemetry;

/// The timeout of the last export when the service stops.
pub const FLUSH_TIME: Duration = Duration::from_secs(3);
/// The timeout of one batch, with retries.
const EXPORT_TIME: Duration = Duration::from_secs(5);
/// The capacity of the queue; further spans are dropped.
const QUEUE_SPANS: usize = 8192;
/// Spans per batch.
const BATCH_SPANS: usize = 512;
/// The longest time a span waits for its batch to fill.
const BATCH_DELAY: Duration = Duration::from_secs(2);
/// The limit of a collector's response.
const MAX_RESPONSE_BYTES: u64 = 64 << 10;
/// The libraries of the exporter: exporting their spans would create new ones without end.
const EXPORTER_TARGETS: [&str; 3] = ["h2", "hyper", "opentelemetry"];
/// The MCP SDK, whose spans duplicate those of the requests.
const MCP_TARGET: &str = "rmcp";
/// The name of the tracer.
const TRACER: &str = "shopkeeper";

/// The tracer provider; `None` without a collector.
pub(super) fn provider(
    telemetry: &Telemetry,
) -> Result<Option<SdkTracerProvider>, ExporterBuildError> {
    let Some(endpoint) = &telemetry.otlp_endpoint else { return Ok(None) };
    let exporter = opentelemetry_otlp::SpanExporter::builder()
        .with_http()
        .with_protocol(Protocol::HttpBinary)
        .with_endpoint(format!("{}/v1/traces", endpoint.trim_end_matches('/')))
        .with_timeout(EXPORT_TIME)
        .with_http_client(Client(http_client::settings(EXPORT_TIME).build().new_agent()))
        .build()?;
    let batches = BatchConfigBuilder::default()
        .with_max_queue_size(QUEUE_SPANS)
        .with_max_export_batch_size(BATCH_SPANS)
        .with_scheduled_delay(BATCH_DELAY)
        .build();
    let resource = Resource::builder()
        .with_service_name(telemetry.service_name.clone())
        .with_attribute(KeyValue::new("service.version", env!("CARGO_PKG_VERSION")))
        .build();
    let sampler =
        Sampler::ParentBased(Box::new(Sampler::TraceIdRatioBased(telemetry.sample_ratio)));
    let processor =
        BatchSpanProcessor::builder(Reporting::new(exporter)).with_batch_config(batches).build();
    let provider = SdkTracerProvider::builder()
        .with_span_processor(processor)
        .with_sampler(sampler)
        .with_resource(resource);
    Ok(Some(provider.build()))
}

/// Exports spans of level info and above, independent of the log level.
pub(super) fn layer<S>(provider: &SdkTracerProvider) -> Box<dyn Layer<S> + Send + Sync>
where
    S: Subscriber + for<'s> LookupSpan<'s> + Send + Sync,
{
    let ours = Targets::new()
        .with_default(LevelFilter::INFO)
        .with_targets(EXPORTER_TARGETS.map(|target| (target, LevelFilter::OFF)))
        .with_target(MCP_TARGET, LevelFilter::OFF);
    tracing_opentelemetry::layer().with_tracer(provider.tracer(TRACER)).with_filter(ours).boxed()
}

/// Sends batches over HTTP. It blocks, which is fine: the SDK exports from a thread of its own.
#[derive(Debug)]
struct Client(ureq::Agent);

#[async_trait]
impl HttpClient for Client {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let response = self.0.run(request.map(Vec::from))?;
        let (head, body) = response.into_parts();
        let mut bytes = Vec::new();
        body.into_reader().take(MAX_RESPONSE_BYTES).read_to_end(&mut bytes)?;
        Ok(Response::from_parts(head, bytes.into()))
    }
}

/// An exporter that logs the first failure and the recovery, and nothing in between.
#[derive(Debug)]
struct Reporting<E> {
    exporter: E,
    failing: AtomicBool,
}

impl<E> Reporting<E> {
    fn new(exporter: E) -> Self {
        Self { exporter, failing: AtomicBool::new(false) }
    }
}

impl<E: SpanExporter> SpanExporter for Reporting<E> {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        let result = self.exporter.export(batch).await;
        let was_failing = self.failing.swap(result.is_err(), Ordering::Relaxed);
        match &result {
            Err(error) if !was_failing => {
                warn!(%error, "trace export failed; traces are dropped until the collector is available");
            }
            Ok(()) if was_failing => info!("trace export works again"),
            _ => {}
        }
        result
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.exporter.shutdown_with_timeout(timeout)
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.exporter.force_flush()
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.exporter.set_resource(resource);
    }
}
