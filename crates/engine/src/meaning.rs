//! What does a query mean? The deep encoder says it best; the instant one says it when the server
//! has no time, or the deep one fails. The phrase book tells what people look for who say such
//! things.

use std::{cell::Cell, collections::HashMap, mem, sync::Arc};

use catalog::{
    analysis::QueryTerms,
    fusion::{FusionParams, QueryProfile},
    query_parser::{ParsedQuery, TermLookup},
};
use parking_lot::Mutex;

use crate::embed::{Embedder, Embedding, Encoder, PhraseMatch, Text, Turn, Vector};

/// Deep vectors of queries that are kept in each of two generations.
const KEPT: usize = 1024;

/// What a query means.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Meaning {
    /// Where it lies.
    pub(crate) vector: Vector,
    /// Who says so.
    pub(crate) encoder: Encoder,
    /// How it is put.
    pub(crate) profile: QueryProfile,
}

/// Turns queries into vectors.
pub(crate) struct QueryEncoder {
    embedder: Arc<dyn Embedder>,
    /// Searches under way or waiting beyond which there is no time for the deep encoder.
    budget: usize,
    known: Mutex<Recent>,
}

/// Reads the query of one search, with a model or without.
pub(crate) struct QueryReader<'a> {
    encoder: Option<&'a QueryEncoder>,
    /// Searches under way or waiting.
    searches: usize,
    /// Threads that have nothing to do.
    idle: usize,
    hurried: Cell<bool>,
}

impl<'a> QueryReader<'a> {
    pub(crate) fn new(encoder: Option<&'a QueryEncoder>, searches: usize) -> Self {
        Self { encoder, searches, idle: 0, hurried: Cell::new(false) }
    }

    /// While so many threads have nothing to do.
    pub(crate) fn beside_idle(self, idle: usize) -> Self {
        Self { idle, ..self }
    }

    /// How many threads a search may take: those that nobody needs.
    pub(crate) fn threads(&self) -> usize {
        1 + self.idle
    }

    /// Whether a word is one that the model was taught.
    pub(crate) fn recognises(&self, word: &str) -> bool {
        self.encoder.is_some_and(|encoder| encoder.embedder.recognises(word) == Some(true))
    }

    /// What a query means in a shop that knows these words; `None` if nobody can say. Blocks.
    pub(crate) fn meaning(
        &self,
        parsed: &ParsedQuery,
        knows: TermLookup,
        weights: &FusionParams,
    ) -> Option<Meaning> {
        let encoder = self.encoder?;
        let meaning = encoder.meaning(parsed, knows, weights, self.searches);
        let is_best = meaning.as_ref().is_some_and(|meaning| meaning.encoder == Encoder::Deep);
        self.hurried.set(encoder.budget > 0 && !is_best);
        meaning
    }

    /// Whether the model would have said it better with more time.
    pub(crate) fn was_hurried(&self) -> bool {
        self.hurried.get()
    }
}

/// What the model makes of a text.
type Made = (Embedding, Option<PhraseMatch>);

impl QueryEncoder {
    pub(crate) fn new(embedder: Arc<dyn Embedder>, budget: usize) -> Self {
        Self { embedder, budget, known: Mutex::default() }
    }

    /// What a query means in a shop that knows these words, while so many searches are under way
    /// or wait; `None` if the model cannot say. Blocks.
    pub(crate) fn meaning(
        &self,
        parsed: &ParsedQuery,
        knows: TermLookup,
        weights: &FusionParams,
        searches: usize,
    ) -> Option<Meaning> {
        let (sentence, words) = (&parsed.sentence, &parsed.residual);
        let (embedding, hint) = self.encode(Text::Request { sentence, words }, searches)?;
        let profile = self.profile(parsed, knows, hint.as_ref());
        let vector = match hint {
            None => embedding.vector,
            Some(hint) => leaning(&embedding.vector, &hint.target, weights.interpolation(profile))?,
        };
        Some(Meaning { vector, encoder: embedding.encoder, profile })
    }

    fn encode(&self, text: Text<'_>, searches: usize) -> Option<Made> {
        if text.whole().trim().is_empty() {
            return None;
        }
        let name = name(text);
        if let Some(known) = self.known.lock().get(&name) {
            return Some(known);
        }
        let embedding = self.deep(text, searches).or_else(|| self.embedder.instant(text));
        let encoder = embedding.as_ref().map_or("none", |made| made.encoder.as_str());
        metrics::counter!("shopkeeper_query_vectors_total", "encoder" => encoder).increment(1);
        let embedding = embedding?;
        let made = (embedding.clone(), self.embedder.phrase_match(&embedding.vector));
        if embedding.encoder == Encoder::Deep {
            self.known.lock().put(&name, &made);
        }
        Some(made)
    }

    fn deep(&self, text: Text<'_>, searches: usize) -> Option<Embedding> {
        if searches > self.budget {
            return None;
        }
        let made = self.embedder.deep(&[text], Turn::Search);
        let failed =
            |error| tracing::debug!(%error, "a query was not embedded by the deep encoder");
        made.map_err(failed).ok()?.pop()
    }

    fn profile(
        &self,
        parsed: &ParsedQuery,
        knows: TermLookup,
        hint: Option<&PhraseMatch>,
    ) -> QueryProfile {
        let count = |text: &str| text.split_whitespace().count() as f32;
        let said = count(&parsed.sentence).max(1.0);
        // Numbers and sizes are no evidence that somebody knows what he says.
        let words = QueryTerms::of(&parsed.residual);
        let as_written = words.terms().iter().filter_map(|term| term.alternatives.first());
        let telling = as_written
            .flat_map(|way| way.words.iter())
            .filter(|word| !word.bytes().any(|byte| byte.is_ascii_digit()));
        let (mut all, mut recognised) = (0.0, 0.0);
        for word in telling {
            all += 1.0;
            // Who cannot tell is given the benefit of the doubt.
            let is_taught = |word: &str| self.embedder.recognises(word).unwrap_or(true);
            let is_known = knows(word) || is_taught(word) || is_taught(&format!("{word}s"));
            recognised += f32::from(is_known);
        }
        QueryProfile {
            function_word_ratio: (1.0 - count(&parsed.residual) / said).clamp(0.0, 1.0),
            phrase_similarity: hint.map(|hint| hint.similarity),
            recognised_ratio: if all > 0.0 { recognised / all } else { 0.0 },
        }
    }
}

/// A point on the way from one to another.
fn leaning(from: &Vector, toward: &Vector, share: f32) -> Option<Vector> {
    let pairs = from.as_slice().iter().zip(toward.as_slice());
    Vector::towards(pairs.map(|(from, toward)| from + share * toward).collect())
}

/// What a text is kept under.
fn name(text: Text<'_>) -> String {
    match text {
        Text::Request { sentence, words } => format!("{sentence}\n{words}"),
        other => other.whole().into_owned(),
    }
}

/// What was used lately: a full generation takes the place of the one before, which is forgotten.
#[derive(Default)]
struct Recent {
    now: HashMap<Box<str>, Made>,
    before: HashMap<Box<str>, Made>,
}

impl Recent {
    fn get(&mut self, text: &str) -> Option<Made> {
        if let Some(known) = self.now.get(text) {
            return Some(known.clone());
        }
        let known = self.before.remove(text)?;
        self.put(text, &known);
        Some(known)
    }

    fn put(&mut self, text: &str, made: &Made) {
        if self.now.len() >= KEPT {
            self.before = mem::take(&mut self.now);
        }
        self.now.insert(text.into(), made.clone());
    }
}

#[cfg(test)]
mod tests {
    use catalog::{fusion::FUSION_PARAMS, query_parser::parse};

    use super::*;
    use crate::embed::tests::{
        endpoint::{Act, Endpoint},
        tiny_model,
    };

    fn encoder(budget: usize) -> QueryEncoder {
        QueryEncoder::new(Arc::new(tiny_model()), budget)
    }

    fn meaning(encoder: &QueryEncoder, query: &str, searches: usize) -> Option<Meaning> {
        encoder.meaning(&parse(query), &|word| word == "sofa", &FUSION_PARAMS, searches)
    }

    #[test]
    fn a_busy_server_takes_the_instant_encoder() {
        let encoder = encoder(2);
        let made = |text, searches| meaning(&encoder, text, searches).map(|made| made.encoder);
        assert_eq!(made("red sofa", 3), Some(Encoder::Instant));
        assert_eq!(made("red sofa", 2), Some(Encoder::Deep));
        assert_eq!(made("red sofa", 3), Some(Encoder::Deep), "it is known by now");
        assert_eq!(made(" ", 0), None);
    }

    #[test]
    fn the_manner_of_a_query_is_told() {
        let encoder = encoder(1);
        let profile = |query| meaning(&encoder, query, 1).unwrap().profile;
        let (sofa, sentence) = (profile("sofa"), profile("a sofa for the xyzzy"));
        assert_eq!((sofa.function_word_ratio, sofa.recognised_ratio), (0.0, 1.0));
        assert_eq!((sentence.function_word_ratio, sentence.recognised_ratio), (0.6, 0.5));
        assert!(sofa.phrase_similarity.is_some());
        assert_eq!(profile("12345").recognised_ratio, 0.0);
    }

    #[test]
    fn a_query_leans_toward_what_such_phrases_stand_for() {
        let (query, answer) = (vec![1.0, 0.0], vec![0.0, 1.0]);
        let (query, answer) = (Vector::towards(query).unwrap(), Vector::towards(answer).unwrap());
        assert_eq!(leaning(&query, &answer, 0.0), Some(query.clone()));
        let half = leaning(&query, &answer, 1.0).unwrap();
        assert!((half.cosine(&query) - half.cosine(&answer)).abs() < 1e-6);
    }

    #[test]
    fn what_was_used_lately_is_known_and_the_rest_forgotten() {
        let made = encoder(usize::MAX).encode(Text::Query("red sofa"), 1).unwrap();
        let mut recent = Recent::default();
        recent.put("kept", &made);
        recent.put("forgotten", &made);
        for round in 0..3 {
            assert!(recent.get("kept").is_some());
            (0..KEPT).for_each(|n| recent.put(&format!("{round} {n}"), &made));
            assert!(recent.now.len() <= KEPT && recent.before.len() <= KEPT);
        }
        assert!(recent.get("forgotten").is_none());
    }

    #[test]
    fn a_model_without_an_instant_encoder_may_not_say_anything() {
        let endpoint = Endpoint::start();
        let encoder = QueryEncoder::new(Arc::new(endpoint.embedder()), 1);
        endpoint.order([Act::Fail(400, None)]);
        assert_eq!(meaning(&encoder, "red sofa", 1), None);
        assert!(meaning(&encoder, "red sofa", 1).is_some());
        assert_eq!(meaning(&encoder, "blue sofa", 2), None, "no time");
    }
}
