//! By which numbers does search rank? All that judged queries can tell, in one place to be turned.

use crate::{fusion, ranking};

/// The numbers of words and those of words against meaning.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tuning {
    /// What words are worth.
    pub ranking: ranking::Weights,
    /// How words and meaning are weighed.
    pub fusion: fusion::Weights,
}

/// The numbers in force, found by `make tune` on judged queries: see `docs/relevance.md`.
pub const TUNING: Tuning = Tuning { ranking: ranking::WEIGHTS, fusion: fusion::WEIGHTS };
