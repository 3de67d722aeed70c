//! A pool of connections for readers.

use std::{sync::Arc, time::Instant};

use parking_lot::{Condvar, Mutex};

use super::{
    super::{StoreError, StoreErrorKind},
    connector::Connector,
    session::Session,
};

/// Connections for reading, up to a maximum number.
pub(super) struct Pool {
    connector: Arc<Connector>,
    max: usize,
    state: Mutex<State>,
    freed: Condvar,
}

#[derive(Default)]
struct State {
    idle: Vec<Session>,
    open: usize,
    /// A reader timed out waiting, and no connection has become idle since.
    is_stuck: bool,
}

impl Pool {
    pub(super) fn new(connector: Arc<Connector>, max: usize) -> Self {
        Self { connector, max, state: Mutex::default(), freed: Condvar::new() }
    }

    /// Runs `work` on an idle connection. `work` must be repeatable: it runs again on a new
    /// connection if the old one was lost while it was idle.
    pub(super) fn with<T>(
        &self,
        mut work: impl FnMut(&mut Session) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let mut permit = self.take()?;
        if let Some(kept) = permit.session.as_mut() {
            match work(kept) {
                Err(error) if error.kind() == StoreErrorKind::Unavailable => permit.session = None,
                outcome => return outcome,
            }
        }
        work(permit.session.insert(self.connector.connect()?))
    }

    /// Runs `work` once, on a connection that `ready` has just proved to work.
    pub(super) fn with_ready<T>(
        &self,
        ready: impl Fn(&mut Session) -> Result<(), StoreError>,
        work: impl FnOnce(&mut Session) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let mut permit = self.take()?;
        if let Some(kept) = permit.session.as_mut() {
            match ready(kept) {
                Ok(()) => return work(kept),
                Err(error) if error.kind() == StoreErrorKind::Unavailable => permit.session = None,
                Err(error) => return Err(error),
            }
        }
        let made = permit.session.insert(self.connector.connect()?);
        ready(made)?;
        work(made)
    }

    /// A permit of the pool, with a connection if one is idle.
    fn take(&self) -> Result<Permit<'_>, StoreError> {
        let until = Instant::now() + self.connector.connect_time();
        let mut state = self.state.lock();
        loop {
            while let Some(session) = state.idle.pop() {
                if session.is_usable() {
                    return Ok(Permit { pool: self, session: Some(session) });
                }
                state.open -= 1;
            }
            if state.open < self.max {
                state.open += 1;
                return Ok(Permit { pool: self, session: None });
            }
            // One reader has timed out already, so the others in the queue fail at once.
            if state.is_stuck || self.freed.wait_until(&mut state, until).timed_out() {
                state.is_stuck = true;
                return Err(StoreError::new(
                    StoreErrorKind::Busy,
                    "no connection to the database is free",
                ));
            }
        }
    }
}

/// A permit of the pool, returned on drop.
struct Permit<'pool> {
    pool: &'pool Pool,
    session: Option<Session>,
}

impl Drop for Permit<'_> {
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
