//! FNV-1a with 64 bits, the hash of the model's files.

/// The state before the first byte.
pub(super) const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;

/// The state after further bytes.
pub(super) fn hash(state: u64, bytes: &[u8]) -> u64 {
    const PRIME: u64 = 0x0100_0000_01b3;
    bytes.iter().fold(state, |state, byte| (state ^ u64::from(*byte)).wrapping_mul(PRIME))
}
