//! How much does each shop ask, and how long does it wait? Counted since the start, shop by shop,
//! so that nobody's figures tell of somebody else's shop.

use std::{
    collections::HashMap,
    sync::atomic::{AtomicU64, Ordering},
    sync::{Arc, PoisonError, RwLock},
    time::Duration,
};

use axum::http::{Method, StatusCode};
use catalog::product::ShopId;

/// The shortest time that is told from shorter ones.
const SHORTEST: Duration = Duration::from_micros(16);
/// Buckets for each doubling of the time: two neighbours differ by a fifth.
const PER_DOUBLING: f64 = 4.0;
/// Enough buckets for a minute, the last one for all that is longer.
const BUCKETS: usize = 89;

/// What a request does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Work {
    Search,
    Write,
}

impl Work {
    /// What a request to this route does, if it is counted.
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

/// One kind of work, counted.
#[derive(Debug)]
pub(crate) struct Tally {
    answered: AtomicU64,
    failed: AtomicU64,
    times: [AtomicU64; BUCKETS],
}

impl Default for Tally {
    fn default() -> Self {
        Self {
            answered: AtomicU64::default(),
            failed: AtomicU64::default(),
            times: [const { AtomicU64::new(0) }; BUCKETS],
        }
    }
}

/// A tally at one moment.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Counted {
    /// Requests answered.
    pub(crate) answered: u64,
    /// Those of them that the service failed.
    pub(crate) failed: u64,
    /// How many took at most so long, and longer than the one before; those with any.
    pub(crate) times: Vec<(Duration, u64)>,
}

impl Tally {
    fn record(&self, status: StatusCode, time: Duration) {
        self.answered.fetch_add(1, Ordering::Relaxed);
        if status.is_server_error() {
            self.failed.fetch_add(1, Ordering::Relaxed);
        }
        if let Some(bucket) = self.times.get(bucket_of(time)) {
            bucket.fetch_add(1, Ordering::Relaxed);
        }
    }

    pub(crate) fn counted(&self) -> Counted {
        let times = self.times.iter().map(|count| count.load(Ordering::Relaxed)).enumerate();
        Counted {
            answered: self.answered.load(Ordering::Relaxed),
            failed: self.failed.load(Ordering::Relaxed),
            times: times
                .filter(|(_, count)| *count > 0)
                .map(|(bucket, count)| (upper_end(bucket), count))
                .collect(),
        }
    }
}

impl Counted {
    /// The time within which this share of requests was answered, a fifth too long at most.
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
    let doublings = (time.as_secs_f64() / SHORTEST.as_secs_f64()).log2();
    ((doublings * PER_DOUBLING).ceil().max(0.0) as usize).min(BUCKETS - 1)
}

fn upper_end(bucket: usize) -> Duration {
    SHORTEST.mul_f64((bucket as f64 / PER_DOUBLING).exp2())
}

/// What one shop asks.
#[derive(Debug, Default)]
pub(crate) struct ShopTraffic {
    pub(crate) searches: Tally,
    pub(crate) writes: Tally,
}

/// What every shop asks. A shop has a place here once a valid token of it was used.
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

    pub(crate) fn record(&self, shop: ShopId, work: Work, status: StatusCode, time: Duration) {
        let shop = self.of(shop);
        let tally = match work {
            Work::Search => &shop.searches,
            Work::Write => &shop.writes,
        };
        tally.record(status, time);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_told_from_the_route() {
        let check = |method: Method, route: &str| Work::of(&method, route);
        assert_eq!(check(Method::POST, "/api/v1/search"), Some(Work::Search));
        assert_eq!(check(Method::POST, "/v1/search"), Some(Work::Search));
        assert_eq!(check(Method::PUT, "/api/v1/products/{product_id}"), Some(Work::Write));
        assert_eq!(check(Method::DELETE, "/v1/products/bulk"), Some(Work::Write));
        assert_eq!(check(Method::GET, "/api/v1/products"), None);
        assert_eq!(check(Method::POST, "/api/v1/tokens"), None);
    }

    #[test]
    fn quantiles_are_true_to_a_fifth() {
        let tally = Tally::default();
        for milliseconds in 1..=100 {
            tally.record(StatusCode::OK, Duration::from_millis(milliseconds));
        }
        let counted = tally.counted();
        for (share, exact) in [(0.0, 1.0), (0.5, 50.0), (0.95, 95.0), (1.0, 100.0)] {
            let found = counted.quantile(share).unwrap().as_secs_f64() * 1000.0;
            assert!((exact..exact * 1.2).contains(&found), "{share}: {found} for {exact}");
        }
        assert_eq!(Tally::default().counted().quantile(0.5), None);
    }

    #[test]
    fn every_time_has_a_bucket() {
        for time in [Duration::ZERO, SHORTEST, Duration::from_secs(60), Duration::MAX] {
            assert!(bucket_of(time) < BUCKETS, "{time:?}");
        }
        assert!(upper_end(BUCKETS - 1) > Duration::from_secs(60));
    }

    #[test]
    fn shops_are_counted_apart() {
        let traffic = Traffic::default();
        let [one, two] = [1, 2].map(|id| ShopId::new(id).unwrap());
        traffic.record(one, Work::Search, StatusCode::OK, SHORTEST);
        traffic.record(one, Work::Write, StatusCode::SERVICE_UNAVAILABLE, SHORTEST);
        let counts = |shop| {
            let shop = traffic.of(shop);
            let (searches, writes) = (shop.searches.counted(), shop.writes.counted());
            (searches.answered, writes.answered, writes.failed)
        };
        assert_eq!(counts(one), (1, 1, 1));
        assert_eq!(counts(two), (0, 0, 0));
    }
}
