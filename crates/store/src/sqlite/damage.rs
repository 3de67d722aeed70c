//! Whether the database file is damaged: noticed when a page cannot be read, and looked for after a
//! start that follows a crash.

use std::{
    io,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc::{RecvTimeoutError, channel},
    },
    thread,
    time::{Duration, Instant},
};

use rusqlite::Connection;

use super::{
    super::{ErrorChain, StoreError, StoreErrorKind},
    database_file::open_reader,
};
use crate::background::{BackgroundThread, Next, Run};

/// How long the search for damage may take. It reads the whole file.
const TIME_LIMIT: Duration = Duration::from_mins(2);
/// How soon it ends when the server stops.
const STOP_INTERVAL: Duration = Duration::from_millis(100);
/// How SQLite introduces damage of the file, and not a value that does not fit its column.
const OF_THE_FILE: &str = "*** in database";

/// Whether damage was found since the start.
#[derive(Clone, Debug, Default)]
pub struct Damage(Arc<AtomicBool>);

impl Damage {
    /// Whether damage was found. It stays so until the next start.
    pub fn is_found(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }

    /// Remembers that this failure is one of the file. The first one is logged.
    pub(crate) fn note(&self, error: &StoreError) {
        if error.kind() == StoreErrorKind::Damaged && !self.0.swap(true, Ordering::AcqRel) {
            let error = ErrorChain(error);
            tracing::error!(
                %error,
                "the database file is damaged; the server is not ready until it is started with a \
                 sound one, such as a backup"
            );
        }
    }

    /// Notes the failure of a result.
    pub(crate) fn noted<T>(&self, result: Result<T, StoreError>) -> Result<T, StoreError> {
        result.inspect_err(|error| self.note(error))
    }

    /// Searches the database in `folder`, in the background.
    pub fn search(&self, folder: &Path) -> io::Result<BackgroundThread> {
        let (folder, damage) = (folder.to_owned(), self.clone());
        BackgroundThread::start("damage-search", Arc::default(), move |run| {
            let started = Instant::now();
            let searched = search(&folder, run, started + TIME_LIMIT);
            let elapsed_ms = started.elapsed().as_millis() as u64;
            match damage.noted(searched) {
                Ok(true) => tracing::info!(elapsed_ms, "no damage was found in the database file"),
                Ok(false) if run.is_stopping() => {}
                Ok(false) => tracing::info!(elapsed_ms, "the search for damage took too long"),
                Err(error) if error.kind() == StoreErrorKind::Damaged => {}
                Err(error) => {
                    let error = ErrorChain(&error);
                    tracing::warn!(%error, "the database file cannot be searched for damage");
                }
            }
            Next::Stop
        })
    }
}

/// Fails if the file is damaged; `false` if it could not be read to the end in time.
pub(super) fn search(folder: &Path, run: &Run<'_>, until: Instant) -> Result<bool, StoreError> {
    let connection = open_reader(folder)?;
    let interrupt = connection.get_interrupt_handle();
    thread::scope(|scope| {
        let (ended, end) = channel::<()>();
        let searching = scope.spawn(move || {
            let _ended = ended;
            search_tables(&connection)
        });
        let mut is_interrupted = false;
        while end.recv_timeout(STOP_INTERVAL) == Err(RecvTimeoutError::Timeout) {
            if run.is_stopping() || Instant::now() >= until {
                is_interrupted = true;
                interrupt.interrupt();
            }
        }
        match searching.join() {
            Ok(Err(error)) if is_interrupted && error.kind() != StoreErrorKind::Damaged => {
                Ok(false)
            }
            Ok(searched) => searched.map(|()| true),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

/// Reads all pages, one table after the other: as long as one is read, the WAL grows.
fn search_tables(connection: &Connection) -> Result<(), StoreError> {
    let mut tables = connection.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'")?;
    let tables: Vec<String> = tables.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    for table in tables {
        let mut found = Ok(());
        connection.pragma(None, "quick_check", &table, |row| {
            let message: String = row.get(0)?;
            if found.is_ok() && message.starts_with(OF_THE_FILE) {
                found = Err(StoreError::damaged(message.replace('\n', " ")));
            }
            Ok(())
        })?;
        found?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::{
        fs::{self, OpenOptions},
        os::unix::fs::FileExt,
    };

    use super::{
        super::{database_file::FILE_NAME, store::SqliteStore},
        *,
    };

    /// A database with several pages of tokens, all in the file.
    fn folder_with_tokens() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(folder.path()).unwrap();
        let tokens = "WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n LIMIT 5000)
                      INSERT INTO tokens (shop_id, role, name, secret_hash, created_at)
                      SELECT 1, 'VIEWER', 'a name', x'00', 0 FROM n";
        store.connection.execute(tokens, []).unwrap();
        folder
    }

    fn searched(folder: &Path) -> Result<(), StoreError> {
        search_tables(&open_reader(folder).unwrap())
    }

    #[test]
    fn a_page_that_cannot_be_read_is_found() {
        let folder = folder_with_tokens();
        searched(folder.path()).unwrap();
        let file = folder.path().join(FILE_NAME);
        let file = OpenOptions::new().write(true).open(file).unwrap();
        let middle = file.metadata().unwrap().len() / 4096 / 2 * 4096;
        file.write_all_at(&[0xff; 4096], middle).unwrap();
        let error = searched(folder.path()).unwrap_err();
        assert_eq!(error.kind(), StoreErrorKind::Damaged, "{error:?}");
        let damage = Damage::default();
        assert!(!damage.is_found());
        damage.note(&StoreError::busy("another failure"));
        assert!(!damage.is_found());
        damage.note(&error);
        assert!(damage.is_found());
    }

    #[test]
    fn a_search_in_the_background_notes_damage() {
        let folder = folder_with_tokens();
        let file = OpenOptions::new().write(true).open(folder.path().join(FILE_NAME)).unwrap();
        let length = file.metadata().unwrap().len();
        file.set_len(length / 4096 / 2 * 4096).unwrap();
        let damage = Damage::default();
        let _search = damage.search(folder.path()).unwrap();
        testkit::until("the damage", || damage.is_found());
    }

    #[test]
    fn a_value_that_does_not_fit_its_column_is_no_damage_of_the_file() {
        let folder = folder_with_tokens();
        let store = SqliteStore::open(folder.path()).unwrap();
        store.connection.pragma_update(None, "writable_schema", true).unwrap();
        let schema = "UPDATE sqlite_schema SET sql = replace(sql, 'revoked_at   INTEGER',
                          'revoked_at   INTEGER NOT NULL') WHERE name = 'tokens'";
        assert_eq!(store.connection.execute(schema, []).unwrap(), 1);
        drop(store);
        searched(folder.path()).unwrap();
    }

    #[test]
    fn a_file_that_is_no_database_is_damaged() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(FILE_NAME), "no database at all".repeat(1000)).unwrap();
        let error = SqliteStore::open(folder.path()).err().unwrap();
        assert_eq!(error.kind(), StoreErrorKind::Damaged);
    }
}
