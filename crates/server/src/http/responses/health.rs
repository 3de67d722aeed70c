//! The bodies of responses about the state of the service.

use serde::Serialize;
use serde_json::json;
use utoipa::{ToSchema, openapi::ResponseBuilder};

use super::describe::{content, described_responses, open, open_json, text};
use crate::http::{
    errors::{ApiError, reference::problem_example},
    json_schema::reference,
};

/// How the service is.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Health {
    /// `ok`, or what is amiss.
    pub(crate) status: &'static str,
}

described_responses!(
    Alive,
    "200" => open_json::<Health>("The process answers.", json!({"status": "ok"}), &[]),
    "503" => unhealthy("A restart would help it.", "the writer is down; restart the server"),
);

described_responses!(
    Ready,
    "200" => open_json::<Health>("Requests are welcome.", json!({"status": "ok"}), &[]),
    "503" => unhealthy(
        "Not now: shops are being loaded, the store cannot be used, or the server is stopping.",
        "shops are being loaded",
    ),
);

described_responses!(
    Metrics,
    "200" => open(
        "The figures in Prometheus's text format.",
        "text/plain",
        text("shopkeeper_writes_waiting 0\n"),
        &[],
    )
);

/// A failed probe, or the problem that every path responds with after a timeout.
fn unhealthy(description: &str, status: &str) -> ResponseBuilder {
    let problem = content(reference("Problem"), problem_example(&ApiError::TookTooLong));
    open_json::<Health>(description, json!({"status": status}), &[])
        .content("application/problem+json", problem)
}
