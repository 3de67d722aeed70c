//! A hash of words, for tables whose keys are fixed, so that no query can make them collide.

use std::hash::{BuildHasherDefault, Hasher};

/// Hashes words.
pub(crate) type WordHash = BuildHasherDefault<Fnv>;

/// FNV-1a: fast for short words.
#[derive(Clone, Copy)]
pub(crate) struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Hasher for Fnv {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
