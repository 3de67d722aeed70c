//! Removes expired answers and old changes from the file, in batches. It has a connection of its
//! own, and each batch holds the write lock for a few milliseconds.

use std::path::PathBuf;

use jiff::Timestamp;
use rusqlite::{Connection, OpenFlags, TransactionBehavior, params};

use super::{
    super::{Cleanup, StoreError},
    BUSY_TIMEOUT, CHECKPOINT_PAGES, FILE_NAME, PAGE_CACHE_KIB, SqliteStore,
};

struct SqliteCleanup {
    folder: PathBuf,
    /// Open while there is something to remove.
    connection: Option<Connection>,
}

impl SqliteStore {
    /// Removes what the database in `folder` no longer needs. A [`SqliteStore`] has opened it
    /// before.
    pub fn cleanup(folder: PathBuf) -> Box<dyn Cleanup> {
        Box::new(SqliteCleanup { folder, connection: None })
    }
}

impl SqliteCleanup {
    fn open(&self) -> Result<Connection, StoreError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(self.folder.join(FILE_NAME), flags)?;
        connection.busy_timeout(BUSY_TIMEOUT)?;
        // What a power cut brings back is removed again.
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
        // Without the write lock: mostly there is nothing to remove.
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
