//! What happened to this request? The outermost layer: its id, its span, its figures, and the
//! body of its error where it ended in one.

use std::{
    any::Any,
    sync::atomic::{AtomicU64, Ordering},
    time::Instant,
};

use axum::{
    extract::{MatchedPath, Request, State},
    http::{HeaderName, HeaderValue, Method, header},
    middleware::Next,
    response::{IntoResponse, Response},
};
use tracing::Instrument;

use super::{App, problem::ApiError, unsent::Sending};
use crate::serving::Readiness;

/// The request's id, on every request that names one and on every response.
pub(crate) const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// The longest id of the caller's own that is taken over.
const MAX_ID_BYTES: usize = 128;
/// The label of requests that no route takes: their paths could be anything.
const NO_ROUTE: &str = "none";

/// Makes ids that no other request of this or another process has.
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

/// The id of a request, for those who answer it.
#[derive(Clone, Debug)]
pub(crate) struct RequestId(pub(crate) String);

/// An id of the caller's that can go into logs and headers as it is.
fn is_sane(id: &HeaderValue) -> bool {
    let sane = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.:+/=".contains(byte);
    (1..=MAX_ID_BYTES).contains(&id.len()) && id.as_bytes().iter().all(sane)
}

pub(crate) async fn observe(State(app): State<App>, mut request: Request, next: Next) -> Response {
    let started = Instant::now();
    let id = match request.headers().get(REQUEST_ID) {
        Some(id) if is_sane(id) => id.clone(),
        _ => app.request_ids.next(),
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
    let limit = app.request_time;
    let mut response = async {
        let answered = tokio::time::timeout(limit, next.run(request)).await;
        let response = answered.unwrap_or_else(|_| ApiError::TookTooLong.into_response());
        let response = write_problem(response, &request_id);
        let sending = Sending::of(&method, &route);
        write_problem(app.unsent.count(response, sending).await, &request_id)
    }
    .instrument(span.clone())
    .await;
    response.headers_mut().insert(REQUEST_ID, id);
    if app.readiness.get() == Readiness::Stopping {
        // Clients that keep connections open take the next request elsewhere.
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }

    let status = response.status();
    let elapsed = started.elapsed();
    span.record("status", status.as_u16());
    span.in_scope(|| {
        let elapsed_us = elapsed.as_micros() as u64;
        // A probe that is told to wait has not failed: it has been answered.
        if status.is_server_error() && !route.starts_with("/health/") {
            tracing::warn!(status = status.as_u16(), elapsed_us, "a request failed");
        } else {
            tracing::debug!(status = status.as_u16(), elapsed_us, "a request was answered");
        }
    });
    let labels = [
        ("route", route.clone()),
        ("method", method_label(&method).to_owned()),
        ("status", status.as_str().to_owned()),
    ];
    metrics::counter!("shopkeeper_http_requests_total", &labels).increment(1);
    metrics::histogram!("shopkeeper_http_request_seconds", "route" => route)
        .record(elapsed.as_secs_f64());
    response
}

/// The methods of HTTP by name; clients can make up any number of others.
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

/// Gives an error response its body; other responses pass.
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

/// A panic becomes an answer; the panic hook has logged it.
pub(crate) fn answer_panic(_: Box<dyn Any + Send + 'static>) -> Response {
    ApiError::Internal.into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_sane_ids_are_taken_over() {
        let check = |id: &str| is_sane(&HeaderValue::from_str(id).unwrap());
        assert!(check("6f1c2d3e-1"));
        assert!(check("trace:abc/1=+_."));
        assert!(!check(""));
        assert!(!check("a b"));
        assert!(!check("<script>"));
        assert!(!check(&"x".repeat(MAX_ID_BYTES + 1)));
    }

    #[test]
    fn ids_are_never_the_same() {
        let ids = RequestIds::new(0xabc);
        assert_eq!(ids.next(), "0000000000000abc-1");
        assert_eq!(ids.next(), "0000000000000abc-2");
    }
}
