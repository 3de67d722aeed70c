//! Background threads: one loop with wake-ups, pauses, back-off and panic containment, which ends
//! when its handle is dropped.

use std::{
    io,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc,
        mpsc::{Receiver, RecvTimeoutError, channel},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use parking_lot::{Condvar, Mutex};

/// How long dropping a [`BackgroundThread`] waits for the step that is running.
const STOP_TIMEOUT: Duration = Duration::from_secs(2);
/// The pause after a first failure; it doubles with every consecutive one.
const FIRST_BACKOFF: Duration = Duration::from_millis(500);
/// The longest pause after a failure.
const MAX_BACKOFF: Duration = Duration::from_mins(1);

/// What a background thread does after a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Runs the next step at once.
    Continue,
    /// Waits for a wake-up.
    Wait,
    /// Waits for a wake-up, but at most this long.
    WaitAtMost(Duration),
    /// Sleeps. A wake-up meanwhile is kept for the next wait.
    Sleep(Duration),
    /// Counts a failure and sleeps.
    Retry(Duration),
    /// Ends the thread.
    Stop,
}

/// What a step can ask about its thread.
pub struct Run<'thread> {
    wakeup: &'thread Wakeup,
    /// Steps that failed or panicked since the last one that did not.
    pub failures: u32,
}

impl Run<'_> {
    /// Whether a long step should end early because the thread is being stopped.
    pub fn is_stopping(&self) -> bool {
        self.wakeup.is_stopping()
    }

    /// How long to pause if this step failed.
    pub fn backoff(&self) -> Duration {
        FIRST_BACKOFF.saturating_mul(2_u32.saturating_pow(self.failures)).min(MAX_BACKOFF)
    }
}

/// A thread that runs a step again and again. Dropping it stops the thread: a step that is running
/// may finish within two seconds, and is abandoned after that.
pub struct BackgroundThread {
    wakeup: Arc<Wakeup>,
    thread: Option<WorkerThread>,
}

impl BackgroundThread {
    /// Starts the thread. A step that panics counts as failed; the panic hook reports it.
    pub fn start(
        name: &str,
        wakeup: Arc<Wakeup>,
        mut step: impl FnMut(&Run<'_>) -> Next + Send + 'static,
    ) -> io::Result<Self> {
        let woken = Arc::clone(&wakeup);
        let thread = WorkerThread::spawn(name, move || run(&woken, &mut step))?;
        Ok(Self { wakeup, thread: Some(thread) })
    }
}

fn run(wakeup: &Wakeup, step: &mut dyn FnMut(&Run<'_>) -> Next) {
    let mut failures = 0_u32;
    while !wakeup.is_stopping() {
        let this = Run { wakeup, failures };
        let next = catch_unwind(AssertUnwindSafe(|| step(&this)))
            .unwrap_or_else(|_| Next::Retry(this.backoff()));
        failures = if matches!(next, Next::Retry(_)) { failures.saturating_add(1) } else { 0 };
        match next {
            Next::Continue => {}
            Next::Wait => wakeup.wait(None),
            Next::WaitAtMost(time) => wakeup.wait(Some(time)),
            Next::Sleep(time) | Next::Retry(time) => wakeup.sleep(time),
            Next::Stop => return,
        }
    }
}

impl Drop for BackgroundThread {
    fn drop(&mut self) {
        self.wakeup.stop();
        if let Some(thread) = self.thread.take() {
            thread.join_until(Instant::now() + STOP_TIMEOUT);
        }
    }
}

/// Wakes a background thread, or stops it. A wake-up while the thread is busy is kept.
#[derive(Debug, Default)]
pub struct Wakeup {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    is_woken: bool,
    is_stopping: bool,
}

impl Wakeup {
    /// Ends the current or next wait.
    pub fn notify(&self) {
        self.state.lock().is_woken = true;
        self.changed.notify_all();
    }

    /// Signals shutdown.
    fn stop(&self) {
        self.state.lock().is_stopping = true;
        self.changed.notify_all();
    }

    fn is_stopping(&self) -> bool {
        self.state.lock().is_stopping
    }

    /// Returns after a wake-up, after `at_most`, or when the thread is being stopped.
    fn wait(&self, at_most: Option<Duration>) {
        let end = at_most.map(|time| Instant::now() + time);
        let mut state = self.state.lock();
        while !state.is_woken && !state.is_stopping {
            match end {
                None => self.changed.wait(&mut state),
                Some(end) => {
                    if self.changed.wait_until(&mut state, end).timed_out() {
                        break;
                    }
                }
            }
        }
        state.is_woken = false;
    }

    /// Returns after `time`, or when the thread is being stopped.
    fn sleep(&self, time: Duration) {
        let end = Instant::now() + time;
        let mut state = self.state.lock();
        while !state.is_stopping && !self.changed.wait_until(&mut state, end).timed_out() {}
    }
}

/// A named thread that can be joined with a timeout.
pub struct WorkerThread {
    thread: JoinHandle<()>,
    /// Disconnected when the thread ends. In a mutex only to be `Sync`.
    ended: Mutex<Receiver<()>>,
}

impl WorkerThread {
    /// Starts the thread.
    pub fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> io::Result<Self> {
        let (running, ended) = channel();
        let work = move || {
            let _running = running;
            work();
        };
        let thread = thread::Builder::new().name(name.to_owned()).spawn(work)?;
        Ok(Self { thread, ended: Mutex::new(ended) })
    }

    /// Waits for the thread.
    pub fn join(self) {
        // The panic hook has reported a panic already.
        let _ = self.thread.join();
    }

    /// Waits for the thread until `deadline`: it may be blocked in a store that does not answer.
    pub fn join_until(self, deadline: Instant) {
        let left = deadline.saturating_duration_since(Instant::now());
        let ended = self.ended.lock().recv_timeout(left);
        if ended == Err(RecvTimeoutError::Disconnected) {
            self.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    #[test]
    fn a_panicking_step_is_retried_and_counted() {
        let failures = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&failures);
        let _thread = BackgroundThread::start("test", Arc::default(), move |run| {
            seen.lock().push(run.failures);
            match seen.lock().len() {
                1 => panic!("this step was told to panic"),
                2 => Next::Retry(Duration::ZERO),
                3 => Next::Continue,
                _ => Next::Wait,
            }
        })
        .unwrap();
        testkit::until("four steps", || failures.lock().len() == 4);
        assert_eq!(*failures.lock(), [0, 1, 2, 0]);
    }

    #[test]
    fn a_wakeup_is_kept_while_the_thread_is_busy_and_a_drop_ends_a_wait() {
        let steps = Arc::new(AtomicU32::new(0));
        let (wakeup, counted) = (Arc::<Wakeup>::default(), Arc::clone(&steps));
        wakeup.notify();
        let thread = BackgroundThread::start("test", wakeup, move |_| {
            counted.fetch_add(1, Ordering::SeqCst);
            Next::Wait
        })
        .unwrap();
        testkit::until("the step that the wake-up started", || steps.load(Ordering::SeqCst) == 2);
        drop(thread);
        assert_eq!(steps.load(Ordering::SeqCst), 2);
    }

    #[test]
    fn the_backoff_doubles_up_to_a_limit() {
        let wakeup = Wakeup::default();
        let pauses = [0, 1, 2, 6, 7, u32::MAX].map(|failures| Run { wakeup: &wakeup, failures });
        let millis = pauses.map(|run| run.backoff().as_millis());
        assert_eq!(millis, [500, 1000, 2000, 32_000, 60_000, 60_000]);
    }
}
