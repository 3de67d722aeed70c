//! How does a node learn what other nodes wrote? The database tells it, and it asks as well.
//!
//! Every commit is announced to all nodes. An announcement can be lost with the connection, so
//! once a second the node also compares the positions of the shops in memory with the database's.
//! A shop's changes are numbered without gaps and appear in order. A position also has the stamp of
//! the transaction that made the last change, so that a database that lost commits is noticed
//! although their numbers are given out again.

use std::{
    collections::HashMap,
    io, mem,
    sync::Arc,
    time::{Duration, Instant},
};

use catalog::{change::Seq, product::ShopId};
use parking_lot::Mutex;

use crate::{
    background::{BackgroundThread, Next, Wakeup},
    shops::Shops,
    store::{Ear, ErrorChain, Outlook, Postgres, StoreError},
};

/// How often the database is asked, at the least.
const ASK_EVERY: Duration = Duration::from_secs(1);
/// The following thread. It stops when this is dropped.
pub(crate) struct Follower {
    _thread: BackgroundThread,
}

#[derive(Default)]
struct Shared {
    wakeup: Arc<Wakeup>,
    /// The last change that was announced of each shop, since somebody looked.
    heard: Mutex<HashMap<ShopId, Seq>>,
}

impl Follower {
    /// Starts to follow.
    pub(crate) fn start(postgres: Postgres, shops: Arc<Shops>) -> io::Result<Self> {
        let shared = Arc::new(Shared::default());
        let outlook = postgres.outlook();
        outlook.confirm(Instant::now());
        let mut desk = Desk {
            postgres,
            outlook,
            shops,
            shared: Arc::clone(&shared),
            ear: None,
            is_lost: false,
            asked: None,
        };
        let wakeup = Arc::clone(&shared.wakeup);
        let thread = BackgroundThread::start("follower", wakeup, move |_| desk.step())?;
        Ok(Self { _thread: thread })
    }
}

/// The following thread's own things.
struct Desk {
    postgres: Postgres,
    outlook: Arc<Outlook>,
    shops: Arc<Shops>,
    shared: Arc<Shared>,
    ear: Option<Ear>,
    is_lost: bool,
    /// When the database was last asked.
    asked: Option<Instant>,
}

impl Desk {
    fn step(&mut self) -> Next {
        let is_deaf = !self.ear.as_ref().is_some_and(Ear::hears) && !self.is_lost;
        let is_time = is_deaf || self.asked.is_none_or(|at| at.elapsed() >= ASK_EVERY);
        let done = if is_time { self.ask() } else { self.follow_what_was_heard() };
        if is_time {
            self.asked = Some(Instant::now());
        }
        self.report(done);
        let since = self.asked.map_or(Duration::ZERO, |at| at.elapsed());
        Next::WaitAtMost(ASK_EVERY.saturating_sub(since))
    }

    /// Listens, if nobody does, and then asks: what was announced before is not missed.
    fn ask(&mut self) -> Result<(), StoreError> {
        if !self.ear.as_ref().is_some_and(Ear::hears) {
            let (shared, silenced) = (Arc::clone(&self.shared), Arc::clone(&self.shared));
            let hear = move |shop, seq: Seq| {
                let mut heard = shared.heard.lock();
                let last = heard.entry(shop).or_default();
                *last = seq.max(*last);
                drop(heard);
                shared.wakeup.notify();
            };
            self.ear = Some(self.postgres.listen(hear, move || silenced.wakeup.notify())?);
            // It may be another server than before, without the last commits of that one.
            self.shops.doubt_known();
        }
        let asked_at = Instant::now();
        let followed = self.shops.follow_all();
        followed.and(self.follow_what_was_heard())?;
        self.outlook.confirm(asked_at);
        Ok(())
    }

    fn follow_what_was_heard(&mut self) -> Result<(), StoreError> {
        let heard = mem::take(&mut *self.shared.heard.lock());
        self.shops.hear_all(heard)
    }

    /// Says once that the database is away, and once that it is back.
    fn report(&mut self, done: Result<(), StoreError>) {
        match done {
            Ok(()) if self.is_lost => {
                self.is_lost = false;
                tracing::info!("the database is followed again");
            }
            Err(error) if !self.is_lost => {
                self.is_lost = true;
                let error = ErrorChain(&error);
                tracing::warn!(%error, "the database cannot be followed");
            }
            _ => {}
        }
    }
}
