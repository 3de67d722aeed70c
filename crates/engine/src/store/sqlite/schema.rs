//! The schema, as numbered migration steps that run once each.

use rusqlite::{Connection, TransactionBehavior};

use super::StoreError;

/// Step *n* migrates a database from version *n* to *n + 1*. Released steps are never edited: a
/// change is a new step.
const STEPS: &[&str] = &[
    // 0 → 1: products, their changes, tokens and idempotency keys.
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
    // 1 → 2: a vector for every product; `version` is the change that introduced the text.
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
    // 2 → 3: the merchant's data of a product, and change records that API clients can follow.
    "
    -- `attributes` is a JSON object, null without any.
    ALTER TABLE products ADD COLUMN key TEXT;
    ALTER TABLE products ADD COLUMN url TEXT;
    ALTER TABLE products ADD COLUMN attributes TEXT;
    CREATE UNIQUE INDEX products_by_key ON products (shop_id, key) WHERE key IS NOT NULL;

    -- `is_vector`: a vector was stored and the product is unchanged; not known of older records.
    -- `key`: that of a deleted product.
    ALTER TABLE changes ADD COLUMN is_vector INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE changes ADD COLUMN key TEXT;
    CREATE INDEX product_changes ON changes (shop_id, seq) WHERE is_vector = 0;

    -- The last change of a product of the shop whose record was removed.
    ALTER TABLE shops ADD COLUMN removed_to INTEGER NOT NULL DEFAULT 0;
    UPDATE shops SET removed_to =
        coalesce((SELECT min(seq) FROM changes) - 1, (SELECT seq FROM counters));
    ",
    // 3 → 4: what is inferred from a product's texts and attributes.
    "
    -- Null, or by another version of the inference: inferred when the row is read.
    ALTER TABLE products ADD COLUMN inferred BLOB;
    ",
    // 4 → 5: the index file of a shop.
    "
    -- The id of the file that this database has seen being written; null without one.
    ALTER TABLE shops ADD COLUMN index_file INTEGER;
    ",
    // 5 → 6: how far products have been inferred again.
    "
    -- Rows with an id up to `inferred_to` have values of this version of the inference; null when all
    -- have. Those of another version are inferred when they are read.
    ALTER TABLE counters ADD COLUMN inference   INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE counters ADD COLUMN inferred_to INTEGER;
    ",
    // 6 → 7: each shop numbers its changes, and keeps its own number of change records; tokens are
    // counted and removed by their end.
    "
    -- The last number of the shop, which continues where the changes of all shops were numbered
    -- together; the number of its change records; and the last one that was removed.
    ALTER TABLE shops ADD COLUMN last_seq     INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE shops ADD COLUMN change_count INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE shops ADD COLUMN truncated_to INTEGER NOT NULL DEFAULT 0;
    CREATE TABLE changes_of_shops (
        shop_id     INTEGER NOT NULL,
        seq         INTEGER NOT NULL,
        product_id  INTEGER NOT NULL,
        deleted     INTEGER NOT NULL,
        is_vector   INTEGER NOT NULL,
        key         TEXT,
        PRIMARY KEY (shop_id, seq)
    ) STRICT, WITHOUT ROWID;
    INSERT INTO changes_of_shops
        SELECT shop_id, seq, product_id, deleted, is_vector, key FROM changes ORDER BY shop_id, seq;
    UPDATE shops SET
        last_seq = (SELECT seq FROM counters),
        change_count = (SELECT count(*) FROM changes_of_shops WHERE shop_id = id),
        truncated_to =
            coalesce((SELECT min(seq) FROM changes) - 1, (SELECT seq FROM counters));
    DROP TABLE changes;
    ALTER TABLE changes_of_shops RENAME TO changes;
    CREATE INDEX product_changes ON changes (shop_id, seq) WHERE is_vector = 0;

    -- In which order texts were stored, whatever their shop; null of those that their version orders.
    ALTER TABLE counters RENAME COLUMN seq TO text_order;
    ALTER TABLE vectors ADD COLUMN text_order INTEGER;
    DROP INDEX vectors_by_model;
    CREATE INDEX vectors_by_model ON vectors (model, encoder, coalesce(text_order, version));

    CREATE INDEX tokens_by_end ON tokens (
        coalesce(min(revoked_at, expires_at), revoked_at, expires_at)
    );
    CREATE INDEX tokens_of_shop_by_end ON tokens (
        shop_id, coalesce(min(revoked_at, expires_at), revoked_at, expires_at)
    );
    ",
    // 7 → 8: what a shop takes of its limits.
    "
    -- How many products of a shop have an attribute name; at least one.
    CREATE TABLE attribute_names (
        shop_id   INTEGER NOT NULL,
        name      TEXT    NOT NULL,
        products  INTEGER NOT NULL,
        PRIMARY KEY (shop_id, name)
    ) STRICT, WITHOUT ROWID;
    INSERT INTO attribute_names
        SELECT p.shop_id, named.key, count(DISTINCT p.id)
        FROM products p, json_each(CASE WHEN json_valid(p.attributes) THEN
            CASE json_type(p.attributes) WHEN 'object' THEN p.attributes ELSE '{}' END
        ELSE '{}' END) named
        WHERE p.attributes IS NOT NULL AND named.type NOT IN ('null', 'object')
        GROUP BY p.shop_id, named.key;

    -- `stored_bytes`: of texts, price, media, key, URL and attributes of all products.
    ALTER TABLE shops ADD COLUMN stored_bytes    INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE shops ADD COLUMN attribute_names INTEGER NOT NULL DEFAULT 0;
    UPDATE shops SET
        stored_bytes = (SELECT coalesce(sum(octet_length(title) + octet_length(description)
                + octet_length(price) + octet_length(media) + coalesce(octet_length(key), 0)
                + coalesce(octet_length(url), 0) + coalesce(octet_length(attributes), 0)), 0)
            FROM products WHERE shop_id = shops.id),
        attribute_names = (SELECT count(*) FROM attribute_names WHERE shop_id = shops.id);
    ",
];

/// The schema version of this program.
pub(super) const KNOWN: usize = STEPS.len();

/// Migrates the schema to this program's version, or rejects a newer one.
pub(super) fn migrate(connection: &mut Connection) -> Result<(), StoreError> {
    let known = STEPS.len();
    if version(connection)? == known {
        return Ok(());
    }
    // Checked again under the write lock, because another process may migrate at the same time.
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
        tracing::info!(from = found, to = known, "database schema migrated");
    }
    Ok(())
}

/// Creates the tables of the first version.
#[cfg(test)]
pub(super) fn run_first_step(connection: &Connection) {
    connection.execute_batch(STEPS[0]).unwrap();
    connection.pragma_update(None, "user_version", 1).unwrap();
}

/// The schema version of the database.
pub(super) fn version(connection: &Connection) -> Result<usize, StoreError> {
    let found: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    usize::try_from(found).map_err(|_| StoreError::unexpected("a negative schema version"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::StoreErrorKind;

    #[test]
    fn migration_is_idempotent() {
        let mut connection = Connection::open_in_memory().unwrap();
        migrate(&mut connection).unwrap();
        migrate(&mut connection).unwrap();
        assert_eq!(version(&connection).unwrap(), STEPS.len());
    }

    #[test]
    fn a_newer_schema_is_rejected_and_unchanged() {
        let mut connection = Connection::open_in_memory().unwrap();
        connection.pragma_update(None, "user_version", 1000).unwrap();
        assert_eq!(migrate(&mut connection).unwrap_err().kind(), StoreErrorKind::TooNew);
        assert_eq!(version(&connection).unwrap(), 1000);
    }
}
