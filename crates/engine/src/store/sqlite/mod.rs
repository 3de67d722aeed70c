//! How is a catalog kept in one file? In one SQLite database per data folder.
//!
//! Write-ahead logging with `synchronous=FULL`: a transaction that was committed survives a
//! killed process and a power cut. One connection writes products (the
//! [`writer`](crate::writer)'s, and now and then a command line's), another removes what has
//! expired; any number read, each from its own consistent snapshot.

mod cleanup;
mod folder;
mod reader;
pub(super) mod rows;
mod schema;
mod state;
mod transaction;
mod vectors;

use std::{
    fs,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use catalog::{change::Seq, product::ShopId};
use jiff::Timestamp;
use rusqlite::{Connection, OpenFlags};

use super::{CatalogStore, ErrorChain, Remembered, StoreError, WriteTransaction, decoding};
pub use folder::{DataFolder, FolderInUse};
use folder::{Turn, make_private_file};
pub use reader::SqliteReaders;

/// The database's file name inside the data folder.
const FILE_NAME: &str = "shopkeeper.db";
/// The write-ahead log's, beside it.
const LOG_FILE_NAME: &str = "shopkeeper.db-wal";
/// How long a connection waits for another process's write lock before it reports `Busy`.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
/// Pages written between two checkpoints; more of them make large imports cheaper.
const CHECKPOINT_PAGES: u32 = 4000;
/// The log file is cut back to this size after a checkpoint.
const LOG_SIZE_LIMIT_BYTES: u32 = 64 << 20;
/// How long the log's readers are waited for when it is to be begun anew.
const LOG_PATIENCE: Duration = Duration::from_millis(100);
/// How long a command waits for a server that is just starting to bring the tables up to date.
const STARTING_SERVER_TIMEOUT: Duration = Duration::from_secs(1);
/// Page cache of each connection. A larger one made no difference to writes: the pages that miss it
/// are in the operating system's cache.
const PAGE_CACHE_KIB: u32 = 2 << 10;

/// The connection that writes, with the schema brought up to date.
pub struct SqliteStore {
    connection: Connection,
    log: PathBuf,
    /// A log longer than this has not been begun anew for too long.
    log_limit: u64,
    /// How long it was when that was tried in vain.
    log_tried_at: u64,
}

impl SqliteStore {
    /// Opens the database in `folder`, creating or migrating it where needed. The caller has
    /// [taken](DataFolder::take) the folder: no server of another version uses the tables.
    pub fn open(folder: &Path) -> Result<Self, StoreError> {
        // Held until the database is open. Two processes that both make a new one would get in
        // each other's way: SQLite does not wait while the journal's mode changes.
        let _turn = Turn::wait(folder)?;
        Self::migrated(folder)
    }

    /// Opens the database in `folder` beside a server that may be running there. The tables are
    /// created or migrated only where no server has the folder; otherwise those of another
    /// version are refused and left alone.
    pub fn open_beside(folder: &Path) -> Result<Self, StoreError> {
        let mut give_up_at = None;
        loop {
            let turn = Turn::wait(folder)?;
            let found = Self::schema_version(folder)?;
            if found > schema::KNOWN {
                return Err(StoreError::too_new());
            }
            if found == schema::KNOWN {
                return Self::connect(folder);
            }
            match DataFolder::try_take(folder) {
                Ok(_held) => return Self::migrated(folder),
                Err(FolderInUse::Unusable { source, .. }) => return Err(source.into()),
                // It may be starting and waiting for its turn.
                Err(FolderInUse::ByAnotherServer(_)) => drop(turn),
            }
            let now = Instant::now();
            if now >= *give_up_at.get_or_insert(now + STARTING_SERVER_TIMEOUT) {
                return Err(StoreError::too_old(found, schema::KNOWN));
            }
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// The version of the tables in `folder`, 0 where there are none. Nothing is written.
    fn schema_version(folder: &Path) -> Result<usize, StoreError> {
        match Self::is_in(folder) {
            true => schema::version(&Self::open_reader(folder)?),
            false => Ok(0),
        }
    }

    fn migrated(folder: &Path) -> Result<Self, StoreError> {
        let mut store = Self::connect(folder)?;
        schema::migrate(&mut store.connection)?;
        Ok(store)
    }

    fn connect(folder: &Path) -> Result<Self, StoreError> {
        let file = folder.join(FILE_NAME);
        // SQLite would make it readable for all; what it puts beside it gets the same mode.
        make_private_file(&file)?;
        let connection = Connection::open(file)?;
        connection.busy_timeout(BUSY_TIMEOUT)?;
        connection.pragma_update(None, "journal_mode", "WAL")?;
        connection.pragma_update(None, "synchronous", "FULL")?;
        connection.pragma_update(None, "foreign_keys", true)?;
        connection.pragma_update(None, "wal_autocheckpoint", CHECKPOINT_PAGES)?;
        connection.pragma_update(None, "journal_size_limit", LOG_SIZE_LIMIT_BYTES)?;
        connection.pragma_update(None, "cache_size", -i64::from(PAGE_CACHE_KIB))?;
        connection.set_prepared_statement_cache_capacity(64);
        let log = folder.join(LOG_FILE_NAME);
        Ok(Self { connection, log, log_limit: u64::from(LOG_SIZE_LIMIT_BYTES), log_tried_at: 0 })
    }

    /// Whether there is a database in `folder`.
    pub fn is_in(folder: &Path) -> bool {
        folder.join(FILE_NAME).is_file()
    }

    /// The last product number and change number given out.
    pub fn counters(&self) -> Result<(u64, Seq), StoreError> {
        let read = |row: &rusqlite::Row<'_>| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?));
        let (id, seq) =
            self.connection.query_row("SELECT product_id, seq FROM counters", [], read)?;
        Ok((id.cast_unsigned(), Seq(seq.cast_unsigned())))
    }

    /// All answers to idempotency keys, with their shop, key and time.
    pub fn remembered(&self) -> Result<Vec<(ShopId, String, Remembered, Timestamp)>, StoreError> {
        let mut statement = self.connection.prepare(
            "SELECT shop_id, key, fingerprint, answer, created_at FROM idempotency_keys",
        )?;
        let mut rows = statement.query([])?;
        let mut all = Vec::new();
        while let Some(row) = rows.next()? {
            let said = Remembered { fingerprint: row.get(2)?, answer: row.get(3)? };
            let Some(shop) = decoding::shop_id(row.get(0)?) else { continue };
            all.push((shop, row.get(1)?, said, decoding::time(row.get(4)?)));
        }
        Ok(all)
    }

    /// Begins the log anew if it has grown too long. SQLite does so by itself whenever nobody
    /// reads, but under a steady load somebody always does.
    fn keep_log_short(&mut self) {
        let length = fs::metadata(&self.log).map_or(0, |file| file.len());
        if length <= self.log_limit.max(self.log_tried_at + self.log_limit / 4) {
            return;
        }
        // Writes wait meanwhile, so readers that take longer are left alone until the log has
        // grown by another part.
        let begun_anew = self.connection.busy_timeout(LOG_PATIENCE).and_then(|()| {
            let checkpoint = "PRAGMA wal_checkpoint(TRUNCATE)";
            self.connection.query_row(checkpoint, [], |row| Ok(row.get::<_, i64>(0)? == 0))
        });
        self.log_tried_at = if matches!(begun_anew, Ok(true)) { 0 } else { length };
        if let Err(error) = self.connection.busy_timeout(BUSY_TIMEOUT).and(begun_anew) {
            let error = ErrorChain(&error);
            tracing::warn!(%error, length_bytes = length, "the log could not be begun anew");
        }
    }

    /// Waits less for other processes than it would, so that tests need not.
    #[cfg(test)]
    pub(crate) fn wait_at_most(&self, timeout: Duration) {
        self.connection.busy_timeout(timeout).unwrap();
    }

    /// A connection that can only read, for [`SqliteReaders`].
    fn open_reader(folder: &Path) -> Result<Connection, StoreError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(folder.join(FILE_NAME), flags)?;
        connection.busy_timeout(BUSY_TIMEOUT)?;
        connection.pragma_update(None, "query_only", true)?;
        connection.pragma_update(None, "cache_size", -i64::from(PAGE_CACHE_KIB))?;
        connection.set_prepared_statement_cache_capacity(32);
        Ok(connection)
    }
}

impl CatalogStore for SqliteStore {
    fn begin(&mut self) -> Result<WriteTransaction<'_>, StoreError> {
        Ok(WriteTransaction::of(Box::new(transaction::SqliteRows::begin(&mut self.connection)?)))
    }

    fn rest(&mut self) {
        self.keep_log_short();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Barrier, atomic::AtomicBool, atomic::Ordering};

    use catalog::{
        access::{Caller, Role},
        price::Price,
        product::{Description, Draft, Product, Title},
    };

    use super::*;
    use crate::store::{EmbeddingQueue, IndexSource, ProductReads, StoreInfo, TokenReads, Trouble};

    const NOW: Timestamp = Timestamp::UNIX_EPOCH;

    fn shop(number: u64) -> ShopId {
        ShopId::new(number).unwrap()
    }

    fn draft(title: &str, hidden: bool) -> Draft {
        Draft {
            title: Title::parse(title).unwrap(),
            description: Description::default(),
            price: Price::parse("$1").unwrap(),
            hidden,
            media: vec![],
        }
    }

    fn create(store: &mut SqliteStore, of: u64, hidden: bool) -> Product {
        let mut transaction = store.begin().unwrap();
        let product = transaction.create(shop(of), draft("Lamp", hidden), NOW).unwrap();
        transaction.commit().unwrap();
        product
    }

    #[test]
    fn a_folder_without_a_database_is_known_as_such() {
        let folder = tempfile::tempdir().unwrap();
        assert!(!SqliteStore::is_in(folder.path()));
        SqliteStore::open(folder.path()).unwrap();
        assert!(SqliteStore::is_in(folder.path()));
    }

    /// A folder with tables of the first version.
    fn old_folder() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let connection = Connection::open(folder.path().join(FILE_NAME)).unwrap();
        connection.pragma_update(None, "journal_mode", "WAL").unwrap();
        schema::run_first_step(&connection);
        folder
    }

    #[test]
    fn old_tables_are_left_alone_beside_a_server_and_migrated_without_one() {
        let folder = old_folder();
        let server = DataFolder::take(folder.path()).unwrap();
        let refused = SqliteStore::open_beside(folder.path()).err().unwrap();
        assert_eq!(refused.trouble(), Trouble::TooOld);
        assert_eq!(SqliteStore::schema_version(folder.path()).unwrap(), 1);
        drop(server);
        create(&mut SqliteStore::open_beside(folder.path()).unwrap(), 1, false);
        assert_eq!(SqliteStore::schema_version(folder.path()).unwrap(), schema::KNOWN);
        let _server = DataFolder::take(folder.path()).unwrap();
        create(&mut SqliteStore::open_beside(folder.path()).unwrap(), 1, false);
    }

    #[test]
    fn a_server_that_is_just_starting_is_waited_for() {
        for folder in [tempfile::tempdir().unwrap(), old_folder()] {
            let server = DataFolder::take(folder.path()).unwrap();
            let turn = Turn::wait(folder.path()).unwrap();
            thread::scope(|scope| {
                let beside = scope.spawn(|| SqliteStore::open_beside(folder.path()).map(drop));
                drop(turn);
                drop(SqliteStore::open(server.path()).unwrap());
                beside.join().unwrap().unwrap();
            });
        }
    }

    #[test]
    fn the_files_are_for_their_owner_alone() {
        use std::os::unix::fs::PermissionsExt;

        let folder = tempfile::tempdir().unwrap();
        let mut store = SqliteStore::open(folder.path()).unwrap();
        create(&mut store, 1, false);
        let mut names = Vec::new();
        for entry in fs::read_dir(folder.path()).unwrap() {
            let entry = entry.unwrap();
            assert_eq!(entry.metadata().unwrap().permissions().mode() & 0o777, 0o600, "{entry:?}");
            names.push(entry.file_name().into_string().unwrap());
        }
        names.sort();
        let (shared, log, turn) = ("shopkeeper.db-shm", LOG_FILE_NAME, "shopkeeper.opening");
        assert_eq!(names, [FILE_NAME, shared, log, turn]);
    }

    #[test]
    fn opening_again_changes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let made = create(&mut SqliteStore::open(folder.path()).unwrap(), 1, false);
        drop(SqliteStore::open(folder.path()).unwrap());
        let readers = SqliteReaders::new(folder.path().to_owned());
        let pass = Caller::new(shop(1), Role::Viewer).may_read();
        assert_eq!(readers.product(&pass, made.id).unwrap(), Some(made));
    }

    /// What an operator, a failing disk or another version may leave behind.
    #[test]
    fn rows_that_no_version_would_write_can_be_read_and_mended() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = SqliteStore::open(folder.path()).unwrap();
        let (sound, odd) = (create(&mut store, 1, false), create(&mut store, 1, false));
        let damage = "UPDATE products SET title = CAST(x'4cff' AS TEXT), price = '?', media = '{',
                          created_at = 9223372036854775807, version = 3 WHERE id = 2";
        store.connection.execute(damage, []).unwrap();
        store.connection.execute("UPDATE vectors SET vector = x'00', model = 'm'", []).unwrap();
        store.connection.execute("UPDATE shops SET visible_count = -1", []).unwrap();
        let role = "INSERT INTO tokens (shop_id, role, name, secret_hash, created_at)
                    VALUES (1, 'KING', '', x'00', 0), (1, 'VIEWER', '', x'00', 0)";
        store.connection.execute(role, []).unwrap();
        let readers = SqliteReaders::new(folder.path().to_owned());
        let pass = Caller::new(shop(1), Role::Viewer).may_read();
        let shown = readers.product(&pass, odd.id).unwrap().unwrap();
        assert_eq!((shown.title.as_str(), shown.price.text()), ("L\u{fffd}", "?"));
        let mut seen = Vec::new();
        let model = crate::embed::ModelId::new("m");
        let visit = &mut |row: crate::store::Scanned<'_>| seen.push((row.id, row.vector.is_some()));
        readers.scan(shop(1), Some(&model), visit).unwrap();
        assert_eq!(seen, [(sound.id, false), (odd.id, false)]);
        assert_eq!(readers.lease_unembedded("n", crate::embed::Encoder::Deep, 9).unwrap().len(), 2);
        assert_eq!(readers.shops().unwrap()[0].products, 2);
        assert_eq!(readers.tokens(None).unwrap().len(), 1);
        assert!(readers.token(1).unwrap().is_none());
        let mut transaction = store.begin().unwrap();
        let found = transaction.product(shop(1), odd.id).unwrap().unwrap();
        transaction.delete(&found).unwrap();
        transaction.commit().unwrap();
        assert_eq!(readers.product(&pass, odd.id).unwrap(), None);
    }

    #[test]
    fn a_new_database_can_be_opened_by_many_at_once() {
        for _ in 0..10 {
            let folder = tempfile::tempdir().unwrap();
            let start = Barrier::new(8);
            thread::scope(|scope| {
                for _ in 0..8 {
                    scope.spawn(|| {
                        start.wait();
                        create(&mut SqliteStore::open(folder.path()).unwrap(), 1, false);
                    });
                }
            });
            let readers = SqliteReaders::new(folder.path().to_owned());
            assert_eq!(readers.counts(shop(1)).unwrap().products, 8);
        }
    }

    /// Two readers take turns, so that there is always one: SQLite alone would never begin its
    /// log anew.
    #[test]
    fn the_log_stays_short_although_somebody_always_reads() {
        const LIMIT: u64 = 1 << 20;
        let folder = tempfile::tempdir().unwrap();
        let mut store = SqliteStore::open(folder.path()).unwrap();
        store.log_limit = LIMIT;
        store.connection.pragma_update(None, "wal_autocheckpoint", 20).unwrap();
        let (done, ends) = (AtomicBool::new(false), AtomicBool::new(false));
        let turn = Barrier::new(2);
        thread::scope(|scope| {
            for me in 0..2 {
                let (folder, turn) = (folder.path(), &turn);
                let (done, ends) = (&done, &ends);
                scope.spawn(move || {
                    let connection = SqliteStore::open_reader(folder).unwrap();
                    let begin = || {
                        connection.execute_batch("BEGIN; SELECT seq FROM counters;").unwrap();
                    };
                    begin();
                    for round in 0.. {
                        // One of them looks, so that both go on or both end.
                        if turn.wait().is_leader() {
                            ends.store(done.load(Ordering::Acquire), Ordering::Release);
                        }
                        turn.wait();
                        if ends.load(Ordering::Acquire) {
                            break;
                        }
                        if round % 2 == me {
                            connection.execute_batch("COMMIT").unwrap();
                            begin();
                        }
                    }
                });
            }
            let long = Description::parse(&"wool ".repeat(4000)).unwrap();
            let mut longest = 0;
            for _ in 0..300 {
                let mut transaction = store.begin().unwrap();
                let draft = Draft { description: long.clone(), ..draft("Rug", false) };
                transaction.create(shop(1), draft, NOW).unwrap();
                transaction.commit().unwrap();
                store.keep_log_short();
                let log = fs::metadata(folder.path().join("shopkeeper.db-wal")).unwrap().len();
                longest = longest.max(log);
            }
            done.store(true, Ordering::Release);
            assert!(longest < LIMIT * 2, "{longest} bytes");
        });
    }
}
