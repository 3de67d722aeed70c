//! Embedding leases: each node takes some of the waiting products for itself while it embeds them.
//!
//! The queue is derived from the rows. A lease is an advisory lock, which does not block reads or
//! writes of the product. It ends with the transaction that holds it, and so with the node.

use std::sync::Arc;

use parking_lot::Mutex;

use super::{
    super::{StoreError, Unembedded, decoding},
    connector::Connector,
    rows::get,
    session::{Session, Value},
    statements,
};
use crate::embed::Encoder;

/// Candidates per requested product, so that this many nodes find work with one query.
const WINDOW: usize = 8;
/// A node that takes longer than this for a batch loses its leases.
const BEGIN: &str = "BEGIN; SET LOCAL idle_in_transaction_session_timeout = '2min'";

/// The connection whose transaction holds the leases of this node.
pub(super) struct EmbeddingLeases {
    connector: Arc<Connector>,
    session: Mutex<Option<Session>>,
}

impl EmbeddingLeases {
    pub(super) fn new(connector: Arc<Connector>) -> Self {
        Self { connector, session: Mutex::default() }
    }

    /// Releases the leases of this node, and leases the newest products that no other node has
    /// leased.
    pub(super) fn lease(
        &self,
        model: &str,
        encoder: Encoder,
        limit: usize,
    ) -> Result<Vec<Unembedded>, StoreError> {
        let mut kept = self.session.lock();
        let mut session = match kept.take() {
            Some(mut session) if session.is_usable() => {
                session.roll_back();
                session
            }
            _ => self.connector.connect()?,
        };
        session.begin_with(BEGIN)?;
        let waiting = unembedded(&mut session, model, encoder, limit.saturating_mul(WINDOW))?;
        let keys: Vec<i32> = waiting.iter().map(key).collect();
        let leased = session.query(statements::LEASE, &[&keys, &bigint(limit)])?;
        let mut waiting: Vec<_> = waiting.into_iter().map(Some).collect();
        let mut products = Vec::with_capacity(leased.len());
        for row in &leased {
            let at = usize::try_from(get::<i64>(row, 0)? - 1).unwrap_or(usize::MAX);
            products.extend(waiting.get_mut(at).and_then(Option::take));
        }
        if products.is_empty() {
            session.roll_back();
        }
        *kept = Some(session);
        Ok(products)
    }
}

/// Product ids are unique over all shops. Two with the same low 32 bits are not leased at once,
/// which is harmless.
fn key(product: &Unembedded) -> i32 {
    product.id.get() as i32
}

/// The newest products without a vector of this model by this encoder or a better one.
fn unembedded(
    session: &mut Session,
    model: &str,
    encoder: Encoder,
    limit: usize,
) -> Result<Vec<Unembedded>, StoreError> {
    let lesser = lesser(encoder);
    let mut found = session.query(statements::UNEMBEDDED, &[&bigint(limit)])?;
    let room = bigint(limit - found.len());
    if room > 0 {
        let values: [Value<'_>; 3] = [&model, &lesser, &room];
        found.extend(session.query(statements::EMBEDDED_OTHERWISE, &values)?);
    }
    let read = |row: &tokio_postgres::Row| {
        let (shop, product) = (get(row, 0)?, get(row, 1)?);
        let ids = decoding::shop_id(shop).zip(decoding::product_id(shop, product));
        let (version, title, description) = (get(row, 2)?, get(row, 3)?, get(row, 4)?);
        let version = decoding::seq(version);
        let waiting = |(shop, id)| Unembedded { shop, id, version, title, description };
        Ok(ids.map(waiting))
    };
    found.iter().filter_map(|row| read(row).transpose()).collect()
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
