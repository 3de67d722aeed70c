//! Removes expired responses and old change records in batches, on a connection of its own. Every
//! batch is one statement and so one transaction.

use std::sync::Arc;

use jiff::Timestamp;

use super::{
    super::{Cleanup, StoreError},
    connector::Connector,
    rows::get,
    session::Session,
    statements,
};

/// Shops that are checked for old change records at a time.
const SHOPS: i64 = 100;

/// The state of the cleanup of one database.
pub(super) struct PostgresCleanup {
    connector: Arc<Connector>,
    /// Open while there are rows to remove.
    session: Option<Session>,
    /// Shops with more change records than are kept, with their last change. The last entry is
    /// next.
    shops: Vec<(i64, i64)>,
    /// The last shop that was checked.
    after: i64,
}

impl PostgresCleanup {
    pub(super) fn new(connector: Arc<Connector>) -> Self {
        Self { connector, session: None, shops: Vec::new(), after: 0 }
    }

    fn batch(
        &mut self,
        session: &mut Session,
        expired_before: Timestamp,
        keep_changes: u64,
        batch: u64,
    ) -> Result<bool, StoreError> {
        let (keep, most) = (keep_changes.cast_signed(), batch.cast_signed());
        let before = expired_before.as_microsecond();
        if session.execute(statements::REMOVE_KEYS, &[&before, &most])? >= batch {
            return Ok(false);
        }
        if self.shops.is_empty() {
            let values: [super::session::Value<'_>; 3] = [&self.after, &keep, &SHOPS];
            for row in session.query(statements::SHOPS_WITH_OLD_CHANGES, &values)?.iter().rev() {
                self.shops.push((get(row, 0)?, get(row, 1)?));
            }
        }
        let Some((shop, last)) = self.shops.last() else {
            self.after = 0;
            return Ok(true);
        };
        let removed =
            session.query_one(statements::REMOVE_CHANGES, &[shop, &(last - keep), &most])?;
        if get::<i64>(&removed, 0)? < most {
            self.after = *shop;
            self.shops.pop();
        }
        Ok(false)
    }
}

impl Cleanup for PostgresCleanup {
    fn remove_some(
        &mut self,
        expired_before: Timestamp,
        keep_changes: u64,
        batch: usize,
    ) -> Result<bool, StoreError> {
        let mut session = match self.session.take().filter(Session::is_usable) {
            Some(session) => session,
            None => self.connector.connect()?,
        };
        let done = self.batch(&mut session, expired_before, keep_changes, batch as u64);
        if !matches!(done, Ok(true)) {
            self.session = Some(session);
        }
        done
    }
}
