//! What the second stage of ranking compares products with, and how many it considers.

use std::sync::Arc;

use catalog::{
    inference::{attributes::QueryAttributes, category::QueryCategories},
    text::analysis::{QueryTerms, for_each_title_word},
};
use embed::{StoredVector, Thing};

use super::{QueryVector, word_vectors::WordVectors};

/// Number of candidates of the second stage.
pub(super) const RERANKED: usize = 200;
/// How many of them are those nearest to the query by the vector of the transformer.
pub(super) const NEAREST: usize = 50;

/// What the second stage compares products with.
#[derive(Clone)]
pub struct RerankQuery {
    /// The query's own vector, without interpolation; `None` without a model.
    pub vector: Option<QueryVector>,
    /// What the phrases nearest to the query stand for.
    pub things: Vec<Thing>,
    /// The query's terms by meaning.
    pub term_vectors: Vec<Option<StoredVector>>,
    /// The index of the term that names what the query asks for.
    pub head: Option<usize>,
    /// The attributes that the query asks for.
    pub attributes: QueryAttributes,
    /// The categories that the query may mean.
    pub categories: QueryCategories,
    /// What the query asks for without its attributes; `None` if it is not that simple.
    pub kind: Option<KindQuery>,
    /// The vectors of words.
    pub word_vectors: Option<Arc<WordVectors>>,
}

impl std::fmt::Debug for RerankQuery {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RerankQuery").field("things", &self.things).finish_non_exhaustive()
    }
}

/// The kind of product that a query asks for, without its attributes.
#[derive(Clone, Debug)]
pub struct KindQuery {
    /// Its vector, interpolated toward known phrases.
    pub vector: QueryVector,
    /// What known phrases near it stand for.
    pub things: Vec<Thing>,
    /// Its own words, as a name of one thing.
    pub own: Thing,
    /// The categories that it may mean, with the names of all below them.
    pub categories: Vec<Thing>,
}

/// The index of the term that names what a query asks for: the first in head position.
pub fn head_term(text: &str, terms: &QueryTerms) -> Option<usize> {
    let mut head = None;
    for_each_title_word(text, |word, is_head| {
        if is_head && head.is_none() {
            let says = |words: &[Box<str>]| words.iter().any(|other| **other == *word);
            head = terms.terms().iter().position(|term| says(&term.alternatives[0].words));
        }
    });
    head
}
