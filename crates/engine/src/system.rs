//! The clock and the random source. The composition root supplies them, so that the engine is
//! deterministic in tests.

use std::sync::Arc;

use jiff::Timestamp;

/// Returns the current time.
pub type Clock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// Fills a buffer with cryptographically random bytes.
pub type RandomSource = Arc<dyn Fn(&mut [u8]) + Send + Sync>;
