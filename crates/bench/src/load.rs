//! A closed-loop load generator: each connection sends its next request when the last one is
//! answered. Records latencies.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use hyper::StatusCode;
use hyper::body::Bytes;

use crate::client::{Connection, Target};

/// One kind of request.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    /// The path.
    pub path: &'static str,
    /// The expected status.
    pub status: StatusCode,
}

/// The result of a load.
#[derive(Clone, Debug)]
pub struct Measured {
    /// Requests answered.
    pub requests: usize,
    /// From the first request to the last answer.
    pub elapsed: Duration,
    latencies: Vec<Duration>,
}

impl Measured {
    /// Requests answered per second.
    pub fn per_second(&self) -> f64 {
        self.requests as f64 / self.elapsed.as_secs_f64()
    }

    /// The latency quantile `share` (0 to 1).
    pub fn percentile(&self, share: f64) -> Duration {
        let last = self.latencies.len().saturating_sub(1);
        let at = (self.latencies.len() as f64 * share) as usize;
        self.latencies.get(at.min(last)).copied().unwrap_or_default()
    }

    /// A result from latencies measured elsewhere.
    pub fn of(mut latencies: Vec<Duration>, elapsed: Duration) -> Self {
        latencies.sort_unstable();
        Self { requests: latencies.len(), elapsed, latencies }
    }
}

/// Sends the bodies of `next` over this many connections until it returns `None` or the time is over.
/// An unexpected status ends the measurement with an error.
pub async fn drive(
    target: &Target,
    kind: Kind,
    connections: usize,
    time: Duration,
    next: impl Fn() -> Option<Bytes> + Send + Sync + 'static,
) -> anyhow::Result<Measured> {
    drive_all(&vec![target.clone(); connections], kind, time, next).await
}

/// As [`drive`], with one connection to each of the targets, which may repeat.
pub async fn drive_all(
    targets: &[Target],
    kind: Kind,
    time: Duration,
    next: impl Fn() -> Option<Bytes> + Send + Sync + 'static,
) -> anyhow::Result<Measured> {
    let next = Arc::new(next);
    let mut open = Vec::with_capacity(targets.len());
    for target in targets {
        open.push(Connection::open(target).await?);
    }
    let started = Instant::now();
    let running: Vec<_> = open
        .into_iter()
        .map(|connection| {
            tokio::spawn(one_connection(connection, kind, started + time, Arc::clone(&next)))
        })
        .collect();
    let mut latencies = Vec::new();
    for connection in running {
        latencies.extend(connection.await??);
    }
    Ok(Measured::of(latencies, started.elapsed()))
}

async fn one_connection(
    mut connection: Connection,
    kind: Kind,
    end: Instant,
    next: Arc<impl Fn() -> Option<Bytes> + Send + Sync>,
) -> anyhow::Result<Vec<Duration>> {
    let mut latencies = Vec::new();
    while Instant::now() < end
        && let Some(body) = next()
    {
        let sent = Instant::now();
        connection.post(kind.path, body).await?.expect(kind.status)?;
        latencies.push(sent.elapsed());
    }
    Ok(latencies)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_come_from_the_sorted_times() {
        let times = (1..=100).rev().map(Duration::from_millis).collect();
        let measured = Measured::of(times, Duration::from_secs(2));
        assert_eq!(measured.percentile(0.5), Duration::from_millis(51));
        assert_eq!(measured.percentile(0.99), Duration::from_millis(100));
        assert!((measured.per_second() - 50.0).abs() < 1e-9);
    }
}
