//! Where the vectors of a segment's words are in the cache of word vectors, as far as searches needed
//! them.

use std::sync::{
    OnceLock,
    atomic::{AtomicU64, Ordering},
};

use super::dictionary::Dictionary;

/// The place of a word's vector: the number of a generation and the number of the word in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WordPlace(u64);

impl WordPlace {
    /// The word has to be looked up.
    pub const NOWHERE: Self = Self(0);

    const NUMBER_BITS: u32 = 16;

    /// The place of a number below 65,535.
    pub fn new(generation: u64, number: usize) -> Self {
        Self(generation << Self::NUMBER_BITS | (number as u64 + 1))
    }

    /// The number of the word; `None` for a place in another generation.
    #[inline]
    pub fn number_in(self, generation: u64) -> Option<usize> {
        let number = self.0 & ((1 << Self::NUMBER_BITS) - 1);
        let is_here = self.0 >> Self::NUMBER_BITS == generation;
        (is_here && number > 0).then(|| number as usize - 1)
    }
}

/// The places of all words of a segment; empty before the first search.
#[derive(Debug, Default)]
pub(in crate::index) struct WordPlaces(OnceLock<Box<[AtomicU64]>>);

/// The place of one word.
pub(in crate::index) struct PlaceCell<'a>(&'a AtomicU64);

impl WordPlaces {
    /// The place of a word of the segment, by its number.
    pub(in crate::index) fn at(&self, word: usize, words: &Dictionary) -> PlaceCell<'_> {
        let nowhere = || AtomicU64::new(WordPlace::NOWHERE.0);
        let places = self.0.get_or_init(|| (0..words.len()).map(|_| nowhere()).collect());
        PlaceCell(&places[word])
    }

    pub(in crate::index) fn memory_bytes(&self) -> usize {
        self.0.get().map_or(0, |places| size_of_val(&**places))
    }
}

impl PlaceCell<'_> {
    #[inline]
    pub(in crate::index) fn get(&self) -> WordPlace {
        WordPlace(self.0.load(Ordering::Relaxed))
    }

    pub(in crate::index) fn set(&self, place: WordPlace) {
        self.0.store(place.0, Ordering::Relaxed);
    }
}
