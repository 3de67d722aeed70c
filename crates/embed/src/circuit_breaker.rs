//! A circuit breaker for the remote endpoint: it opens after several consecutive failures, and then
//! lets single requests probe whether the endpoint has recovered.

use std::time::{Duration, Instant};

/// Consecutive failures after which the circuit opens.
const FAILURES: u32 = 5;
/// How long it stays open the first time; each failed probe doubles it.
const FIRST_OPEN: Duration = Duration::from_secs(2);
/// The longest time that it stays open.
const MAX_OPEN: Duration = Duration::from_secs(60);

/// The state of the circuit. The current time is a parameter.
#[derive(Debug)]
pub(super) enum CircuitBreaker {
    /// Requests pass.
    Closed { failures: u32 },
    /// Requests are rejected until then.
    Open { until: Instant, open_for: Duration },
    /// One request probes the endpoint; if its outcome is not known by then, another may.
    HalfOpen { until: Instant, open_for: Duration },
}

impl CircuitBreaker {
    pub(super) fn new() -> Self {
        Self::Closed { failures: 0 }
    }

    /// Whether a request may be sent now; if not, how long to wait.
    pub(super) fn try_request(&mut self, now: Instant) -> Result<(), Duration> {
        match *self {
            Self::Closed { .. } => Ok(()),
            Self::Open { until, open_for } | Self::HalfOpen { until, open_for } => {
                let left = until.saturating_duration_since(now);
                if left.is_zero() {
                    *self = Self::HalfOpen { until: now + MAX_OPEN, open_for };
                    return Ok(());
                }
                Err(left)
            }
        }
    }

    /// Records the success of a request.
    pub(super) fn succeeded(&mut self) {
        *self = Self::new();
    }

    /// Records the failure of a request.
    pub(super) fn failed(&mut self, now: Instant) {
        *self = match *self {
            Self::Closed { failures } if failures + 1 < FAILURES => {
                Self::Closed { failures: failures + 1 }
            }
            Self::Closed { .. } => Self::Open { until: now + FIRST_OPEN, open_for: FIRST_OPEN },
            Self::HalfOpen { open_for, .. } => {
                let open_for = (open_for * 2).min(MAX_OPEN);
                Self::Open { until: now + open_for, open_for }
            }
            // A request that was sent before the circuit opened.
            Self::Open { until, open_for } => Self::Open { until, open_for },
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opens_probes_and_closes() {
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let mut breaker = CircuitBreaker::new();
        for _ in 0..FAILURES {
            assert_eq!(breaker.try_request(start), Ok(()));
            breaker.failed(start);
        }
        assert_eq!(breaker.try_request(at(1)), Err(Duration::from_secs(1)));
        assert_eq!(breaker.try_request(at(2)), Ok(()), "one request probes");
        assert!(breaker.try_request(at(2)).is_err(), "no other passes");
        breaker.failed(at(3));
        assert_eq!(breaker.try_request(at(3)), Err(Duration::from_secs(4)), "twice as long");
        assert_eq!(breaker.try_request(at(7)), Ok(()));
        breaker.succeeded();
        assert_eq!(breaker.try_request(at(7)), Ok(()));
        assert_eq!(breaker.try_request(at(7)), Ok(()));
    }

    #[test]
    fn a_success_resets_the_failures() {
        let now = Instant::now();
        let mut breaker = CircuitBreaker::new();
        for _ in 0..10 * FAILURES {
            breaker.failed(now);
            breaker.succeeded();
        }
        assert_eq!(breaker.try_request(now), Ok(()));
    }

    #[test]
    fn a_lost_probe_does_not_block_for_ever() {
        let now = Instant::now();
        let mut breaker = CircuitBreaker::Open { until: now, open_for: FIRST_OPEN };
        assert_eq!(breaker.try_request(now), Ok(()));
        assert_eq!(breaker.try_request(now + MAX_OPEN), Ok(()));
    }

    #[test]
    fn the_open_time_is_bounded() {
        let mut now = Instant::now();
        let mut breaker = CircuitBreaker::Open { until: now, open_for: FIRST_OPEN };
        for _ in 0..40 {
            assert_eq!(breaker.try_request(now), Ok(()));
            breaker.failed(now);
            now += MAX_OPEN;
        }
    }
}
