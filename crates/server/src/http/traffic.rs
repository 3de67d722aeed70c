//! Request counts and latency histograms of each shop since the server started. A shop's stats
//! contain nothing of other shops.

use std::{
    collections::HashMap,
    sync::atomic::{AtomicU64, Ordering},
    sync::{Arc, PoisonError, RwLock},
    time::Duration,
};

use axum::http::{Method, StatusCode};
use catalog::product::ShopId;

/// The upper bound of the first bucket.
const FIRST_BUCKET: Duration = Duration::from_micros(16);
/// Buckets for each doubling of the latency: neighbours differ by about a fifth.
const PER_DOUBLING: f64 = 4.0;
/// Enough buckets for a minute; the last one has no upper bound.
const BUCKETS: usize = 89;

/// The kinds of requests that are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RequestKind {
    Search,
    Write,
}

impl RequestKind {
    /// The kind of a request to this route; `None` if it is not counted.
    pub(crate) fn of(method: &Method, route: &str) -> Option<Self> {
        match *method {
            Method::POST if route.ends_with("/search") => Some(Self::Search),
            Method::POST | Method::PUT | Method::DELETE if route.contains("/products") => {
                Some(Self::Write)
            }
            _ => None,
        }
    }
}

/// Counts and latencies of one kind of request.
#[derive(Debug)]
pub(crate) struct LatencyHistogram {
    answered: AtomicU64,
    failed: AtomicU64,
    times: [AtomicU64; BUCKETS],
}

impl Default for LatencyHistogram {
    fn default() -> Self {
        Self {
            answered: AtomicU64::default(),
            failed: AtomicU64::default(),
            times: [const { AtomicU64::new(0) }; BUCKETS],
        }
    }
}

/// A copy of a [`LatencyHistogram`].
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct HistogramSnapshot {
    /// Requests answered.
    pub(crate) answered: u64,
    /// Requests answered with a status of 500 or more.
    pub(crate) failed: u64,
    /// Upper bound and count of every bucket that is not empty, in ascending order.
    pub(crate) times: Vec<(Duration, u64)>,
}

impl LatencyHistogram {
    fn record(&self, status: StatusCode, time: Duration) {
        self.answered.fetch_add(1, Ordering::Relaxed);
        if status.is_server_error() {
            self.failed.fetch_add(1, Ordering::Relaxed);
        }
        if let Some(bucket) = self.times.get(bucket_of(time)) {
            bucket.fetch_add(1, Ordering::Relaxed);
        }
    }

    pub(crate) fn snapshot(&self) -> HistogramSnapshot {
        let times = self.times.iter().map(|count| count.load(Ordering::Relaxed)).enumerate();
        HistogramSnapshot {
            answered: self.answered.load(Ordering::Relaxed),
            failed: self.failed.load(Ordering::Relaxed),
            times: times
                .filter(|(_, count)| *count > 0)
                .map(|(bucket, count)| (upper_bound(bucket), count))
                .collect(),
        }
    }
}

impl HistogramSnapshot {
    /// The latency at this quantile, at most a fifth too high; `None` without requests.
    pub(crate) fn quantile(&self, share: f64) -> Option<Duration> {
        let all: u64 = self.times.iter().map(|(_, count)| count).sum();
        let rank = (share * all as f64).ceil().max(1.0) as u64;
        let mut seen = 0;
        self.times.iter().find_map(|(end, count)| {
            seen += count;
            (seen >= rank).then_some(*end)
        })
    }
}

fn bucket_of(time: Duration) -> usize {
    let doublings = (time.as_secs_f64() / FIRST_BUCKET.as_secs_f64()).log2();
    ((doublings * PER_DOUBLING).ceil().max(0.0) as usize).min(BUCKETS - 1)
}

fn upper_bound(bucket: usize) -> Duration {
    FIRST_BUCKET.mul_f64((bucket as f64 / PER_DOUBLING).exp2())
}

/// The requests of one shop.
#[derive(Debug, Default)]
pub(crate) struct ShopTraffic {
    pub(crate) searches: LatencyHistogram,
    pub(crate) writes: LatencyHistogram,
}

/// The requests of every shop for which a valid token was used.
#[derive(Debug, Default)]
pub(crate) struct Traffic(RwLock<HashMap<ShopId, Arc<ShopTraffic>>>);

impl Traffic {
    pub(crate) fn of(&self, shop: ShopId) -> Arc<ShopTraffic> {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner).get(&shop).cloned();
        known.unwrap_or_else(|| {
            let mut shops = self.0.write().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(shops.entry(shop).or_default())
        })
    }

    pub(crate) fn record(
        &self,
        shop: ShopId,
        work: RequestKind,
        status: StatusCode,
        time: Duration,
    ) {
        let shop = self.of(shop);
        let histogram = match work {
            RequestKind::Search => &shop.searches,
            RequestKind::Write => &shop.writes,
        };
        histogram.record(status, time);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kind_follows_from_the_route() {
        let check = |method: Method, route: &str| RequestKind::of(&method, route);
        assert_eq!(check(Method::POST, "/api/v1/search"), Some(RequestKind::Search));
        assert_eq!(check(Method::POST, "/v1/search"), Some(RequestKind::Search));
        assert_eq!(check(Method::PUT, "/api/v1/products/{product_id}"), Some(RequestKind::Write));
        assert_eq!(check(Method::DELETE, "/v1/products/bulk"), Some(RequestKind::Write));
        assert_eq!(check(Method::GET, "/api/v1/products"), None);
        assert_eq!(check(Method::POST, "/api/v1/tokens"), None);
    }

    #[test]
    fn quantiles_are_exact_to_a_fifth() {
        let histogram = LatencyHistogram::default();
        for milliseconds in 1..=100 {
            histogram.record(StatusCode::OK, Duration::from_millis(milliseconds));
        }
        let snapshot = histogram.snapshot();
        for (share, exact) in [(0.0, 1.0), (0.5, 50.0), (0.95, 95.0), (1.0, 100.0)] {
            let found = snapshot.quantile(share).unwrap().as_secs_f64() * 1000.0;
            assert!((exact..exact * 1.2).contains(&found), "{share}: {found} for {exact}");
        }
        assert_eq!(LatencyHistogram::default().snapshot().quantile(0.5), None);
    }

    #[test]
    fn every_latency_has_a_bucket() {
        for time in [Duration::ZERO, FIRST_BUCKET, Duration::from_secs(60), Duration::MAX] {
            assert!(bucket_of(time) < BUCKETS, "{time:?}");
        }
        assert!(upper_bound(BUCKETS - 1) > Duration::from_secs(60));
    }

    #[test]
    fn shops_are_counted_separately() {
        let traffic = Traffic::default();
        let [one, two] = [1, 2].map(|id| ShopId::new(id).unwrap());
        traffic.record(one, RequestKind::Search, StatusCode::OK, FIRST_BUCKET);
        traffic.record(one, RequestKind::Write, StatusCode::SERVICE_UNAVAILABLE, FIRST_BUCKET);
        let counts = |shop| {
            let shop = traffic.of(shop);
            let (searches, writes) = (shop.searches.snapshot(), shop.writes.snapshot());
            (searches.answered, writes.answered, writes.failed)
        };
        assert_eq!(counts(one), (1, 1, 1));
        assert_eq!(counts(two), (0, 0, 0));
    }
}
