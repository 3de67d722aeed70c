//! Opens the replica's SQLite file so that only this process can reach it.

use std::{
    fs,
    io::ErrorKind,
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf},
};

use rusqlite::Connection;

use store::StoreError;

const FILE_NAME: &str = "rows";
const SCHEMA: &str = "
    CREATE TABLE rows (
        copy         INTEGER NOT NULL,
        id           INTEGER NOT NULL,
        shop_id      INTEGER NOT NULL,
        title        TEXT    NOT NULL,
        description  TEXT    NOT NULL,
        price        TEXT    NOT NULL,
        hidden       INTEGER NOT NULL,
        media        TEXT    NOT NULL,
        created_at   INTEGER NOT NULL,
        updated_at   INTEGER NOT NULL,
        version      INTEGER NOT NULL,
        key          TEXT,
        url          TEXT,
        attributes   TEXT,
        inferred     BLOB,
        PRIMARY KEY (copy, id)
    ) WITHOUT ROWID;
    CREATE INDEX rows_by_key ON rows (copy, key) WHERE key IS NOT NULL";
/// Page cache of each connection.
const CACHE_KIB: i64 = 1 << 10;

/// Creates an empty file in `folder` and opens one connection for writing and `readers` (at least
/// one) for reading.
pub(super) fn create(
    folder: &Path,
    readers: usize,
) -> Result<(Connection, Vec<Connection>), StoreError> {
    let directory = TemporaryDirectory::create_in(folder)?;
    let writer = open(&directory)?;
    writer.execute_batch(SCHEMA)?;
    let readers = (0..readers.max(1)).map(|_| {
        let reader = open(&directory)?;
        // SQLite opens its files at the first query, which must come before they are unlinked.
        reader.query_row("SELECT count(*) FROM rows", [], |_| Ok(()))?;
        Ok(reader)
    });
    Ok((writer, readers.collect::<Result<_, StoreError>>()?))
}

fn open(directory: &TemporaryDirectory) -> Result<Connection, StoreError> {
    let connection = Connection::open(directory.0.join(FILE_NAME))?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "OFF")?;
    connection.pragma_update(None, "cache_size", -CACHE_KIB)?;
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    Ok(connection)
}

/// A directory that is removed, with its files, once they are open.
struct TemporaryDirectory(PathBuf);

impl TemporaryDirectory {
    fn create_in(folder: &Path) -> Result<Self, StoreError> {
        let (process, mut attempt) = (std::process::id(), 0_u32);
        loop {
            let path = folder.join(format!("shopkeeper-{process}-{attempt}"));
            // Readable by its owner only, like a data folder.
            match fs::DirBuilder::new().mode(0o700).create(&path) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => attempt += 1,
                created => return Ok(created.map(|()| Self(path))?),
            }
        }
    }
}

impl Drop for TemporaryDirectory {
    fn drop(&mut self) {
        // If this fails, a few empty files remain.
        let _ = fs::remove_dir_all(&self.0);
    }
}
