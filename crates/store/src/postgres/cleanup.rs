//! Removes expired responses, ended tokens and old change records in batches, on a connection of its
//! own. Every batch is one statement and so one transaction.

use std::sync::Arc;

use super::{
    super::{Cleanup, Retained, StoreError},
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
    /// All responses from before this time, in microseconds, were removed by the current sweep.
    keys_removed_to: i64,
    /// All tokens that ended before this time, likewise.
    tokens_removed_to: i64,
    /// Shops with more change records than are kept. The last entry is next.
    shops: Vec<OldChanges>,
    /// The last shop that was checked.
    after: i64,
}

/// A shop with more change records than are kept.
struct OldChanges {
    shop: i64,
    /// Its last change.
    last: i64,
    /// All records up to this one were removed.
    removed_to: i64,
}

impl PostgresCleanup {
    pub(super) fn new(connector: Arc<Connector>) -> Self {
        Self {
            connector,
            session: None,
            keys_removed_to: i64::MIN,
            tokens_removed_to: i64::MIN,
            shops: Vec::new(),
            after: 0,
        }
    }

    fn batch(
        &mut self,
        session: &mut Session,
        retained: &Retained,
        batch: u64,
    ) -> Result<bool, StoreError> {
        let (keep, most) = (retained.changes.cast_signed(), batch.cast_signed());
        for (remove, since, removed_to) in [
            (statements::REMOVE_KEYS, retained.responses_since, &mut self.keys_removed_to),
            (statements::REMOVE_TOKENS, retained.tokens_since, &mut self.tokens_removed_to),
        ] {
            let values: [super::session::Value<'_>; 3] =
                [&since.as_microsecond(), &most, removed_to];
            let removed = session.query_one(remove, &values)?;
            *removed_to = get(&removed, 1)?;
            if get::<i64>(&removed, 0)? >= most {
                return Ok(false);
            }
        }
        if self.shops.is_empty() {
            let values: [super::session::Value<'_>; 3] = [&self.after, &keep, &SHOPS];
            for row in session.query(statements::SHOPS_WITH_OLD_CHANGES, &values)?.iter().rev() {
                let (shop, last, removed_to) = (get(row, 0)?, get(row, 1)?, get(row, 2)?);
                self.shops.push(OldChanges { shop, last, removed_to });
            }
        }
        let Some(OldChanges { shop, last, removed_to }) = self.shops.last_mut() else {
            // The next sweep finds what another node had locked.
            self.after = 0;
            (self.keys_removed_to, self.tokens_removed_to) = (i64::MIN, i64::MIN);
            return Ok(true);
        };
        let values: [super::session::Value<'_>; 4] = [shop, &(*last - keep), &most, removed_to];
        let removed = session.query_one(statements::REMOVE_CHANGES, &values)?;
        *removed_to = get(&removed, 1)?;
        if get::<i64>(&removed, 0)? < most {
            self.after = *shop;
            self.shops.pop();
        }
        Ok(false)
    }
}

impl Cleanup for PostgresCleanup {
    fn remove_some(&mut self, retained: &Retained, batch: usize) -> Result<bool, StoreError> {
        let mut session = match self.session.take().filter(Session::is_usable) {
            Some(session) => session,
            None => self.connector.connect()?,
        };
        let done = self.batch(&mut session, retained, batch as u64);
        if !matches!(done, Ok(true)) {
            self.session = Some(session);
        }
        done
    }
}

#[cfg(test)]
mod tests {
    use catalog::product::ShopId;
    use jiff::Timestamp;

    use super::*;
    use crate::{CatalogStore, Postgres, testing::settings};

    /// Index entries of removed records remain while an older transaction may see the records, as
    /// during a backup or while an index is built.
    #[test]
    fn a_batch_does_not_read_what_earlier_ones_removed() {
        let server = testkit::postgres();
        let url = server.database();
        let database = url.rsplit('/').next().unwrap();
        let postgres = Postgres::new(&settings(&url)).unwrap();
        postgres.migrate().unwrap();
        server.psql(
            database,
            "INSERT INTO shops (shop_id, last_seq) VALUES (1, 6000), (2, 6000);
             INSERT INTO changes (shop_id, seq, product_id, deleted, is_vector)
                 SELECT shop, n, n, false, shop = 1
                 FROM generate_series(1, 2) shop, generate_series(1, 6000) n;
             ANALYZE",
        );
        let mut store = postgres.store();
        let mut older = store.begin().unwrap();
        older.lock_shop(ShopId::new(2).unwrap()).unwrap();
        let mut cleanup = postgres.cleanup();
        let epoch = Timestamp::UNIX_EPOCH;
        let retained = Retained { responses_since: epoch, tokens_since: epoch, changes: 1000 };
        while !cleanup.remove_some(&retained, 100).unwrap() {}
        // The end of a connection writes its statistics.
        drop(cleanup);
        let others = format!(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = '{database}' \
             AND pid <> pg_backend_pid() AND query LIKE '%removed_changes%'"
        );
        testkit::until("the end of the connection", || server.psql(database, &others) == "0");
        let read =
            "SELECT idx_tup_read FROM pg_stat_user_indexes WHERE indexrelname = 'changes_pkey'";
        let read: u64 = server.psql(database, read).parse().unwrap();
        assert!((10_000..12_000).contains(&read), "{read} entries were read to remove 10,000");
        let left = "SELECT string_agg(seq, ' ' ORDER BY shop_id) FROM (
                        SELECT shop_id, count(*) || ':' || min(seq) AS seq FROM changes
                        GROUP BY shop_id) of_shop";
        assert_eq!(server.psql(database, left), "1000:5001 1000:5001");
        let removed_to = "SELECT shop_id || ':' || removed_to FROM removed_changes";
        assert_eq!(
            server.psql(database, removed_to),
            "2:5000",
            "a vector is not a change of a product"
        );
        drop(older);
    }
}
