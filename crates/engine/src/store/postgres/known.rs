//! Which tokens were good a moment ago? Asking the database for each request would make every
//! search wait for it, and end all of them with it.

use std::time::{Duration, Instant};

use parking_lot::Mutex;
use quick_cache::unsync::Cache;

use super::super::TokenRow;

/// For so long a node goes by what the database said of a token. Whoever revokes one waits as
/// long before it is called revoked.
pub const TOKEN_LEASE: Duration = Duration::from_secs(1);
/// While the database is away, a node goes by what it said of a token for so long.
const LEASE_IN_NEED: Duration = Duration::from_secs(600);
/// Tokens that are known at the most.
const MOST: usize = 10_000;

/// The rows of tokens that were asked for lately.
pub(super) struct KnownTokens(Mutex<Cache<u64, Known>>);

struct Known {
    row: TokenRow,
    /// When the database was asked, not when it answered.
    asked: Instant,
}

impl KnownTokens {
    pub(super) fn new() -> Self {
        Self(Mutex::new(Cache::new(MOST)))
    }

    /// The token as the database has it.
    pub(super) fn get(&self, id: u64) -> Option<TokenRow> {
        self.of_the_last(id, TOKEN_LEASE)
    }

    /// The token as the database had it before it went away.
    pub(super) fn get_in_need(&self, id: u64) -> Option<TokenRow> {
        self.of_the_last(id, LEASE_IN_NEED)
    }

    fn of_the_last(&self, id: u64, lease: Duration) -> Option<TokenRow> {
        let known = self.0.lock();
        let known = known.get(&id)?;
        (known.asked.elapsed() < lease).then(|| known.row.clone())
    }

    /// Takes note of what the database said when it was asked at this time.
    pub(super) fn learn(&self, id: u64, row: Option<&TokenRow>, asked: Instant) {
        let mut known = self.0.lock();
        match row {
            Some(row) => known.insert(id, Known { row: row.clone(), asked }),
            None => drop(known.remove(&id)),
        }
    }
}

#[cfg(test)]
mod tests {
    use catalog::{access::Role, product::ShopId};
    use jiff::Timestamp;

    use super::*;

    #[test]
    fn what_was_said_holds_for_a_moment_and_longer_in_need() {
        let (tokens, now) = (KnownTokens::new(), Instant::now());
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
        tokens.learn(7, Some(&row), now - TOKEN_LEASE);
        assert!(tokens.get(7).is_none(), "the lease is over");
        assert!(tokens.get_in_need(7).is_some());
        tokens.learn(7, Some(&row), now - LEASE_IN_NEED);
        assert!(tokens.get_in_need(7).is_none());
        tokens.learn(7, Some(&row), Instant::now() + Duration::from_secs(60));
        assert!(tokens.get(7).is_some());
        tokens.learn(7, None, now);
        assert!(tokens.get_in_need(7).is_none());
    }
}
