//! Statements that take rows from a queue do not read again what was taken from it before.
//!
//! While an older transaction is open, such as that of a backup or of an index that is being built,
//! the index entries of rows that were removed or changed since it began cannot be reclaimed. A
//! statement that begins at the head of a queue reads all of them, each time.

use catalog::product::{ShopId, change::Seq};
use embed::Encoder;
use jiff::Timestamp;

use super::{Postgres, session::Session};
use crate::{ChangeReads, EmbeddingQueue, Position, Retained, TxStamp, testing::settings};

/// Rows in a queue.
const ROWS: u64 = 3_000;

/// Nothing is old enough to be removed.
const KEEPS_ALL: Retained = Retained {
    responses_since: Timestamp::UNIX_EPOCH,
    tokens_since: Timestamp::UNIX_EPOCH,
    changes: 1_000_000,
};

/// A database with an older transaction.
struct WithOlderTransaction {
    name: String,
    postgres: Postgres,
    _older: Session,
}

impl WithOlderTransaction {
    /// Prepares the tables with `statements` before the transaction begins.
    fn new(statements: &str) -> Self {
        let url = testkit::postgres().database();
        let name = url.rsplit('/').next().unwrap().to_owned();
        let postgres = Postgres::new(&settings(&url)).unwrap();
        postgres.migrate().unwrap();
        // Entries of an index are counted; of a table, rows that no transaction sees any more are not.
        let settings = format!("ALTER DATABASE {name} SET enable_seqscan = off");
        testkit::postgres().psql(&name, &format!("{statements}; ANALYZE; {settings}"));
        let mut older = postgres.connector.connect().unwrap();
        older.control("SET idle_in_transaction_session_timeout = 0").unwrap();
        older.begin_reading().unwrap();
        older.simple("SELECT count(*) FROM shops").unwrap();
        Self { name, postgres, _older: older }
    }

    fn psql(&self, statement: &str) -> String {
        testkit::postgres().psql(&self.name, statement)
    }

    /// Removes rows in small batches, in two sweeps.
    fn clean_up(&self, retained: &Retained) {
        let mut cleanup = self.postgres.cleanup();
        for _ in 0..2 {
            while !cleanup.remove_some(retained, 30).unwrap() {}
        }
    }

    /// How many entries of an index were read so far. All connections but that of the older
    /// transaction must have been closed: their end writes their statistics.
    fn entries_read(&self, index: &str) -> u64 {
        let others = format!(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = '{}' \
             AND pid <> pg_backend_pid() AND backend_type = 'client backend'",
            self.name
        );
        testkit::until("the end of other connections", || self.psql(&others) == "1");
        let read =
            format!("SELECT idx_tup_read FROM pg_stat_user_indexes WHERE indexrelname = '{index}'");
        self.psql(&read).parse().unwrap()
    }

    /// Leases all products that wait for a vector and stores one for each, and returns their ids in
    /// the order of the leases.
    fn embed_all(&self) -> Vec<u64> {
        let readers = self.postgres.readers();
        let mut writer = self.postgres.connector.connect().unwrap();
        let mut embedded = Vec::new();
        loop {
            let leased = readers.lease_unembedded("m", Encoder::Deep, 16).unwrap();
            if leased.is_empty() {
                return embedded;
            }
            let ids: Vec<String> = leased.iter().map(|one| one.id.to_string()).collect();
            let ids = ids.join(", ");
            let store = format!(
                "UPDATE vectors SET model = 'm', encoder = 'deep'
                 WHERE shop_id = 1 AND product_id IN ({ids})"
            );
            writer.control(&store).unwrap();
            embedded.extend(leased.iter().map(|one| one.id.get()));
        }
    }
}

/// Products of a shop whose vectors have these columns `model` and `encoder`.
fn products_with_vectors(model: &str, encoder: &str) -> String {
    format!(
        "INSERT INTO products (shop_id, id, title, description, price, hidden, media, created_at,
                               updated_at, version)
             SELECT 1, n, 'Lamp', '', '$1', false, '[]', 0, 0, n FROM generate_series(1, {ROWS}) n;
         INSERT INTO vectors (shop_id, product_id, version, model, encoder)
             SELECT 1, n, n, {model}, {encoder} FROM generate_series(1, {ROWS}) n"
    )
}

#[test]
fn products_without_a_vector_newest_first() {
    let database = WithOlderTransaction::new(&products_with_vectors("NULL", "NULL"));
    let embedded = database.embed_all();
    assert!(embedded.iter().copied().eq((1..=ROWS).rev()));
    let read = database.entries_read("vectors_waiting");
    assert!((ROWS..6 * ROWS).contains(&read), "{read} entries were read to embed {ROWS}");
}

#[test]
fn products_with_an_instant_vector() {
    let database = WithOlderTransaction::new(&products_with_vectors("'m'", "'instant'"));
    let embedded = database.embed_all();
    assert_eq!(embedded.len() as u64, ROWS);
    let read = database.entries_read("vectors_by_model");
    assert!((ROWS..6 * ROWS).contains(&read), "{read} entries were read to embed {ROWS}");
}

#[test]
fn products_with_a_vector_of_another_model() {
    for other in ["'a'", "'z'"] {
        let database = WithOlderTransaction::new(&products_with_vectors(other, "'deep'"));
        let embedded = database.embed_all();
        assert_eq!(embedded.len() as u64, ROWS);
        let read = database.entries_read("vectors_by_model");
        assert!((ROWS..6 * ROWS).contains(&read), "{read} entries were read to embed {ROWS}");
    }
}

#[test]
fn expired_idempotency_keys() {
    let database = WithOlderTransaction::new(&format!(
        "INSERT INTO idempotency_keys (shop_id, key, fingerprint, answer, created_at)
             SELECT 1, n, '', '', n FROM generate_series(1, {ROWS} + 100) n"
    ));
    let before = after_all_rows();
    database.clean_up(&Retained { responses_since: before, ..KEEPS_ALL });
    assert_eq!(database.psql("SELECT count(*), min(created_at) FROM idempotency_keys"), "100|3001");
    let read = database.entries_read("idempotency_keys_by_age");
    assert!((ROWS..4 * ROWS).contains(&read), "{read} entries were read to remove {ROWS}");
}

#[test]
fn tokens_that_ended() {
    let database = WithOlderTransaction::new(&format!(
        "INSERT INTO tokens (id, shop_id, role, name, secret_hash, created_at, expires_at)
             SELECT n, 1, 'VIEWER', '', '', 0, n FROM generate_series(1, {ROWS} + 100) n"
    ));
    let before = after_all_rows();
    database.clean_up(&Retained { tokens_since: before, ..KEEPS_ALL });
    assert_eq!(database.psql("SELECT count(*), min(expires_at) FROM tokens"), "100|3001");
    let read = database.entries_read("tokens_by_end");
    assert!((ROWS..4 * ROWS).contains(&read), "{read} entries were read to remove {ROWS}");
}

/// The time after that of the last row that is to be removed.
fn after_all_rows() -> Timestamp {
    Timestamp::from_microsecond(ROWS.cast_signed() + 1).unwrap()
}

#[test]
fn changes_after_old_ones_were_removed() {
    let database = WithOlderTransaction::new(&format!(
        "INSERT INTO shops (shop_id, last_seq) VALUES (1, {ROWS});
         INSERT INTO changes (shop_id, seq, product_id, deleted)
             SELECT 1, n, n, false FROM generate_series(1, {ROWS}) n"
    ));
    let mut cleanup = database.postgres.cleanup();
    let retained = Retained { changes: 100, ..KEEPS_ALL };
    while !cleanup.remove_some(&retained, 500).unwrap() {}
    drop(cleanup);
    let before = database.entries_read("changes_pkey");
    let readers = database.postgres.readers();
    let since = Position { seq: Seq(ROWS - 10), stamp: TxStamp(Some(0)) };
    for _ in 0..100 {
        readers.changes_since(ShopId::new(1).unwrap(), None, since).unwrap();
    }
    drop(readers);
    let read = database.entries_read("changes_pkey") - before;
    assert!((1_000..3_000).contains(&read), "{read} entries were read for 100 times 10 changes");
}

#[test]
fn products_without_search_rows() {
    let database = WithOlderTransaction::new(&format!(
        "INSERT INTO shops (shop_id, last_seq, product_count) VALUES (1, {ROWS}, {ROWS});
         {}",
        products_with_vectors("NULL", "NULL")
    ));
    let mut backfill = database.postgres.backfill().unwrap();
    while !backfill.fill(ShopId::new(1).unwrap(), 50).unwrap() {}
    drop(backfill);
    let read = database.entries_read("products_pkey");
    assert!((ROWS..2 * ROWS).contains(&read), "{read} entries were read to make {ROWS} rows");
}
