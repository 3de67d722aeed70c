//! Removes expired responses to idempotency keys, tokens that have long ended and old change records,
//! and infers again what an earlier version has stored of products, in the background.
//!
//! Each batch is a small transaction of its own, apart from those that write products, so writes
//! never wait for it. A batch that fails is retried; one that timed out is retried at half the
//! size.

use std::{
    io,
    sync::Arc,
    time::{Duration, Instant},
};

use jiff::{SignedDuration, Timestamp};
use store::{
    Cleanup, ErrorChain, Retained, StoreError, StoreErrorKind,
    background::{BackgroundThread, Next, Run},
};

use crate::system::Clock;

/// How long a token is listed after it expired or was revoked.
const ENDED_TOKENS: SignedDuration = SignedDuration::from_hours(30 * 24);
/// The pause after everything was removed.
const INTERVAL: Duration = Duration::from_mins(10);
/// Rows that are removed in one transaction.
const BATCH: usize = 500;
/// Products that are inferred again in one transaction.
const INFERRED_BATCH: usize = 200;
/// The shortest pause between two batches. After a batch that took longer, the pause is as long.
const MIN_PAUSE: Duration = Duration::from_millis(5);

/// What is kept.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Retention {
    /// How long the response to an idempotency key is kept.
    pub(crate) responses: SignedDuration,
    /// How many change records of each shop are kept.
    pub(crate) changes: u64,
}

/// Starts the thread.
pub(crate) fn start(
    cleanup: Box<dyn Cleanup>,
    clock: Clock,
    retention: Retention,
) -> io::Result<BackgroundThread> {
    let started_at = Some(clock());
    let mut sweep = Sweep { cleanup, clock, retention, started_at, batch: BATCH, logged: None };
    BackgroundThread::start("housekeeping", Arc::default(), move |run| sweep.step(run))
}

struct Sweep {
    cleanup: Box<dyn Cleanup>,
    clock: Clock,
    retention: Retention,
    /// When the current sweep began; `None` between two.
    started_at: Option<Timestamp>,
    batch: usize,
    /// The kind of failure that was logged last.
    logged: Option<StoreErrorKind>,
}

impl Sweep {
    /// Removes one batch.
    fn step(&mut self, run: &Run<'_>) -> Next {
        let now = *self.started_at.get_or_insert_with(|| (self.clock)());
        let since = |age| now.checked_sub(age).unwrap_or(Timestamp::MIN);
        let retained = Retained {
            responses_since: since(self.retention.responses),
            tokens_since: since(ENDED_TOKENS),
            changes: self.retention.changes,
        };
        let started = Instant::now();
        let removed = self.cleanup.remove_some(&retained, self.batch);
        let done = removed.and_then(|all| Ok(all && self.cleanup.infer_some(INFERRED_BATCH)?));
        match done {
            Ok(true) => {
                self.started_at = None;
                Next::Sleep(INTERVAL)
            }
            Ok(false) => Next::Sleep(started.elapsed().max(MIN_PAUSE)),
            Err(error) => {
                self.note_failure(&error, run.failures);
                Next::Retry(run.backoff())
            }
        }
    }

    /// Logs a failure, unless the one before it was of the same kind.
    fn note_failure(&mut self, error: &StoreError, failures: u32) {
        if error.kind() == StoreErrorKind::Busy {
            self.batch = (self.batch / 2).max(1);
        }
        if failures == 0 || self.logged != Some(error.kind()) {
            self.logged = Some(error.kind());
            let error = ErrorChain(error);
            tracing::warn!(%error, batch = self.batch, "housekeeping failed; will retry");
        }
    }
}

#[cfg(test)]
mod tests {
    use parking_lot::Mutex;
    use store::StoreError;

    use super::*;

    /// Fails for batches of more than 100 rows.
    struct Slow {
        rows: usize,
        /// Batches of products that are to be inferred again.
        outdated: usize,
        batches: Arc<Mutex<Vec<usize>>>,
    }

    impl Cleanup for Slow {
        fn remove_some(&mut self, _: &Retained, batch: usize) -> Result<bool, StoreError> {
            self.batches.lock().push(batch);
            if batch > 100 {
                return Err(StoreError::busy("it timed out"));
            }
            self.rows = self.rows.saturating_sub(batch);
            Ok(self.rows == 0)
        }

        fn infer_some(&mut self, _: usize) -> Result<bool, StoreError> {
            assert_eq!(self.rows, 0);
            self.outdated -= 1;
            Ok(self.outdated == 0)
        }
    }

    #[test]
    fn batches_that_time_out_are_halved_and_inference_comes_last() {
        let batches = Arc::<Mutex<Vec<usize>>>::default();
        let slow = Slow { rows: 150, outdated: 3, batches: Arc::clone(&batches) };
        let clock: Clock = Arc::new(|| Timestamp::UNIX_EPOCH);
        let retention = Retention { responses: SignedDuration::MAX, changes: 1 };
        let thread = start(Box::new(slow), clock, retention).unwrap();
        let done = || batches.lock().iter().filter(|batch| **batch <= 100).count() == 5;
        testkit::until("the last batch", done);
        drop(thread);
        assert_eq!(*batches.lock(), [500, 250, 125, 62, 62, 62, 62, 62]);
    }
}
