//! Looks up tokens in the database, in batches.
//!
//! All ids that arrive while a batch is looked up are the next batch, one statement, and requests
//! with the same id wait for the same result. Ids of which nothing is known have a connection of
//! their own: whatever is asked for on it, tokens that were in use here are renewed on another one,
//! before their lease ends.

use std::{
    collections::{HashMap, hash_map::Entry},
    io, mem,
    sync::Arc,
    time::Instant,
};

use parking_lot::Mutex;
use store::{
    Availability, Postgres, PostgresReaders, StoreError, StoreErrorKind, TokenLookup, TokenRow,
    background::{BackgroundThread, Next, Wakeup},
};
use tokio::sync::oneshot;

use super::token_cache::{Cached, TokenCache};

/// Tells the time; tests set it.
type Now = Arc<dyn Fn() -> Instant + Send + Sync>;

/// Ids of which nothing is known that may wait for their lookup.
const MAX_WAITING: usize = 1_000;

/// The cache of tokens, and the lookups that fill it.
pub(super) struct TokenLookups {
    cache: Arc<TokenCache>,
    availability: Arc<Availability>,
    now: Now,
    /// Tokens that the cache has.
    known: Lane,
    /// Ids of which the cache has nothing.
    unknown: Lane,
}

/// Lookups on a connection of their own.
struct Lane {
    waiting: Arc<Mutex<Batch>>,
    wakeup: Arc<Wakeup>,
    _thread: BackgroundThread,
}

type Found = Result<Option<TokenRow>, StoreError>;
/// Ids, with the requests that wait for each; none if a token is renewed in the background.
type Batch = HashMap<u64, Vec<oneshot::Sender<Found>>>;

impl TokenLookups {
    pub(super) fn start(postgres: &Postgres) -> io::Result<Self> {
        Self::start_at(postgres, Arc::new(Instant::now))
    }

    fn start_at(postgres: &Postgres, now: Now) -> io::Result<Self> {
        let (cache, availability) = (Arc::new(TokenCache::new()), postgres.availability());
        let lane = |name| {
            let lookups = Lookups {
                name,
                readers: postgres.readers_with(1),
                cache: Arc::clone(&cache),
                availability: Arc::clone(&availability),
                now: Arc::clone(&now),
            };
            Lane::start(lookups)
        };
        let (known, unknown) = (lane("known")?, lane("unknown")?);
        Ok(Self { cache, availability, now, known, unknown })
    }

    /// The token with this id.
    pub(super) fn find(&self, id: u64) -> TokenLookup {
        let now = (self.now)();
        match self.cache.get(id, now) {
            Cached::Current { row, is_due } => {
                if is_due {
                    self.known.renew(id);
                }
                TokenLookup::Done(Ok(row))
            }
            Cached::Expired => {
                let is_down = self.availability.is_down();
                let cached = is_down.then(|| self.cache.get_during_outage(id, now)).flatten();
                match cached {
                    Some(row) => TokenLookup::Done(Ok(Some(row))),
                    None => self.known.find(id, usize::MAX),
                }
            }
            Cached::Absent => self.unknown.find(id, MAX_WAITING),
        }
    }

    /// Whether nothing is known of this id.
    pub(super) fn is_unknown(&self, id: u64) -> bool {
        self.cache.is_absent(id, (self.now)())
    }

    /// Notes that this node has issued a token.
    pub(super) fn issued(&self, id: u64) {
        self.cache.issued(id, (self.now)());
    }
}

impl Lane {
    fn start(lookups: Lookups) -> io::Result<Self> {
        let (waiting, wakeup) = (Arc::<Mutex<Batch>>::default(), Arc::<Wakeup>::default());
        let next = Arc::clone(&waiting);
        let name = format!("tokens-{}", lookups.name);
        let thread = BackgroundThread::start(&name, Arc::clone(&wakeup), move |_| {
            let batch = mem::take(&mut *next.lock());
            if batch.is_empty() {
                return Next::Wait;
            }
            lookups.run(batch);
            Next::Continue
        })?;
        Ok(Self { waiting, wakeup, _thread: thread })
    }

    /// Looks up an id, unless `most` others wait.
    fn find(&self, id: u64, most: usize) -> TokenLookup {
        let mut waiting = self.waiting.lock();
        let is_full = waiting.len() >= most;
        let others = match waiting.entry(id) {
            Entry::Vacant(_) if is_full => return TokenLookup::Done(Err(overloaded())),
            entry => entry.or_default(),
        };
        let (found, result) = oneshot::channel();
        others.push(found);
        drop(waiting);
        self.wakeup.notify();
        TokenLookup::Waiting(result)
    }

    /// Looks up an id for which no request waits.
    fn renew(&self, id: u64) {
        let is_new = match self.waiting.lock().entry(id) {
            Entry::Vacant(entry) => entry.insert(Vec::new()).is_empty(),
            Entry::Occupied(_) => false,
        };
        if is_new {
            self.wakeup.notify();
        }
    }
}

/// The statements of a lane.
struct Lookups {
    name: &'static str,
    readers: PostgresReaders,
    cache: Arc<TokenCache>,
    availability: Arc<Availability>,
    now: Now,
}

impl Lookups {
    fn run(&self, mut batch: Batch) {
        let queried_at = (self.now)();
        self.answer_cached(&mut batch, queried_at);
        let ids: Vec<u64> = batch.keys().copied().collect();
        if ids.is_empty() {
            return;
        }
        let found = self.readers.tokens_with_ids(&ids);
        metrics::counter!("shopkeeper_token_lookups_total", "tokens" => self.name)
            .increment(ids.len() as u64);
        match found {
            Ok(rows) => {
                let mut rows: HashMap<_, _> = rows.into_iter().map(|row| (row.id, row)).collect();
                for (id, waiting) in batch {
                    let row = rows.remove(&id);
                    self.cache.put(id, row.as_ref(), queried_at);
                    reply(waiting, &Ok(row));
                }
            }
            Err(error) => self.fail(batch, &error),
        }
    }

    /// Answers those of a batch that the batch before it has looked up meanwhile.
    fn answer_cached(&self, batch: &mut Batch, now: Instant) {
        batch.retain(|id, waiting| match self.cache.get(*id, now) {
            Cached::Current { row, is_due: false } => {
                reply(mem::take(waiting), &Ok(row));
                false
            }
            _ => true,
        });
    }

    fn fail(&self, batch: Batch, error: &StoreError) {
        // Not when the database is merely slow: a revoked token would be accepted for longer.
        let is_outage = error.kind() == StoreErrorKind::Unavailable;
        if is_outage {
            self.availability.suspect();
        }
        for (id, waiting) in batch {
            let cached = || self.cache.get_during_outage(id, (self.now)());
            let row = is_outage.then(cached).flatten();
            reply(waiting, &row.map(Some).ok_or_else(|| error.clone()));
        }
    }
}

/// A request that has gone away meanwhile gets nothing.
fn reply(waiting: Vec<oneshot::Sender<Found>>, found: &Found) {
    waiting.into_iter().for_each(|request| drop(request.send(found.clone())));
}

fn overloaded() -> StoreError {
    StoreError::busy("too many tokens are being looked up")
}

#[cfg(test)]
mod tests {
    use store::testing::settings;

    use super::{super::token_cache::TOKEN_LEASE, *};

    /// Asks for an id; whether it had to be looked up.
    fn is_looked_up(lookups: &TokenLookups, id: u64) -> bool {
        let (found, is_looked_up) = match lookups.find(id) {
            TokenLookup::Done(found) => (found, false),
            TokenLookup::Waiting(result) => (result.blocking_recv().unwrap(), true),
        };
        assert_eq!(found.unwrap(), None);
        is_looked_up
    }

    #[test]
    fn that_a_token_does_not_exist_is_looked_up_once_in_a_lease() {
        let database = Postgres::new(&settings(&testkit::postgres().database())).unwrap();
        database.migrate().unwrap();
        let time = Arc::new(Mutex::new(Instant::now()));
        let clock = Arc::clone(&time);
        let lookups = TokenLookups::start_at(&database, Arc::new(move || *clock.lock())).unwrap();
        for _ in 0..3 {
            for round in 0..20 {
                for id in 1_000..1_020 {
                    assert_eq!(is_looked_up(&lookups, id), round == 0);
                }
            }
            *time.lock() += TOKEN_LEASE;
        }
    }
}
