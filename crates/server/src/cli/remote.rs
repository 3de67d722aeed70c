//! HTTP client for a running server, with retries and backoff for temporary failures.

use std::{
    io::Read,
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, bail};
use embed::http_client;
use serde_json::Value;
use ureq::{
    Agent, Body,
    http::{
        Method, Request, Response, StatusCode,
        header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue, RETRY_AFTER},
        request::Builder,
    },
};

use crate::serving;

/// The timeout of one request.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(120);
/// A request is retried for at most this long.
const RETRY_TIMEOUT: Duration = Duration::from_secs(300);
/// The first pause between retries; it doubles each time, up to [`MAX_BACKOFF`].
const MIN_BACKOFF: Duration = Duration::from_millis(200);
const MAX_BACKOFF: Duration = Duration::from_secs(15);

/// A server and a token for it.
pub(super) struct Remote {
    http: Agent,
    base: String,
    authorization: HeaderValue,
}

/// The answer of a server, of any status.
pub(super) struct Answer {
    pub(super) status: StatusCode,
    /// The total of a list, if the answer is a page of one.
    pub(super) total_count: Option<u64>,
    pub(super) body: Value,
}

impl Remote {
    pub(super) fn new(base: &str, token: &str) -> anyhow::Result<Self> {
        let parsed = url::Url::parse(base).with_context(|| format!("--server {base}"))?;
        if !matches!(parsed.scheme(), "http" | "https") {
            bail!("--server must be an http or https address, such as http://127.0.0.1:7700");
        }
        let http = http_client::settings(REQUEST_TIMEOUT).build().new_agent();
        let mut authorization = HeaderValue::try_from(format!("Bearer {token}"))
            .context("the token contains characters that are not allowed in a header")?;
        authorization.set_sensitive(true);
        Ok(Self { http, base: base.trim_end_matches('/').to_owned(), authorization })
    }

    /// Sends a `POST` request without retries.
    pub(super) fn post_once(&self, path: &str, body: &Value) -> anyhow::Result<Answer> {
        let response = self.request(self.builder(&Method::POST, path), Some(body));
        let response = response.with_context(|| format!("{} cannot be reached", self.base))?;
        Answer::read(response)
    }

    /// Sends a request and retries temporary failures. Requests must be idempotent; a create is made so
    /// by its key.
    pub(super) fn send(
        &self,
        method: &Method,
        path: &str,
        key: Option<&str>,
        body: Option<&Value>,
    ) -> anyhow::Result<Answer> {
        let began = Instant::now();
        let mut backoff = MIN_BACKOFF;
        loop {
            let mut request = self.builder(method, path);
            if let Some(key) = key {
                request = request.header("Idempotency-Key", key);
            }
            let (why, wait) = match self.request(request, body).map(Outcome::of) {
                Ok(Outcome::Answered(response)) => match Answer::read(response) {
                    Ok(answer) => return Ok(answer),
                    Err(error) => (error, None),
                },
                Ok(Outcome::Retry(status, wait)) => {
                    (anyhow::anyhow!("the server answers {status}"), wait)
                }
                Err(error) => (error.into(), None),
            };
            let wait = wait.unwrap_or_else(|| with_jitter(backoff));
            if began.elapsed() + wait > RETRY_TIMEOUT {
                return Err(why.context(format!("{} was retried for {RETRY_TIMEOUT:?}", self.base)));
            }
            thread::sleep(wait);
            backoff = (backoff * 2).min(MAX_BACKOFF);
        }
    }

    fn builder(&self, method: &Method, path: &str) -> Builder {
        Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.base))
            .header(AUTHORIZATION, self.authorization.clone())
    }

    /// Sends a request once.
    fn request(
        &self,
        request: Builder,
        body: Option<&Value>,
    ) -> Result<Response<Body>, ureq::Error> {
        match body {
            Some(body) => {
                let request = request.header(CONTENT_TYPE, "application/json");
                self.http.run(request.body(body.to_string())?)
            }
            None => self.http.run(request.body(())?),
        }
    }
}

enum Outcome {
    Answered(Response<Body>),
    /// A temporary failure, with the `Retry-After` of the server.
    Retry(StatusCode, Option<Duration>),
}

impl Outcome {
    fn of(response: Response<Body>) -> Self {
        let status = response.status();
        let is_temporary = matches!(
            status,
            StatusCode::REQUEST_TIMEOUT
                | StatusCode::TOO_MANY_REQUESTS
                | StatusCode::BAD_GATEWAY
                | StatusCode::SERVICE_UNAVAILABLE
                | StatusCode::GATEWAY_TIMEOUT
        );
        if !is_temporary {
            return Self::Answered(response);
        }
        let seconds = response.headers().get(RETRY_AFTER).and_then(|wait| wait.to_str().ok());
        Self::Retry(status, seconds.and_then(|wait| wait.parse().ok()).map(Duration::from_secs))
    }
}

impl Answer {
    fn read(response: Response<Body>) -> anyhow::Result<Self> {
        let status = response.status();
        let count = response.headers().get("x-total-count").and_then(|count| count.to_str().ok());
        let total_count = count.and_then(|count| count.parse().ok());
        let mut body = Vec::new();
        response.into_body().into_reader().read_to_end(&mut body)?;
        let body = serde_json::from_slice(&body).unwrap_or_default();
        Ok(Self { status, total_count, body })
    }

    /// The answer if it has this status, else an error with the detail of the problem.
    pub(super) fn expect(self, status: StatusCode) -> anyhow::Result<Self> {
        if self.status == status {
            return Ok(self);
        }
        let detail = self.body["detail"].as_str().unwrap_or("no detail given");
        bail!("the server answers {}: {detail}", self.status)
    }
}

/// A random duration between half of `backoff` and all of it, so that clients do not retry in step.
fn with_jitter(backoff: Duration) -> Duration {
    let mut byte = [0];
    serving::random_source()(&mut byte);
    backoff.mul_f64(0.5 + f64::from(byte[0]) / 512.0)
}
