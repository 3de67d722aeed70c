//! Removes expired answers to idempotency keys and old change records, in the background.
//!
//! It runs in small transactions of its own, beside those that write products: whatever it meets,
//! writes go on. What it fails to remove it tries again, in smaller batches if it took too long.

use std::{
    io,
    sync::Arc,
    time::{Duration, Instant},
};

use jiff::{SignedDuration, Timestamp};

use crate::{
    background::BackgroundThread,
    bell::Bell,
    store::{Cleanup, ErrorChain, Trouble},
    writer::Clock,
};

/// The pause after everything was removed.
const EVERY: Duration = Duration::from_mins(10);
/// Rows that are removed together.
const BATCH: usize = 500;
/// The least pause between two batches. After a batch that took longer, it is as long.
const PAUSE: Duration = Duration::from_millis(5);
/// The pause after a failure; it doubles with each one.
const FIRST_WAIT: Duration = Duration::from_secs(1);
/// The longest pause after a failure.
const LONGEST_WAIT: Duration = Duration::from_mins(1);

/// What is removed when.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Retention {
    /// How long the answer to an idempotency key is kept.
    pub(crate) answers: SignedDuration,
    /// How many changes are kept, of each shop or of all, as the store numbers them.
    pub(crate) changes: u64,
}

/// Starts the thread.
pub(crate) fn start(
    cleanup: Box<dyn Cleanup>,
    clock: Clock,
    retention: Retention,
) -> io::Result<BackgroundThread> {
    let bell = Arc::<Bell>::default();
    let mut keeper = Housekeeper { cleanup, retention, batch: BATCH, failures: 0, logged: None };
    let (told, mut now) = (Arc::clone(&bell), clock());
    BackgroundThread::start("housekeeping", bell, move || {
        while keeper.remove_all(now, &told) && told.pause(EVERY) {
            now = clock();
        }
    })
}

struct Housekeeper {
    cleanup: Box<dyn Cleanup>,
    retention: Retention,
    batch: usize,
    /// Batches that failed in a row.
    failures: u32,
    /// What the last of them was logged with.
    logged: Option<Trouble>,
}

impl Housekeeper {
    /// Removes what there is to remove; `false` if it is time to stop.
    fn remove_all(&mut self, now: Timestamp, bell: &Bell) -> bool {
        let expired_before = now.checked_sub(self.retention.answers).unwrap_or(Timestamp::MIN);
        loop {
            let started = Instant::now();
            let removed =
                self.cleanup.remove_some(expired_before, self.retention.changes, self.batch);
            let pause = match removed {
                Ok(true) => return !bell.stopping(),
                Ok(false) => {
                    self.failures = 0;
                    started.elapsed().max(PAUSE)
                }
                Err(error) => self.failed(&error),
            };
            if !bell.pause(pause) {
                return false;
            }
        }
    }

    /// Counts a failure and says how long to wait.
    fn failed(&mut self, error: &crate::store::StoreError) -> Duration {
        if error.trouble() == Trouble::Busy {
            self.batch = (self.batch / 2).max(1);
        }
        if self.failures == 0 || self.logged != Some(error.trouble()) {
            self.logged = Some(error.trouble());
            let error = ErrorChain(error);
            tracing::warn!(%error, batch = self.batch, "expired rows cannot be removed now");
        }
        let wait = FIRST_WAIT.saturating_mul(2_u32.saturating_pow(self.failures));
        self.failures = self.failures.saturating_add(1);
        wait.min(LONGEST_WAIT)
    }
}

#[cfg(test)]
mod tests {
    use parking_lot::Mutex;

    use super::*;
    use crate::store::StoreError;

    /// Removes rows at a pace; some batches fail.
    struct Slow {
        rows: usize,
        batches: Arc<Mutex<Vec<usize>>>,
    }

    impl Cleanup for Slow {
        fn remove_some(&mut self, _: Timestamp, _: u64, batch: usize) -> Result<bool, StoreError> {
            self.batches.lock().push(batch);
            if batch > 100 {
                return Err(StoreError::busy("it takes too long"));
            }
            self.rows = self.rows.saturating_sub(batch);
            Ok(self.rows == 0)
        }
    }

    #[test]
    fn batches_that_take_too_long_are_made_smaller() {
        let batches = Arc::<Mutex<Vec<usize>>>::default();
        let slow = Slow { rows: 150, batches: Arc::clone(&batches) };
        let clock: Clock = Arc::new(|| Timestamp::UNIX_EPOCH);
        let retention = Retention { answers: SignedDuration::MAX, changes: 1 };
        let thread = start(Box::new(slow), clock, retention).unwrap();
        let done = || batches.lock().iter().filter(|batch| **batch <= 100).count() == 3;
        testkit::until("the end", done);
        drop(thread);
        assert_eq!(*batches.lock(), [500, 250, 125, 62, 62, 62]);
    }
}
