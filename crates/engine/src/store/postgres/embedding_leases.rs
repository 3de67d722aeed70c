//! Embedding leases: each node takes some of the waiting products for itself while it embeds them.
//!
//! The queue is derived from the rows. A lease is an advisory lock, which does not block reads or
//! writes of the product. It ends with the transaction that holds it, and so with the node.

use std::sync::Arc;

use parking_lot::Mutex;

use super::{
    super::{StoreError, Unembedded},
    connector::Connector,
    reader,
    rows::get,
    session::Session,
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
        let waiting =
            reader::unembedded(&mut session, model, encoder, limit.saturating_mul(WINDOW))?;
        let keys: Vec<i32> = waiting.iter().map(key).collect();
        let most = i64::try_from(limit).unwrap_or(i64::MAX);
        let leased = session.query(statements::LEASE, &[&keys, &most])?;
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
