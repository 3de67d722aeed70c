//! How does a command line talk to a running server? Over HTTP with a token, patiently: what is
//! turned away for now is tried again.

use std::{
    io::Read,
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, bail};
use engine::http_client;
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

/// How long one answer may take.
const ANSWER_TIME: Duration = Duration::from_secs(120);
/// How long a server may turn one request away before we give up.
const PATIENCE: Duration = Duration::from_secs(300);
/// The first pause; each further one is twice as long, up to the longest.
const FIRST_PAUSE: Duration = Duration::from_millis(200);
const LONGEST_PAUSE: Duration = Duration::from_secs(15);

/// A server and the token it is asked with.
pub(super) struct Remote {
    http: Agent,
    base: String,
    authorization: HeaderValue,
}

/// What a server answered, good or bad.
pub(super) struct Answer {
    pub(super) status: StatusCode,
    /// The size of the whole list, where the answer is a part of one.
    pub(super) total_count: Option<u64>,
    pub(super) body: Value,
}

impl Remote {
    pub(super) fn new(base: &str, token: &str) -> anyhow::Result<Self> {
        let parsed = url::Url::parse(base).with_context(|| format!("--server {base}"))?;
        if !matches!(parsed.scheme(), "http" | "https") {
            bail!("--server must be an http or https address, such as http://127.0.0.1:7700");
        }
        let http = http_client::settings(ANSWER_TIME).build().new_agent();
        let mut authorization = HeaderValue::try_from(format!("Bearer {token}"))
            .context("the token holds characters that cannot be sent")?;
        authorization.set_sensitive(true);
        Ok(Self { http, base: base.trim_end_matches('/').to_owned(), authorization })
    }

    /// Sends a request that somebody waits for: it is answered at once or not at all.
    pub(super) fn ask(&self, path: &str, body: &Value) -> anyhow::Result<Answer> {
        let response = self.request(self.builder(&Method::POST, path), Some(body));
        let response = response.with_context(|| format!("{} cannot be reached", self.base))?;
        Answer::read(response)
    }

    /// Sends a request until it is answered for good. Requests must be safe to repeat: creates by
    /// their key, all others by what they are.
    pub(super) fn send(
        &self,
        method: &Method,
        path: &str,
        key: Option<&str>,
        body: Option<&Value>,
    ) -> anyhow::Result<Answer> {
        let began = Instant::now();
        let mut pause = FIRST_PAUSE;
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
                Ok(Outcome::NotNow(status, wait)) => {
                    (anyhow::anyhow!("the server answers {status}"), wait)
                }
                Err(error) => (error.into(), None),
            };
            let wait = wait.unwrap_or_else(|| with_jitter(pause));
            if began.elapsed() + wait > PATIENCE {
                return Err(why.context(format!("{} was tried for {PATIENCE:?}", self.base)));
            }
            thread::sleep(wait);
            pause = (pause * 2).min(LONGEST_PAUSE);
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
    /// To be tried again, after as long as the server says.
    NotNow(StatusCode, Option<Duration>),
}

impl Outcome {
    fn of(response: Response<Body>) -> Self {
        let status = response.status();
        let not_now = matches!(
            status,
            StatusCode::REQUEST_TIMEOUT
                | StatusCode::TOO_MANY_REQUESTS
                | StatusCode::BAD_GATEWAY
                | StatusCode::SERVICE_UNAVAILABLE
                | StatusCode::GATEWAY_TIMEOUT
        );
        if !not_now {
            return Self::Answered(response);
        }
        let seconds = response.headers().get(RETRY_AFTER).and_then(|wait| wait.to_str().ok());
        Self::NotNow(status, seconds.and_then(|wait| wait.parse().ok()).map(Duration::from_secs))
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

    /// The answer, if it is the one that was hoped for.
    pub(super) fn expect(self, status: StatusCode) -> anyhow::Result<Self> {
        if self.status == status {
            return Ok(self);
        }
        let detail = self.body["detail"].as_str().unwrap_or("it does not say why");
        bail!("the server answers {}: {detail}", self.status)
    }
}

/// A pause between half and all of `pause`, so that clients do not all come back at once.
fn with_jitter(pause: Duration) -> Duration {
    let mut byte = [0];
    serving::random_source()(&mut byte);
    pause.mul_f64(0.5 + f64::from(byte[0]) / 512.0)
}
