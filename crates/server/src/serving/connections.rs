//! Limits the number of open connections.
//!
//! At the limit, a new connection replaces the one that has been idle longest: without a request in
//! progress and without pending response data. Connections in use are never closed for others.

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

/// A request is in progress, or its response is being written.
const BUSY: u64 = 0;
/// The connection is being closed for another; no request may begin on it.
const CLOSING: u64 = u64::MAX;

/// The activity of a connection. A state other than [`BUSY`] and [`CLOSING`] is the time at which it
/// became idle, in microseconds after `epoch`, plus one.
#[derive(Debug)]
pub(super) struct Activity {
    epoch: Instant,
    state: AtomicU64,
    has_request: AtomicBool,
    closing: Notify,
}

impl Activity {
    pub(super) fn new(epoch: Instant) -> Arc<Self> {
        let activity = Self {
            epoch,
            state: AtomicU64::new(BUSY),
            has_request: AtomicBool::new(false),
            closing: Notify::new(),
        };
        activity.mark_idle();
        Arc::new(activity)
    }

    /// Marks a request as in progress until the guard is dropped; `None` if the connection is being
    /// closed and the request must not begin.
    pub(super) fn begin_request(self: &Arc<Self>) -> Option<RequestGuard> {
        let begun = self.state.fetch_update(Ordering::AcqRel, Ordering::Acquire, |state| {
            (state != CLOSING).then_some(BUSY)
        });
        begun.ok()?;
        self.has_request.store(true, Ordering::Release);
        Some(RequestGuard(Arc::clone(self)))
    }

    /// Whether a request is in progress: arriving bytes are then no request head.
    pub(super) fn has_request(&self) -> bool {
        self.has_request.load(Ordering::Acquire)
    }

    /// Called when everything is written: without a request in progress, the connection is idle.
    pub(super) fn mark_idle(&self) {
        if !self.has_request() && self.state.load(Ordering::Acquire) == BUSY {
            let now = self.epoch.elapsed().as_micros() as u64 + 1;
            let _ = self.state.compare_exchange(BUSY, now, Ordering::AcqRel, Ordering::Acquire);
        }
    }

    /// When it became idle; `None` if it is not.
    fn idle_since(&self) -> Option<u64> {
        Some(self.state.load(Ordering::Acquire)).filter(|state| ![BUSY, CLOSING].contains(state))
    }

    /// Closes the connection if it has been idle since then.
    fn close(&self, since: u64) -> bool {
        let closed =
            self.state.compare_exchange(since, CLOSING, Ordering::AcqRel, Ordering::Acquire);
        if closed.is_ok() {
            self.closing.notify_one();
        }
        closed.is_ok()
    }

    /// Completes when the connection must close.
    pub(super) async fn closed(&self) {
        self.closing.notified().await;
    }
}

/// A request in progress.
pub(super) struct RequestGuard(Arc<Activity>);

impl Drop for RequestGuard {
    fn drop(&mut self) {
        self.0.has_request.store(false, Ordering::Release);
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

    /// A slot for a new connection; `None` if all connections are in use.
    pub(super) fn acquire(self: &Arc<Self>) -> Option<ConnectionSlot> {
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
        Some(ConnectionSlot { connections: Arc::clone(self), number, activity })
    }
}

impl Open {
    /// Closes the connection that has been idle longest, and frees its slot.
    fn close_longest_idle(&mut self) -> Option<()> {
        loop {
            let idle = self.by_number.iter().filter_map(|(number, activity)| {
                activity.idle_since().map(|since| (since, *number))
            });
            let (since, number) = idle.min()?;
            // A request may have begun meanwhile; then another connection is chosen.
            if self.by_number.get(&number).is_some_and(|activity| activity.close(since)) {
                self.by_number.remove(&number);
                return Some(());
            }
        }
    }
}

/// The slot of one connection, released when dropped.
#[derive(Debug)]
pub(super) struct ConnectionSlot {
    connections: Arc<Connections>,
    number: u64,
    pub(super) activity: Arc<Activity>,
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        self.connections.open.lock().by_number.remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// Idle times have a resolution of microseconds.
    fn tick() {
        std::thread::sleep(Duration::from_millis(1));
    }

    #[test]
    fn the_longest_idle_connection_is_closed() {
        let connections = Connections::new(2);
        let first = connections.acquire().unwrap();
        tick();
        let second = connections.acquire().unwrap();
        tick();
        // The first is used and idle again: now the second has been idle longer.
        drop(first.activity.begin_request());
        first.activity.mark_idle();
        let third = connections.acquire().unwrap();
        assert!(
            second.activity.begin_request().is_none(),
            "no request begins on a closed connection"
        );
        assert!(first.activity.begin_request().is_some());
        drop(second);
        assert_eq!(connections.open.lock().by_number.len(), 2);
        drop((first, third));
        assert_eq!(connections.open.lock().by_number.len(), 0);
    }

    #[test]
    fn connections_in_use_are_not_closed() {
        let connections = Connections::new(2);
        let slots = [(); 2].map(|()| connections.acquire().unwrap());
        let in_request = slots[0].activity.begin_request().unwrap();
        let answered = slots[1].activity.begin_request().unwrap();
        drop(answered);
        assert!(
            connections.acquire().is_none(),
            "one has a request, one has not written its response"
        );
        slots[0].activity.mark_idle();
        assert!(connections.acquire().is_none(), "a flush within a request is not idle");
        slots[1].activity.mark_idle();
        assert!(connections.acquire().is_some());
        drop(in_request);
    }

    #[tokio::test]
    async fn a_connection_is_notified_that_it_must_close() {
        let connections = Connections::new(1);
        let slot = connections.acquire().unwrap();
        let _other = connections.acquire().unwrap();
        slot.activity.closed().await;
    }
}
