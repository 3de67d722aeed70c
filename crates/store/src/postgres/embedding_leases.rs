//! Embedding leases: each node takes some of the waiting products for itself while it embeds them.
//!
//! The queue is derived from the rows. A lease is an advisory lock, which does not block reads or
//! writes of the product. It ends with the transaction that holds it, and so with the node.
//!
//! As long as a transaction is open that is older than the work, the index entries of all products
//! that were embedded since remain at the head of the queue, and reading the queue reads them all. So
//! it is read seldom: each time, a node lists a fixed share of as many products as it has leased
//! before, and works through the list. Whether a product still waits is looked up by its primary key.

use std::{
    collections::{HashSet, VecDeque},
    mem,
    sync::Arc,
};

use embed::Encoder;
use parking_lot::Mutex;

use super::{
    super::{StoreError, Unembedded, decoding},
    connector::Connector,
    rows::get,
    session::{Session, Value},
    statements,
};

/// Candidates per requested product, so that this many nodes find work with one query.
const WINDOW: usize = 8;
/// Products that are listed at least, if that many wait…
const MIN_LISTED: usize = 1024;
/// … and at most: 16 MiB.
const MAX_LISTED: usize = 1 << 20;
/// One of this many products that were leased before is listed.
const LEASED_PER_LISTED: usize = 8;
/// A node that takes longer than this for a batch loses its leases.
const BEGIN: &str = "BEGIN; SET LOCAL idle_in_transaction_session_timeout = '2min'";

/// The leases of this node.
pub(super) struct EmbeddingLeases {
    connector: Arc<Connector>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The connection whose transaction holds the leases.
    session: Option<Session>,
    waiting: Waiting,
}

/// What products wait for.
#[derive(PartialEq)]
struct Wanted {
    model: String,
    encoder: Encoder,
}

/// Products that waited when the queue was read.
#[derive(Default)]
struct Waiting {
    wanted: Option<Wanted>,
    /// Shops and ids, in the order in which they are leased. Those that are leased are in it until
    /// the next lease finds that they have their vectors.
    listed: VecDeque<(i64, i64)>,
    /// The last place of any product that was listed, in the order in which texts were stored.
    newest: i64,
    /// Products that were leased since the queue was empty: as many index entries may be dead.
    leased: usize,
}

impl EmbeddingLeases {
    pub(super) fn new(connector: Arc<Connector>) -> Self {
        Self { connector, state: Mutex::default() }
    }

    /// Releases the leases of this node, and leases the newest products that no other node has
    /// leased.
    pub(super) fn lease(
        &self,
        model: &str,
        encoder: Encoder,
        limit: usize,
    ) -> Result<Vec<Unembedded>, StoreError> {
        let mut kept = self.state.lock();
        // Neither is kept after a failure.
        let State { session, mut waiting } = mem::take(&mut *kept);
        let mut session = match session {
            Some(mut session) if session.is_usable() => {
                session.roll_back();
                session
            }
            _ => self.connector.connect()?,
        };
        let wanted = Wanted { model: model.to_owned(), encoder };
        if waiting.wanted.as_ref() != Some(&wanted) {
            waiting = Waiting { wanted: Some(wanted), ..Waiting::default() };
        }
        session.begin_with(BEGIN)?;
        let products = waiting.lease(&mut session, limit)?;
        if products.is_empty() {
            session.roll_back();
        }
        *kept = State { session: Some(session), waiting };
        Ok(products)
    }
}

impl Waiting {
    fn lease(
        &mut self,
        session: &mut Session,
        limit: usize,
    ) -> Result<Vec<Unembedded>, StoreError> {
        if !self.listed.is_empty() {
            self.list_newer(session, limit)?;
        }
        let mut waiting = self.still_waiting(session, limit)?;
        if waiting.len() < limit {
            self.read_queue(session, limit)?;
            waiting = self.still_waiting(session, limit)?;
        }
        let keys: Vec<i32> = waiting.iter().map(key).collect();
        let leased = session.query(statements::LEASE, &[&keys, &bigint(limit)])?;
        let mut waiting: Vec<_> = waiting.into_iter().map(Some).collect();
        let mut products = Vec::with_capacity(leased.len());
        for row in &leased {
            let at = usize::try_from(get::<i64>(row, 0)? - 1).unwrap_or(usize::MAX);
            products.extend(waiting.get_mut(at).and_then(Option::take));
        }
        self.leased += products.len();
        Ok(products)
    }

    /// Takes products off the list until at least `limit` of them still wait, and puts those back.
    fn still_waiting(
        &mut self,
        session: &mut Session,
        limit: usize,
    ) -> Result<Vec<Unembedded>, StoreError> {
        let Some(Wanted { model, encoder }) = &self.wanted else { return Ok(Vec::new()) };
        let (lesser, mut waiting) = (lesser(*encoder), Vec::new());
        while waiting.len() < limit && !self.listed.is_empty() {
            let next = self.listed.len().min(limit.saturating_mul(WINDOW));
            let mut once = HashSet::new();
            let next = self.listed.drain(..next).filter(|product| once.insert(*product));
            let (shops, products): (Vec<i64>, Vec<i64>) = next.unzip();
            let values: [Value<'_>; 4] = [&shops, &products, model, &lesser];
            for row in &session.query(statements::STILL_UNEMBEDDED, &values)? {
                waiting.extend(read(row)?);
            }
        }
        for one in waiting.iter().rev() {
            self.listed.push_front((one.shop.get().cast_signed(), one.id.get().cast_signed()));
        }
        Ok(waiting)
    }

    /// Puts products without a vector that are newer than all on the list before them.
    fn list_newer(&mut self, session: &mut Session, limit: usize) -> Result<(), StoreError> {
        let most = bigint(limit.saturating_mul(WINDOW));
        let newer = session.query(statements::UNEMBEDDED, &[&self.newest, &most])?;
        for row in newer.iter().rev() {
            let product = self.listed(row)?;
            self.listed.push_front(product);
        }
        Ok(())
    }

    /// Makes the list anew.
    fn read_queue(&mut self, session: &mut Session, limit: usize) -> Result<(), StoreError> {
        let Some(Wanted { model, encoder }) = &self.wanted else { return Ok(()) };
        let lesser = lesser(*encoder);
        let least = limit.saturating_mul(WINDOW).clamp(MIN_LISTED, MAX_LISTED);
        let most = (self.leased / LEASED_PER_LISTED).clamp(least, MAX_LISTED);
        let mut found = session.query(statements::UNEMBEDDED, &[&i64::MIN, &bigint(most)])?;
        let room = bigint(most - found.len());
        if room > 0 {
            let values: [Value<'_>; 3] = [model, &lesser, &room];
            found.extend(session.query(statements::EMBEDDED_OTHERWISE, &values)?);
        }
        self.listed.clear();
        for row in &found {
            let product = self.listed(row)?;
            self.listed.push_back(product);
        }
        if found.is_empty() {
            self.leased = 0;
        }
        Ok(())
    }

    /// An entry of the list.
    fn listed(&mut self, row: &tokio_postgres::Row) -> Result<(i64, i64), StoreError> {
        self.newest = self.newest.max(get(row, 2)?);
        Ok((get(row, 0)?, get(row, 1)?))
    }
}

/// Product ids are unique over all shops. Two with the same low 32 bits are not leased at once,
/// which is harmless.
fn key(product: &Unembedded) -> i32 {
    product.id.get() as i32
}

/// A product that waits; `None` without valid ids.
fn read(row: &tokio_postgres::Row) -> Result<Option<Unembedded>, StoreError> {
    let (shop, product) = (get(row, 0)?, get(row, 1)?);
    let ids = decoding::shop_id(shop).zip(decoding::product_id(shop, product));
    let (version, title, description) = (get(row, 2)?, get(row, 3)?, get(row, 4)?);
    let version = decoding::seq(version);
    Ok(ids.map(|(shop, id)| Unembedded { shop, id, version, title, description }))
}

/// How many products have no vector of this model by this encoder or a better one.
pub(super) fn unembedded_count(
    session: &mut Session,
    model: &str,
    encoder: Encoder,
) -> Result<usize, StoreError> {
    let lesser = lesser(encoder);
    let row = session.query_one(statements::UNEMBEDDED_COUNT, &[&model, &lesser])?;
    get(&row, 0).map(decoding::count)
}

/// The encoders that are worse than this one.
fn lesser(encoder: Encoder) -> Vec<&'static str> {
    let all = [Encoder::Instant, Encoder::Deep];
    all.into_iter().filter(|other| *other < encoder).map(Encoder::as_str).collect()
}

fn bigint(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
