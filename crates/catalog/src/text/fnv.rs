//! FNV-1a with 32 and 64 bits, which is fast for short words: the hashes of indexes, of the model's
//! files, and of maps.

use std::hash::{BuildHasherDefault, Hasher};

/// The 32-bit state before the first byte.
pub const OFFSET_32: u32 = 0x811c_9dc5;
/// The 64-bit state before the first byte.
pub const OFFSET_64: u64 = 0xcbf2_9ce4_8422_2325;

/// The 32-bit state after further bytes.
#[inline]
pub fn hash_32(state: u32, bytes: &[u8]) -> u32 {
    const PRIME: u32 = 0x0100_0193;
    bytes.iter().fold(state, |state, byte| (state ^ u32::from(*byte)).wrapping_mul(PRIME))
}

/// The 64-bit state after further bytes.
#[inline]
pub fn hash_64(state: u64, bytes: &[u8]) -> u64 {
    const PRIME: u64 = 0x0100_0000_01b3;
    bytes.iter().fold(state, |state, byte| (state ^ u64::from(*byte)).wrapping_mul(PRIME))
}

/// Hashes the words of a map whose keys are fixed, so that no query can make them collide.
pub(crate) type WordHash = BuildHasherDefault<WordHasher>;

/// The 64-bit hash of a word.
#[derive(Clone, Copy)]
pub(crate) struct WordHasher(u64);

impl Default for WordHasher {
    fn default() -> Self {
        Self(OFFSET_64)
    }
}

impl Hasher for WordHasher {
    fn write(&mut self, bytes: &[u8]) {
        self.0 = hash_64(self.0, bytes);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_those_of_the_published_test_vectors() {
        assert_eq!(hash_32(OFFSET_32, b"a"), 0xe40c_292c);
        assert_eq!(hash_32(OFFSET_32, b"foobar"), 0xbf9c_f968);
        assert_eq!(hash_64(OFFSET_64, b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(hash_64(hash_64(OFFSET_64, b"foo"), b"bar"), 0x8594_4171_f739_67e8);
    }
}
