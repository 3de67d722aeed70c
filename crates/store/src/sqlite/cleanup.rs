//! Removes expired responses, old change records and ended tokens in batches, and infers again what
//! an earlier version has stored, on a connection of its own. Each batch holds the write lock for a
//! few milliseconds.

use std::{collections::VecDeque, path::PathBuf};

use catalog::product::inferred::Inferred;
use embed::inference::infer;
use rusqlite::{Connection, OpenFlags, OptionalExtension, TransactionBehavior, params};

use super::{
    super::{Cleanup, Retained, StoreError, decoding},
    damage::Damage,
    database_file::{BUSY_TIMEOUT, CHECKPOINT_PAGES, FILE_NAME, PAGE_CACHE_KIB},
    rows,
    store::SqliteStore,
    tokens,
};

struct SqliteCleanup {
    folder: PathBuf,
    /// Open until there is nothing to infer, which is asked last.
    connection: Option<Connection>,
    damage: Damage,
    /// Shops with more change records than are kept.
    shops: VecDeque<i64>,
    /// The last shop that was asked for.
    after: i64,
}

impl SqliteStore {
    /// Removes expired rows of the database in `folder`, which a [`SqliteStore`] has opened before.
    pub fn cleanup(folder: PathBuf) -> Box<dyn Cleanup> {
        Self::cleanup_noting(folder, Damage::default())
    }

    /// The same, with damage noted.
    pub fn cleanup_noting(folder: PathBuf, damage: Damage) -> Box<dyn Cleanup> {
        let shops = VecDeque::new();
        Box::new(SqliteCleanup { folder, connection: None, damage, shops, after: 0 })
    }
}

impl SqliteCleanup {
    fn take_connection(&mut self) -> Result<Connection, StoreError> {
        self.connection.take().map_or_else(|| self.open(), Ok)
    }

    fn open(&self) -> Result<Connection, StoreError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(self.folder.join(FILE_NAME), flags)?;
        connection.busy_timeout(BUSY_TIMEOUT)?;
        // Rows that reappear after a power failure are removed again.
        connection.pragma_update(None, "synchronous", "NORMAL")?;
        connection.pragma_update(None, "wal_autocheckpoint", CHECKPOINT_PAGES)?;
        connection.pragma_update(None, "cache_size", -i64::from(PAGE_CACHE_KIB))?;
        Ok(connection)
    }
}

/// Whether a response to an idempotency key is older than this time.
const HAS_EXPIRED: &str = "SELECT EXISTS (SELECT 1 FROM idempotency_keys WHERE created_at < ?1)";
/// Removes at most `?2` of them.
const REMOVE_EXPIRED: &str = "DELETE FROM idempotency_keys WHERE (shop_id, key) IN (
         SELECT shop_id, key FROM idempotency_keys WHERE created_at < ?1 LIMIT ?2
     )";

/// Shops that are asked for old change records at a time.
const SHOPS: i64 = 100;

const OLD_CHANGES: &str =
    "SELECT id FROM shops WHERE id > ?1 AND change_count > ?2 ORDER BY id LIMIT ?3";
/// The last of the oldest records.
const LAST_TO_REMOVE: &str =
    "SELECT seq FROM changes WHERE shop_id = ?1 ORDER BY seq LIMIT 1 OFFSET ?2 - 1";
/// Expired changes are told apart from changes that never happened.
const NOTE_REMOVED: &str = "UPDATE shops SET change_count = change_count - ?3, truncated_to = ?2,
         removed_to = max(removed_to, coalesce(
             (SELECT max(seq) FROM changes WHERE shop_id = ?1 AND seq <= ?2 AND is_vector = 0), 0
         ))
     WHERE id = ?1";
const REMOVE: &str = "DELETE FROM changes WHERE shop_id = ?1 AND seq <= ?2";

/// Removes at most `most` change records of a shop, the oldest first, and returns how many.
fn remove_changes(
    connection: &Connection,
    shop: i64,
    keep: i64,
    most: i64,
) -> Result<i64, StoreError> {
    let count: Option<i64> = connection
        .prepare_cached("SELECT change_count FROM shops WHERE id = ?1")?
        .query_row([shop], |row| row.get(0))
        .optional()?;
    let removed = count.unwrap_or_default().saturating_sub(keep).min(most);
    if removed <= 0 {
        return Ok(0);
    }
    let last: Option<i64> = connection
        .prepare_cached(LAST_TO_REMOVE)?
        .query_row([shop, removed], |row| row.get(0))
        .optional()?;
    let Some(last) = last else { return Ok(0) };
    connection.prepare_cached(NOTE_REMOVED)?.execute([shop, last, removed])?;
    connection.prepare_cached(REMOVE)?.execute([shop, last])?;
    Ok(removed)
}

impl SqliteCleanup {
    /// The next shop with more than this many change records.
    fn next_shop(&mut self, connection: &Connection, keep: i64) -> Result<Option<i64>, StoreError> {
        if self.shops.is_empty() {
            let mut statement = connection.prepare_cached(OLD_CHANGES)?;
            let mut found = statement.query([self.after, keep, SHOPS])?;
            while let Some(row) = found.next()? {
                self.shops.push_back(row.get(0)?);
            }
        }
        let next = self.shops.front().copied();
        self.after = next.unwrap_or_default();
        Ok(next)
    }
}

impl Cleanup for SqliteCleanup {
    fn remove_some(&mut self, retained: &Retained, batch: usize) -> Result<bool, StoreError> {
        let done = self.remove_batch(retained, batch);
        self.damage.noted(done)
    }

    fn infer_some(&mut self, batch: usize) -> Result<bool, StoreError> {
        let done = self.infer_batch(batch);
        self.damage.noted(done)
    }
}

impl SqliteCleanup {
    fn remove_batch(&mut self, retained: &Retained, batch: usize) -> Result<bool, StoreError> {
        let mut connection = self.take_connection()?;
        let (keep, most) = (retained.changes.cast_signed(), batch as i64);
        let responses_since = retained.responses_since.as_microsecond();
        let tokens_since = retained.tokens_since.as_microsecond();
        // Checked without the write lock, because usually there is nothing to remove.
        let shop = self.next_shop(&connection, keep)?;
        let is_needed = |sql: &str, since: i64| -> Result<bool, StoreError> {
            Ok(connection.query_row(sql, [since], |row| row.get(0))?)
        };
        if shop.is_none()
            && !is_needed(HAS_EXPIRED, responses_since)?
            && !is_needed(tokens::HAS_ENDED, tokens_since)?
        {
            self.connection = Some(connection);
            return Ok(true);
        }
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        transaction.execute(REMOVE_EXPIRED, params![responses_since, most])?;
        transaction.execute(tokens::REMOVE_ENDED, params![tokens_since, most])?;
        let removed =
            shop.map(|shop| remove_changes(&transaction, shop, keep, most)).transpose()?;
        transaction.commit()?;
        if removed.is_some_and(|removed| removed < most) {
            self.shops.pop_front();
        }
        self.connection = Some(connection);
        Ok(false)
    }

    fn infer_batch(&mut self, batch: usize) -> Result<bool, StoreError> {
        let mut connection = self.take_connection()?;
        let (version, inferred_to): (u8, Option<i64>) =
            connection.query_row("SELECT inference, inferred_to FROM counters", [], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })?;
        let after = match inferred_to {
            _ if version != Inferred::VERSION => 0,
            Some(after) => after,
            None => return Ok(true),
        };
        // Inferred without the write lock.
        let Outdated { rows, last } = read_outdated(&connection, after, batch)?;
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        {
            let mut update = transaction.prepare_cached(
                "UPDATE products SET inferred = ?3 WHERE id = ?1 AND version = ?2",
            )?;
            for OutdatedRow { id, version, inferred } in rows {
                update.execute(params![id, version, inferred.to_bytes()])?;
            }
        }
        transaction.execute(
            "UPDATE counters SET inference = ?1, inferred_to = ?2",
            params![Inferred::VERSION, last],
        )?;
        transaction.commit()?;
        self.connection = last.is_some().then_some(connection);
        Ok(last.is_none())
    }
}

/// Rows whose values are of another version of the inference.
struct Outdated {
    rows: Vec<OutdatedRow>,
    /// The last id that was read; `None` if there are no more rows.
    last: Option<i64>,
}

struct OutdatedRow {
    id: i64,
    version: i64,
    /// What this version infers.
    inferred: Inferred,
}

/// Reads at most `batch` products after this id.
fn read_outdated(
    connection: &Connection,
    after: i64,
    batch: usize,
) -> Result<Outdated, StoreError> {
    let mut statement = connection.prepare_cached(
        "SELECT id, version, shop_id, title, description, attributes, inferred FROM products
         WHERE id > ?1 ORDER BY id LIMIT ?2",
    )?;
    let mut found = statement.query(params![after, batch as i64])?;
    let (mut outdated, mut read, mut last) = (Vec::new(), 0, after);
    while let Some(row) = found.next()? {
        (read, last) = (read + 1, row.get(0)?);
        let stored = rows::read_optional_bytes(row, 6)?;
        if stored.and_then(Inferred::from_bytes).is_some() {
            continue;
        }
        let attributes = rows::read_optional_text(row, 5)?;
        let attributes = decoding::attributes(row.get(2)?, last, attributes.as_deref());
        let (title, description) = (rows::read_text(row, 3)?, rows::read_text(row, 4)?);
        let inferred = infer(&title, &description, &attributes);
        outdated.push(OutdatedRow { id: last, version: row.get(1)?, inferred });
    }
    Ok(Outdated { rows: outdated, last: (read == batch).then_some(last) })
}

#[cfg(test)]
mod tests {
    use catalog::product::{Draft, ShopId, Title, price::Price};
    use jiff::Timestamp;
    use rusqlite::StatementStatus;

    use super::{super::schema, *};
    use crate::CatalogStore;

    /// An up-to-date database without rows.
    fn database() -> Connection {
        let mut connection = Connection::open_in_memory().unwrap();
        schema::migrate(&mut connection).unwrap();
        connection
    }

    /// The virtual machine's steps for a statement.
    fn steps(connection: &Connection, sql: &str, values: &[i64]) -> i32 {
        let mut statement = connection.prepare(sql).unwrap();
        let mut rows = statement.query(rusqlite::params_from_iter(values)).unwrap();
        while rows.next().unwrap().is_some() {}
        drop(rows);
        statement.get_status(StatementStatus::VmStep)
    }

    /// Whether or not the numbers have gaps.
    #[test]
    fn removing_changes_does_not_read_those_that_stay() {
        let connection = database();
        connection
            .execute_batch(
                "INSERT INTO shops (id, last_seq, change_count)
                     VALUES (1, 40000, 20000), (2, 40000, 20000), (3, 9, 9);
                 WITH RECURSIVE n(at) AS (SELECT 1 UNION ALL SELECT at + 1 FROM n WHERE at < 40000)
                     INSERT INTO changes (shop_id, seq, product_id, deleted, is_vector)
                     SELECT 1 + at % 2, at, at, 0, at IN (15, 20) FROM n;",
            )
            .unwrap();
        let ask = |sql: &str, shop: i64| -> i64 {
            connection.query_row(sql, [shop], |row| row.get(0)).unwrap()
        };
        let state = |shop| {
            [
                ask("SELECT min(seq) FROM changes WHERE shop_id = ?1", shop),
                ask("SELECT removed_to FROM shops WHERE id = ?1", shop),
                ask("SELECT truncated_to FROM shops WHERE id = ?1", shop),
                ask("SELECT change_count FROM shops WHERE id = ?1", shop),
            ]
        };
        assert_eq!(remove_changes(&connection, 1, 5_000, 10).unwrap(), 10);
        assert_eq!(state(1), [22, 18, 20, 19_990]);
        assert_eq!(remove_changes(&connection, 2, 19_995, 10).unwrap(), 5);
        assert_eq!(state(2), [11, 9, 9, 19_995]);
        for (sql, values) in [
            (LAST_TO_REMOVE, &[1, 10][..]),
            (NOTE_REMOVED, &[1, 40, 10]),
            (REMOVE, &[1, 40]),
            (OLD_CHANGES, &[0, 5_000, SHOPS]),
        ] {
            let steps = steps(&connection, sql, values);
            assert!((1..500).contains(&steps), "{steps} steps: {sql}");
        }
        assert_eq!(state(1), [42, 40, 40, 19_980]);
        assert_eq!(remove_changes(&connection, 2, 19_995, 10).unwrap(), 0);
        assert_eq!(remove_changes(&connection, 1, 0, 50_000).unwrap(), 19_980);
        assert_eq!(ask("SELECT count(*) FROM changes WHERE shop_id = ?1", 1), 0);
        assert_eq!(remove_changes(&connection, 1, 0, 50_000).unwrap(), 0);
        assert_eq!(state(2), [11, 9, 9, 19_995]);
    }

    #[test]
    fn products_are_inferred_again_once() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = SqliteStore::open(folder.path()).unwrap();
        let mut transaction = store.begin().unwrap();
        for _ in 0..4 {
            let title = Title::parse("Green linen dress").unwrap();
            let draft = Draft::new(title, Price::parse("$1").unwrap());
            let shop = ShopId::new(1).unwrap();
            transaction.create(shop, draft, Timestamp::UNIX_EPOCH).unwrap();
        }
        transaction.commit().unwrap();
        let connection = Connection::open(folder.path().join(FILE_NAME)).unwrap();
        let execute = |sql: &str| connection.execute(sql, []).unwrap();
        let outdate = || execute("UPDATE products SET inferred = X'00010203'");
        let outdated = || -> usize {
            let count = "SELECT count(*) FROM products WHERE substr(inferred, 1, 1) <> ?1";
            connection.query_row(count, [[Inferred::VERSION]], |row| row.get(0)).unwrap()
        };
        assert_eq!((outdated(), outdate(), outdated()), (0, 4, 4));
        let mut cleanup = SqliteStore::cleanup(folder.path().to_owned());
        assert!(!cleanup.infer_some(3).unwrap());
        assert_eq!(outdated(), 1);
        // The process ends between two batches.
        let mut cleanup = SqliteStore::cleanup(folder.path().to_owned());
        assert!(cleanup.infer_some(3).unwrap());
        assert_eq!(outdated(), 0);
        // Rows are not read again until the next version of the inference.
        outdate();
        assert!(cleanup.infer_some(3).unwrap());
        assert_eq!(outdated(), 4);
        execute("UPDATE counters SET inference = 2");
        assert!(!cleanup.infer_some(3).unwrap() && cleanup.infer_some(3).unwrap());
        assert_eq!(outdated(), 0);
    }

    /// Tokens that work are many, and those that ended some time ago stay for a while.
    #[test]
    fn tokens_are_counted_and_removed_without_reading_the_others() {
        let connection = database();
        connection
            .execute_batch(
                "WITH RECURSIVE n(at) AS (SELECT 1 UNION ALL SELECT at + 1 FROM n WHERE at < 30000)
                     INSERT INTO tokens
                         (shop_id, role, name, secret_hash, created_at, expires_at, revoked_at)
                     SELECT 1 + (at = 7), '', '', x'', 0, iif(at <= 10000, at, NULL),
                         iif(at BETWEEN 5001 AND 20000, at, NULL) FROM n;",
            )
            .unwrap();
        for (sql, values) in [
            (tokens::HAS_ENDED, &[0][..]),
            (tokens::HAS_ENDED, &[9]),
            (tokens::REMOVE_ENDED, &[9, 5]),
        ] {
            let steps = steps(&connection, sql, values);
            assert!((1..500).contains(&steps), "{steps} steps: {sql}");
        }
        let left = || -> (i64, i64) {
            let ask = "SELECT count(*), min(coalesce(expires_at, revoked_at)) FROM tokens";
            connection.query_row(ask, [], |row| Ok((row.get(0)?, row.get(1)?))).unwrap()
        };
        assert_eq!(left(), (29_995, 6));
        let (shop, at) = (ShopId::new(1).unwrap(), Timestamp::from_microsecond(15_000).unwrap());
        assert_eq!(tokens::working(&connection, shop, at, 20_000).unwrap(), 15_000);
        assert_eq!(tokens::working(&connection, shop, at, 10_000).unwrap(), 10_000);
        tokens::remove_ended(&connection, shop, at, 14_994).unwrap();
        assert_eq!(left(), (29_995, 6), "14,994 of the shop have ended");
        tokens::remove_ended(&connection, shop, at, 14_990).unwrap();
        assert_eq!(left(), (29_991, 7));
    }
}
