//! Where does the truth live? In one SQLite database per data folder.
//!
//! Write-ahead logging with `synchronous=FULL`: a transaction that was committed survives a
//! killed process and a power cut. One connection writes (the [`writer`](crate::writer)'s, and
//! now and then a command line's); any number read, each from its own consistent snapshot.

mod error;
mod folder;
mod reader;
mod rows;
mod schema;
mod transaction;

use std::{path::Path, time::Duration};

use rusqlite::{Connection, OpenFlags};

pub use error::{StoreError, Trouble};
pub use folder::{DataFolder, FolderInUse};
pub use reader::{Page, Readers, ShopCounts, TokenRow};
pub use transaction::{Remembered, Touched, WriteTransaction};

/// The database's file name inside the data folder.
const FILE_NAME: &str = "shopkeeper.db";
/// How long a connection waits for another process's write lock before it reports `Busy`.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
/// Pages written between two checkpoints; more of them make large imports cheaper.
const CHECKPOINT_PAGES: u32 = 4000;
/// The log file is cut back to this size after a checkpoint.
const LOG_SIZE_LIMIT_BYTES: u32 = 64 << 20;
/// Page cache of the writing connection.
const WRITER_CACHE_KIB: u32 = 32 << 10;
/// Page cache of each reading connection.
const READER_CACHE_KIB: u32 = 2 << 10;

/// The connection that writes, with the schema brought up to date.
pub struct Store {
    connection: Connection,
}

impl Store {
    /// Opens the database in `folder`, creating or migrating it where needed.
    pub fn open(folder: &Path) -> Result<Self, StoreError> {
        let mut connection = Connection::open(folder.join(FILE_NAME))?;
        connection.busy_timeout(BUSY_TIMEOUT)?;
        connection.pragma_update(None, "journal_mode", "WAL")?;
        connection.pragma_update(None, "synchronous", "FULL")?;
        connection.pragma_update(None, "foreign_keys", true)?;
        connection.pragma_update(None, "wal_autocheckpoint", CHECKPOINT_PAGES)?;
        connection.pragma_update(None, "journal_size_limit", LOG_SIZE_LIMIT_BYTES)?;
        connection.pragma_update(None, "cache_size", -i64::from(WRITER_CACHE_KIB))?;
        connection.set_prepared_statement_cache_capacity(64);
        schema::migrate(&mut connection)?;
        Ok(Self { connection })
    }

    /// Begins a transaction that holds the write lock from the start.
    pub fn begin(&mut self) -> Result<WriteTransaction<'_>, StoreError> {
        WriteTransaction::begin(&mut self.connection)
    }

    /// Waits less for other processes than it would, so that tests need not.
    #[cfg(test)]
    pub(crate) fn wait_at_most(&self, timeout: Duration) {
        self.connection.busy_timeout(timeout).unwrap();
    }

    /// A connection that can only read, for [`Readers`].
    fn open_reader(folder: &Path) -> Result<Connection, StoreError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(folder.join(FILE_NAME), flags)?;
        connection.busy_timeout(BUSY_TIMEOUT)?;
        connection.pragma_update(None, "query_only", true)?;
        connection.pragma_update(None, "cache_size", -i64::from(READER_CACHE_KIB))?;
        connection.set_prepared_statement_cache_capacity(32);
        Ok(connection)
    }
}
