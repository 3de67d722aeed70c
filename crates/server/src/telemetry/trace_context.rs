//! Continues the trace of the caller (W3C trace context).

use axum::http::HeaderMap;
use opentelemetry::propagation::{Extractor, TextMapPropagator};
use opentelemetry::trace::TraceContextExt;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use tracing::Span;
use tracing_opentelemetry::OpenTelemetrySpanExt;

/// Makes a request's span part of the trace named in its `traceparent` header, if any.
///
/// Call it before the span is entered; without a collector it does nothing.
pub fn continue_trace(span: &Span, headers: &HeaderMap) {
    if !headers.contains_key("traceparent") {
        return;
    }
    let context = TraceContextPropagator::new().extract(&Carrier(headers));
    if context.span().span_context().is_valid() {
        // Fails without a collector or if the span was entered; the span then keeps its own trace.
        let _ = span.set_parent(context);
    }
}

/// Headers as OpenTelemetry reads them.
struct Carrier<'h>(&'h HeaderMap);

impl Extractor for Carrier<'_> {
    fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key).and_then(|value| value.to_str().ok())
    }

    fn keys(&self) -> Vec<&str> {
        self.0.keys().map(|name| name.as_str()).collect()
    }
}
