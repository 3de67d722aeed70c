//! How is somebody else's model asked? Over HTTP, at an endpoint like OpenAI's `/v1/embeddings`.
//!
//! Outside things fail: an answer is waited for only so long, a request that may succeed later is
//! made again (in the background; a search rather does without), and an endpoint that keeps
//! failing is left alone for a while (`breaker`).

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
    EmbedError, Embedder, Embedding, Encoder, MOST_CHARS, ModelId, PhraseMatch, Text, Turn, Vector,
    breaker::Breaker,
};
use crate::{http_client, tokens::RandomSource};

/// How often a batch is sent at the most, where nobody waits for it.
const ATTEMPTS: u32 = 4;
/// The wait before the second attempt; each further one doubles it.
const FIRST_WAIT: Duration = Duration::from_millis(200);
/// The longest wait between two attempts; an endpoint that asks for more gets it from whoever
/// called us.
const LONGEST_WAIT: Duration = Duration::from_secs(5);
/// Bytes that one number may take in an answer, and an answer around its numbers.
const BYTES_PER_NUMBER: usize = 40;
const BYTES_AROUND: usize = 64 << 10;

/// Which endpoint, and how to ask it.
pub struct RemoteSettings {
    /// The address before `/embeddings`, such as `https://api.openai.com/v1`.
    pub url: String,
    /// The model's name there.
    pub name: String,
    /// The key to show, if one is wanted.
    pub api_key: Option<String>,
    /// How many numbers its vectors have.
    pub dims: usize,
    /// How long to wait for an answer.
    pub timeout: Duration,
    /// Texts in one request.
    pub batch: usize,
}

/// What the world outside provides.
#[derive(Clone)]
pub struct Surroundings {
    /// Tells how time passes.
    pub now: Arc<dyn Fn() -> Instant + Send + Sync>,
    /// Lets time pass.
    pub pause: Arc<dyn Fn(Duration) + Send + Sync>,
    /// Makes many callers wait differently long.
    pub random: RandomSource,
}

impl Surroundings {
    /// Time as it is.
    pub fn real(random: RandomSource) -> Self {
        Self { now: Arc::new(Instant::now), pause: Arc::new(std::thread::sleep), random }
    }
}

/// The endpoint cannot be asked at all.
#[derive(Debug, Error)]
pub enum BadEndpoint {
    /// The key cannot be sent.
    #[error("the model's API key holds characters that cannot be sent")]
    Key,
}

/// Somebody else's model.
pub struct Remote {
    model: ModelId,
    settings: RemoteSettings,
    authorization: Option<HeaderValue>,
    client: Agent,
    breaker: Mutex<Breaker>,
    surroundings: Surroundings,
}

#[derive(Serialize)]
struct Request<'a> {
    model: &'a str,
    input: &'a [&'a str],
    encoding_format: &'static str,
}

#[derive(Deserialize)]
struct Answer {
    data: Vec<Item>,
}

#[derive(Deserialize)]
struct Item {
    index: usize,
    embedding: Vec<f32>,
}

impl Remote {
    /// A model behind an endpoint. Nothing is asked yet: it may be down just now.
    pub fn new(
        mut settings: RemoteSettings,
        surroundings: Surroundings,
    ) -> Result<Self, BadEndpoint> {
        let bearer = settings.api_key.take().map(|key| format!("Bearer {key}"));
        let authorization = bearer.as_deref().map(HeaderValue::from_str).transpose();
        let mut authorization = authorization.map_err(|_| BadEndpoint::Key)?;
        authorization.iter_mut().for_each(|value| value.set_sensitive(true));
        // The key goes to the configured host and nowhere else, not even to a proxy.
        let client = http_client::settings(settings.timeout).proxy(None).build().new_agent();
        Ok(Self {
            model: ModelId::new(&format!("{}/{}", settings.name, settings.dims)),
            settings,
            authorization,
            client,
            breaker: Mutex::new(Breaker::new()),
            surroundings,
        })
    }

    fn batch(&self, texts: &[&str], turn: Turn) -> Result<Vec<Embedding>, EmbedError> {
        let attempts = if turn == Turn::Search { 1 } else { ATTEMPTS };
        let mut attempt = 1;
        loop {
            let error = match self.attempt(texts) {
                Ok(vectors) => return Ok(vectors),
                Err(error) => error,
            };
            let left_alone = matches!(error, EmbedError::LeftAlone { .. });
            let wait = error.retry_after().unwrap_or_default().max(self.backoff(attempt));
            if attempt == attempts || left_alone || !error.may_retry() || wait > LONGEST_WAIT {
                return Err(error);
            }
            (self.surroundings.pause)(wait);
            attempt += 1;
        }
    }

    /// Between half of the wait and all of it, so that not everybody comes back at once.
    fn backoff(&self, attempt: u32) -> Duration {
        let whole = (FIRST_WAIT * 2_u32.pow(attempt - 1)).min(LONGEST_WAIT);
        let mut bytes = [0; 2];
        (self.surroundings.random)(&mut bytes);
        let share = f64::from(u16::from_le_bytes(bytes)) / f64::from(u16::MAX);
        whole.mul_f64(0.5 + 0.5 * share)
    }

    fn attempt(&self, texts: &[&str]) -> Result<Vec<Embedding>, EmbedError> {
        self.breaker
            .lock()
            .ask((self.surroundings.now)())
            .map_err(|retry_after| EmbedError::LeftAlone { retry_after })?;
        let outcome = self.send(texts);
        let mut breaker = self.breaker.lock();
        match &outcome {
            Ok(_) | Err(EmbedError::Refused { .. }) => breaker.succeeded(),
            Err(_) => breaker.failed((self.surroundings.now)()),
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
        let response = post.send(&request[..]).map_err(not_answered)?;
        if !response.status().is_success() {
            return Err(unsuccessful(&response));
        }
        let most = BYTES_AROUND + texts.len() * (self.settings.dims * BYTES_PER_NUMBER + 256);
        let mut body = Vec::new();
        let reader = response.into_body().into_reader().take(most as u64);
        { reader }.read_to_end(&mut body).map_err(|error| match ureq::Error::from(error) {
            ureq::Error::Timeout(_) => EmbedError::TimedOut,
            _ => EmbedError::Unreachable("the answer broke off".to_owned()),
        })?;
        self.read(&body, texts.len())
    }

    /// The vectors of an answer, in the order of the texts, whatever order they came in.
    fn read(&self, body: &[u8], texts: usize) -> Result<Vec<Embedding>, EmbedError> {
        let garbled = |why: &str| EmbedError::Garbled(why.to_owned());
        let mut answer: Answer = serde_json::from_slice(body)
            // The error names a place and a type and never shows the body.
            .map_err(|error| EmbedError::Garbled(error.to_string()))?;
        answer.data.sort_by_key(|item| item.index);
        if !answer.data.iter().map(|item| item.index).eq(0..texts) {
            return Err(garbled("not one vector for each text"));
        }
        let expected = self.settings.dims;
        let embedding = |item: Item| match item.embedding.len() {
            found if found != expected => Err(EmbedError::WrongDims { expected, found }),
            _ => Ok(Embedding {
                model: self.model.clone(),
                encoder: Encoder::Deep,
                vector: Vector::towards(item.embedding).ok_or_else(|| garbled("no numbers"))?,
            }),
        };
        answer.data.into_iter().map(embedding).collect()
    }
}

impl Embedder for Remote {
    fn model(&self) -> &ModelId {
        &self.model
    }

    fn dims(&self) -> usize {
        self.settings.dims
    }

    fn recognises(&self, _word: &str) -> Option<bool> {
        None
    }

    fn phrase_match(&self, _query: &Vector) -> Option<PhraseMatch> {
        None
    }

    fn instant(&self, _text: Text<'_>) -> Option<Embedding> {
        None
    }

    fn deep(&self, texts: &[Text<'_>], turn: Turn) -> Result<Vec<Embedding>, EmbedError> {
        let whole: Vec<_> = texts.iter().map(|text| text.whole()).collect();
        let cut: Vec<_> = whole.iter().map(|text| beginning(text)).collect();
        let mut vectors = Vec::with_capacity(texts.len());
        for batch in cut.chunks(self.settings.batch.max(1)) {
            vectors.extend(self.batch(batch, turn)?);
        }
        Ok(vectors)
    }
}

impl fmt::Debug for Remote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Remote").field("model", &self.model).finish_non_exhaustive()
    }
}

/// As much of a text as is sent; a space for nothing, which such endpoints refuse.
fn beginning(text: &str) -> &str {
    let end = text.char_indices().nth(MOST_CHARS).map_or(text.len(), |(at, _)| at);
    if end == 0 { " " } else { &text[..end] }
}

fn not_answered(error: ureq::Error) -> EmbedError {
    match error {
        ureq::Error::Timeout(_) => EmbedError::TimedOut,
        ureq::Error::Io(error) => EmbedError::Unreachable(error.to_string()),
        error => EmbedError::Unreachable(error.to_string()),
    }
}

fn unsuccessful(response: &Response<Body>) -> EmbedError {
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
        | StatusCode::UNPROCESSABLE_ENTITY => EmbedError::Refused { status },
        _ => EmbedError::TurnedAway { status },
    }
}

/// The wait asked for in seconds; a date, which clocks may disagree on, is passed over.
fn retry_after(response: &Response<Body>) -> Option<Duration> {
    let seconds: u32 = response.headers().get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
    Some(Duration::from_secs(seconds.into()))
}
