//! Removes expired responses and old change records in batches, on a connection of its own. Each
//! batch holds the write lock for a few milliseconds.

use std::path::PathBuf;

use jiff::Timestamp;
use rusqlite::{Connection, OpenFlags, TransactionBehavior, params};

use super::{
    super::{Cleanup, StoreError},
    BUSY_TIMEOUT, CHECKPOINT_PAGES, FILE_NAME, PAGE_CACHE_KIB, SqliteStore,
};

struct SqliteCleanup {
    folder: PathBuf,
    /// Open while there are rows to remove.
    connection: Option<Connection>,
}

impl SqliteStore {
    /// Removes expired rows of the database in `folder`, which a [`SqliteStore`] has opened before.
    pub fn cleanup(folder: PathBuf) -> Box<dyn Cleanup> {
        Box::new(SqliteCleanup { folder, connection: None })
    }
}

impl SqliteCleanup {
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

impl Cleanup for SqliteCleanup {
    fn remove_some(
        &mut self,
        expired_before: Timestamp,
        keep_changes: u64,
        batch: usize,
    ) -> Result<bool, StoreError> {
        let mut connection = match self.connection.take() {
            Some(connection) => connection,
            None => self.open()?,
        };
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
        // Expired changes are told apart from changes that never happened.
        transaction.execute(
            "UPDATE shops SET removed_to = removed.seq FROM (
                 SELECT shop_id, max(seq) AS seq FROM changes
                 WHERE seq <= (SELECT seq FROM counters) - ?1
                     AND seq < (SELECT min(seq) FROM changes) + ?2 AND is_vector = 0
                 GROUP BY shop_id
             ) removed WHERE id = removed.shop_id",
            params![keep, most],
        )?;
        transaction.execute(
            "DELETE FROM changes WHERE seq <= (SELECT seq FROM counters) - ?1
                 AND seq < (SELECT min(seq) FROM changes) + ?2",
            params![keep, most],
        )?;
        transaction.commit()?;
        self.connection = Some(connection);
        Ok(false)
    }
}
