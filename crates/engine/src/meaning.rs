//! What does a query mean? The deep encoder says it best; the instant one says it when the server
//! has no time, or the deep one fails.

use std::{collections::HashMap, mem, sync::Arc};

use catalog::understanding::Understanding;
use parking_lot::Mutex;

use crate::embed::{Embedder, Embedding, Encoder, Text, Turn};

/// Deep vectors of queries that are kept in each of two generations.
const KEPT: usize = 1024;

/// The text of a query that is embedded.
///
/// What is left once conditions and chit-chat are taken out: the words that are searched for.
pub(crate) fn text(understood: &Understanding) -> &str {
    &understood.residual
}

/// Turns queries into vectors.
pub(crate) struct QueryEncoder {
    embedder: Arc<dyn Embedder>,
    /// Searches under way or waiting beyond which there is no time for the deep encoder.
    budget: usize,
    known: Mutex<Recent>,
}

impl QueryEncoder {
    pub(crate) fn new(embedder: Arc<dyn Embedder>, budget: usize) -> Self {
        Self { embedder, budget, known: Mutex::default() }
    }

    /// What a text means, while so many searches are under way or wait; `None` if the model
    /// cannot say. Blocks.
    pub(crate) fn encode(&self, text: &str, searches: usize) -> Option<Embedding> {
        if text.trim().is_empty() {
            return None;
        }
        if let Some(known) = self.known.lock().get(text) {
            return Some(known);
        }
        let made = self.deep(text, searches).or_else(|| self.embedder.instant(Text::Query(text)));
        let encoder = made.as_ref().map_or("none", |made| made.encoder.as_str());
        metrics::counter!("shopkeeper_query_vectors_total", "encoder" => encoder).increment(1);
        made
    }

    /// Whether the model could not have said it better with more time.
    pub(crate) fn is_best(&self, made: Option<&Embedding>) -> bool {
        self.budget == 0 || made.is_some_and(|made| made.encoder == Encoder::Deep)
    }

    fn deep(&self, text: &str, searches: usize) -> Option<Embedding> {
        if searches > self.budget {
            return None;
        }
        match self.embedder.deep(&[Text::Query(text)], Turn::Search) {
            Ok(mut made) => {
                let made = made.pop()?;
                self.known.lock().put(text, &made);
                Some(made)
            }
            Err(error) => {
                tracing::debug!(%error, "a query was not embedded by the deep encoder");
                None
            }
        }
    }
}

/// What was used lately: a full generation takes the place of the one before, which is forgotten.
#[derive(Default)]
struct Recent {
    now: HashMap<Box<str>, Embedding>,
    before: HashMap<Box<str>, Embedding>,
}

impl Recent {
    fn get(&mut self, text: &str) -> Option<Embedding> {
        if let Some(known) = self.now.get(text) {
            return Some(known.clone());
        }
        let known = self.before.remove(text)?;
        self.put(text, &known);
        Some(known)
    }

    fn put(&mut self, text: &str, embedding: &Embedding) {
        if self.now.len() >= KEPT {
            self.before = mem::take(&mut self.now);
        }
        self.now.insert(text.into(), embedding.clone());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::embed::tests::{
        endpoint::{Act, Endpoint},
        tiny_model,
    };

    fn encoder(budget: usize) -> QueryEncoder {
        QueryEncoder::new(Arc::new(tiny_model()), budget)
    }

    #[test]
    fn a_busy_server_takes_the_instant_encoder() {
        let encoder = encoder(2);
        let made = |text, searches| encoder.encode(text, searches).map(|made| made.encoder);
        assert_eq!(made("red sofa", 3), Some(Encoder::Instant));
        assert_eq!(made("red sofa", 2), Some(Encoder::Deep));
        assert_eq!(made("red sofa", 3), Some(Encoder::Deep), "it is known by now");
        assert_eq!(made(" ", 0), None);
    }

    #[test]
    fn what_was_used_lately_is_known_and_the_rest_forgotten() {
        let encoder = encoder(usize::MAX);
        let made = encoder.encode("red sofa", 1).unwrap();
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
        assert_eq!(encoder.encode("red sofa", 1), None);
        assert!(encoder.encode("red sofa", 1).is_some());
        assert_eq!(encoder.encode("blue sofa", 2), None, "no time");
    }
}
