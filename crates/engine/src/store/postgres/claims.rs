//! Which node embeds which products? Each takes some of those that wait, for itself alone, while
//! it works on them.
//!
//! There is no queue beside the rows: what waits is what the rows say, and a claim is a lock that
//! keeps nobody from reading or writing the product. It ends with the transaction that holds it,
//! and so with the node.

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

/// As many nodes find something to do without looking twice.
const WINDOW: usize = 8;
/// A model may take its time; a node that takes longer has stopped.
const LONGEST: &str = "BEGIN; SET LOCAL idle_in_transaction_session_timeout = '2min'";

/// The connection whose transaction holds this node's claims.
pub(super) struct Claims {
    connector: Arc<Connector>,
    session: Mutex<Option<Session>>,
}

impl Claims {
    pub(super) fn new(connector: Arc<Connector>) -> Self {
        Self { connector, session: Mutex::default() }
    }

    /// Gives up what was claimed before, and claims the newest products that nobody else works on.
    pub(super) fn take(
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
        session.begin_with(LONGEST)?;
        let waiting =
            reader::unembedded(&mut session, model, encoder, limit.saturating_mul(WINDOW))?;
        let keys: Vec<i32> = waiting.iter().map(key).collect();
        let most = i64::try_from(limit).unwrap_or(i64::MAX);
        let claimed = session.query(statements::CLAIM, &[&keys, &most])?;
        let mut waiting: Vec<_> = waiting.into_iter().map(Some).collect();
        let mut products = Vec::with_capacity(claimed.len());
        for row in &claimed {
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

/// Product numbers are unique over all shops. Two that share a key are not worked on at once.
fn key(product: &Unembedded) -> i32 {
    product.id.get() as i32
}
