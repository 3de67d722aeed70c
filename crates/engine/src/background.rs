//! A thread that works in the background until it is dropped.

use std::{
    io,
    sync::Arc,
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use crate::bell::{self, Bell};

/// How long the end of the process waits for what is under way.
const STOP_TIME: Duration = Duration::from_secs(2);

/// The thread. It is told to stop when this is dropped.
pub(crate) struct BackgroundThread {
    bell: Arc<Bell>,
    thread: Option<JoinHandle<()>>,
}

impl BackgroundThread {
    /// Starts `work`, which returns soon after the bell says so.
    pub(crate) fn start(
        name: &str,
        bell: Arc<Bell>,
        work: impl FnOnce() + Send + 'static,
    ) -> io::Result<Self> {
        let thread = thread::Builder::new().name(name.to_owned()).spawn(work)?;
        Ok(Self { bell, thread: Some(thread) })
    }
}

impl Drop for BackgroundThread {
    /// Waits for the thread, but not for a database or an index that takes its time.
    fn drop(&mut self) {
        self.bell.stop();
        if let Some(thread) = self.thread.take() {
            bell::join_until(thread, Instant::now() + STOP_TIME);
        }
    }
}
