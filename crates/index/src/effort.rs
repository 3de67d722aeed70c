//! How a search is executed: whether it estimates cosines, and on how many threads it runs.

use super::plan::Plan;

/// Searches among fewer products use no sketches. Measured with `bench-micro index`: sketches are
/// faster from about 500 products on, but by 20 µs at most up to here.
pub(super) const SKETCHED_FROM: usize = 2_000;

/// Searches among fewer products use one thread. Measured with two threads:
/// 50,000 products gain nothing, 100,000 a quarter and 200,000 a fifth.
const THREADED_FROM: usize = 80_000;

/// How a search is executed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Effort {
    /// Whether the first stage estimates cosines by sketches.
    pub(super) sketched: bool,
    /// Whether products that the second stage cannot consider are dropped early. Changes no result.
    pub(super) shortlisted: bool,
    /// Number of threads that share the blocks. Changes no result.
    pub(super) threads: usize,
}

impl Effort {
    /// What a search among this many products uses.
    pub(super) fn of(products: usize, plan: &Plan<'_>) -> Self {
        let threads = if products < THREADED_FROM { 1 } else { plan.threads };
        let are_many = products >= SKETCHED_FROM;
        Self { sketched: are_many, shortlisted: are_many, threads }
    }
}
