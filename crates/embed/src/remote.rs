//! A remote model, behind an HTTP endpoint like OpenAI's `/v1/embeddings`.
//!
//! Every request has a timeout. Transient failures are retried for background work and not for
//! searches, and a circuit breaker rejects requests while the endpoint keeps failing.

use std::{
    fmt,
    io::Read,
    sync::Arc,
    time::{Duration, Instant},
};

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use thiserror::Error;
use ureq::{
    Agent, Body,
    http::{
        Response, StatusCode,
        header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue, RETRY_AFTER},
    },
};

use super::{
    EmbedError, Embedder, Embedding, Encoder, MAX_CHARS, ModelId, PhraseMatch, Priority,
    StoredVector, Text, TextLanguage, Thing, Vector, circuit_breaker::CircuitBreaker,
};
use crate::http_client;

/// Fills a buffer with cryptographically random bytes.
pub type RandomSource = Arc<dyn Fn(&mut [u8]) + Send + Sync>;

/// Attempts per batch of background work.
const ATTEMPTS: u32 = 4;
/// The pause before the second attempt; each further one doubles it.
const FIRST_BACKOFF: Duration = Duration::from_millis(200);
/// The longest pause between two attempts; if the endpoint asks for more, the error goes to the
/// caller.
const MAX_BACKOFF: Duration = Duration::from_secs(5);
/// Upper limits for the size of a response: per coordinate, and for the rest.
const BYTES_PER_COORDINATE: usize = 40;
const BYTES_OVERHEAD: usize = 64 << 10;

/// Which endpoint to use, and how.
pub struct RemoteSettings {
    /// The address before `/embeddings`, such as `https://api.openai.com/v1`.
    pub url: String,
    /// The name of the model at the endpoint.
    pub name: String,
    /// The API key, if one is required.
    pub api_key: Option<String>,
    /// The dimension of its vectors.
    pub dims: usize,
    /// The limit for a response.
    pub timeout: Duration,
    /// Texts per request.
    pub batch: usize,
}

/// Clock, sleep and randomness, which tests replace.
#[derive(Clone)]
pub struct Environment {
    /// The current time.
    pub now: Arc<dyn Fn() -> Instant + Send + Sync>,
    /// Sleeps.
    pub pause: Arc<dyn Fn(Duration) + Send + Sync>,
    /// Randomises pauses, so that many callers do not retry at the same time.
    pub random: RandomSource,
}

impl Environment {
    /// The real clock.
    pub fn real(random: RandomSource) -> Self {
        Self { now: Arc::new(Instant::now), pause: Arc::new(std::thread::sleep), random }
    }
}

/// Why the endpoint cannot be used.
#[derive(Debug, Error)]
pub enum BadEndpoint {
    /// The key is not a valid header value.
    #[error("the model's API key is not a valid header value")]
    Key,
}

/// A remote model.
pub struct Remote {
    model: ModelId,
    settings: RemoteSettings,
    authorization: Option<HeaderValue>,
    client: Agent,
    breaker: Mutex<CircuitBreaker>,
    environment: Environment,
}

#[derive(Serialize)]
struct Request<'a> {
    model: &'a str,
    input: &'a [&'a str],
    encoding_format: &'static str,
}

#[derive(Deserialize)]
struct ResponseBody {
    data: Vec<Item>,
}

#[derive(Deserialize)]
struct Item {
    index: usize,
    embedding: Vec<f32>,
}

impl Remote {
    /// A model behind an endpoint. Sends no request yet, because the endpoint may be down.
    pub fn new(
        mut settings: RemoteSettings,
        environment: Environment,
    ) -> Result<Self, BadEndpoint> {
        let bearer = settings.api_key.take().map(|key| format!("Bearer {key}"));
        let authorization = bearer.as_deref().map(HeaderValue::from_str).transpose();
        let mut authorization = authorization.map_err(|_| BadEndpoint::Key)?;
        authorization.iter_mut().for_each(|value| value.set_sensitive(true));
        // No proxy: the key is sent to the configured host only.
        let client = http_client::settings(settings.timeout).proxy(None).build().new_agent();
        Ok(Self {
            model: ModelId::new(&format!("{}/{}", settings.name, settings.dims)),
            settings,
            authorization,
            client,
            breaker: Mutex::new(CircuitBreaker::new()),
            environment,
        })
    }

    fn batch(&self, texts: &[&str], priority: Priority) -> Result<Vec<Embedding>, EmbedError> {
        let attempts = if priority == Priority::Search { 1 } else { ATTEMPTS };
        let mut attempt = 1;
        loop {
            let error = match self.attempt(texts) {
                Ok(vectors) => return Ok(vectors),
                Err(error) => error,
            };
            let circuit_open = matches!(error, EmbedError::CircuitOpen { .. });
            let wait = error.retry_after().unwrap_or_default().max(self.backoff(attempt));
            if attempt == attempts || circuit_open || !error.may_retry() || wait > MAX_BACKOFF {
                return Err(error);
            }
            (self.environment.pause)(wait);
            attempt += 1;
        }
    }

    /// Between half and all of the pause, at random.
    fn backoff(&self, attempt: u32) -> Duration {
        let whole = (FIRST_BACKOFF * 2_u32.pow(attempt - 1)).min(MAX_BACKOFF);
        let mut bytes = [0; 2];
        (self.environment.random)(&mut bytes);
        let share = f64::from(u16::from_le_bytes(bytes)) / f64::from(u16::MAX);
        whole.mul_f64(0.5 + 0.5 * share)
    }

    fn attempt(&self, texts: &[&str]) -> Result<Vec<Embedding>, EmbedError> {
        self.breaker
            .lock()
            .try_request((self.environment.now)())
            .map_err(|retry_after| EmbedError::CircuitOpen { retry_after })?;
        let outcome = self.send(texts);
        let mut breaker = self.breaker.lock();
        match &outcome {
            Ok(_) | Err(EmbedError::RejectedTexts { .. }) => breaker.succeeded(),
            Err(_) => breaker.failed((self.environment.now)()),
        }
        outcome
    }

    fn send(&self, texts: &[&str]) -> Result<Vec<Embedding>, EmbedError> {
        let request =
            Request { model: &self.settings.name, input: texts, encoding_format: "float" };
        let request = serde_json::to_vec(&request).expect("strings and a list of strings are JSON");
        let url = format!("{}/embeddings", self.settings.url);
        let mut post = self.client.post(url).header(CONTENT_TYPE, "application/json");
        if let Some(authorization) = &self.authorization {
            post = post.header(AUTHORIZATION, authorization.clone());
        }
        let response = post.send(&request[..]).map_err(request_error)?;
        if !response.status().is_success() {
            return Err(status_error(&response));
        }
        let most = BYTES_OVERHEAD + texts.len() * (self.settings.dims * BYTES_PER_COORDINATE + 256);
        let mut body = Vec::new();
        let reader = response.into_body().into_reader().take(most as u64);
        { reader }.read_to_end(&mut body).map_err(|error| match ureq::Error::from(error) {
            ureq::Error::Timeout(_) => EmbedError::TimedOut,
            _ => EmbedError::Unreachable("the response was cut off".to_owned()),
        })?;
        self.read(&body, texts.len())
    }

    /// The vectors of a response, sorted into the order of the texts.
    fn read(&self, body: &[u8], texts: usize) -> Result<Vec<Embedding>, EmbedError> {
        let invalid = |why: &str| EmbedError::InvalidResponse(why.to_owned());
        let mut response: ResponseBody = serde_json::from_slice(body)
            // The error names a position and a type, and never contains the body.
            .map_err(|error| EmbedError::InvalidResponse(error.to_string()))?;
        response.data.sort_by_key(|item| item.index);
        if !response.data.iter().map(|item| item.index).eq(0..texts) {
            return Err(invalid("not one vector for each text"));
        }
        let expected = self.settings.dims;
        let embedding = |item: Item| match item.embedding.len() {
            found if found != expected => Err(EmbedError::WrongDims { expected, found }),
            _ => Ok(Embedding {
                model: self.model.clone(),
                encoder: Encoder::Deep,
                vector: Vector::normalized(item.embedding)
                    .ok_or_else(|| invalid("a vector is not finite"))?,
                deep: None,
            }),
        };
        response.data.into_iter().map(embedding).collect()
    }
}

impl Embedder for Remote {
    fn model(&self) -> &ModelId {
        &self.model
    }

    fn dims(&self) -> usize {
        self.settings.dims
    }

    fn language_of(&self, _query: &str) -> Option<TextLanguage> {
        Some(TextLanguage::English)
    }

    fn recognises(&self, _word: &str, _language: TextLanguage) -> Option<bool> {
        None
    }

    fn phrase_match(&self, _query: &Embedding) -> Option<PhraseMatch> {
        None
    }

    fn things(&self, _phrases: &PhraseMatch) -> Vec<Thing> {
        Vec::new()
    }

    fn word_vector(&self, _word: &str, _language: Option<TextLanguage>) -> Option<StoredVector> {
        None
    }

    fn instant(&self, _text: Text<'_>) -> Option<Embedding> {
        None
    }

    fn deep(&self, texts: &[Text<'_>], priority: Priority) -> Result<Vec<Embedding>, EmbedError> {
        let whole: Vec<_> = texts.iter().map(|text| text.whole()).collect();
        let cut: Vec<_> = whole.iter().map(|text| beginning(text)).collect();
        let mut vectors = Vec::with_capacity(texts.len());
        for batch in cut.chunks(self.settings.batch.max(1)) {
            vectors.extend(self.batch(batch, priority)?);
        }
        Ok(vectors)
    }
}

impl fmt::Debug for Remote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Remote").field("model", &self.model).finish_non_exhaustive()
    }
}

/// The part of a text that is sent; a space for an empty text, which such endpoints reject.
fn beginning(text: &str) -> &str {
    let end = text.char_indices().nth(MAX_CHARS).map_or(text.len(), |(at, _)| at);
    if end == 0 { " " } else { &text[..end] }
}

fn request_error(error: ureq::Error) -> EmbedError {
    match error {
        ureq::Error::Timeout(_) => EmbedError::TimedOut,
        ureq::Error::Io(error) => EmbedError::Unreachable(error.to_string()),
        error => EmbedError::Unreachable(error.to_string()),
    }
}

fn status_error(response: &Response<Body>) -> EmbedError {
    let status = response.status().as_u16();
    match response.status() {
        StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_EARLY | StatusCode::TOO_MANY_REQUESTS => {
            EmbedError::Overloaded { status, retry_after: retry_after(response) }
        }
        code if code.is_server_error() => {
            EmbedError::Overloaded { status, retry_after: retry_after(response) }
        }
        StatusCode::BAD_REQUEST
        | StatusCode::PAYLOAD_TOO_LARGE
        | StatusCode::UNPROCESSABLE_ENTITY => EmbedError::RejectedTexts { status },
        _ => EmbedError::Denied { status },
    }
}

/// `Retry-After` in seconds; a date is ignored, because clocks may disagree.
fn retry_after(response: &Response<Body>) -> Option<Duration> {
    let seconds: u32 = response.headers().get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
    Some(Duration::from_secs(seconds.into()))
}
