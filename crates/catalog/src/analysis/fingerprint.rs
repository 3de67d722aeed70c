//! Fingerprints of texts: equal for texts of the same words in the same order.

use super::for_each_word;

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
        Self(0x811c_9dc5)
    }
}

impl Fingerprint {
    /// Adds a word.
    pub fn push(&mut self, word: &str) {
        const PRIME: u32 = 0x0100_0193;
        for byte in word.as_bytes().iter().chain(&[0]) {
            self.0 = (self.0 ^ u32::from(*byte)).wrapping_mul(PRIME);
        }
    }

    /// The hash.
    pub fn finish(self) -> u32 {
        self.0
    }
}
