//! Embedding: texts become vectors, whose cosine tells how similar their meanings are.
//!
//! [`Embedder`] has two implementations: [`BuiltIn`], the model in this program, and [`Remote`], a
//! model behind an HTTP endpoint. The conformance suite in `tests` runs on both.
//!
//! The built-in model has two encoders, each with a vector space of its own: *instant* sums table rows
//! and takes microseconds, *deep* runs a transformer and takes milliseconds. Every text has an instant
//! vector, and a deep one as soon as it is made; searches compare both. A model behind an endpoint has
//! one vector. Vectors of two models cannot be compared, so each carries its [`ModelId`].

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod builtin;
mod circuit_breaker;
mod deep;
pub mod http_client;
pub mod inference;
mod instant;
mod instant_encoder;
mod model_files;
mod multilingual;
mod names;
mod phrase_index;
mod priority_pool;
mod remote;
mod transformer;
mod vector;
mod wordpiece;

#[cfg(any(test, feature = "testing"))]
pub mod testing;
#[cfg(test)]
mod tests;

use std::{borrow::Cow, fmt, sync::Arc, time::Duration};

use thiserror::Error;

pub use builtin::BuiltIn;
pub use instant_encoder::InstantEncoder;
pub use model_files::{BrokenModel, ModelFiles};
pub use names::{Thing, ThingName};
pub use phrase_index::PhraseMatch;
pub use remote::{Environment, RandomSource, Remote, RemoteSettings};
pub use vector::{StoredVector, StoredVectors, Vector, dot};

/// The most characters of a text that are embedded.
const MAX_CHARS: usize = 8000;

/// The name of a model, which identifies its vector space. Vectors of different models must not be
/// compared.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ModelId(Arc<str>);

impl ModelId {
    /// The model of this name.
    pub fn new(name: &str) -> Self {
        Self(name.into())
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ModelId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Which encoder of a model made a vector. Ordered from worse to better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Encoder {
    /// A table look-up.
    Instant,
    /// A transformer, or a remote model.
    Deep,
}

impl Encoder {
    /// The name in the store and in metrics.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Instant => "instant",
            Self::Deep => "deep",
        }
    }

    /// The encoder of this name.
    pub fn parse(name: &str) -> Option<Self> {
        [Self::Instant, Self::Deep].into_iter().find(|encoder| encoder.as_str() == name)
    }
}

/// The vectors of a text, with the model that they belong to.
#[derive(Clone, Debug, PartialEq)]
pub struct Embedding {
    /// The model, and with it the vector spaces.
    pub model: ModelId,
    /// The best encoder that took part.
    pub encoder: Encoder,
    /// The vector that a search compares with all products: the instant one, or the only one of a
    /// model behind an endpoint.
    pub vector: Vector,
    /// The vector of the transformer, in a space of its own; `None` until it is made, for a text in
    /// another language than English, and for a model behind an endpoint.
    pub deep: Option<Vector>,
}

impl Embedding {
    /// The vectors as the store and the index keep them.
    pub fn stored(&self) -> StoredVectors {
        StoredVectors { vector: self.vector.stored(), deep: self.deep.as_ref().map(Vector::stored) }
    }
}

/// The language of a text, as far as models treat them differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TextLanguage {
    /// English, and everything of a model that does not tell languages apart.
    English,
    /// Any other language.
    Other,
}

/// A text to be embedded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Text<'a> {
    /// A query.
    Query(&'a str),
    /// A query whose words about products were separated from the rest.
    Request {
        /// The whole query.
        sentence: &'a str,
        /// The words about products.
        words: &'a str,
        /// Its language. Models tell that of other texts by themselves.
        language: TextLanguage,
    },
    /// A product. The title has more weight than the description.
    Product {
        /// The title.
        title: &'a str,
        /// The description; may be empty.
        description: &'a str,
    },
}

impl<'a> Text<'a> {
    /// The whole text, in the format that the models were trained with.
    pub fn whole(self) -> Cow<'a, str> {
        match self {
            Self::Query(text)
            | Self::Request { sentence: text, .. }
            | Self::Product { title: text, description: "" } => text.into(),
            Self::Product { title, description } => {
                // No model reads more, and copying a long description would cost more than
                // embedding its beginning.
                let end = match description.len() > MAX_CHARS {
                    true => description.char_indices().nth(MAX_CHARS).map(|(at, _)| at),
                    false => None,
                };
                let description = &description[..end.unwrap_or(description.len())];
                [title, ". ", description].concat().into()
            }
        }
    }
}

/// The priority of a request for vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Priority {
    /// A search is waiting: served first, and not retried.
    Search,
    /// Background work: served while no search waits, and retried.
    Background,
}

/// Turns texts into vectors of one space.
pub trait Embedder: Send + Sync {
    /// The model, and with it the vector space.
    fn model(&self) -> &ModelId;

    /// The dimension of the vectors.
    fn dims(&self) -> usize;

    /// The language of a query; `None` if its words belong to English as well as to others.
    fn language_of(&self, query: &str) -> Option<TextLanguage>;

    /// Whether the model was trained on this lower-case word of English, or of any language where
    /// `language` is another; `None` if that is not known. Other words are embedded by their
    /// spelling, which works for typos and not for nonsense.
    fn recognises(&self, word: &str, language: TextLanguage) -> Option<bool>;

    /// What shoppers mean who use phrases similar to this query; `None` without a phrase index.
    fn phrase_match(&self, query: &Embedding) -> Option<PhraseMatch>;

    /// The things that phrases stand for, with their names; none without a phrase index.
    fn things(&self, phrases: &PhraseMatch) -> Vec<Thing>;

    /// The vector of a single lower-case word, in English where that is possible if its language is
    /// not known; `None` without an instant encoder, or if the model knows nothing about the word.
    fn word_vector(&self, word: &str, language: Option<TextLanguage>) -> Option<StoredVector>;

    /// The instant vector, without blocking; `None` without an instant encoder.
    fn instant(&self, text: Text<'_>) -> Option<Embedding>;

    /// The vectors of the texts by the best encoder, in their order. Blocks.
    fn deep(&self, texts: &[Text<'_>], priority: Priority) -> Result<Vec<Embedding>, EmbedError>;
}

/// Why no vectors were made.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum EmbedError {
    /// The endpoint cannot be reached.
    #[error("the embedding endpoint cannot be reached: {0}")]
    Unreachable(String),
    /// The request timed out.
    #[error("the embedding endpoint timed out")]
    TimedOut,
    /// The endpoint is overloaded or failing.
    #[error("the embedding endpoint is overloaded (status {status})")]
    Overloaded {
        /// The HTTP status.
        status: u16,
        /// The `Retry-After` of the response.
        retry_after: Option<Duration>,
    },
    /// The circuit breaker is open after several failures.
    #[error("the embedding endpoint failed repeatedly; requests are suspended")]
    CircuitOpen {
        /// When the next request may be sent.
        retry_after: Duration,
    },
    /// Wrong credentials or a wrong address: the configuration must be fixed.
    #[error("the embedding endpoint rejected our credentials (status {status})")]
    Denied {
        /// The HTTP status.
        status: u16,
    },
    /// The endpoint rejected these texts.
    #[error("the embedding endpoint rejected the texts (status {status})")]
    RejectedTexts {
        /// The HTTP status.
        status: u16,
    },
    /// The response does not follow the interface.
    #[error("the response of the embedding endpoint is invalid: {0}")]
    InvalidResponse(String),
    /// The dimension of the vectors differs from the configured one.
    #[error("the vectors of the embedding endpoint have {found} dimensions instead of {expected}")]
    WrongDims {
        /// The configured `model.dims`.
        expected: usize,
        /// The dimension in the response.
        found: usize,
    },
    /// The built-in model failed.
    #[error("the built-in model failed: {0}")]
    Inference(String),
}

impl EmbedError {
    /// Whether the same texts may succeed later without a change of the configuration.
    pub fn may_retry(&self) -> bool {
        match self {
            Self::Unreachable(_)
            | Self::TimedOut
            | Self::Overloaded { .. }
            | Self::CircuitOpen { .. }
            | Self::InvalidResponse(_) => true,
            Self::Denied { .. }
            | Self::RejectedTexts { .. }
            | Self::WrongDims { .. }
            | Self::Inference(_) => false,
        }
    }

    /// Whether other texts may succeed although these did not.
    pub fn blames_texts(&self) -> bool {
        matches!(self, Self::RejectedTexts { .. } | Self::Inference(_))
    }

    /// How long to wait at least before the next request, if known.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Overloaded { retry_after, .. } => *retry_after,
            Self::CircuitOpen { retry_after } => Some(*retry_after),
            _ => None,
        }
    }
}
