//! How do many readers share a few connections?

use std::{sync::Arc, time::Instant};

use parking_lot::{Condvar, Mutex};

use super::{
    super::{StoreError, Trouble},
    connector::Connector,
    session::Session,
};

/// Connections that read, at most so many at once.
pub(super) struct Pool {
    connector: Arc<Connector>,
    most: usize,
    state: Mutex<State>,
    freed: Condvar,
}

#[derive(Default)]
struct State {
    idle: Vec<Session>,
    open: usize,
    /// Somebody waited in vain, and no connection has become free since.
    is_stuck: bool,
}

impl Pool {
    pub(super) fn new(connector: Arc<Connector>, most: usize) -> Self {
        Self { connector, most, state: Mutex::default(), freed: Condvar::new() }
    }

    /// Runs `work` on a free connection. `work` must be able to run again: a connection that
    /// was lost while nobody used it is replaced.
    pub(super) fn with<T>(
        &self,
        mut work: impl FnMut(&mut Session) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let mut place = self.take()?;
        if let Some(kept) = place.session.as_mut() {
            match work(kept) {
                Err(error) if error.trouble() == Trouble::Away => place.session = None,
                answered => return answered,
            }
        }
        work(place.session.insert(self.connector.connect()?))
    }

    /// Runs `work` once, on a connection that was just proved by getting it `ready`.
    pub(super) fn with_ready<T>(
        &self,
        ready: impl Fn(&mut Session) -> Result<(), StoreError>,
        work: impl FnOnce(&mut Session) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let mut place = self.take()?;
        if let Some(kept) = place.session.as_mut() {
            match ready(kept) {
                Ok(()) => return work(kept),
                Err(error) if error.trouble() == Trouble::Away => place.session = None,
                Err(error) => return Err(error),
            }
        }
        let made = place.session.insert(self.connector.connect()?);
        ready(made)?;
        work(made)
    }

    /// A place in the pool, with a connection if one is idle.
    fn take(&self) -> Result<Place<'_>, StoreError> {
        let until = Instant::now() + self.connector.connect_time();
        let mut state = self.state.lock();
        loop {
            while let Some(session) = state.idle.pop() {
                if session.is_usable() {
                    return Ok(Place { pool: self, session: Some(session) });
                }
                state.open -= 1;
            }
            if state.open < self.most {
                state.open += 1;
                return Ok(Place { pool: self, session: None });
            }
            // Where one waited in vain, the others in line need not.
            if state.is_stuck || self.freed.wait_until(&mut state, until).timed_out() {
                state.is_stuck = true;
                return Err(StoreError::new(
                    Trouble::Busy,
                    "no connection to the database is free",
                ));
            }
        }
    }
}

/// A place in the pool for as long as somebody uses it.
struct Place<'pool> {
    pool: &'pool Pool,
    session: Option<Session>,
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        let kept = self.session.take().filter(Session::is_usable);
        let mut state = self.pool.state.lock();
        state.is_stuck = false;
        match kept {
            Some(session) => state.idle.push(session),
            None => state.open -= 1,
        }
        drop(state);
        self.pool.freed.notify_one();
    }
}
