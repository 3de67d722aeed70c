//! A closed-loop load generator: each connection sends its next request when the last one is
//! answered. Records latencies.

use std::{
    cell::Cell,
    time::{Duration, Instant},
};

use futures_util::future::try_join_all;
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
    next: impl Fn() -> Option<Bytes>,
) -> anyhow::Result<Measured> {
    drive_all(&vec![target.clone(); connections], kind, time, next).await
}

/// As [`drive`], with one connection to each of the targets, which may repeat.
pub async fn drive_all(
    targets: &[Target],
    kind: Kind,
    time: Duration,
    next: impl Fn() -> Option<Bytes>,
) -> anyhow::Result<Measured> {
    let mut open = Vec::with_capacity(targets.len());
    for target in targets {
        open.push(Connection::open(target).await?);
    }
    closed_loop(open, time, next, async |connection: &mut Connection, body| {
        connection.post(kind.path, body).await?.expect(kind.status)?;
        Ok(())
    })
    .await
}

/// As [`drive`], with this many requests per second, or as many as are answered if that is less.
/// Latencies include the wait for the next request to be due.
pub async fn drive_at(
    per_second: u32,
    target: &Target,
    kind: Kind,
    connections: usize,
    time: Duration,
    next: impl Fn() -> Option<Bytes>,
) -> anyhow::Result<Measured> {
    let mut open = Vec::with_capacity(connections);
    for _ in 0..connections {
        open.push(Connection::open(target).await?);
    }
    let due = Cell::new(tokio::time::Instant::now());
    let next_due = || {
        let now = due.get();
        due.set(now + Duration::from_secs(1) / per_second);
        Some((now, next()?))
    };
    closed_loop(open, time, next_due, async |connection: &mut Connection, (due, body)| {
        tokio::time::sleep_until(due).await;
        connection.post(kind.path, body).await?.expect(kind.status)?;
        Ok(())
    })
    .await
}

/// Lets each worker take and do one task after the other until there are none or the time is over.
pub async fn closed_loop<W, T>(
    workers: Vec<W>,
    time: Duration,
    next: impl Fn() -> Option<T>,
    act: impl AsyncFn(&mut W, T) -> anyhow::Result<()>,
) -> anyhow::Result<Measured> {
    let started = Instant::now();
    let end = started + time;
    let one_worker = async |mut worker: W| {
        let mut latencies = Vec::new();
        while Instant::now() < end
            && let Some(task) = next()
        {
            let begun = Instant::now();
            act(&mut worker, task).await?;
            latencies.push(begun.elapsed());
        }
        anyhow::Ok(latencies)
    };
    let latencies = try_join_all(workers.into_iter().map(one_worker)).await?;
    Ok(Measured::of(latencies.concat(), started.elapsed()))
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
