//! Caches tokens for a short lease, so that a request does not wait for the database to be
//! authenticated and an outage does not end every request.

use std::time::{Duration, Instant};

use parking_lot::Mutex;
use quick_cache::unsync::Cache;

use store::TokenRow;

/// How long a node trusts a cached token, or that there is none. A revocation is confirmed only
/// after this time, so that no node accepts the token any more.
pub(crate) const TOKEN_LEASE: Duration = Duration::from_secs(1);
/// A token that is used this long after its lookup is looked up again in the background, so that a
/// slow database does not delay its next use.
const RENEWAL_AGE: Duration = Duration::from_millis(500);
/// How long a node trusts a cached token while the database is down.
const OUTAGE_LEASE: Duration = Duration::from_secs(600);
/// The maximum number of cached tokens, and of ids without a token.
const CAPACITY: usize = 10_000;

/// Recently used tokens, and ids that were asked for and have none.
pub(super) struct TokenCache(Mutex<State>);

struct State {
    tokens: Cache<u64, CachedToken>,
    /// When ids were found to have no token. Apart from the tokens, so that a flood of such ids evicts
    /// none.
    unknown: Cache<u64, Instant>,
    /// When this node last issued a token. A query that was sent before may not have seen it.
    issued_at: Option<Instant>,
}

struct CachedToken {
    row: TokenRow,
    /// When the query was sent, not when its result arrived.
    queried_at: Instant,
}

/// What is known of an id.
#[derive(Debug, PartialEq)]
pub(super) enum Cached {
    /// The result of a query within the lease.
    Current {
        /// The token; `None` if there is none.
        row: Option<TokenRow>,
        /// Whether it is time for the next query.
        is_due: bool,
    },
    /// The lease of a token is over.
    Expired,
    /// Nothing.
    Absent,
}

impl TokenCache {
    pub(super) fn new() -> Self {
        Self(Mutex::new(State {
            tokens: Cache::new(CAPACITY),
            unknown: Cache::new(CAPACITY),
            issued_at: None,
        }))
    }

    /// What is known of an id at this time.
    pub(super) fn get(&self, id: u64, now: Instant) -> Cached {
        let cache = self.0.lock();
        if let Some(token) = cache.tokens.get(&id) {
            let age = now.saturating_duration_since(token.queried_at);
            return match age < TOKEN_LEASE {
                true => {
                    Cached::Current { row: Some(token.row.clone()), is_due: age >= RENEWAL_AGE }
                }
                false => Cached::Expired,
            };
        }
        let is_unknown = |at: &Instant| now.saturating_duration_since(*at) < TOKEN_LEASE;
        match cache.unknown.get(&id).is_some_and(is_unknown) {
            true => Cached::Current { row: None, is_due: false },
            false => Cached::Absent,
        }
    }

    /// Whether nothing is known of an id.
    pub(super) fn is_absent(&self, id: u64, now: Instant) -> bool {
        matches!(self.get(id, now), Cached::Absent)
    }

    /// The token as it was last read before the outage.
    pub(super) fn get_during_outage(&self, id: u64, now: Instant) -> Option<TokenRow> {
        let cache = self.0.lock();
        let token = cache.tokens.get(&id)?;
        let age = now.saturating_duration_since(token.queried_at);
        (age < OUTAGE_LEASE).then(|| token.row.clone())
    }

    /// Stores the result of a query that was sent at `queried_at`.
    pub(super) fn put(&self, id: u64, row: Option<&TokenRow>, queried_at: Instant) {
        let mut cache = self.0.lock();
        if let Some(row) = row {
            cache.unknown.remove(&id);
            cache.tokens.insert(id, CachedToken { row: row.clone(), queried_at });
            return;
        }
        cache.tokens.remove(&id);
        if cache.issued_at.is_none_or(|issued_at| issued_at < queried_at) {
            cache.unknown.insert(id, queried_at);
        }
    }

    /// Notes that this node has issued a token.
    pub(super) fn issued(&self, id: u64, now: Instant) {
        let mut cache = self.0.lock();
        cache.unknown.remove(&id);
        cache.issued_at = Some(now);
    }
}

#[cfg(test)]
mod tests {
    use catalog::product::{ShopId, access::Role};
    use jiff::Timestamp;

    use super::*;

    const AN_INSTANT: Duration = Duration::from_nanos(1);

    fn row(id: u64) -> TokenRow {
        TokenRow {
            id,
            shop: ShopId::new(1).unwrap(),
            role: Role::Viewer,
            name: String::new(),
            secret_hash: vec![1],
            created_at: Timestamp::UNIX_EPOCH,
            expires_at: None,
            revoked_at: None,
        }
    }

    fn current(row: Option<TokenRow>, is_due: bool) -> Cached {
        Cached::Current { row, is_due }
    }

    #[test]
    fn a_token_is_valid_for_its_lease_and_longer_during_an_outage() {
        let (tokens, at) = (TokenCache::new(), Instant::now());
        assert_eq!(tokens.get(7, at), Cached::Absent);
        tokens.put(7, Some(&row(7)), at);
        assert_eq!(tokens.get(7, at), current(Some(row(7)), false));
        let nearly = at + TOKEN_LEASE - AN_INSTANT;
        assert_eq!(tokens.get(7, at + RENEWAL_AGE), current(Some(row(7)), true));
        assert_eq!(tokens.get(7, nearly), current(Some(row(7)), true));
        assert_eq!(tokens.get(7, at + TOKEN_LEASE), Cached::Expired);
        assert_eq!(tokens.get_during_outage(7, at + TOKEN_LEASE), Some(row(7)));
        assert_eq!(tokens.get_during_outage(7, at + OUTAGE_LEASE), None);
        tokens.put(7, None, at);
        assert_eq!(tokens.get_during_outage(7, at), None);
    }

    #[test]
    fn that_there_is_no_token_is_known_for_the_lease() {
        let (tokens, at) = (TokenCache::new(), Instant::now());
        tokens.put(7, None, at);
        assert_eq!(tokens.get(7, at + TOKEN_LEASE - AN_INSTANT), current(None, false));
        assert!(tokens.is_absent(7, at + TOKEN_LEASE));
        assert_eq!(tokens.get_during_outage(7, at), None);
        tokens.put(7, Some(&row(7)), at);
        assert_eq!(tokens.get(7, at), current(Some(row(7)), false));
    }

    #[test]
    fn ids_without_a_token_are_bounded_and_evict_no_token() {
        let (tokens, at) = (TokenCache::new(), Instant::now());
        let valid = 1..=100;
        valid.clone().for_each(|id| tokens.put(id, Some(&row(id)), at));
        let unknown = 1_000..1_000 + 3 * CAPACITY as u64;
        unknown.clone().for_each(|id| tokens.put(id, None, at));
        for id in valid {
            assert_eq!(tokens.get(id, at), current(Some(row(id)), false));
        }
        let kept = unknown.filter(|id| !tokens.is_absent(*id, at)).count();
        assert!((CAPACITY / 2..=CAPACITY).contains(&kept), "{kept} ids are kept");
    }

    #[test]
    fn a_token_that_was_just_issued_is_not_unknown() {
        let (tokens, at) = (TokenCache::new(), Instant::now());
        tokens.put(7, None, at);
        tokens.issued(7, at + AN_INSTANT);
        assert!(tokens.is_absent(7, at));
        // The result of a query that was sent before.
        tokens.put(7, None, at);
        assert!(tokens.is_absent(7, at));
        tokens.put(8, None, at + 2 * AN_INSTANT);
        assert!(!tokens.is_absent(8, at));
    }
}
