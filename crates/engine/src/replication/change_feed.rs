//! Follows the changes that other nodes commit, by notification and by polling.
//!
//! Every commit notifies all nodes (`LISTEN`/`NOTIFY`). A notification can be lost with the
//! connection, so once a second this thread also compares the positions of the shops in memory with
//! the database's.

use std::{
    collections::HashMap,
    io, mem,
    sync::Arc,
    time::{Duration, Instant},
};

use catalog::product::{ShopId, change::Seq};
use parking_lot::Mutex;
use store::{
    Availability, ChangeListener, ErrorChain, Postgres, StoreError,
    background::{BackgroundThread, Next, Wakeup},
};

use super::registry::ShopRegistry;

/// The longest time between two polls.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// The thread that follows the database. It stops when this is dropped.
pub(crate) struct ChangeFeed {
    _thread: BackgroundThread,
}

impl ChangeFeed {
    pub(crate) fn start(postgres: Postgres, registry: Arc<ShopRegistry>) -> io::Result<Self> {
        let notified = Arc::new(Notified::default());
        let availability = postgres.availability();
        availability.confirm_fresh(Instant::now());
        let wakeup = Arc::clone(&notified.wakeup);
        let mut follower = Follower {
            postgres,
            availability,
            registry,
            notified,
            listener: None,
            is_failing: false,
            polled_at: None,
        };
        let thread = BackgroundThread::start("change-feed", wakeup, move |_| follower.step())?;
        Ok(Self { _thread: thread })
    }
}

/// Changes that the listener has received and the thread has not applied.
#[derive(Default)]
struct Notified {
    wakeup: Arc<Wakeup>,
    /// The last change of each shop.
    last: Mutex<HashMap<ShopId, Seq>>,
}

impl Notified {
    fn on_change(&self, shop: ShopId, seq: Seq) {
        let mut last = self.last.lock();
        let known = last.entry(shop).or_default();
        *known = seq.max(*known);
        drop(last);
        self.wakeup.notify();
    }
}

/// The state of the thread.
struct Follower {
    postgres: Postgres,
    availability: Arc<Availability>,
    registry: Arc<ShopRegistry>,
    notified: Arc<Notified>,
    listener: Option<ChangeListener>,
    /// Whether the last attempt failed.
    is_failing: bool,
    /// When the database was last polled.
    polled_at: Option<Instant>,
}

impl Follower {
    fn step(&mut self) -> Next {
        // After a lost connection, the first attempt is made at once.
        let lost_listener = !self.is_listening() && !self.is_failing;
        let is_due = lost_listener || self.polled_at.is_none_or(|at| at.elapsed() >= POLL_INTERVAL);
        let done = if is_due { self.poll() } else { self.apply_notified() };
        if is_due {
            self.polled_at = Some(Instant::now());
        }
        self.report(done);
        let since = self.polled_at.map_or(Duration::ZERO, |at| at.elapsed());
        Next::WaitAtMost(POLL_INTERVAL.saturating_sub(since))
    }

    fn is_listening(&self) -> bool {
        self.listener.as_ref().is_some_and(ChangeListener::is_connected)
    }

    /// Listens, if necessary, before it compares positions: a change is either notified or found.
    fn poll(&mut self) -> Result<(), StoreError> {
        if !self.is_listening() {
            let (notified, wakeup) =
                (Arc::clone(&self.notified), Arc::clone(&self.notified.wakeup));
            let on_change = move |shop, seq| notified.on_change(shop, seq);
            self.listener = Some(self.postgres.listen(on_change, move || wakeup.notify())?);
            // The new connection may lead to a server without the last commits of the previous one.
            self.registry.forget_last_known();
        }
        let polled_at = Instant::now();
        let synced = self.registry.sync_all();
        synced.and(self.apply_notified())?;
        self.availability.confirm_fresh(polled_at);
        Ok(())
    }

    fn apply_notified(&mut self) -> Result<(), StoreError> {
        let last = mem::take(&mut *self.notified.last.lock());
        self.registry.on_changes(last)
    }

    /// Logs the first failure, and the first success after it.
    fn report(&mut self, done: Result<(), StoreError>) {
        match done {
            Ok(()) if self.is_failing => {
                self.is_failing = false;
                tracing::info!("change feed recovered");
            }
            Err(error) if !self.is_failing => {
                self.is_failing = true;
                let error = ErrorChain(&error);
                tracing::warn!(%error, "change feed interrupted; retrying");
            }
            _ => {}
        }
    }
}
