//! What does a text mean? A point in the space of one model; texts that mean the same are near
//! each other there.
//!
//! [`Embedder`] is the seam. Two implementations are real: [`BuiltIn`], the model inside this
//! program, and [`Remote`], somebody else's behind an HTTP endpoint. The conformance suite in
//! `tests` runs on both.
//!
//! A model may have two encoders in the one space: *instant* looks up a table and takes
//! microseconds, *deep* runs a transformer and takes milliseconds. Vectors of both are compared
//! freely; vectors of two models never are, so each carries its [`ModelId`].

mod breaker;
mod builtin;
mod deep;
mod instant;
mod phrasebook;
mod remote;
mod seats;
mod vector;
mod wordpiece;

#[cfg(test)]
pub(crate) mod tests;

use std::{borrow::Cow, fmt, sync::Arc, time::Duration};

use thiserror::Error;

pub use builtin::{BrokenModel, BuiltIn, Weights};
pub use phrasebook::PhraseMatch;
pub use remote::{Remote, RemoteSettings, Surroundings};
pub use vector::{StoredVector, Vector};

/// Letters of a text that are looked at, at the most.
const MOST_CHARS: usize = 8000;

/// Names a space of meanings. Vectors of different models have nothing to say to each other.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ModelId(Arc<str>);

impl ModelId {
    /// The model of this name.
    pub fn new(name: &str) -> Self {
        Self(name.into())
    }

    /// Its name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ModelId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Which way a vector came to be. The later one is the better one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Encoder {
    /// A table look-up.
    Instant,
    /// A transformer, or whatever an outside model does.
    Deep,
}

impl Encoder {
    /// Its name in the store and in figures.
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

/// A text's meaning, with everything needed to know what it may be compared with.
#[derive(Clone, Debug, PartialEq)]
pub struct Embedding {
    /// The space it lies in.
    pub model: ModelId,
    /// How it was made.
    pub encoder: Encoder,
    /// Where it lies.
    pub vector: Vector,
}

/// What is to be turned into a vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Text<'a> {
    /// What somebody looks for.
    Query(&'a str),
    /// What somebody looks for, of whom more is known.
    Request {
        /// As it was said.
        sentence: &'a str,
        /// The words of it that are about products.
        words: &'a str,
    },
    /// What there is. The title weighs more than what follows it.
    Product {
        /// Its title.
        title: &'a str,
        /// Its description, or nothing.
        description: &'a str,
    },
}

impl<'a> Text<'a> {
    /// The whole text, as the models were taught to read it.
    pub fn whole(self) -> Cow<'a, str> {
        match self {
            Self::Query(text)
            | Self::Request { sentence: text, .. }
            | Self::Product { title: text, description: "" } => text.into(),
            Self::Product { title, description } => {
                // No model reads on for ever, and copying a long description would cost more than
                // reading the part that counts.
                let end = description.char_indices().nth(MOST_CHARS);
                let description = &description[..end.map_or(description.len(), |(at, _)| at)];
                format!("{title}. {description}").into()
            }
        }
    }
}

/// Who waits for a vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// Somebody who searches: goes first, and rather does without than waits.
    Search,
    /// Nobody: whenever there is time, and again if it has to be.
    Background,
}

/// Turns texts into vectors of one space.
pub trait Embedder: Send + Sync {
    /// The space.
    fn model(&self) -> &ModelId;

    /// How many numbers a vector of the space has.
    fn dims(&self) -> usize;

    /// Whether the model was taught this word, given in lower case; `None` if nobody can say. What
    /// it was not taught it may still guess from the spelling, well for a slip of the fingers and
    /// badly for nonsense.
    fn recognises(&self, word: &str) -> Option<bool>;

    /// What people look for who say something near this; `None` for models that were not told.
    fn phrase_match(&self, query: &Vector) -> Option<PhraseMatch>;

    /// A vector at once, without waiting for anything; `None` for models that cannot.
    fn instant(&self, text: Text<'_>) -> Option<Embedding>;

    /// The best vectors the model has, one for each text, in their order. Blocks.
    fn deep(&self, texts: &[Text<'_>], turn: Turn) -> Result<Vec<Embedding>, EmbedError>;
}

/// No vectors were made.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum EmbedError {
    /// Nobody answers at the endpoint.
    #[error("the outside model cannot be reached: {0}")]
    Unreachable(String),
    /// The answer did not come in time.
    #[error("the outside model did not answer in time")]
    TimedOut,
    /// It says that it cannot just now.
    #[error("the outside model cannot answer now (status {status})")]
    Overloaded {
        /// The HTTP status.
        status: u16,
        /// When it wants to be asked again.
        retry_after: Option<Duration>,
    },
    /// It failed so often that it is left alone for a while.
    #[error("the outside model is left alone after it failed several times")]
    LeftAlone {
        /// Until when.
        retry_after: Duration,
    },
    /// It does not know us or the address: its keeper or ours must do something.
    #[error("the outside model turns us away (status {status})")]
    TurnedAway {
        /// The HTTP status.
        status: u16,
    },
    /// It does not want these texts.
    #[error("the outside model refuses the texts (status {status})")]
    Refused {
        /// The HTTP status.
        status: u16,
    },
    /// Its answer is not what the interface promises.
    #[error("the outside model's answer cannot be read: {0}")]
    Garbled(String),
    /// Its vectors are not of the space we were told.
    #[error("the outside model's vectors have {found} dimensions instead of {expected}")]
    WrongDims {
        /// What `model.dims` says.
        expected: usize,
        /// What came.
        found: usize,
    },
    /// The model inside this program failed.
    #[error("the built-in model failed: {0}")]
    Inference(String),
}

impl EmbedError {
    /// Whether the same texts may succeed later without anybody changing anything here.
    pub fn may_retry(&self) -> bool {
        match self {
            Self::Unreachable(_)
            | Self::TimedOut
            | Self::Overloaded { .. }
            | Self::LeftAlone { .. }
            | Self::Garbled(_) => true,
            Self::TurnedAway { .. }
            | Self::Refused { .. }
            | Self::WrongDims { .. }
            | Self::Inference(_) => false,
        }
    }

    /// Whether other texts may succeed where these did not.
    pub fn blames_texts(&self) -> bool {
        matches!(self, Self::Refused { .. } | Self::Inference(_))
    }

    /// How long to wait at least before asking again, where that is known.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Overloaded { retry_after, .. } => *retry_after,
            Self::LeftAlone { retry_after } => Some(*retry_after),
            _ => None,
        }
    }
}
