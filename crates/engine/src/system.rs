//! The clock and the random source. The composition root supplies them, so that the engine is
//! deterministic in tests.

use std::sync::Arc;

pub use embed::RandomSource;
use jiff::Timestamp;

/// Returns the current time.
pub type Clock = Arc<dyn Fn() -> Timestamp + Send + Sync>;
