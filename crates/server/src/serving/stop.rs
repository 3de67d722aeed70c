//! When does the server stop? SIGTERM makes it unready, a drain period lets load balancers notice
//! while requests are still served, and then the listener closes.

use std::{io, time::Duration};

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::readiness::{Readiness, ReadinessFlag};

/// The signals that stop the server, heard from the creation on.
pub(super) struct StopSignals {
    terminate: Signal,
    interrupt: Signal,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StopSignal {
    /// A supervisor stops the server.
    Terminate,
    /// A person at a terminal does.
    Interrupt,
}

impl StopSignals {
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
        })
    }

    /// Completes when the listener is to close: after a SIGTERM and the drain period. A SIGINT or
    /// a second signal skips the rest of the period.
    pub(super) async fn drained(mut self, readiness: &ReadinessFlag, drain: Duration) {
        let first = self.next().await;
        readiness.set(Readiness::Stopping);
        if first == StopSignal::Terminate && !drain.is_zero() {
            let drain_s = drain.as_secs_f64();
            tracing::info!(drain_s, "the server is draining: unready, and still serving requests");
            tokio::select! {
                () = tokio::time::sleep(drain) => {}
                _ = self.next() => {}
            }
        }
        tracing::info!("the server is stopping: requests in flight are being finished");
    }

    async fn next(&mut self) -> StopSignal {
        tokio::select! {
            _ = self.terminate.recv() => StopSignal::Terminate,
            _ = self.interrupt.recv() => StopSignal::Interrupt,
        }
    }
}
