//! When is an endpoint that keeps failing asked again? Not at once: after some failures in a row
//! it is left alone for a while, then one request tries whether it is back.

use std::time::{Duration, Instant};

/// Failures in a row after which the endpoint is left alone.
const FAILURES: u32 = 5;
/// For how long, the first time; each failed try doubles it.
const FIRST_REST: Duration = Duration::from_secs(2);
/// For how long at the most.
const LONGEST_REST: Duration = Duration::from_secs(60);

/// What is known about the endpoint's health. Time is handed in.
#[derive(Debug)]
pub(super) enum Breaker {
    /// It works, as far as known.
    Closed { failures: u32 },
    /// It is left alone.
    Open { until: Instant, rest: Duration },
    /// One request is trying it; if nothing is heard of that by then, another may.
    HalfOpen { until: Instant, rest: Duration },
}

impl Breaker {
    pub(super) fn new() -> Self {
        Self::Closed { failures: 0 }
    }

    /// Whether a request may be made now; if not, in how long.
    pub(super) fn ask(&mut self, now: Instant) -> Result<(), Duration> {
        match *self {
            Self::Closed { .. } => Ok(()),
            Self::Open { until, rest } | Self::HalfOpen { until, rest } => {
                let left = until.saturating_duration_since(now);
                if left.is_zero() {
                    *self = Self::HalfOpen { until: now + LONGEST_REST, rest };
                    return Ok(());
                }
                Err(left)
            }
        }
    }

    /// A request was answered.
    pub(super) fn succeeded(&mut self) {
        *self = Self::new();
    }

    /// A request was not answered.
    pub(super) fn failed(&mut self, now: Instant) {
        *self = match *self {
            Self::Closed { failures } if failures + 1 < FAILURES => {
                Self::Closed { failures: failures + 1 }
            }
            Self::Closed { .. } => Self::Open { until: now + FIRST_REST, rest: FIRST_REST },
            Self::HalfOpen { rest, .. } => {
                let rest = (rest * 2).min(LONGEST_REST);
                Self::Open { until: now + rest, rest }
            }
            // A straggler from before.
            Self::Open { until, rest } => Self::Open { until, rest },
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_opens_tries_and_closes() {
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let mut breaker = Breaker::new();
        for _ in 0..FAILURES {
            assert_eq!(breaker.ask(start), Ok(()));
            breaker.failed(start);
        }
        assert_eq!(breaker.ask(at(1)), Err(Duration::from_secs(1)));
        assert_eq!(breaker.ask(at(2)), Ok(()), "one may try");
        assert!(breaker.ask(at(2)).is_err(), "and no other");
        breaker.failed(at(3));
        assert_eq!(breaker.ask(at(3)), Err(Duration::from_secs(4)), "twice as long");
        assert_eq!(breaker.ask(at(7)), Ok(()));
        breaker.succeeded();
        assert_eq!(breaker.ask(at(7)), Ok(()));
        assert_eq!(breaker.ask(at(7)), Ok(()));
    }

    #[test]
    fn a_success_forgives_earlier_failures() {
        let now = Instant::now();
        let mut breaker = Breaker::new();
        for _ in 0..10 * FAILURES {
            breaker.failed(now);
            breaker.succeeded();
        }
        assert_eq!(breaker.ask(now), Ok(()));
    }

    #[test]
    fn a_try_that_is_never_heard_of_again_does_not_block_for_ever() {
        let now = Instant::now();
        let mut breaker = Breaker::Open { until: now, rest: FIRST_REST };
        assert_eq!(breaker.ask(now), Ok(()));
        assert_eq!(breaker.ask(now + LONGEST_REST), Ok(()));
    }

    #[test]
    fn the_rest_has_an_end() {
        let mut now = Instant::now();
        let mut breaker = Breaker::Open { until: now, rest: FIRST_REST };
        for _ in 0..40 {
            assert_eq!(breaker.ask(now), Ok(()));
            breaker.failed(now);
            now += LONGEST_REST;
        }
    }
}
