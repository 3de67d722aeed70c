//! The schema, as migration steps that run once each.

use rusqlite::{Connection, TransactionBehavior};

use super::super::{StoreError, schema};

/// The first step creates the tables; each further one changes what those before it made. Released
/// steps are never edited: a change is a new step.
const STEPS: &[&str] = &[
    // Version 10.
    "
    -- `last_seq`, `change_count`: the last change of the shop, and the number of its change records.
    -- `removed_to`, `truncated_to`: the last change of a product, and of anything, whose record was
    -- removed. `index_file`: the id of the index file that this database has seen being written; null
    -- without one. `stored_bytes`: of texts, price, media, key, URL and attributes of all products.
    CREATE TABLE shops (
        id               INTEGER PRIMARY KEY,
        product_count    INTEGER NOT NULL DEFAULT 0,
        visible_count    INTEGER NOT NULL DEFAULT 0,
        removed_to       INTEGER NOT NULL DEFAULT 0,
        index_file       INTEGER,
        last_seq         INTEGER NOT NULL DEFAULT 0,
        change_count     INTEGER NOT NULL DEFAULT 0,
        truncated_to     INTEGER NOT NULL DEFAULT 0,
        stored_bytes     INTEGER NOT NULL DEFAULT 0,
        attribute_names  INTEGER NOT NULL DEFAULT 0
    ) STRICT;

    -- Times are microseconds since 1970; media is a JSON array of {url, type}; `attributes` is a JSON
    -- object, null without any. `inferred`, from texts and attributes: null or by another version of
    -- the inference, it is inferred when the row is read.
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
        version      INTEGER NOT NULL,
        key          TEXT,
        url          TEXT,
        attributes   TEXT,
        inferred     BLOB
    ) STRICT;
    CREATE INDEX products_of_shop ON products (shop_id);
    CREATE INDEX visible_products_of_shop ON products (shop_id) WHERE hidden = 0;
    CREATE UNIQUE INDEX products_by_key ON products (shop_id, key) WHERE key IS NOT NULL;

    -- Each shop numbers its changes. `is_vector`: a vector was stored and the product is unchanged.
    -- `key`: that of a deleted product.
    CREATE TABLE changes (
        shop_id     INTEGER NOT NULL,
        seq         INTEGER NOT NULL,
        product_id  INTEGER NOT NULL,
        deleted     INTEGER NOT NULL,
        is_vector   INTEGER NOT NULL,
        key         TEXT,
        PRIMARY KEY (shop_id, seq)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX product_changes ON changes (shop_id, seq) WHERE is_vector = 0;

    -- The last product id and the last place in the order of texts given out: neither is ever given
    -- out again. Rows with an id up to `inferred_to` have values of this version of the inference;
    -- null when all have.
    CREATE TABLE counters (
        id           INTEGER PRIMARY KEY CHECK (id = 1),
        product_id   INTEGER NOT NULL,
        text_order   INTEGER NOT NULL,
        inference    INTEGER NOT NULL DEFAULT 0,
        inferred_to  INTEGER
    ) STRICT;
    INSERT INTO counters (id, product_id, text_order) VALUES (1, 0, 0);

    -- A vector for every product. `version` is the change that introduced the text, `text_order` in
    -- which order texts were stored, whatever their shop.
    CREATE TABLE vectors (
        product_id  INTEGER PRIMARY KEY REFERENCES products (id) ON DELETE CASCADE,
        shop_id     INTEGER NOT NULL,
        version     INTEGER NOT NULL,
        -- All three or none; a signed byte a number after one scale.
        model       TEXT,
        encoder     TEXT,
        vector      BLOB,
        text_order  INTEGER
    ) STRICT;
    CREATE INDEX vectors_of_shop ON vectors (shop_id);
    CREATE INDEX vectors_by_model ON vectors (model, encoder, coalesce(text_order, version));

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
    -- Tokens are counted and removed by their end.
    CREATE INDEX tokens_by_end ON tokens (
        coalesce(min(revoked_at, expires_at), revoked_at, expires_at)
    );
    CREATE INDEX tokens_of_shop_by_end ON tokens (
        shop_id, coalesce(min(revoked_at, expires_at), revoked_at, expires_at)
    );

    CREATE TABLE idempotency_keys (
        shop_id      INTEGER NOT NULL,
        key          TEXT    NOT NULL,
        fingerprint  BLOB    NOT NULL,
        answer       BLOB    NOT NULL,
        created_at   INTEGER NOT NULL,
        PRIMARY KEY (shop_id, key)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at);

    -- How many products of a shop have an attribute name; at least one.
    CREATE TABLE attribute_names (
        shop_id   INTEGER NOT NULL,
        name      TEXT    NOT NULL,
        products  INTEGER NOT NULL,
        PRIMARY KEY (shop_id, name)
    ) STRICT, WITHOUT ROWID;
    ",
    "
    -- The vector of the transformer, coded as `vector` is; null until it is made.
    ALTER TABLE vectors ADD COLUMN deep BLOB;
    ",
];

/// The schema version of this program.
pub(super) const KNOWN: usize = schema::latest(STEPS);

/// Whether a database of version `found` has this program's schema; `false` if it can be migrated to
/// it, and an error if not.
pub(super) fn is_current(found: usize) -> Result<bool, StoreError> {
    schema::missing(STEPS, found).map(<[_]>::is_empty)
}

/// Migrates the schema to this program's version, or rejects one that cannot be migrated.
pub(super) fn migrate(connection: &mut Connection) -> Result<(), StoreError> {
    if is_current(version(connection)?)? {
        return Ok(());
    }
    // Checked again under the write lock, because another process may migrate at the same time.
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let found = version(&transaction)?;
    for step in schema::missing(STEPS, found)? {
        transaction.execute_batch(step)?;
    }
    transaction.pragma_update(None, "user_version", KNOWN as i64)?;
    transaction.commit()?;
    if found < KNOWN {
        tracing::info!(from = found, to = KNOWN, "database schema migrated");
    }
    Ok(())
}

/// The schema version of the database.
pub(super) fn version(connection: &Connection) -> Result<usize, StoreError> {
    let found: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    usize::try_from(found).map_err(|_| StoreError::unexpected("a negative schema version"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ErrorChain, StoreErrorKind};

    #[test]
    fn migration_is_idempotent() {
        let mut connection = Connection::open_in_memory().unwrap();
        migrate(&mut connection).unwrap();
        migrate(&mut connection).unwrap();
        assert_eq!(version(&connection).unwrap(), KNOWN);
    }

    #[test]
    fn vectors_of_the_first_release_are_kept() {
        let mut connection = Connection::open_in_memory().unwrap();
        connection.execute_batch(STEPS[0]).unwrap();
        connection.pragma_update(None, "foreign_keys", false).unwrap();
        connection.pragma_update(None, "user_version", 10).unwrap();
        let insert =
            "INSERT INTO vectors (shop_id, product_id, version, vector) VALUES (1, 2, 3, x'00')";
        connection.execute(insert, []).unwrap();
        migrate(&mut connection).unwrap();
        let found: (i64, Option<Vec<u8>>) = connection
            .query_row("SELECT product_id, deep FROM vectors", [], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })
            .unwrap();
        assert_eq!(found, (2, None));
    }

    #[test]
    fn schemas_of_unreleased_and_newer_programs_are_rejected_and_unchanged() {
        for (found, kind, told) in [
            (1, StoreErrorKind::TooOld, "export"),
            (9, StoreErrorKind::TooOld, "export"),
            (KNOWN as i64 + 1, StoreErrorKind::TooNew, "newer version"),
        ] {
            let mut connection = Connection::open_in_memory().unwrap();
            connection.pragma_update(None, "user_version", found).unwrap();
            let error = migrate(&mut connection).unwrap_err();
            assert_eq!(error.kind(), kind);
            assert!(ErrorChain(&error).to_string().contains(told), "{}", ErrorChain(&error));
            assert_eq!(version(&connection).unwrap(), found as usize);
            let tables = "SELECT count(*) FROM sqlite_schema";
            assert_eq!(connection.query_row(tables, [], |row| row.get(0)), Ok(0));
        }
    }
}
