//! The schema, as migration steps that run once each.

use super::{
    super::{StoreError, StoreErrorKind, schema},
    session::Session,
};

/// The first step creates the tables; each further one changes what those before it made. Released
/// steps are never edited: a change is a new step.
const STEPS: &[&str] = &[
    // Version 10.
    "
    CREATE EXTENSION IF NOT EXISTS vector;
    CREATE EXTENSION IF NOT EXISTS pg_trgm;

    -- Whoever writes to a shop holds its row. `last_seq` numbers the shop's changes without gaps;
    -- product numbers are taken from a block that belongs to the shop alone. `last_stamp`: that of
    -- the last change. `stored_bytes`: of texts, price, media, key, URL and attributes of all
    -- products.
    --
    -- `search_state`: 0 not searched here, 1 rows are being made up to `search_filled_to`, 2 all
    -- there. `search_inference`: the version of the inference that all search rows of a shop were
    -- made with, 0 for none; negative while rows are made again with that version, up to
    -- `search_inferred_to`. The words are sums over all products, and over hidden ones, as
    -- `catalog::ranking::bm25f` counts them.
    CREATE TABLE shops (
        shop_id                   bigint   PRIMARY KEY,
        product_count             bigint   NOT NULL DEFAULT 0,
        visible_count             bigint   NOT NULL DEFAULT 0,
        last_seq                  bigint   NOT NULL DEFAULT 0,
        next_product_id           bigint   NOT NULL DEFAULT 0,
        product_ids_end           bigint   NOT NULL DEFAULT 0,
        search_state              smallint NOT NULL DEFAULT 0,
        search_filled_to          bigint   NOT NULL DEFAULT 0,
        title_words               bigint   NOT NULL DEFAULT 0,
        description_words         bigint   NOT NULL DEFAULT 0,
        hidden_title_words        bigint   NOT NULL DEFAULT 0,
        hidden_description_words  bigint   NOT NULL DEFAULT 0,
        last_stamp                bigint   NOT NULL DEFAULT 0,
        search_inference          smallint NOT NULL DEFAULT 0,
        search_inferred_to        bigint   NOT NULL DEFAULT 0,
        stored_bytes              bigint   NOT NULL DEFAULT 0,
        attribute_names           bigint   NOT NULL DEFAULT 0
    );
    CREATE SEQUENCE product_id_blocks INCREMENT 256;

    -- Times are microseconds since 1970; media is a JSON array of {url, type}; `attributes` is a JSON
    -- object, null without any. `inferred`, from texts and attributes: null or by another version of
    -- the inference, it is inferred when the row is read.
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
        key          text COLLATE \"C\",
        url          text,
        attributes   text,
        inferred     bytea,
        PRIMARY KEY (shop_id, id)
    );
    CREATE INDEX visible_products ON products (shop_id, id) WHERE NOT hidden;
    CREATE UNIQUE INDEX products_by_key ON products (shop_id, key) WHERE key IS NOT NULL;

    -- Stamps tell changes apart whose sequence numbers were assigned twice because commits were lost:
    -- all changes of a transaction have its random stamp. `is_vector`: a vector was stored and the
    -- product is unchanged. `key`: that of a deleted product.
    CREATE TABLE changes (
        shop_id     bigint  NOT NULL,
        seq         bigint  NOT NULL,
        product_id  bigint  NOT NULL,
        deleted     boolean NOT NULL,
        stamp       bigint  NOT NULL DEFAULT 0,
        is_vector   boolean NOT NULL DEFAULT false,
        key         text,
        PRIMARY KEY (shop_id, seq)
    );

    -- The last change of a product of a shop whose record was removed. Apart from `shops`, whose
    -- rows writers lock.
    CREATE TABLE removed_changes (
        shop_id     bigint PRIMARY KEY,
        removed_to  bigint NOT NULL
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

    -- What is compared of each product of a large shop. `words` are ours, not those of a dictionary
    -- of PostgreSQL: weight A is the title, B attributes and the key, D the description. `labels` is
    -- what filters compare, `attributes` a JSON object for orders and counts. Words and vectors of a
    -- large shop get indexes of its own.
    CREATE TABLE search_rows (
        shop_id            bigint   NOT NULL,
        product_id         bigint   NOT NULL,
        hidden             boolean  NOT NULL,
        amount             numeric  NOT NULL,
        currency           text COLLATE \"C\" NOT NULL,
        title_words        integer  NOT NULL,
        description_words  integer  NOT NULL,
        words              tsvector NOT NULL,
        labels             tsvector NOT NULL DEFAULT '',
        attributes         jsonb    NOT NULL DEFAULT '{}',
        PRIMARY KEY (shop_id, product_id)
    );
    CREATE INDEX search_rows_by_amount ON search_rows (shop_id, amount);
    CREATE INDEX search_rows_by_currency ON search_rows (shop_id, currency, amount);

    -- How many products of a shop say a word, and how many of them are hidden: readers who may not
    -- see hidden products get the statistics of visible ones only.
    CREATE TABLE search_words (
        shop_id          bigint NOT NULL,
        word             text COLLATE \"C\" NOT NULL,
        products         bigint NOT NULL,
        hidden_products  bigint NOT NULL DEFAULT 0,
        PRIMARY KEY (shop_id, word)
    ) WITH (fillfactor = 70);

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
    -- Tokens are counted and removed by their end.
    CREATE INDEX tokens_by_end ON tokens (least(revoked_at, expires_at));
    CREATE INDEX tokens_of_shop_by_end ON tokens (shop_id, least(revoked_at, expires_at));

    CREATE TABLE idempotency_keys (
        shop_id      bigint NOT NULL,
        key          text   NOT NULL,
        fingerprint  bytea  NOT NULL,
        answer       bytea  NOT NULL,
        created_at   bigint NOT NULL,
        PRIMARY KEY (shop_id, key)
    );
    CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at);

    -- How many products of a shop have an attribute name; at least one.
    CREATE TABLE attribute_names (
        shop_id   bigint NOT NULL,
        name      text COLLATE \"C\" NOT NULL,
        products  bigint NOT NULL,
        PRIMARY KEY (shop_id, name)
    ) WITH (fillfactor = 70);
    ",
];

/// The schema version of this program.
const KNOWN: usize = schema::latest(STEPS);

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

/// Migrates the schema to this program's version, and returns the versions before and after. Schemas
/// that cannot be migrated are rejected, and so are older ones that may not be changed.
pub(super) fn migrate(session: &mut Session, change: Change) -> Result<(usize, usize), StoreError> {
    if steps_from(version(session)?, change)?.is_empty() {
        return Ok((KNOWN, KNOWN));
    }
    // Steps on tables of millions of rows take long.
    session.remove_time_limits()?;
    session.begin()?;
    session.control(LOCK)?;
    session.control(VERSION_TABLE)?;
    // Checked again under the lock, because another node may have migrated meanwhile.
    let found = version(session)?;
    let steps = steps_from(found, change).inspect_err(|_| session.roll_back())?;
    for step in steps {
        session.control(step)?;
    }
    session.control(&format!("UPDATE schema_version SET version = {KNOWN}"))?;
    session.commit()?;
    if found < KNOWN {
        tracing::info!(from = found, to = KNOWN, "database schema migrated");
    }
    Ok((found, KNOWN))
}

/// The steps from version `found`, if they may be run.
fn steps_from(found: usize, change: Change) -> Result<&'static [&'static str], StoreError> {
    let steps = schema::missing(STEPS, found)?;
    match change {
        Change::CreateOnly if found > 0 && !steps.is_empty() => {
            Err(StoreError::too_old(found, KNOWN))
        }
        _ => Ok(steps),
    }
}

/// Rejects a schema of another version.
pub(super) fn check(session: &mut Session) -> Result<(), StoreError> {
    let (found, known) = versions(session)?;
    if found == known {
        return Ok(());
    }
    let why = format!("they have version {found}; run `shopkeeper migrate` with this program");
    Err(StoreError::new(StoreErrorKind::TooOld, why))
}

/// The schema version of the database, 0 without tables, and that of this program. A schema that
/// cannot be migrated is rejected.
pub(super) fn versions(session: &mut Session) -> Result<(usize, usize), StoreError> {
    let found = version(session)?;
    schema::missing(STEPS, found).map(|_| (found, KNOWN))
}

/// The schema version of the database, 0 without tables.
fn version(session: &mut Session) -> Result<usize, StoreError> {
    if session.simple("SELECT to_regclass('schema_version')")?.is_none() {
        return Ok(0);
    }
    let found = session.simple("SELECT version FROM schema_version")?;
    let number = found.map_or(Ok(0), |text| text.parse());
    number.map_err(|_| StoreError::unexpected("the schema version is not a number"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ErrorChain, Postgres, testing::settings};

    #[test]
    fn schemas_of_unreleased_and_newer_programs_are_rejected_and_unchanged() {
        let server = testkit::postgres();
        let url = server.database();
        let name = url.rsplit_once('/').unwrap().1;
        let postgres = Postgres::new(&settings(&url)).unwrap();
        server.psql(name, "CREATE TABLE schema_version AS SELECT 0::bigint AS version");
        for (found, kind, told) in [
            (1, StoreErrorKind::TooOld, "export"),
            (9, StoreErrorKind::TooOld, "export"),
            (KNOWN + 1, StoreErrorKind::TooNew, "newer version"),
        ] {
            server.psql(name, &format!("UPDATE schema_version SET version = {found}"));
            let migrated = postgres.migrate().map(drop);
            let state = postgres.state().map(drop);
            for refused in [migrated, postgres.create_tables(), postgres.check_schema(), state] {
                let error = refused.unwrap_err();
                assert_eq!(error.kind(), kind);
                assert!(ErrorChain(&error).to_string().contains(told), "{}", ErrorChain(&error));
            }
            let tables = "SELECT version || ' ' || (SELECT count(*) FROM pg_tables
                              WHERE schemaname = 'public') FROM schema_version";
            assert_eq!(server.psql(name, tables), format!("{found} 1"));
        }
        server.psql(name, "UPDATE schema_version SET version = 0");
        assert_eq!(postgres.migrate().unwrap(), (0, KNOWN));
        assert_eq!(postgres.migrate().unwrap(), (KNOWN, KNOWN));
    }
}
