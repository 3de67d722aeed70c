//! The vectors of single words, which the second stage compares with the terms of a query.

use embed::StoredVector;

use super::segment::WordPlace;

/// The vectors of single words.
pub trait WordVectors: Send + Sync {
    /// Whether a place is in this table. Otherwise the word has to be looked up.
    fn contains(&self, place: WordPlace) -> bool;

    /// The place of an indexed word from now on.
    fn look_up(&self, word: &str) -> WordPlace;

    /// Compares words with the terms of a query: for each word its cosine with each term, 0 where it is not
    /// needed or the model knows nothing about the word.
    fn compare(&self, words: &[ComparedWord], terms: &[Option<StoredVector>]) -> Vec<f32>;
}

/// A word that is compared with terms of a query.
#[derive(Clone, Copy, Debug)]
pub struct ComparedWord {
    /// Where its vector is.
    pub place: WordPlace,
    /// The terms.
    pub terms: TermSet,
}

/// A set of terms of a query, a bit each. The last bit stands for all further terms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TermSet(u64);

impl TermSet {
    fn bit(term: usize) -> u64 {
        1 << term.min(u64::BITS as usize - 1)
    }

    /// Adds a term by its index.
    pub fn insert(&mut self, term: usize) {
        self.0 |= Self::bit(term);
    }

    /// Whether a term is in the set. For the 64th term and later ones, whether any of them is.
    #[inline]
    pub fn contains(self, term: usize) -> bool {
        self.0 & Self::bit(term) != 0
    }

    pub(super) fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(super) fn extend(&mut self, other: Self) {
        self.0 |= other.0;
    }
}
