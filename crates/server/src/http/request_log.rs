//! The request log, the outermost layer: assigns the request's id, opens its span, bounds its time,
//! records its metrics, and writes the body of an error and the headers of every response.

use std::{
    any::Any,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use axum::{
    Extension,
    extract::{MatchedPath, Request, State},
    http::{HeaderValue, Method, StatusCode, header},
    middleware::Next,
    response::{IntoResponse, Response},
};
use tracing::Instrument;

use super::{
    admission::{Connection, ResponseMemory, response_memory::Sending},
    errors::ApiError,
    headers::REQUEST_ID,
};
use crate::readiness::{Readiness, ReadinessFlag};

/// The longest request id that is accepted from a client.
const MAX_ID_BYTES: usize = 128;
/// The route label of requests that match no route: their paths are unbounded.
const NO_ROUTE: &str = "none";

/// Keeps browsers from taking any response for something else than it says.
const NO_SNIFFING: HeaderValue = HeaderValue::from_static("nosniff");

/// Generates request ids that are unique across processes.
pub(crate) struct RequestIds {
    process: u64,
    next: AtomicU64,
}

impl RequestIds {
    pub(crate) fn new(process: u64) -> Self {
        Self { process, next: AtomicU64::new(1) }
    }

    fn next(&self) -> HeaderValue {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        HeaderValue::from_str(&format!("{:016x}-{number:x}", self.process))
            .unwrap_or_else(|_| unreachable!("hexadecimal digits are header text"))
    }
}

/// The id of a request, as a request extension.
#[derive(Clone, Debug)]
pub(crate) struct RequestId(pub(crate) String);

/// Whether a client's id can be copied into logs and headers.
fn is_valid_id(id: &HeaderValue) -> bool {
    let is_valid = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.:+/=".contains(byte);
    (1..=MAX_ID_BYTES).contains(&id.len()) && id.as_bytes().iter().all(is_valid)
}

/// What the layer needs.
pub(crate) struct RequestLog {
    pub(crate) ids: RequestIds,
    /// The longest time that a request may take.
    pub(crate) time_limit: Duration,
    pub(crate) response_memory: Arc<ResponseMemory>,
    pub(crate) readiness: Arc<ReadinessFlag>,
}

/// The layer around all routes.
pub(crate) async fn layer(
    State(log): State<Arc<RequestLog>>,
    Extension(connection): Extension<Arc<Connection>>,
    mut request: Request,
    next: Next,
) -> Response {
    let started = Instant::now();
    let id = match request.headers().get(REQUEST_ID) {
        Some(id) if is_valid_id(id) => id.clone(),
        _ => log.ids.next(),
    };
    let request_id = id.to_str().unwrap_or_default().to_owned();
    request.extensions_mut().insert(RequestId(request_id.clone()));
    let method = request.method().clone();
    let route = request
        .extensions()
        .get::<MatchedPath>()
        .map_or_else(|| NO_ROUTE.to_owned(), |path| path.as_str().to_owned());
    let span =
        tracing::info_span!("request", %method, route, request_id, status = tracing::field::Empty);
    crate::telemetry::continue_trace(&span, request.headers());
    let mut response = async {
        let answered = tokio::time::timeout(log.time_limit, next.run(request)).await;
        let response = answered.unwrap_or_else(|_| ApiError::TookTooLong.into_response());
        let response = write_problem(response, &request_id);
        let sending = Sending::of(&method, &route);
        let address = connection.address;
        let counted = log.response_memory.count(response, sending, address).await;
        write_problem(counted, &request_id)
    }
    .instrument(span.clone())
    .await;
    response.headers_mut().insert(REQUEST_ID, id);
    response.headers_mut().insert(header::X_CONTENT_TYPE_OPTIONS, NO_SNIFFING);
    if log.readiness.get() == Readiness::Stopping {
        // Clients with persistent connections send their next request elsewhere.
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    span.record("status", response.status().as_u16());
    span.in_scope(|| record(&method, route, response.status(), started.elapsed()));
    response
}

/// Logs a request and adds it to the metrics.
fn record(method: &Method, route: String, status: StatusCode, elapsed: Duration) {
    let elapsed_us = elapsed.as_micros() as u64;
    // A health probe with status 503 is an answer, not a failure.
    if status.is_server_error() && !route.starts_with("/health/") {
        tracing::warn!(status = status.as_u16(), elapsed_us, "request failed");
    } else {
        tracing::debug!(status = status.as_u16(), elapsed_us, "request answered");
    }
    let labels = [
        ("route", route.clone()),
        ("method", method_label(method).to_owned()),
        ("status", status.as_str().to_owned()),
    ];
    metrics::counter!("shopkeeper_http_requests_total", &labels).increment(1);
    metrics::histogram!("shopkeeper_http_request_seconds", "route" => route)
        .record(elapsed.as_secs_f64());
}

/// The metric label of a method. Methods outside the list share one label: they are unbounded.
fn method_label(method: &Method) -> &'static str {
    match method.as_str() {
        "GET" => "GET",
        "HEAD" => "HEAD",
        "POST" => "POST",
        "PUT" => "PUT",
        "DELETE" => "DELETE",
        "OPTIONS" => "OPTIONS",
        "PATCH" => "PATCH",
        _ => "other",
    }
}

/// Writes the body of an error response; other responses pass unchanged.
fn write_problem(mut response: Response, request_id: &str) -> Response {
    let Some(error) = response.extensions_mut().remove::<ApiError>() else { return response };
    let mut problem = error.into_problem(request_id);
    for (name, value) in response.headers() {
        if name != header::CONTENT_LENGTH && name != header::CONTENT_TYPE {
            problem.headers_mut().append(name, value.clone());
        }
    }
    problem
}

/// The response to a panic, which the panic hook has logged.
pub(crate) fn panic_response(_: Box<dyn Any + Send + 'static>) -> Response {
    ApiError::Internal.into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_valid_ids_are_accepted() {
        let check = |id: &str| is_valid_id(&HeaderValue::from_str(id).unwrap());
        assert!(check("6f1c2d3e-1"));
        assert!(check("trace:abc/1=+_."));
        assert!(!check(""));
        assert!(!check("a b"));
        assert!(!check("<script>"));
        assert!(!check(&"x".repeat(MAX_ID_BYTES + 1)));
    }

    #[test]
    fn ids_are_unique() {
        let ids = RequestIds::new(0xabc);
        assert_eq!(ids.next(), "0000000000000abc-1");
        assert_eq!(ids.next(), "0000000000000abc-2");
    }
}
