//! Whether the database is reachable, as far as this process knows.
//!
//! A connection that hangs reports nothing for a long time, so availability does not wait for
//! requests to fail: a [heartbeat](super::heartbeat) queries the database twice a second. When it
//! gets no reply, all reads that are in progress are told at once.

use std::{
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    time::{Duration, Instant},
};

use parking_lot::Mutex;
use tokio::sync::watch;

/// Responses state their age if the indexes were last compared with the database longer ago than
/// this.
const STALE_AFTER: Duration = Duration::from_secs(3);

/// The availability of one database. The database starts as available.
pub struct Availability {
    /// Whether the last heartbeat got no reply.
    down: watch::Sender<bool>,
    /// Whether a request failed since the last heartbeat that got a reply.
    suspected: AtomicBool,
    /// When the indexes in memory were last known to be as new as the database.
    confirmed_at: Mutex<Instant>,
    /// How often the server was found demoted. Connections of an older generation are replaced.
    generation: AtomicU64,
}

impl Availability {
    pub(super) fn new() -> Self {
        Self {
            down: watch::Sender::new(false),
            suspected: AtomicBool::new(false),
            confirmed_at: Mutex::new(Instant::now()),
            generation: AtomicU64::new(0),
        }
    }

    /// Records a heartbeat that got a reply.
    pub(super) fn mark_up(&self) {
        self.suspected.store(false, Ordering::Release);
        self.down.send_if_modified(|down| std::mem::replace(down, false));
    }

    /// Records that a heartbeat or, after a lost connection, the attempt to listen again got no
    /// reply.
    pub(super) fn mark_down(&self) {
        self.down.send_if_modified(|down| !std::mem::replace(down, true));
    }

    /// Records a request that got no reply, or a lost connection. The next heartbeat or attempt to
    /// listen decides whether the database is down.
    pub fn suspect(&self) {
        self.suspected.store(true, Ordering::Release);
    }

    /// Whether the last heartbeat got no reply.
    pub fn is_down(&self) -> bool {
        *self.down.borrow()
    }

    /// Whether reads that have a local alternative should use it.
    pub fn is_suspect(&self) -> bool {
        self.suspected.load(Ordering::Acquire) || self.is_down()
    }

    /// The generation of the connections that may be used.
    pub(super) fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    /// Invalidates all connections of this generation: one of them leads to a server that accepted
    /// writes and no longer does.
    pub(super) fn report_demotion(&self, generation: u64) {
        let (next, order) = (generation + 1, Ordering::AcqRel);
        if self.generation.compare_exchange(generation, next, order, Ordering::Acquire).is_ok() {
            tracing::warn!("database server became read-only; reconnecting to find the primary");
        }
    }

    /// Receives `true` when the database goes down.
    pub(super) fn watch(&self) -> watch::Receiver<bool> {
        self.down.subscribe()
    }

    /// Records that the indexes in memory were as new as the database at this time.
    pub fn confirm_fresh(&self, at: Instant) {
        *self.confirmed_at.lock() = at;
    }

    /// The maximum age of responses from memory; `None` if they are known to be up to date.
    pub fn staleness(&self) -> Option<Duration> {
        let age = self.confirmed_at.lock().elapsed();
        (age > STALE_AFTER || self.is_suspect()).then_some(age)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_heartbeat_reply_clears_every_suspicion() {
        let availability = Availability::new();
        let state =
            || (availability.staleness(), availability.is_suspect(), availability.is_down());
        assert_eq!(state(), (None, false, false));
        availability.suspect();
        assert!(availability.staleness().is_some());
        assert!(availability.is_suspect() && !availability.is_down());
        availability.mark_down();
        assert!(availability.is_down() && *availability.watch().borrow());
        availability.mark_up();
        assert_eq!(state(), (None, false, false));
    }
}
