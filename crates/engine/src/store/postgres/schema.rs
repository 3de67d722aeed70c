//! The schema, as numbered migration steps that run once each.

use super::{
    super::{StoreError, StoreErrorKind},
    session::Session,
};

/// Step *n* migrates a database from version *n* to *n + 1*. Released steps are never edited: a
/// change is a new step.
const STEPS: &[&str] = &[
    // 0 → 1: everything that an embedded store has, keyed by shop.
    "
    CREATE EXTENSION IF NOT EXISTS vector;

    -- Whoever writes to a shop holds its row. `last_seq` numbers the shop's changes without
    -- gaps; product numbers are taken from a block that belongs to the shop alone.
    CREATE TABLE shops (
        shop_id          bigint PRIMARY KEY,
        product_count    bigint NOT NULL DEFAULT 0,
        visible_count    bigint NOT NULL DEFAULT 0,
        last_seq         bigint NOT NULL DEFAULT 0,
        next_product_id  bigint NOT NULL DEFAULT 0,
        product_ids_end  bigint NOT NULL DEFAULT 0
    );
    CREATE SEQUENCE product_id_blocks INCREMENT 256;

    -- Times are microseconds since 1970; media is a JSON array of {url, type}.
    CREATE TABLE products (
        shop_id      bigint  NOT NULL,
        id           bigint  NOT NULL,
        title        text    NOT NULL,
        description  text    NOT NULL,
        price        text    NOT NULL,
        hidden       boolean NOT NULL,
        media        text    NOT NULL,
        created_at   bigint  NOT NULL,
        updated_at   bigint  NOT NULL,
        version      bigint  NOT NULL,
        PRIMARY KEY (shop_id, id)
    );
    CREATE INDEX visible_products ON products (shop_id, id) WHERE NOT hidden;

    CREATE TABLE changes (
        shop_id     bigint  NOT NULL,
        seq         bigint  NOT NULL,
        product_id  bigint  NOT NULL,
        deleted     boolean NOT NULL,
        PRIMARY KEY (shop_id, seq)
    );

    -- `version` is the change that gave the product its text. The other four: all or none.
    -- A coordinate is a whole number from -127 to 127 times the scale.
    CREATE TABLE vectors (
        shop_id     bigint NOT NULL,
        product_id  bigint NOT NULL,
        version     bigint NOT NULL,
        model       text COLLATE \"C\",
        encoder     text COLLATE \"C\",
        scale       real,
        vector      halfvec,
        PRIMARY KEY (shop_id, product_id)
    );
    CREATE INDEX vectors_waiting ON vectors (version DESC) WHERE model IS NULL;
    CREATE INDEX vectors_by_model ON vectors (model, encoder);

    CREATE TABLE idempotency_keys (
        shop_id      bigint NOT NULL,
        key          text   NOT NULL,
        fingerprint  bytea  NOT NULL,
        answer       bytea  NOT NULL,
        created_at   bigint NOT NULL,
        PRIMARY KEY (shop_id, key)
    );
    CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at);

    -- Small, and asked for by number alone: the shop is what a token's row tells.
    CREATE TABLE tokens (
        id           bigint PRIMARY KEY,
        shop_id      bigint NOT NULL,
        role         text   NOT NULL,
        name         text   NOT NULL,
        secret_hash  bytea  NOT NULL,
        created_at   bigint NOT NULL,
        expires_at   bigint,
        revoked_at   bigint
    );
    CREATE SEQUENCE token_ids;
    CREATE INDEX tokens_of_shop ON tokens (shop_id);
    ",
    // 1 → 2: search of large shops inside the database. Their rows are backfilled.
    "
    CREATE EXTENSION IF NOT EXISTS pg_trgm;

    -- `search_state`: 0 not searched here, 1 rows are being made up to `search_filled_to`, 2 all
    -- there. The words are sums over all products, as `catalog::ranking` counts them.
    ALTER TABLE shops
        ADD COLUMN search_state      smallint NOT NULL DEFAULT 0,
        ADD COLUMN search_filled_to  bigint   NOT NULL DEFAULT 0,
        ADD COLUMN title_words       bigint   NOT NULL DEFAULT 0,
        ADD COLUMN description_words bigint   NOT NULL DEFAULT 0;

    -- What is compared of each product. `words` are ours, not those of a dictionary of
    -- PostgreSQL: weight A is the title, D the description. Words and vectors of a large shop
    -- get indexes of its own.
    CREATE TABLE search_rows (
        shop_id            bigint  NOT NULL,
        product_id         bigint  NOT NULL,
        hidden             boolean NOT NULL,
        amount             numeric NOT NULL,
        currency           text COLLATE \"C\" NOT NULL,
        title_words        integer NOT NULL,
        description_words  integer NOT NULL,
        words              tsvector NOT NULL,
        PRIMARY KEY (shop_id, product_id)
    );
    CREATE INDEX search_rows_by_amount ON search_rows (shop_id, amount);
    CREATE INDEX search_rows_by_currency ON search_rows (shop_id, currency, amount);

    -- How many products of a shop say a word.
    CREATE TABLE search_words (
        shop_id   bigint NOT NULL,
        word      text COLLATE \"C\" NOT NULL,
        products  bigint NOT NULL,
        PRIMARY KEY (shop_id, word)
    ) WITH (fillfactor = 70);
    ",
    // 2 → 3: readers who may not see hidden products get the statistics of visible ones only.
    "
    -- How many of the products that say a word are hidden, and the words of hidden products:
    -- what is counted already of those that shops have.
    ALTER TABLE search_words ADD COLUMN hidden_products bigint NOT NULL DEFAULT 0;
    ALTER TABLE shops
        ADD COLUMN hidden_title_words       bigint NOT NULL DEFAULT 0,
        ADD COLUMN hidden_description_words bigint NOT NULL DEFAULT 0;

    UPDATE search_words w SET hidden_products = counted.products
    FROM (SELECT s.shop_id, said.word, count(*) AS products
          FROM search_rows s CROSS JOIN LATERAL unnest(tsvector_to_array(s.words)) AS said (word)
          WHERE s.hidden GROUP BY s.shop_id, said.word) counted
    WHERE w.shop_id = counted.shop_id AND w.word = counted.word;
    UPDATE shops SET hidden_title_words = counted.title,
                     hidden_description_words = counted.description
    FROM (SELECT shop_id, sum(title_words) AS title, sum(description_words) AS description
          FROM search_rows WHERE hidden GROUP BY shop_id) counted
    WHERE shops.shop_id = counted.shop_id;
    ",
    // 3 → 4: stamps tell changes apart whose sequence numbers were assigned twice because commits
    // were lost. All changes of a transaction have its random stamp, the shop that of its last
    // change.
    "
    ALTER TABLE changes ADD COLUMN stamp bigint NOT NULL DEFAULT 0;
    ALTER TABLE shops ADD COLUMN last_stamp bigint NOT NULL DEFAULT 0;
    ",
    // 4 → 5: the merchant's data of a product, and change records that API clients can follow.
    "
    -- `attributes` is a JSON object, null without any.
    ALTER TABLE products
        ADD COLUMN key         text COLLATE \"C\",
        ADD COLUMN url         text,
        ADD COLUMN attributes  text;
    CREATE UNIQUE INDEX products_by_key ON products (shop_id, key) WHERE key IS NOT NULL;

    -- `is_vector`: a vector was stored and the product is unchanged; not known of older records.
    -- `key`: that of a deleted product.
    ALTER TABLE changes
        ADD COLUMN is_vector  boolean NOT NULL DEFAULT false,
        ADD COLUMN key        text;

    -- The last change of a product of a shop whose record was removed. Apart from `shops`, whose
    -- rows writers lock.
    CREATE TABLE removed_changes (
        shop_id     bigint PRIMARY KEY,
        removed_to  bigint NOT NULL
    );
    INSERT INTO removed_changes
        SELECT shop_id, removed_to FROM (
            SELECT s.shop_id, coalesce(
                (SELECT min(seq) - 1 FROM changes c WHERE c.shop_id = s.shop_id), s.last_seq
            ) AS removed_to FROM shops s
        ) known WHERE removed_to > 0;
    ",
    // 5 → 6: filters, facets and orders of large shops. No product had attributes before, so that
    // existing rows have the defaults.
    "
    -- `words`: weight B is attributes and the key. `labels` is what filters compare, `attributes` a
    -- JSON object for orders and counts.
    ALTER TABLE search_rows
        ADD COLUMN labels      tsvector NOT NULL DEFAULT '',
        ADD COLUMN attributes  jsonb    NOT NULL DEFAULT '{}';
    ",
    // 6 → 7: what is inferred from a product's texts and attributes.
    "
    -- Null, or by another version of the inference: inferred when the row is read.
    ALTER TABLE products ADD COLUMN inferred bytea;

    -- The version of the inference that all search rows of a shop were made with, 0 for none.
    -- Negative while rows are made again with that version, up to `search_inferred_to`.
    ALTER TABLE shops
        ADD COLUMN search_inference    smallint NOT NULL DEFAULT 0,
        ADD COLUMN search_inferred_to  bigint   NOT NULL DEFAULT 0;
    ",
    // 7 → 8: tokens are counted and removed by their end.
    "
    CREATE INDEX tokens_by_end ON tokens (least(revoked_at, expires_at));
    CREATE INDEX tokens_of_shop_by_end ON tokens (shop_id, least(revoked_at, expires_at));
    ",
    // 8 → 9: what a shop takes of its limits.
    "
    -- How many products of a shop have an attribute name; at least one.
    CREATE TABLE attribute_names (
        shop_id   bigint NOT NULL,
        name      text COLLATE \"C\" NOT NULL,
        products  bigint NOT NULL,
        PRIMARY KEY (shop_id, name)
    ) WITH (fillfactor = 70);

    -- No names of a value that is not a JSON object.
    CREATE FUNCTION shopkeeper_names_of(stored text) RETURNS SETOF text LANGUAGE plpgsql AS $$
    BEGIN
        RETURN QUERY SELECT DISTINCT named.key FROM json_each(stored::json) named
            WHERE json_typeof(named.value) NOT IN ('null', 'object');
    EXCEPTION WHEN OTHERS THEN
        RETURN;
    END $$;
    INSERT INTO attribute_names
        SELECT p.shop_id, named.name, count(*)
        FROM products p CROSS JOIN LATERAL shopkeeper_names_of(p.attributes) AS named (name)
        WHERE p.attributes IS NOT NULL GROUP BY p.shop_id, named.name;
    DROP FUNCTION shopkeeper_names_of(text);

    -- `stored_bytes`: of texts, price, media, key, URL and attributes of all products.
    ALTER TABLE shops
        ADD COLUMN stored_bytes     bigint NOT NULL DEFAULT 0,
        ADD COLUMN attribute_names  bigint NOT NULL DEFAULT 0;
    UPDATE shops s SET stored_bytes = counted.bytes
    FROM (SELECT shop_id, sum(octet_length(title) + octet_length(description)
              + octet_length(price) + octet_length(media) + coalesce(octet_length(key), 0)
              + coalesce(octet_length(url), 0) + coalesce(octet_length(attributes), 0)) AS bytes
          FROM products GROUP BY shop_id) counted
    WHERE s.shop_id = counted.shop_id;
    UPDATE shops s SET attribute_names = counted.names
    FROM (SELECT shop_id, count(*) AS names FROM attribute_names GROUP BY shop_id) counted
    WHERE s.shop_id = counted.shop_id;
    ",
];

/// The step from this version to the next.
#[cfg(test)]
pub(crate) fn step_from(version: usize) -> &'static str {
    STEPS[version]
}

/// The key of the advisory lock that serializes migrations.
const LOCK: &str = "SELECT pg_advisory_xact_lock(7308339901652201)";
const VERSION_TABLE: &str = "
    CREATE TABLE IF NOT EXISTS schema_version (version bigint NOT NULL);
    INSERT INTO schema_version SELECT 0 WHERE NOT EXISTS (SELECT FROM schema_version)";

/// Which schemas a migration may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// Any older version.
    Upgrade,
    /// None: only an empty database gets its tables.
    CreateOnly,
}

/// Migrates the schema to this program's version. Newer schemas are rejected, and so are older ones
/// that may not be changed.
pub(super) fn migrate(session: &mut Session, change: Change) -> Result<(usize, usize), StoreError> {
    let known = STEPS.len();
    if version(session)?.is_some_and(|found| found == known) {
        return Ok((known, known));
    }
    // Steps on tables of millions of rows take long.
    session.remove_time_limits()?;
    session.begin()?;
    session.control(LOCK)?;
    session.control(VERSION_TABLE)?;
    let found = version(session)?.unwrap_or_default();
    if found > known {
        session.roll_back();
        return Err(StoreError::too_new());
    }
    if change == Change::CreateOnly && found > 0 && found < known {
        session.roll_back();
        return Err(StoreError::too_old(found, known));
    }
    for step in &STEPS[found..] {
        session.control(step)?;
    }
    session.control(&format!("UPDATE schema_version SET version = {known}"))?;
    session.commit()?;
    if found < known {
        tracing::info!(from = found, to = known, "database schema migrated");
    }
    Ok((found, known))
}

/// Rejects a schema of another version.
pub(super) fn check(session: &mut Session) -> Result<(), StoreError> {
    match version(session)?.unwrap_or_default() {
        found if found > STEPS.len() => Err(StoreError::too_new()),
        found if found < STEPS.len() => Err(StoreError::new(
            StoreErrorKind::TooOld,
            format!("they have version {found}; run `shopkeeper migrate` with this program"),
        )),
        _ => Ok(()),
    }
}

/// The schema version of the database, 0 without tables, and that of this program.
pub(super) fn versions(session: &mut Session) -> Result<(usize, usize), StoreError> {
    Ok((version(session)?.unwrap_or_default(), STEPS.len()))
}

/// The schema version of the database; `None` without tables.
fn version(session: &mut Session) -> Result<Option<usize>, StoreError> {
    let found = session.simple("SELECT to_regclass('schema_version')")?;
    if found.is_none() {
        return Ok(None);
    }
    let found = session.simple("SELECT version FROM schema_version")?;
    let number = found.map(|text| text.parse());
    number.transpose().map_err(|_| StoreError::unexpected("the schema version is not a number"))
}
