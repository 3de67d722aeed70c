//! Fingerprints of texts: equal for texts of the same words in the same order.

use super::for_each_word;
use crate::text::fnv;

/// A 32-bit FNV-1a hash of the words of a text, in order.
pub fn fingerprint(text: &str) -> u32 {
    let mut fingerprint = Fingerprint::default();
    for_each_word(text, |word| fingerprint.push(word));
    fingerprint.finish()
}

/// Computes a [`fingerprint`] of words as they come.
pub struct Fingerprint(u32);

impl Default for Fingerprint {
    fn default() -> Self {
        Self(fnv::OFFSET_32)
    }
}

impl Fingerprint {
    /// Adds a word.
    pub fn push(&mut self, word: &str) {
        self.0 = fnv::hash_32(fnv::hash_32(self.0, word.as_bytes()), &[0]);
    }

    /// The hash.
    pub fn finish(self) -> u32 {
        self.0
    }
}
