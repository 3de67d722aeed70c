//! The writing side: opens the database, creates or migrates it, and limits its write-ahead log.

use std::{
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use catalog::product::ShopId;
use jiff::Timestamp;
use rusqlite::Connection;

use super::{
    super::{CatalogStore, ErrorChain, StoreError, StoredResponse, WriteTransaction, decoding},
    damage::Damage,
    database_file::{
        BUSY_TIMEOUT, CHECKPOINT_PAGES, FILE_NAME, PAGE_CACHE_KIB, WAL_FILE_NAME, length,
        open_reader,
    },
    folder::{DataFolder, FolderInUse, OpeningLock, make_private_file},
    schema, transaction,
};

/// The WAL is truncated to this size after a checkpoint.
const WAL_LIMIT_BYTES: u32 = 64 << 20;
/// How long a forced checkpoint waits for readers.
const CHECKPOINT_TIMEOUT: Duration = Duration::from_millis(100);
/// How long a command waits for a starting server to migrate the schema.
const STARTING_SERVER_TIMEOUT: Duration = Duration::from_secs(1);

/// The connection that writes, with an up-to-date schema.
pub struct SqliteStore {
    pub(super) connection: Connection,
    wal: PathBuf,
    /// A WAL longer than this needs a forced checkpoint.
    wal_limit: u64,
    /// Its length at the last forced checkpoint that failed; 0 after one that succeeded.
    failed_at_bytes: u64,
    damage: Damage,
}

impl SqliteStore {
    /// Opens the database in `folder`, and creates or migrates it if necessary. The caller has
    /// [locked](DataFolder::lock) the folder: no server of another version uses the schema.
    pub fn open(folder: &Path) -> Result<Self, StoreError> {
        // Held until the database is open, because SQLite does not wait while the journal mode
        // changes: two processes that create a database at the same time would fail.
        let lock = OpeningLock::wait(folder)?;
        Self::check_not_emptied(folder, &lock)?;
        Self::migrated(folder, &lock)
    }

    /// Opens the database in `folder` beside a server that may be running there. The schema is
    /// created or migrated only if no server has locked the folder; otherwise one of another
    /// version is rejected.
    pub fn open_beside(folder: &Path) -> Result<Self, StoreError> {
        let mut give_up_at = None;
        loop {
            let lock = OpeningLock::wait(folder)?;
            Self::check_not_emptied(folder, &lock)?;
            let found = Self::schema_version(folder)?;
            if schema::is_current(found)? {
                return Self::connect(folder);
            }
            match DataFolder::try_lock(folder) {
                Ok(_held) => return Self::migrated(folder, &lock),
                Err(FolderInUse::Unusable { source, .. }) => return Err(source.into()),
                // It may be starting and waiting for the opening lock.
                Err(FolderInUse::ByAnotherServer(_)) => drop(lock),
            }
            let now = Instant::now();
            if now >= *give_up_at.get_or_insert(now + STARTING_SERVER_TIMEOUT) {
                return Err(StoreError::too_old(found, schema::KNOWN));
            }
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// The schema version of the database in `folder`, 0 without one. Writes nothing.
    fn schema_version(folder: &Path) -> Result<usize, StoreError> {
        match length(&folder.join(FILE_NAME)) {
            0 => Ok(0),
            _ => schema::version(&open_reader(folder)?),
        }
    }

    fn migrated(folder: &Path, lock: &OpeningLock) -> Result<Self, StoreError> {
        let mut store = Self::connect(folder)?;
        schema::migrate(&mut store.connection)?;
        lock.note_store();
        Ok(store)
    }

    /// The store, which notes damage here.
    pub fn noting(self, damage: Damage) -> Self {
        Self { damage, ..self }
    }

    fn connect(folder: &Path) -> Result<Self, StoreError> {
        let file = folder.join(FILE_NAME);
        // SQLite would make it readable for all users. Its other files get the same mode.
        make_private_file(&file)?;
        let connection = Connection::open(file)?;
        connection.busy_timeout(BUSY_TIMEOUT)?;
        connection.pragma_update(None, "journal_mode", "WAL")?;
        connection.pragma_update(None, "synchronous", "FULL")?;
        connection.pragma_update(None, "foreign_keys", true)?;
        connection.pragma_update(None, "wal_autocheckpoint", CHECKPOINT_PAGES)?;
        connection.pragma_update(None, "journal_size_limit", WAL_LIMIT_BYTES)?;
        connection.pragma_update(None, "cache_size", -i64::from(PAGE_CACHE_KIB))?;
        connection.set_prepared_statement_cache_capacity(64);
        let wal = folder.join(WAL_FILE_NAME);
        Ok(Self {
            connection,
            wal,
            wal_limit: u64::from(WAL_LIMIT_BYTES),
            failed_at_bytes: 0,
            damage: Damage::default(),
        })
    }

    /// Whether there is a database in `folder`.
    pub fn is_in(folder: &Path) -> bool {
        folder.join(FILE_NAME).is_file()
    }

    /// The last product id that was assigned.
    pub fn last_product_id(&self) -> Result<u64, StoreError> {
        let id: i64 =
            self.connection.query_row("SELECT product_id FROM counters", [], |row| row.get(0))?;
        Ok(id.cast_unsigned())
    }

    /// The last token id that was assigned.
    pub fn last_token_id(&self) -> Result<u64, StoreError> {
        let last = "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'tokens'";
        let id: i64 = self.connection.query_row(last, [], |row| row.get(0))?;
        Ok(id.cast_unsigned())
    }

    /// All responses to idempotency keys, with shop, key and time.
    pub fn stored_responses(
        &self,
    ) -> Result<Vec<(ShopId, String, StoredResponse, Timestamp)>, StoreError> {
        let mut statement = self.connection.prepare(
            "SELECT shop_id, key, fingerprint, answer, created_at FROM idempotency_keys",
        )?;
        let mut rows = statement.query([])?;
        let mut all = Vec::new();
        while let Some(row) = rows.next()? {
            let response = StoredResponse { fingerprint: row.get(2)?, body: row.get(3)? };
            let Some(shop) = decoding::shop_id(row.get(0)?) else { continue };
            all.push((shop, row.get(1)?, response, decoding::time(row.get(4)?)));
        }
        Ok(all)
    }

    /// Forces a checkpoint if the WAL has grown too long. SQLite truncates it only at a moment
    /// without readers, which never comes under a steady load.
    fn limit_wal(&mut self) {
        let length = length(&self.wal);
        if length <= self.wal_limit.max(self.failed_at_bytes + self.wal_limit / 4) {
            return;
        }
        // Writes wait meanwhile, so after a timeout the checkpoint is not tried again until the WAL
        // has grown by another quarter of the limit.
        let truncated = self.connection.busy_timeout(CHECKPOINT_TIMEOUT).and_then(|()| {
            let checkpoint = "PRAGMA wal_checkpoint(TRUNCATE)";
            self.connection.query_row(checkpoint, [], |row| Ok(row.get::<_, i64>(0)? == 0))
        });
        self.failed_at_bytes = if matches!(truncated, Ok(true)) { 0 } else { length };
        if let Err(error) = self.connection.busy_timeout(BUSY_TIMEOUT).and(truncated) {
            let error = ErrorChain(&error);
            tracing::warn!(%error, length_bytes = length, "WAL checkpoint failed");
        }
    }

    /// Shortens the wait for other processes in tests.
    #[cfg(any(test, feature = "testing"))]
    #[allow(clippy::unwrap_used)]
    pub fn wait_at_most(&self, timeout: Duration) {
        self.connection.busy_timeout(timeout).unwrap();
    }
}

impl CatalogStore for SqliteStore {
    fn begin(&mut self) -> Result<WriteTransaction<'_>, StoreError> {
        Ok(WriteTransaction::new(Box::new(transaction::SqliteRows::begin(&mut self.connection)?)))
    }

    fn maintain(&mut self) {
        self.limit_wal();
    }

    fn failed(&mut self, error: &StoreError) {
        self.damage.note(error);
    }
}

#[cfg(test)]
mod tests {
    use std::{
        fs,
        sync::{Barrier, atomic::AtomicBool, atomic::Ordering},
    };

    use catalog::product::{
        Description, Draft, Product, Title,
        access::{Caller, Role},
        price::Price,
    };

    use super::*;
    use crate::{
        EmbeddingQueue, IndexSource, ProductReads, SqliteReaders, StoreErrorKind, StoreInfo,
        TokenReads,
    };

    const NOW: Timestamp = Timestamp::UNIX_EPOCH;

    fn shop(number: u64) -> ShopId {
        ShopId::new(number).unwrap()
    }

    fn draft(title: &str, hidden: bool) -> Draft {
        Draft { hidden, ..Draft::new(Title::parse(title).unwrap(), Price::parse("$1").unwrap()) }
    }

    fn create(store: &mut SqliteStore, of: u64, hidden: bool) -> Product {
        let mut transaction = store.begin().unwrap();
        let product = transaction.create(shop(of), draft("Lamp", hidden), NOW).unwrap();
        transaction.commit().unwrap();
        product
    }

    #[test]
    fn is_in_detects_a_database() {
        let folder = tempfile::tempdir().unwrap();
        assert!(!SqliteStore::is_in(folder.path()));
        SqliteStore::open(folder.path()).unwrap();
        assert!(SqliteStore::is_in(folder.path()));
    }

    #[test]
    fn tables_are_created_beside_other_processes_only_without_a_server() {
        let folder = tempfile::tempdir().unwrap();
        let server = DataFolder::lock(folder.path()).unwrap();
        let refused = SqliteStore::open_beside(folder.path()).err().unwrap();
        assert_eq!(refused.kind(), StoreErrorKind::TooOld);
        assert_eq!(SqliteStore::schema_version(folder.path()).unwrap(), 0);
        drop(server);
        create(&mut SqliteStore::open_beside(folder.path()).unwrap(), 1, false);
        assert_eq!(SqliteStore::schema_version(folder.path()).unwrap(), schema::KNOWN);
        let _server = DataFolder::lock(folder.path()).unwrap();
        create(&mut SqliteStore::open_beside(folder.path()).unwrap(), 1, false);
    }

    #[test]
    fn a_command_waits_for_a_starting_server() {
        let folder = tempfile::tempdir().unwrap();
        let server = DataFolder::lock(folder.path()).unwrap();
        let lock = OpeningLock::wait(folder.path()).unwrap();
        thread::scope(|scope| {
            let beside = scope.spawn(|| SqliteStore::open_beside(folder.path()).map(drop));
            drop(lock);
            drop(SqliteStore::open(server.path()).unwrap());
            beside.join().unwrap().unwrap();
        });
    }

    #[test]
    fn files_are_readable_by_their_owner_only() {
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
        let (shared, log, lock) = ("shopkeeper.db-shm", WAL_FILE_NAME, "shopkeeper.opening");
        assert_eq!(names, [FILE_NAME, shared, log, lock]);
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

    /// What an operator, a failing disk or another version may have written.
    #[test]
    fn invalid_rows_can_be_read_and_repaired() {
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
        let model = embed::ModelId::new("m");
        let visit =
            &mut |row: crate::ScannedProduct<'_>| seen.push((row.id, row.vectors.is_some()));
        readers.scan(shop(1), Some(&model), visit).unwrap();
        assert_eq!(seen, [(sound.id, false), (odd.id, false)]);
        assert_eq!(readers.lease_unembedded("n", embed::Encoder::Deep, 9).unwrap().len(), 2);
        assert_eq!(readers.shops().unwrap()[0].products, 2);
        let listed = readers.token_batch(None, 0, 2).unwrap();
        assert_eq!((listed.tokens.len(), listed.last), (1, Some(2)));
        assert!(readers.token(1).unwrap().is_none());
        let mut transaction = store.begin().unwrap();
        let found = transaction.product(shop(1), odd.id).unwrap().unwrap();
        transaction.delete(&found).unwrap();
        transaction.commit().unwrap();
        assert_eq!(readers.product(&pass, odd.id).unwrap(), None);
    }

    #[test]
    fn a_new_database_can_be_opened_concurrently() {
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

    /// Two readers overlap, so that there is always one: SQLite by itself would never truncate its
    /// WAL.
    #[test]
    fn the_wal_stays_short_under_continuous_reads() {
        const LIMIT: u64 = 1 << 20;
        let folder = tempfile::tempdir().unwrap();
        let mut store = SqliteStore::open(folder.path()).unwrap();
        store.wal_limit = LIMIT;
        store.connection.pragma_update(None, "wal_autocheckpoint", 20).unwrap();
        let (done, ends) = (AtomicBool::new(false), AtomicBool::new(false));
        let barrier = Barrier::new(2);
        thread::scope(|scope| {
            for me in 0..2 {
                let (folder, barrier) = (folder.path(), &barrier);
                let (done, ends) = (&done, &ends);
                scope.spawn(move || {
                    let connection = open_reader(folder).unwrap();
                    let begin = || {
                        connection.execute_batch("BEGIN; SELECT 1 FROM counters;").unwrap();
                    };
                    begin();
                    for round in 0.. {
                        // Only one of them checks, so that both go on or both end.
                        if barrier.wait().is_leader() {
                            ends.store(done.load(Ordering::Acquire), Ordering::Release);
                        }
                        barrier.wait();
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
                store.limit_wal();
                let log = fs::metadata(folder.path().join("shopkeeper.db-wal")).unwrap().len();
                longest = longest.max(log);
            }
            done.store(true, Ordering::Release);
            assert!(longest < LIMIT * 2, "{longest} bytes");
        });
    }
}
