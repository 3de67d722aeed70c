//! FNV-1a with 32 bits: hashes that are stored in indexes and in files of the model.

/// The state before the first byte.
pub(crate) const OFFSET: u32 = 0x811c_9dc5;

/// The state after further bytes.
pub(crate) fn hash(state: u32, bytes: &[u8]) -> u32 {
    const PRIME: u32 = 0x0100_0193;
    bytes.iter().fold(state, |state, byte| (state ^ u32::from(*byte)).wrapping_mul(PRIME))
}
