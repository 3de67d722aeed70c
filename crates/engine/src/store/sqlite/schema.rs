//! Which tables are there, and how did they come to be? Numbered steps, each run once.

use rusqlite::{Connection, TransactionBehavior};

use super::StoreError;

/// Step *n* brings a database from version *n* to *n + 1*. Steps are never edited once
/// released: a change is a new step.
const STEPS: &[&str] = &[
    // 0 → 1: the catalog, its changes, tokens and idempotency keys.
    "
    CREATE TABLE shops (
        id             INTEGER PRIMARY KEY,
        product_count  INTEGER NOT NULL DEFAULT 0,
        visible_count  INTEGER NOT NULL DEFAULT 0
    ) STRICT;

    -- Times are microseconds since 1970; media is a JSON array of {url, type}.
    CREATE TABLE products (
        id           INTEGER PRIMARY KEY,
        shop_id      INTEGER NOT NULL,
        title        TEXT    NOT NULL,
        description  TEXT    NOT NULL,
        price        TEXT    NOT NULL,
        hidden       INTEGER NOT NULL,
        media        TEXT    NOT NULL,
        created_at   INTEGER NOT NULL,
        updated_at   INTEGER NOT NULL,
        version      INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX products_of_shop ON products (shop_id);
    CREATE INDEX visible_products_of_shop ON products (shop_id) WHERE hidden = 0;

    CREATE TABLE changes (
        seq         INTEGER PRIMARY KEY,
        shop_id     INTEGER NOT NULL,
        product_id  INTEGER NOT NULL,
        deleted     INTEGER NOT NULL
    ) STRICT;

    -- The last product id and change number given out: neither is ever given out again.
    CREATE TABLE counters (
        id          INTEGER PRIMARY KEY CHECK (id = 1),
        product_id  INTEGER NOT NULL,
        seq         INTEGER NOT NULL
    ) STRICT;
    INSERT INTO counters (id, product_id, seq) VALUES (1, 0, 0);

    CREATE TABLE tokens (
        id           INTEGER PRIMARY KEY AUTOINCREMENT,
        shop_id      INTEGER NOT NULL,
        role         TEXT    NOT NULL,
        name         TEXT    NOT NULL,
        secret_hash  BLOB    NOT NULL,
        created_at   INTEGER NOT NULL,
        expires_at   INTEGER,
        revoked_at   INTEGER
    ) STRICT;
    CREATE INDEX tokens_of_shop ON tokens (shop_id);

    CREATE TABLE idempotency_keys (
        shop_id      INTEGER NOT NULL,
        key          TEXT    NOT NULL,
        fingerprint  BLOB    NOT NULL,
        answer       BLOB    NOT NULL,
        created_at   INTEGER NOT NULL,
        PRIMARY KEY (shop_id, key)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at);
    ",
    // 1 → 2: a vector for every product; `version` is the change that gave it the text.
    "
    CREATE TABLE vectors (
        product_id  INTEGER PRIMARY KEY REFERENCES products (id) ON DELETE CASCADE,
        shop_id     INTEGER NOT NULL,
        version     INTEGER NOT NULL,
        -- All three or none; a signed byte a number after one scale.
        model       TEXT,
        encoder     TEXT,
        vector      BLOB
    ) STRICT;
    CREATE INDEX vectors_of_shop ON vectors (shop_id);
    CREATE INDEX vectors_by_model ON vectors (model, encoder, version);
    INSERT INTO vectors SELECT id, shop_id, version, NULL, NULL, NULL FROM products;
    ",
];

/// The version of the tables that this program knows.
pub(super) const KNOWN: usize = STEPS.len();

/// Brings the database to the version this program knows, or refuses a newer one.
pub(super) fn migrate(connection: &mut Connection) -> Result<(), StoreError> {
    let known = STEPS.len();
    if version(connection)? == known {
        return Ok(());
    }
    // Another process may migrate at the same time: look again under the write lock.
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let found = version(&transaction)?;
    if found > known {
        return Err(StoreError::too_new());
    }
    for step in &STEPS[found..] {
        transaction.execute_batch(step)?;
    }
    transaction.pragma_update(None, "user_version", known as i64)?;
    transaction.commit()?;
    if found < known {
        tracing::info!(from = found, to = known, "the database schema was brought up to date");
    }
    Ok(())
}

/// Makes the tables of the first version.
#[cfg(test)]
pub(super) fn run_first_step(connection: &Connection) {
    connection.execute_batch(STEPS[0]).unwrap();
    connection.pragma_update(None, "user_version", 1).unwrap();
}

/// The version of the tables.
pub(super) fn version(connection: &Connection) -> Result<usize, StoreError> {
    let found: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    usize::try_from(found).map_err(|_| StoreError::damaged("a negative schema version"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Trouble;

    #[test]
    fn migrating_twice_changes_nothing() {
        let mut connection = Connection::open_in_memory().unwrap();
        migrate(&mut connection).unwrap();
        migrate(&mut connection).unwrap();
        assert_eq!(version(&connection).unwrap(), STEPS.len());
    }

    #[test]
    fn a_newer_database_is_refused_and_left_alone() {
        let mut connection = Connection::open_in_memory().unwrap();
        connection.pragma_update(None, "user_version", 1000).unwrap();
        assert_eq!(migrate(&mut connection).unwrap_err().trouble(), Trouble::TooNew);
        assert_eq!(version(&connection).unwrap(), 1000);
    }
}
