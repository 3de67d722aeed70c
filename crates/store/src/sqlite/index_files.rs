//! Which index file of a shop belongs to the database.
//!
//! The database names the file, so that a file is valid exactly if the database is one that has
//! seen it being written: a restored copy names the file of its own time, or none.

use std::path::Path;

use catalog::product::{ShopId, change::Seq};
use rusqlite::{Connection, OpenFlags, OptionalExtension, params};

use super::{
    super::StoreError,
    database_file::{BUSY_TIMEOUT, FILE_NAME},
    reader::SqliteReaders,
    store::SqliteStore,
};

/// The folder of the index files in the data folder.
pub const INDEX_FOLDER: &str = "index";

impl SqliteReaders {
    /// The id of a shop's index file; `None` without one.
    pub fn index_file(&self, shop: ShopId) -> Result<Option<u64>, StoreError> {
        self.read(|connection| {
            let found: Option<Option<i64>> = connection
                .prepare_cached("SELECT index_file FROM shops WHERE id = ?1")?
                .query_row([shop.get()], |row| row.get(0))
                .optional()?;
            Ok(found.flatten().map(i64::cast_unsigned))
        })
    }

    /// Number of change records of a shop after `since`; `limit` if there are more.
    pub fn changes_after(
        &self,
        shop: ShopId,
        since: Seq,
        limit: usize,
    ) -> Result<usize, StoreError> {
        self.read(|connection| {
            let mut count = connection.prepare_cached(
                "SELECT count(*) FROM (
                     SELECT 1 FROM changes WHERE shop_id = ?1 AND seq > ?2 LIMIT ?3
                 )",
            )?;
            let since = i64::try_from(since.0).unwrap_or(i64::MAX);
            let count: u32 =
                count.query_row(params![shop.get(), since, limit as i64], |row| row.get(0))?;
            Ok(count as usize)
        })
    }
}

impl SqliteStore {
    /// Names another index file of a shop, or none, on a connection of its own.
    pub fn set_index_file(folder: &Path, shop: ShopId, id: Option<u64>) -> Result<(), StoreError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(folder.join(FILE_NAME), flags)?;
        connection.busy_timeout(BUSY_TIMEOUT)?;
        // The file that was named before is removed after this commit.
        connection.pragma_update(None, "synchronous", "FULL")?;
        connection.execute(
            "UPDATE shops SET index_file = ?2 WHERE id = ?1",
            params![shop.get(), id.map(u64::cast_signed)],
        )?;
        Ok(())
    }
}
