//! How does a node learn what other nodes wrote? The database tells it, and it asks as well.
//!
//! Every commit is announced to all nodes. An announcement can be lost with the connection, so
//! once a second the node also compares the numbers of the shops in memory with the database's.
//! A shop's changes are numbered without gaps and appear in order, so a number is all it takes.

use std::{
    collections::HashMap,
    io, mem,
    sync::Arc,
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use catalog::{change::Seq, product::ShopId};
use parking_lot::Mutex;

use crate::{
    bell::{self, Bell},
    shops::Shops,
    store::{Ear, Outlook, Postgres, StoreError},
};

/// How often the database is asked, at the least.
const ASK_EVERY: Duration = Duration::from_secs(1);
/// How long the end of the process waits for a question that is under way.
const STOP_TIME: Duration = Duration::from_secs(2);

/// The following thread. It stops when this is dropped.
pub(crate) struct Follower {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Shared {
    bell: Bell,
    /// The last change that was announced of each shop, since somebody looked.
    heard: Mutex<HashMap<ShopId, Seq>>,
}

impl Follower {
    /// Starts to follow.
    pub(crate) fn start(postgres: Postgres, shops: Arc<Shops>) -> io::Result<Self> {
        let shared = Arc::new(Shared::default());
        let outlook = postgres.outlook();
        outlook.confirm(Instant::now());
        let desk = Desk {
            postgres,
            outlook,
            shops,
            shared: Arc::clone(&shared),
            ear: None,
            is_lost: false,
        };
        let thread = thread::Builder::new().name("follower".to_owned());
        let thread = thread.spawn(move || desk.run())?;
        Ok(Self { shared, thread: Some(thread) })
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        self.shared.bell.stop();
        let Some(thread) = self.thread.take() else { return };
        bell::join_until(thread, Instant::now() + STOP_TIME);
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
}

impl Desk {
    fn run(mut self) {
        let mut asked = None::<Instant>;
        loop {
            let is_deaf = !self.ear.as_ref().is_some_and(Ear::hears) && !self.is_lost;
            let is_time = is_deaf || asked.is_none_or(|at| at.elapsed() >= ASK_EVERY);
            let done = if is_time { self.ask() } else { self.follow_what_was_heard() };
            if is_time {
                asked = Some(Instant::now());
            }
            self.report(done);
            let left = asked.map_or(Duration::ZERO, |at| ASK_EVERY.saturating_sub(at.elapsed()));
            if !self.shared.bell.wait_at_most(left) {
                return;
            }
        }
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
                shared.bell.ring();
            };
            self.ear = Some(self.postgres.listen(hear, move || silenced.bell.ring())?);
        }
        let asked_at = Instant::now();
        self.shops.follow_all()?;
        self.follow_what_was_heard()?;
        self.outlook.confirm(asked_at);
        Ok(())
    }

    fn follow_what_was_heard(&mut self) -> Result<(), StoreError> {
        let heard = mem::take(&mut *self.shared.heard.lock());
        for (shop, seq) in heard {
            self.shops.hear(shop, seq)?;
        }
        Ok(())
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
                let cause = std::error::Error::source(&error).map(ToString::to_string);
                tracing::warn!(%error, cause, "the database cannot be followed");
            }
            _ => {}
        }
    }
}
