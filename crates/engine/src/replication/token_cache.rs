//! Caches tokens for a short lease, so that a request does not wait for the database to be
//! authenticated and an outage does not end every request.

use std::time::{Duration, Instant};

use parking_lot::Mutex;
use quick_cache::unsync::Cache;

use crate::store::TokenRow;

/// How long a node trusts a cached token. A revocation is confirmed only after this time, so that
/// no node accepts the token any more.
pub(crate) const TOKEN_LEASE: Duration = Duration::from_secs(1);
/// How long a node trusts a cached token while the database is down.
const OUTAGE_LEASE: Duration = Duration::from_secs(600);
/// The maximum number of cached tokens.
const CAPACITY: usize = 10_000;

/// Recently used tokens. Tokens that do not exist are not cached.
pub(super) struct TokenCache(Mutex<Cache<u64, CachedToken>>);

struct CachedToken {
    row: TokenRow,
    /// When the query was sent, not when its result arrived.
    queried_at: Instant,
}

impl TokenCache {
    pub(super) fn new() -> Self {
        Self(Mutex::new(Cache::new(CAPACITY)))
    }

    /// The token, if it was read within the lease.
    pub(super) fn get(&self, id: u64) -> Option<TokenRow> {
        self.get_within(id, TOKEN_LEASE)
    }

    /// The token as it was last read before the outage.
    pub(super) fn get_during_outage(&self, id: u64) -> Option<TokenRow> {
        self.get_within(id, OUTAGE_LEASE)
    }

    fn get_within(&self, id: u64, lease: Duration) -> Option<TokenRow> {
        let cache = self.0.lock();
        let cached = cache.get(&id)?;
        (cached.queried_at.elapsed() < lease).then(|| cached.row.clone())
    }

    /// Stores the result of a query that was sent at `queried_at`.
    pub(super) fn put(&self, id: u64, row: Option<&TokenRow>, queried_at: Instant) {
        let mut cache = self.0.lock();
        match row {
            Some(row) => cache.insert(id, CachedToken { row: row.clone(), queried_at }),
            None => drop(cache.remove(&id)),
        }
    }
}

#[cfg(test)]
mod tests {
    use catalog::{access::Role, product::ShopId};
    use jiff::Timestamp;

    use super::*;

    #[test]
    fn a_token_is_valid_for_its_lease_and_longer_during_an_outage() {
        let (tokens, now) = (TokenCache::new(), Instant::now());
        let row = TokenRow {
            id: 7,
            shop: ShopId::new(1).unwrap(),
            role: Role::Viewer,
            name: String::new(),
            secret_hash: vec![1],
            created_at: Timestamp::UNIX_EPOCH,
            expires_at: None,
            revoked_at: None,
        };
        assert!(tokens.get(7).is_none());
        tokens.put(7, Some(&row), now - TOKEN_LEASE);
        assert!(tokens.get(7).is_none(), "the lease is over");
        assert!(tokens.get_during_outage(7).is_some());
        tokens.put(7, Some(&row), now - OUTAGE_LEASE);
        assert!(tokens.get_during_outage(7).is_none());
        tokens.put(7, Some(&row), Instant::now() + Duration::from_secs(60));
        assert!(tokens.get(7).is_some());
        tokens.put(7, None, now);
        assert!(tokens.get_during_outage(7).is_none());
    }
}
