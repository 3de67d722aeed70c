//! Shutdown: SIGTERM makes the server unready, requests are served for a drain period in which load
//! balancers notice, then the listener closes.

use std::{future::Future, io, time::Duration};

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::readiness::{Readiness, ReadinessFlag};

/// The handlers of the signals that stop the server, installed on creation.
pub(super) struct ShutdownSignals {
    terminate: Signal,
    interrupt: Signal,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ShutdownSignal {
    /// SIGTERM, from a supervisor.
    Terminate,
    /// SIGINT, from a terminal.
    Interrupt,
}

impl ShutdownSignals {
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
        })
    }

    /// Completes when the listener must close: after a SIGTERM and the drain period. A SIGINT or
    /// a second signal skips the rest of the period.
    pub(super) async fn drained(mut self, readiness: &ReadinessFlag, drain: Duration) {
        let first = self.next().await;
        readiness.set(Readiness::Stopping);
        if first == ShutdownSignal::Terminate && !drain.is_zero() {
            let drain_s = drain.as_secs_f64();
            tracing::info!(drain_s, "the server is draining: unready, still serving requests");
            wait(drain, self.next()).await;
        }
        tracing::info!("the server is stopping: requests in flight are being finished");
    }

    async fn next(&mut self) -> ShutdownSignal {
        tokio::select! {
            _ = self.terminate.recv() => ShutdownSignal::Terminate,
            _ = self.interrupt.recv() => ShutdownSignal::Interrupt,
        }
    }
}

/// Waits for the drain period, or for another signal.
async fn wait(drain: Duration, another: impl Future<Output = ShutdownSignal>) {
    tokio::select! {
        () = tokio::time::sleep(drain) => {}
        _ = another => {}
    }
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};

    use tokio::time::Instant;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn the_drain_period_lasts_until_its_end_or_another_signal() {
        let (drain, began) = (Duration::from_secs(30), Instant::now());
        wait(drain, ready(ShutdownSignal::Terminate)).await;
        assert_eq!(began.elapsed(), Duration::ZERO);
        wait(drain, pending()).await;
        assert_eq!(began.elapsed(), drain);
    }
}
