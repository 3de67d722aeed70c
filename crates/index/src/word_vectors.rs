//! The vectors of single words, as far as they were needed lately.
//!
//! The second stage of ranking compares hundreds of words in a search, so finding a vector must not
//! take longer than comparing it. A word is looked up by its text once; from then on the index knows
//! its place. All vectors are in one table, since each access to another page of memory takes longer
//! than a comparison.
//!
//! Places are those of a *generation*: when it is full, the next one begins, and words that are still in
//! use move on to it.

use std::{collections::HashMap, num::NonZeroU32, sync::Arc};

use embed::{Embedder, StoredVector, dot};
use fearless_simd::{Level, dispatch};
use parking_lot::{Mutex, RwLock};

use super::segment::WordPlace;

/// Words of a generation, of which there are two: at 310 bytes each, 19 MiB in all. A search that
/// began before a generation was full may exceed it.
const GENERATION_SIZE: usize = 1 << 15;
/// By how many vectors the table grows.
const GROWTH: usize = 1 << 10;

/// The number of words that the model knows nothing about.
const UNKNOWN: u32 = u32::MAX;

/// The vectors of words by one model, for as many searches as need them.
pub struct WordVectorCache {
    embedder: Arc<dyn Embedder>,
    current: Mutex<Arc<WordVectors>>,
}

impl WordVectorCache {
    /// An empty cache.
    pub fn new(embedder: Arc<dyn Embedder>) -> Self {
        Self::with_size(embedder, GENERATION_SIZE)
    }

    fn with_size(embedder: Arc<dyn Embedder>, size: usize) -> Self {
        let first = WordVectors::new(Arc::clone(&embedder), NonZeroU32::MIN, size, None);
        Self { embedder, current: Mutex::new(Arc::new(first)) }
    }

    /// The vectors that a search uses.
    pub fn current(&self) -> Arc<WordVectors> {
        let mut current = self.current.lock();
        if current.is_full() {
            let old = Arc::clone(&current);
            old.words.write().old = None;
            // After four billion generations the first place is reused.
            let number = old.number.checked_add(1).unwrap_or(NonZeroU32::MIN);
            let next = WordVectors::new(Arc::clone(&self.embedder), number, old.size, Some(old));
            *current = Arc::new(next);
        }
        Arc::clone(&current)
    }
}

/// A generation: words with numbers, and their vectors.
pub struct WordVectors {
    embedder: Arc<dyn Embedder>,
    number: NonZeroU32,
    size: usize,
    words: RwLock<Words>,
}

struct Words {
    /// The row of each word in the table, or [`UNKNOWN`].
    numbers: HashMap<Box<str>, u32>,
    table: Table,
    /// The generation before, as long as it is of use.
    old: Option<Arc<WordVectors>>,
}

/// Vectors by number.
struct Table {
    dims: usize,
    scales: Vec<f32>,
    coordinates: Vec<i8>,
}

impl Table {
    fn get(&self, number: u32) -> Option<(f32, &[i8])> {
        let number = number as usize;
        let scale = *self.scales.get(number)?;
        Some((scale, &self.coordinates[number * self.dims..(number + 1) * self.dims]))
    }

    /// Appends a vector and returns its number.
    fn push(&mut self, vector: &StoredVector) -> u32 {
        if self.coordinates.len() == self.coordinates.capacity() {
            self.coordinates.reserve_exact(GROWTH * self.dims);
        }
        self.scales.push(vector.scale());
        self.coordinates.extend_from_slice(vector.numbers());
        self.scales.len() as u32 - 1
    }
}

impl WordVectors {
    fn new(
        embedder: Arc<dyn Embedder>,
        number: NonZeroU32,
        size: usize,
        old: Option<Arc<WordVectors>>,
    ) -> Self {
        let table = Table { dims: embedder.dims(), scales: Vec::new(), coordinates: Vec::new() };
        let words = RwLock::new(Words { numbers: HashMap::new(), table, old });
        Self { embedder, number, size, words }
    }

    fn is_full(&self) -> bool {
        self.words.read().numbers.len() >= self.size
    }

    /// The vector of a word; `None` if the model knows nothing about it.
    pub fn vector(&self, word: &str) -> Option<StoredVector> {
        let number = self.number_of(word);
        self.words.read().vector(number)
    }

    /// Whether a place is in this table. Otherwise the word has to be looked up.
    pub fn contains(&self, place: WordPlace) -> bool {
        place.number_in(self.number).is_some()
    }

    /// The place of an indexed word from now on.
    pub fn look_up(&self, word: &str) -> WordPlace {
        WordPlace::new(self.number, self.number_of(word))
    }

    /// Compares words with the terms of a query: for each word its cosine with each term, 0 where it is not
    /// needed or the model knows nothing about the word.
    pub(crate) fn compare(
        &self,
        words: &[ComparedWord],
        terms: &[Option<StoredVector>],
    ) -> Vec<f32> {
        let mut cosines = vec![0.0; words.len() * terms.len()];
        let table = &self.words.read().table;
        dispatch!(Level::new(), simd => {
            for (at, word) in words.iter().enumerate() {
                let row = word.place.number_in(self.number).and_then(|number| table.get(number));
                let Some((scale, coordinates)) = row else { continue };
                for (term, of_term) in terms.iter().enumerate() {
                    if let Some(of_term) = of_term
                        && word.terms.contains(term)
                    {
                        let product = dot(simd, coordinates, of_term.numbers()) as f32;
                        let cosine = product * scale * of_term.scale();
                        cosines[at * terms.len() + term] = cosine.clamp(0.0, 1.0);
                    }
                }
            }
        });
        cosines
    }

    fn number_of(&self, word: &str) -> u32 {
        let words = self.words.read();
        if let Some(number) = words.numbers.get(word) {
            return *number;
        }
        let old = words.old.clone();
        drop(words);
        let vector = self.make(old, word);
        let Words { numbers, table, .. } = &mut *self.words.write();
        // Another search may have been faster.
        let add = || vector.map_or(UNKNOWN, |vector| table.push(&vector));
        *numbers.entry(word.into()).or_insert_with(add)
    }

    /// The vector of a word that is not here yet.
    fn make(&self, old: Option<Arc<WordVectors>>, word: &str) -> Option<StoredVector> {
        let old = old.and_then(|old| {
            let words = old.words.read();
            words.numbers.get(word).map(|number| words.vector(*number))
        });
        old.unwrap_or_else(|| self.embedder.word_vector(word, None))
    }
}

impl Words {
    fn vector(&self, number: u32) -> Option<StoredVector> {
        self.table.get(number).map(|(scale, numbers)| StoredVector::of_parts(scale, numbers))
    }
}

/// A word that is compared with terms of a query.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ComparedWord {
    /// Where its vector is.
    pub(crate) place: WordPlace,
    /// The terms.
    pub(crate) terms: TermSet,
}

/// A set of terms of a query, a bit each. The last bit stands for all further terms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TermSet(u64);

impl TermSet {
    fn bit(term: usize) -> u64 {
        1 << term.min(u64::BITS as usize - 1)
    }

    /// Adds a term by its index.
    pub(crate) fn insert(&mut self, term: usize) {
        self.0 |= Self::bit(term);
    }

    /// Whether a term is in the set. For the 64th term and later ones, whether any of them is.
    #[inline]
    pub(crate) fn contains(self, term: usize) -> bool {
        self.0 & Self::bit(term) != 0
    }

    pub(super) fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(super) fn extend(&mut self, other: Self) {
        self.0 |= other.0;
    }
}

#[cfg(test)]
mod tests {
    use embed::testing::tiny_model;

    use super::*;

    const WORDS: [&str; 4] = ["sofa", "bed", "lamp", "sofas"];

    fn cache(size: usize) -> WordVectorCache {
        WordVectorCache::with_size(Arc::new(tiny_model()), size)
    }

    fn expected(cache: &WordVectorCache, word: &str) -> Option<StoredVector> {
        cache.embedder.word_vector(word, None)
    }

    #[test]
    fn a_word_is_found_at_its_place() {
        let cache = cache(WORDS.len());
        let vectors = cache.current();
        for word in WORDS {
            let place = vectors.look_up(word);
            assert_eq!(vectors.look_up(word), place, "{word}");
            assert!(vectors.contains(place), "{word}");
            assert_eq!(vectors.vector(word), expected(&cache, word), "{word}");
        }
        assert!(!vectors.contains(WordPlace::NOWHERE));
        assert!(expected(&cache, WORDS[0]).is_some());
    }

    #[test]
    fn words_are_compared_with_the_terms_that_they_are_needed_for() {
        let cache = cache(WORDS.len());
        let vectors = cache.current();
        let terms = [WORDS[0], WORDS[1]].map(|word| expected(&cache, word));
        let of = |word: &str, needed: &[usize]| {
            let mut terms = TermSet::default();
            needed.iter().for_each(|term| terms.insert(*term));
            ComparedWord { place: vectors.look_up(word), terms }
        };
        let nowhere = ComparedWord { place: WordPlace::NOWHERE, ..of(WORDS[0], &[0, 1]) };
        let words = [of(WORDS[0], &[0]), of(WORDS[2], &[0, 1]), nowhere];
        let cosines = vectors.compare(&words, &terms);
        let cosine = |one: usize, other: usize| {
            let [one, other] = [one, other].map(|at| expected(&cache, WORDS[at]).unwrap().vector());
            one.cosine(&other).clamp(0.0, 1.0)
        };
        let exact = [1.0, 0.0, cosine(2, 0), cosine(2, 1), 0.0, 0.0];
        assert!(exact[2].max(exact[3]) > 0.0, "{exact:?}");
        let is_near = |(one, other): (&f32, &f32)| (one - other).abs() < 1e-3;
        assert!(cosines.iter().zip(&exact).all(is_near), "{cosines:?} {exact:?}");
        assert!(vectors.compare(&words, &[]).is_empty());
    }

    #[test]
    fn words_move_on_to_the_next_generation() {
        let cache = cache(2);
        let first = cache.current();
        // A search may exceed a generation.
        let places = WORDS.map(|word| first.look_up(word));
        assert!(places.iter().all(|place| first.contains(*place)));
        let second = cache.current();
        assert!(!second.contains(places[0]), "a place of the generation before");
        assert!(second.look_up(WORDS[0]) != places[0]);
        assert_eq!(second.vector(WORDS[0]), first.vector(WORDS[0]));
        second.look_up(WORDS[2]);
        let third = cache.current();
        assert!(second.words.read().old.is_none(), "the first is of no use any more");
        assert_eq!(third.vector(WORDS[1]), expected(&cache, WORDS[1]));
    }
}
