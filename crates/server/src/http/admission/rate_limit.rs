//! Rate limits: a token bucket for each API token.

use std::{
    num::NonZeroU32,
    sync::atomic::{AtomicU32, Ordering},
    time::Duration,
};

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use governor::{
    Quota, RateLimiter,
    clock::{Clock, DefaultClock},
    middleware::StateInformationMiddleware,
    state::keyed::HashMapStateStore,
};

use crate::{
    config::RateLimit,
    http::{caller::TokenKey, errors::ApiError},
};

const RATE_LIMIT: HeaderName = HeaderName::from_static("ratelimit");
const RATE_LIMIT_POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");
/// Requests between two sweeps that drop the buckets of inactive tokens.
const SWEEP_EVERY: u32 = 10_000;

type Limiter =
    RateLimiter<TokenKey, HashMapStateStore<TokenKey>, DefaultClock, StateInformationMiddleware>;

/// The buckets of all tokens.
pub(crate) struct RateLimits {
    limiter: Limiter,
    clock: DefaultClock,
    policy: HeaderValue,
    refill: Duration,
    requests: AtomicU32,
}

/// The requests that a token has left, for the response headers.
pub(crate) struct Allowance {
    policy: HeaderValue,
    remaining: u32,
    refill: Duration,
}

impl RateLimits {
    pub(crate) fn new(limit: RateLimit) -> Self {
        let quota = Quota::per_second(limit.requests_per_second).allow_burst(limit.burst);
        let clock = DefaultClock::default();
        Self {
            limiter: Limiter::new(quota, HashMapStateStore::default(), clock.clone()),
            clock,
            policy: policy(limit.burst, limit.requests_per_second),
            refill: quota.replenish_interval(),
            requests: AtomicU32::new(0),
        }
    }

    /// Takes one request out of the token's bucket.
    pub(crate) fn take(&self, key: &TokenKey) -> Result<Allowance, ApiError> {
        if self.requests.fetch_add(1, Ordering::Relaxed) % SWEEP_EVERY == SWEEP_EVERY - 1 {
            self.limiter.retain_recent();
        }
        match self.limiter.check_key(key) {
            Ok(state) => Ok(Allowance {
                policy: self.policy.clone(),
                remaining: state.remaining_burst_capacity(),
                refill: self.refill,
            }),
            Err(too_soon) => Err(ApiError::RateLimited {
                retry_after: too_soon.wait_time_from(self.clock.now()),
            }),
        }
    }

    /// The allowance of a token whose request was rejected.
    pub(crate) fn nothing_left(&self) -> Allowance {
        Allowance { policy: self.policy.clone(), remaining: 0, refill: self.refill }
    }
}

/// The value of `RateLimit-Policy`: `q` requests in `w` seconds.
fn policy(burst: NonZeroU32, per_second: NonZeroU32) -> HeaderValue {
    let window = burst.get().div_ceil(per_second.get());
    HeaderValue::from_str(&format!("\"token\";q={burst};w={window}"))
        .unwrap_or_else(|_| unreachable!("digits are header text"))
}

impl Allowance {
    pub(crate) fn write_to(self, headers: &mut HeaderMap) {
        let seconds = self.refill.as_secs() + u64::from(self.refill.subsec_nanos() > 0);
        let left = format!("\"token\";r={};t={seconds}", self.remaining);
        headers.insert(
            RATE_LIMIT,
            HeaderValue::from_str(&left).unwrap_or_else(|_| unreachable!("digits are header text")),
        );
        headers.insert(RATE_LIMIT_POLICY, self.policy);
    }
}
