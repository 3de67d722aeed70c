//! Removes expired responses and old change records in batches, and infers again what an earlier
//! version has stored, on a connection of its own. Each batch holds the write lock for a few
//! milliseconds.

use std::path::PathBuf;

use catalog::inference::Inferred;
use jiff::Timestamp;
use rusqlite::{Connection, OpenFlags, TransactionBehavior, params};

use super::{
    super::{Cleanup, StoreError, decoding},
    BUSY_TIMEOUT, CHECKPOINT_PAGES, FILE_NAME, PAGE_CACHE_KIB, SqliteStore, rows,
};
use crate::inference::infer;

struct SqliteCleanup {
    folder: PathBuf,
    /// Open until there is nothing to infer, which is asked last.
    connection: Option<Connection>,
}

impl SqliteStore {
    /// Removes expired rows of the database in `folder`, which a [`SqliteStore`] has opened before.
    pub fn cleanup(folder: PathBuf) -> Box<dyn Cleanup> {
        Box::new(SqliteCleanup { folder, connection: None })
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

/// The last of at most `?2` changes that go where `?1` are kept. Asked first, because a condition that computes
/// it is evaluated for one row after the other.
const LAST_TO_REMOVE: &str =
    "SELECT min((SELECT seq FROM counters) - ?1, (SELECT min(seq) FROM changes) + ?2 - 1)";
/// Keeps for each shop up to which change of a product they are gone. Not by the index that is in order of
/// shop, which would be read as a whole.
const NOTE_REMOVED: &str = "UPDATE shops SET removed_to = removed.seq FROM (
         SELECT shop_id, max(seq) AS seq FROM changes NOT INDEXED
         WHERE seq <= ?1 AND is_vector = 0 GROUP BY shop_id
     ) removed WHERE id = removed.shop_id";
const REMOVE: &str = "DELETE FROM changes WHERE seq <= ?1";

/// Removes at most `most` change records, the oldest first.
fn remove_changes(connection: &Connection, keep: i64, most: i64) -> Result<(), StoreError> {
    let last: Option<i64> =
        connection.prepare_cached(LAST_TO_REMOVE)?.query_row([keep, most], |row| row.get(0))?;
    if let Some(last) = last {
        // Expired changes are told apart from changes that never happened.
        connection.prepare_cached(NOTE_REMOVED)?.execute([last])?;
        connection.prepare_cached(REMOVE)?.execute([last])?;
    }
    Ok(())
}

impl Cleanup for SqliteCleanup {
    fn remove_some(
        &mut self,
        expired_before: Timestamp,
        keep_changes: u64,
        batch: usize,
    ) -> Result<bool, StoreError> {
        let mut connection = self.take_connection()?;
        let before = expired_before.as_microsecond();
        let keep = keep_changes.cast_signed();
        // Checked without the write lock, because usually there is nothing to remove.
        let is_needed: bool = connection.query_row(
            "SELECT EXISTS (SELECT 1 FROM idempotency_keys WHERE created_at < ?1)
                 OR EXISTS (SELECT 1 FROM changes WHERE seq <= (SELECT seq FROM counters) - ?2)",
            params![before, keep],
            |row| row.get(0),
        )?;
        if !is_needed {
            self.connection = Some(connection);
            return Ok(true);
        }
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let most = batch as i64;
        transaction.execute(
            "DELETE FROM idempotency_keys WHERE (shop_id, key) IN (
                 SELECT shop_id, key FROM idempotency_keys WHERE created_at < ?1 LIMIT ?2
             )",
            params![before, most],
        )?;
        remove_changes(&transaction, keep, most)?;
        transaction.commit()?;
        self.connection = Some(connection);
        Ok(false)
    }

    fn infer_some(&mut self, batch: usize) -> Result<bool, StoreError> {
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
    use rusqlite::StatementStatus;

    use super::{super::schema, *};

    #[test]
    fn removing_changes_does_not_read_those_that_stay() {
        let mut connection = Connection::open_in_memory().unwrap();
        schema::migrate(&mut connection).unwrap();
        connection
            .execute_batch(
                "INSERT INTO shops (id) VALUES (1), (2), (3);
                 UPDATE counters SET seq = 20000;
                 WITH RECURSIVE n(at) AS (SELECT 11 UNION ALL SELECT at + 1 FROM n WHERE at < 20000)
                     INSERT INTO changes (seq, shop_id, product_id, deleted, is_vector)
                     SELECT at, 1 + at % 2, at, 0, at = 16 FROM n;",
            )
            .unwrap();
        let ask = |sql: &str| -> i64 { connection.query_row(sql, [], |row| row.get(0)).unwrap() };
        let removed_to =
            |shop: i64| ask(&format!("SELECT removed_to FROM shops WHERE id = {shop}"));
        remove_changes(&connection, 5_000, 6).unwrap();
        assert_eq!(ask("SELECT min(seq) FROM changes"), 17);
        assert_eq!([1, 2, 3].map(removed_to), [14, 15, 0]);
        for sql in [NOTE_REMOVED, REMOVE] {
            let mut statement = connection.prepare(sql).unwrap();
            statement.execute([20]).unwrap();
            let steps = statement.get_status(StatementStatus::VmStep);
            assert!((1..1_000).contains(&steps), "{steps} steps");
        }
        assert_eq!([1, 2, 3].map(removed_to), [20, 19, 0]);
        remove_changes(&connection, 19_979, 500).unwrap();
        assert_eq!(ask("SELECT min(seq) FROM changes"), 22);
        remove_changes(&connection, 0, 50_000).unwrap();
        assert_eq!(ask("SELECT count(*) FROM changes"), 0);
        remove_changes(&connection, 0, 50_000).unwrap();
    }
}
