//! Where the vectors of a segment's words are in the cache of word vectors, as far as searches needed
//! them.

use std::{
    num::NonZeroU32,
    sync::{
        OnceLock,
        atomic::{AtomicU64, Ordering},
    },
};

use super::dictionary::Dictionary;

/// The place of a word's vector: the number of a generation and the number of the word in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WordPlace(u64);

impl WordPlace {
    /// The word has to be looked up.
    pub const NOWHERE: Self = Self(0);

    /// The place of a word in a generation.
    pub fn new(generation: NonZeroU32, number: u32) -> Self {
        Self(u64::from(generation.get()) << u32::BITS | u64::from(number))
    }

    /// The number of the word; `None` for a place in another generation.
    #[inline]
    pub fn number_in(self, generation: NonZeroU32) -> Option<u32> {
        let is_here = self.0 >> u32::BITS == u64::from(generation.get());
        is_here.then_some(self.0 as u32)
    }
}

/// The places of all words of a segment; empty before the first search.
#[derive(Debug, Default)]
pub(crate) struct WordPlaces(OnceLock<Box<[AtomicU64]>>);

impl WordPlaces {
    /// The places of the words of a segment, by their numbers.
    pub(crate) fn of(&self, words: &Dictionary) -> Places<'_> {
        let nowhere = || AtomicU64::new(WordPlace::NOWHERE.0);
        Places(self.0.get_or_init(|| (0..words.len()).map(|_| nowhere()).collect()))
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.0.get().map_or(0, |places| size_of_val(&**places))
    }
}

/// The places of a segment that was searched.
#[derive(Clone, Copy)]
pub(crate) struct Places<'a>(&'a [AtomicU64]);

impl Places<'_> {
    #[inline]
    pub(crate) fn get(&self, word: usize) -> WordPlace {
        WordPlace(self.0[word].load(Ordering::Relaxed))
    }

    pub(crate) fn set(&self, word: usize, place: WordPlace) {
        self.0[word].store(place.0, Ordering::Relaxed);
    }
}
