//! The vectors of single words, as far as they were needed lately.
//!
//! The second stage of ranking compares hundreds of words in a search, so finding a vector must not
//! take longer than comparing it. A word is looked up by its text once; from then on the index knows
//! its place. Places are those of a *generation*: when it is full, the next one begins, and words
//! that are still in use move on to it.

use std::{
    collections::HashMap,
    sync::{Arc, OnceLock},
};

use parking_lot::Mutex;

use crate::{
    embed::{Embedder, StoredVector},
    index::{WordPlace, WordVectors},
};

/// Words of a generation, of which there are two: at 330 bytes each, 21 MiB in all.
const GENERATION_SIZE: usize = 1 << 15;

/// A word's vector; `None` if the model knows nothing about it.
type WordVector = Option<StoredVector>;

/// The vectors of words by one model.
pub(super) struct WordVectorCache {
    embedder: Arc<dyn Embedder>,
    current: Mutex<Arc<Generation>>,
}

impl WordVectorCache {
    pub(super) fn new(embedder: Arc<dyn Embedder>) -> Self {
        let first = Generation::new(Arc::clone(&embedder), 0, GENERATION_SIZE, None);
        Self { embedder, current: Mutex::new(Arc::new(first)) }
    }

    /// The vectors that a search uses.
    pub(super) fn current(&self) -> Arc<Generation> {
        let mut current = self.current.lock();
        if current.is_full() {
            let old = Arc::clone(&current);
            old.words.lock().old = None;
            let number = old.number + 1;
            let next = Generation::new(Arc::clone(&self.embedder), number, old.size(), Some(old));
            *current = Arc::new(next);
        }
        Arc::clone(&current)
    }
}

/// Words with numbers, and their vectors.
pub(super) struct Generation {
    embedder: Arc<dyn Embedder>,
    number: u64,
    vectors: Box<[OnceLock<WordVector>]>,
    words: Mutex<Words>,
}

#[derive(Default)]
struct Words {
    numbers: HashMap<Box<str>, usize>,
    /// The generation before, as long as it is of use.
    old: Option<Arc<Generation>>,
}

impl Generation {
    fn new(
        embedder: Arc<dyn Embedder>,
        number: u64,
        size: usize,
        old: Option<Arc<Generation>>,
    ) -> Self {
        let vectors = (0..size).map(|_| OnceLock::new()).collect();
        let words = Mutex::new(Words { old, ..Words::default() });
        Self { embedder, number, vectors, words }
    }

    fn size(&self) -> usize {
        self.vectors.len()
    }

    fn is_full(&self) -> bool {
        self.words.lock().numbers.len() == self.size()
    }

    fn find(&self, words: &Words, word: &str) -> Option<(WordPlace, WordVector)> {
        let number = *words.numbers.get(word)?;
        Some((WordPlace::new(self.number, number), self.vectors[number].get()?.clone()))
    }

    /// The vector of a word that is not here yet.
    fn make(&self, old: Option<Arc<Generation>>, word: &str) -> WordVector {
        let old = old.and_then(|old| old.find(&old.words.lock(), word));
        let make = || self.embedder.word_vector(word, None);
        old.map_or_else(make, |(_, vector)| vector)
    }
}

impl WordVectors for Generation {
    fn at(&self, place: WordPlace) -> Option<Option<&StoredVector>> {
        let number = place.number_in(self.number)?;
        self.vectors.get(number)?.get().map(Option::as_ref)
    }

    fn look_up(&self, word: &str) -> (WordPlace, WordVector) {
        let words = self.words.lock();
        if let Some(found) = self.find(&words, word) {
            return found;
        }
        let old = words.old.clone();
        drop(words);
        let vector = self.make(old, word);
        let mut words = self.words.lock();
        // Another search may have been faster.
        if let Some(found) = self.find(&words, word) {
            return found;
        }
        let number = words.numbers.len();
        let Some(free) = self.vectors.get(number) else { return (WordPlace::NOWHERE, vector) };
        words.numbers.insert(word.into(), number);
        (WordPlace::new(self.number, number), free.get_or_init(|| vector).clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::embed::tests::tiny_model;

    const WORDS: [&str; 4] = ["sofa", "bed", "lamp", "sofas"];

    fn cache(size: usize) -> WordVectorCache {
        let embedder: Arc<dyn Embedder> = Arc::new(tiny_model());
        let first = Generation::new(Arc::clone(&embedder), 0, size, None);
        WordVectorCache { embedder, current: Mutex::new(Arc::new(first)) }
    }

    fn expected(cache: &WordVectorCache, word: &str) -> WordVector {
        cache.embedder.word_vector(word, None)
    }

    #[test]
    fn a_word_is_found_at_its_place() {
        let cache = cache(WORDS.len());
        let vectors = cache.current();
        let places = WORDS.map(|word| {
            let (place, vector) = vectors.look_up(word);
            assert_eq!(vector, expected(&cache, word), "{word}");
            assert_eq!(vectors.look_up(word).0, place, "{word}");
            place
        });
        assert_eq!(vectors.at(WordPlace::NOWHERE), None);
        for (place, word) in places.iter().zip(WORDS) {
            assert_eq!(vectors.at(*place), Some(expected(&cache, word).as_ref()), "{word}");
        }
        assert!(expected(&cache, WORDS[0]).is_some());
    }

    #[test]
    fn words_move_on_to_the_next_generation() {
        let cache = cache(2);
        let first = cache.current();
        let places = WORDS.map(|word| first.look_up(word).0);
        // What does not fit is found, but kept nowhere.
        let is_kept = places.map(|place| place != WordPlace::NOWHERE);
        assert_eq!(is_kept, [true, true, false, false]);
        assert_eq!(first.look_up(WORDS[3]).1, expected(&cache, WORDS[3]));
        let second = cache.current();
        assert_eq!(second.at(places[0]), None, "a place of the generation before");
        let (place, moved) = second.look_up(WORDS[0]);
        assert!(place != places[0]);
        assert_eq!(moved, first.look_up(WORDS[0]).1);
        second.look_up(WORDS[2]);
        let third = cache.current();
        assert!(second.words.lock().old.is_none(), "the first is of no use any more");
        assert_eq!(third.look_up(WORDS[1]).1, expected(&cache, WORDS[1]));
    }
}
