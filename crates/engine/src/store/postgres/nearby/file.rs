//! Where do copies lie? In a file that only this process can reach.

use std::{
    fs,
    io::ErrorKind,
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf},
};

use rusqlite::Connection;

use crate::store::StoreError;

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
        PRIMARY KEY (copy, id)
    ) WITHOUT ROWID";
/// Page cache of each connection.
const CACHE_KIB: i64 = 1 << 10;

/// A new, empty file in this folder: a connection that writes and so many that read.
pub(super) fn make(
    folder: &Path,
    readers: usize,
) -> Result<(Connection, Vec<Connection>), StoreError> {
    let place = Place::new(folder)?;
    let writer = open(&place)?;
    writer.execute_batch(SCHEMA)?;
    let readers = (0..readers.max(1)).map(|_| {
        let reader = open(&place)?;
        // It opens its files at the first use, and soon they have no names any more.
        reader.query_row("SELECT count(*) FROM rows", [], |_| Ok(()))?;
        Ok(reader)
    });
    Ok((writer, readers.collect::<Result<_, StoreError>>()?))
}

fn open(place: &Place) -> Result<Connection, StoreError> {
    let connection = Connection::open(place.0.join(FILE_NAME))?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "OFF")?;
    connection.pragma_update(None, "cache_size", -CACHE_KIB)?;
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    Ok(connection)
}

/// A folder that has a name only while files in it are opened.
struct Place(PathBuf);

impl Place {
    fn new(folder: &Path) -> Result<Self, StoreError> {
        let (process, mut attempt) = (std::process::id(), 0_u32);
        loop {
            let path = folder.join(format!("shopkeeper-{process}-{attempt}"));
            // For nobody else's eyes, as a data folder is.
            match fs::DirBuilder::new().mode(0o700).create(&path) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => attempt += 1,
                made => return Ok(made.map(|()| Self(path))?),
            }
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // What cannot be removed is a few empty files.
        let _ = fs::remove_dir_all(&self.0);
    }
}
