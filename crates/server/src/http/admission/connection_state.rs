//! What an open connection is doing, and since when it has been waiting for its client.

use std::time::Duration;

use parking_lot::Mutex;
use tokio::{sync::Notify, time::Instant};

/// The least rate at which a client must read its responses and send its bodies, in bytes per second.
/// Slower clients are stalled.
pub(super) const MIN_RATE: u32 = 1024;
/// A connection that has been stalled for this long makes room for others first.
pub(super) const STALL_GRACE: Duration = Duration::from_secs(1);

/// Since when a client has been stalled that has now read or sent this many bytes.
pub(super) fn credited(since: Instant, bytes: usize) -> Instant {
    let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
    Instant::now().min(since + Duration::from_secs(1) * bytes / MIN_RATE)
}

/// How readily a connection makes room for another: smaller values first, then the one that has been
/// waiting for its client for longest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Eviction {
    /// The client does not read its response.
    Stalled(Instant),
    /// No request has come: between two requests, or while a head arrives.
    Idle(Instant),
    /// The client has not read its response for a moment.
    Writing(Instant),
}

/// The state of one connection.
#[derive(Debug)]
pub(super) struct ConnectionState {
    activity: Mutex<Activity>,
    closing: Notify,
}

#[derive(Debug)]
struct Activity {
    phase: Phase,
    has_request: bool,
    /// Since when response data has been waiting for the client, less the time that the client had
    /// for what it has read; `None` if nothing waits.
    stalled_since: Option<Instant>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Idle(Instant),
    /// A request is in progress, or its response is being written.
    Busy,
    /// Being closed; no request may begin.
    Closing,
}

impl ConnectionState {
    pub(super) fn new() -> Self {
        let activity = Activity {
            phase: Phase::Idle(Instant::now()),
            has_request: false,
            stalled_since: None,
        };
        Self { activity: Mutex::new(activity), closing: Notify::new() }
    }

    /// Notes that a request is in progress; `false` if the connection is being closed and the request
    /// must not begin.
    pub(super) fn begin_request(&self) -> bool {
        let mut activity = self.activity.lock();
        let begins = activity.phase != Phase::Closing;
        if begins {
            activity.phase = Phase::Busy;
            activity.has_request = true;
        }
        begins
    }

    pub(super) fn end_request(&self) {
        self.activity.lock().has_request = false;
    }

    pub(super) fn has_request(&self) -> bool {
        self.activity.lock().has_request
    }

    /// Notes that everything is written: without a request in progress, the connection is idle.
    pub(super) fn flushed(&self) {
        let mut activity = self.activity.lock();
        activity.stalled_since = None;
        if !activity.has_request && activity.phase == Phase::Busy {
            activity.phase = Phase::Idle(Instant::now());
        }
    }

    /// Notes that the client cannot take more data; returns since when it has been stalled.
    pub(super) fn blocked(&self) -> Instant {
        *self.activity.lock().stalled_since.get_or_insert_with(Instant::now)
    }

    /// Notes that the client took this many bytes, which gives it the time to read as many more.
    pub(super) fn wrote(&self, bytes: usize) {
        if let Some(since) = &mut self.activity.lock().stalled_since {
            *since = credited(*since, bytes);
        }
    }

    /// How readily the connection makes room; `None` if it is in use.
    pub(super) fn eviction(&self) -> Option<Eviction> {
        self.activity.lock().eviction()
    }

    /// Closes the connection if its eviction is still this one.
    pub(super) fn close_if(&self, eviction: Eviction) -> bool {
        let mut activity = self.activity.lock();
        let closes = activity.eviction().is_some_and(|now| now.since() == eviction.since());
        if closes {
            activity.phase = Phase::Closing;
            self.closing.notify_one();
        }
        closes
    }

    /// Closes the connection whatever it is doing.
    pub(super) fn close(&self) {
        self.activity.lock().phase = Phase::Closing;
        self.closing.notify_one();
    }

    /// Completes when the connection must close.
    pub(super) async fn closed(&self) {
        self.closing.notified().await;
    }
}

impl Activity {
    fn eviction(&self) -> Option<Eviction> {
        match (self.phase, self.stalled_since) {
            (Phase::Closing, _) => None,
            _ if self.has_request => None,
            (_, Some(since)) if since.elapsed() >= STALL_GRACE => Some(Eviction::Stalled(since)),
            (_, Some(since)) => Some(Eviction::Writing(since)),
            (Phase::Idle(since), None) => Some(Eviction::Idle(since)),
            (Phase::Busy, None) => None,
        }
    }
}

impl Eviction {
    fn since(self) -> Instant {
        match self {
            Self::Stalled(since) | Self::Idle(since) | Self::Writing(since) => since,
        }
    }

    /// The reason in the metric of closed connections.
    pub(super) fn reason(self) -> &'static str {
        match self {
            Self::Stalled(_) | Self::Writing(_) => "stalled",
            Self::Idle(_) => "idle",
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::advance;

    use super::*;

    fn responding() -> ConnectionState {
        let state = ConnectionState::new();
        assert!(state.begin_request());
        state.end_request();
        state
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_is_idle_once_everything_is_written() {
        let state = ConnectionState::new();
        assert_eq!(state.eviction(), Some(Eviction::Idle(Instant::now())));
        assert!(state.begin_request());
        state.flushed();
        assert_eq!(state.eviction(), None, "a flush within a request");
        state.end_request();
        assert_eq!(state.eviction(), None, "the response is not written");
        advance(STALL_GRACE).await;
        state.flushed();
        assert_eq!(state.eviction(), Some(Eviction::Idle(Instant::now())));
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_does_not_read_is_stalled() {
        let state = responding();
        let since = state.blocked();
        assert_eq!(state.eviction(), Some(Eviction::Writing(since)));
        advance(STALL_GRACE).await;
        assert_eq!(state.blocked(), since);
        assert_eq!(state.eviction(), Some(Eviction::Stalled(since)));
        state.flushed();
        assert_eq!(state.eviction(), Some(Eviction::Idle(Instant::now())));
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_reads_slowly_is_stalled_for_the_time_that_it_lost() {
        let state = responding();
        let began = state.blocked();
        for _ in 0..10 {
            advance(Duration::from_secs(1)).await;
            state.wrote(MIN_RATE as usize / 4);
        }
        assert_eq!(state.blocked() - began, Duration::from_secs(10) / 4);
        state.wrote(usize::MAX);
        assert_eq!(state.blocked(), Instant::now(), "what was read fast is not credited later");
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_that_came_to_life_is_not_closed() {
        let state = ConnectionState::new();
        let idle = state.eviction().unwrap();
        assert!(state.begin_request());
        assert!(!state.close_if(idle));
        state.end_request();
        advance(STALL_GRACE).await;
        state.flushed();
        assert!(!state.close_if(idle), "it has been idle since later");
        assert!(state.close_if(state.eviction().unwrap()));
        assert!(!state.begin_request());
        assert_eq!(state.eviction(), None);
        state.closed().await;
    }
}
