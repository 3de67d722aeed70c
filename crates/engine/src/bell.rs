//! How does a thread sleep until there is something to do, and how is it told to stop?

use std::{
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use parking_lot::{Condvar, Mutex};

/// Rung for work and for the end. A ring that nobody waits for is not lost.
#[derive(Debug, Default)]
pub(crate) struct Bell {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    rung: bool,
    stopping: bool,
}

impl Bell {
    /// There is something to do.
    pub(crate) fn ring(&self) {
        self.state.lock().rung = true;
        self.changed.notify_all();
    }

    /// There is nothing to do any more, ever.
    pub(crate) fn stop(&self) {
        self.state.lock().stopping = true;
        self.changed.notify_all();
    }

    /// Whether it is time to stop.
    pub(crate) fn stopping(&self) -> bool {
        self.state.lock().stopping
    }

    /// Waits for a ring; `false` if it is time to stop instead.
    pub(crate) fn wait(&self) -> bool {
        let mut state = self.state.lock();
        while !state.rung && !state.stopping {
            self.changed.wait(&mut state);
        }
        state.rung = false;
        !state.stopping
    }

    /// Waits for a ring, but not longer than this; `false` if it is time to stop instead.
    pub(crate) fn wait_at_most(&self, time: Duration) -> bool {
        let end = Instant::now() + time;
        let mut state = self.state.lock();
        while !state.rung && !state.stopping {
            if self.changed.wait_until(&mut state, end).timed_out() {
                break;
            }
        }
        state.rung = false;
        !state.stopping
    }

    /// Lets time pass; `false` if it is time to stop instead. Rings are kept for later.
    pub(crate) fn pause(&self, time: Duration) -> bool {
        let end = Instant::now() + time;
        let mut state = self.state.lock();
        while !state.stopping && !self.changed.wait_until(&mut state, end).timed_out() {}
        !state.stopping
    }
}

/// Waits for a thread that was told to stop, but not longer than until `end`: it may be waiting
/// for a store that does not answer.
pub(crate) fn join_until(thread: JoinHandle<()>, end: Instant) {
    while !thread.is_finished() && Instant::now() < end {
        thread::sleep(Duration::from_millis(5));
    }
    if thread.is_finished() {
        // A panic there was reported by the panic hook already.
        let _ = thread.join();
    }
}
