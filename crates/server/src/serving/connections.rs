//! Which connections are open, and which of them makes room for another?
//!
//! There is a limit to them. A connection beyond it takes the place of the one that has been idle for
//! longest: without a request at work and without a response to be taken, whether it is kept open
//! for later or has not sent its whole head. Connections that are in use are never closed for others.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Instant,
};

use parking_lot::Mutex;
use tokio::sync::Notify;

/// A request is at work, or its response is on its way.
const BUSY: u64 = 0;
/// The connection makes room for another; no request begins on it any more.
const CLOSING: u64 = u64::MAX;

/// What a connection is doing. All other states than [`BUSY`] and [`CLOSING`] are the time since
/// when it has been idle, in microseconds after `epoch` and one.
#[derive(Debug)]
pub(super) struct Activity {
    epoch: Instant,
    state: AtomicU64,
    at_work: AtomicBool,
    closing: Notify,
}

impl Activity {
    pub(super) fn new(epoch: Instant) -> Arc<Self> {
        let activity = Self {
            epoch,
            state: AtomicU64::new(BUSY),
            at_work: AtomicBool::new(false),
            closing: Notify::new(),
        };
        activity.rest();
        Arc::new(activity)
    }

    /// Marks a request as at work until the guard is dropped; `None` if the connection is being
    /// closed and the request must not begin.
    pub(super) fn begin(self: &Arc<Self>) -> Option<AtWorkGuard> {
        let begun = self.state.fetch_update(Ordering::AcqRel, Ordering::Acquire, |state| {
            (state != CLOSING).then_some(BUSY)
        });
        begun.ok()?;
        self.at_work.store(true, Ordering::Release);
        Some(AtWorkGuard(Arc::clone(self)))
    }

    /// Whether a request is at work: then the bytes that arrive are no head.
    pub(super) fn is_at_work(&self) -> bool {
        self.at_work.load(Ordering::Acquire)
    }

    /// Everything was written. Without a request at work, the connection is idle from now on.
    pub(super) fn rest(&self) {
        if !self.is_at_work() && self.state.load(Ordering::Acquire) == BUSY {
            let now = self.epoch.elapsed().as_micros() as u64 + 1;
            let _ = self.state.compare_exchange(BUSY, now, Ordering::AcqRel, Ordering::Acquire);
        }
    }

    /// Since when it has been idle, if it is.
    fn idle_since(&self) -> Option<u64> {
        Some(self.state.load(Ordering::Acquire)).filter(|state| ![BUSY, CLOSING].contains(state))
    }

    /// Closes the connection, if it has been idle all the while since.
    fn close(&self, since: u64) -> bool {
        let closed =
            self.state.compare_exchange(since, CLOSING, Ordering::AcqRel, Ordering::Acquire);
        if closed.is_ok() {
            self.closing.notify_one();
        }
        closed.is_ok()
    }

    /// Completes when the connection must make room.
    pub(super) async fn closed(&self) {
        self.closing.notified().await;
    }
}

/// A request at work.
pub(super) struct AtWorkGuard(Arc<Activity>);

impl Drop for AtWorkGuard {
    fn drop(&mut self) {
        self.0.at_work.store(false, Ordering::Release);
    }
}

/// The open connections of a listener.
#[derive(Debug)]
pub(super) struct Connections {
    limit: usize,
    epoch: Instant,
    open: Mutex<Open>,
}

#[derive(Debug, Default)]
struct Open {
    next: u64,
    by_number: HashMap<u64, Arc<Activity>>,
}

impl Connections {
    pub(super) fn new(limit: usize) -> Arc<Self> {
        Arc::new(Self { limit, epoch: Instant::now(), open: Mutex::default() })
    }

    /// A place for one more connection; `None` where all are in use.
    pub(super) fn enter(self: &Arc<Self>) -> Option<Place> {
        let mut open = self.open.lock();
        if open.by_number.len() >= self.limit {
            open.close_longest_idle()?;
            metrics::counter!("shopkeeper_connections_closed_total", "reason" => "idle")
                .increment(1);
        }
        let number = open.next;
        open.next += 1;
        let activity = Activity::new(self.epoch);
        open.by_number.insert(number, Arc::clone(&activity));
        Some(Place { connections: Arc::clone(self), number, activity })
    }
}

impl Open {
    /// Closes the connection that has been idle for longest, and frees its place.
    fn close_longest_idle(&mut self) -> Option<()> {
        loop {
            let idle = self.by_number.iter().filter_map(|(number, activity)| {
                activity.idle_since().map(|since| (since, *number))
            });
            let (since, number) = idle.min()?;
            // It may have begun a request just now: then another one is chosen.
            if self.by_number.get(&number).is_some_and(|activity| activity.close(since)) {
                self.by_number.remove(&number);
                return Some(());
            }
        }
    }
}

/// The place of one connection, free again when this is dropped.
#[derive(Debug)]
pub(super) struct Place {
    connections: Arc<Connections>,
    number: u64,
    pub(super) activity: Arc<Activity>,
}

impl Drop for Place {
    fn drop(&mut self) {
        self.connections.open.lock().by_number.remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// Times are told apart by microseconds.
    fn tick() {
        std::thread::sleep(Duration::from_millis(1));
    }

    #[test]
    fn the_longest_idle_connection_makes_room() {
        let connections = Connections::new(2);
        let first = connections.enter().unwrap();
        tick();
        let second = connections.enter().unwrap();
        tick();
        // The first is used and rests again: now the second has been idle for longer.
        drop(first.activity.begin());
        first.activity.rest();
        let third = connections.enter().unwrap();
        assert!(second.activity.begin().is_none(), "no request begins on a closed connection");
        assert!(first.activity.begin().is_some());
        drop(second);
        assert_eq!(connections.open.lock().by_number.len(), 2);
        drop((first, third));
        assert_eq!(connections.open.lock().by_number.len(), 0);
    }

    #[test]
    fn connections_in_use_are_not_closed() {
        let connections = Connections::new(2);
        let places = [(); 2].map(|()| connections.enter().unwrap());
        let at_work = places[0].activity.begin().unwrap();
        let answered = places[1].activity.begin().unwrap();
        drop(answered);
        assert!(connections.enter().is_none(), "one is at work, one has not sent its response");
        places[0].activity.rest();
        assert!(connections.enter().is_none(), "a flush in the middle of a request is no rest");
        places[1].activity.rest();
        assert!(connections.enter().is_some());
        drop(at_work);
    }

    #[tokio::test]
    async fn a_connection_hears_that_it_must_close() {
        let connections = Connections::new(1);
        let place = connections.enter().unwrap();
        let _other = connections.enter().unwrap();
        place.activity.closed().await;
    }
}
