//! The database file: its name, the settings that its connections share, and connections that can
//! only read.

use std::{fs, path::Path, time::Duration};

use rusqlite::{Connection, OpenFlags};

use super::super::StoreError;

/// The name of the database file in the data folder.
pub(super) const FILE_NAME: &str = "shopkeeper.db";
/// The name of the write-ahead log (WAL).
pub(super) const WAL_FILE_NAME: &str = "shopkeeper.db-wal";
/// How long a connection waits for the write lock of another process before it fails with `Busy`.
pub(super) const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
/// Pages written between two checkpoints; more of them make large imports cheaper.
pub(super) const CHECKPOINT_PAGES: u32 = 4000;
/// Page cache of each connection. A larger one made no difference to writes: the pages that miss it
/// are in the operating system's cache.
pub(super) const PAGE_CACHE_KIB: u32 = 2 << 10;

/// A connection that can only read, for [`SqliteReaders`](super::SqliteReaders).
pub(super) fn open_reader(folder: &Path) -> Result<Connection, StoreError> {
    let file = folder.join(FILE_NAME);
    if fs::metadata(&file).is_ok_and(|file| file.len() == 0) {
        // It had a schema, or should have one. SQLite would remove its WAL.
        return Err(StoreError::damaged(format!("{FILE_NAME} is empty")));
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(file, flags)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.pragma_update(None, "query_only", true)?;
    connection.pragma_update(None, "cache_size", -i64::from(PAGE_CACHE_KIB))?;
    connection.set_prepared_statement_cache_capacity(32);
    Ok(connection)
}

/// The length of a file; 0 if it does not exist.
pub(super) fn length(file: &Path) -> u64 {
    fs::metadata(file).map_or(0, |file| file.len())
}
