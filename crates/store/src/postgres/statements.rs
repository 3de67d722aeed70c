//! All SQL statements, in one place so that a test can check them.
//!
//! Every statement names the shop, so that the tables can be sharded by shop. The few exceptions
//! are listed with their reasons.

/// One of the statements below; nothing else can be prepared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Sql {
    pub(super) name: &'static str,
    pub(super) text: &'static str,
}

impl Sql {
    /// The name of the constant.
    pub(super) fn name(self) -> &'static str {
        self.name
    }

    /// The SQL text.
    pub(super) fn text(self) -> &'static str {
        self.text
    }
}

macro_rules! statements {
    ($( $(#[doc = $doc:literal])+ $name:ident = $text:expr; )+) => {
        $(
            $(#[doc = $doc])+
            pub(in crate::postgres) const $name: Sql = Sql { name: stringify!($name), text: $text };
        )+

        /// All statements.
        #[cfg(test)]
        pub(in crate::postgres) const ALL: &[Sql] = &[$( $name ),+];
    };
}

/// The columns of a product, in the order that `rows::read` expects.
macro_rules! product_columns {
    () => {
        "p.id, p.shop_id, p.title, p.description, p.price, p.hidden, p.media, p.created_at,
         p.updated_at, p.version, p.key, p.url, p.attributes, p.inferred"
    };
}

macro_rules! page {
    ($filter:literal) => {
        concat!(
            "SELECT s.product_count, s.visible_count, ",
            product_columns!(),
            " FROM shops s LEFT JOIN LATERAL (
                  SELECT * FROM products WHERE shop_id = $1 AND id IN (
                      SELECT id FROM products WHERE shop_id = $1 ",
            $filter,
            "         ORDER BY id LIMIT $2 OFFSET $3
                  )
              ) p ON true
              WHERE s.shop_id = $1 ORDER BY p.id"
        )
    };
}

statements! {
    /// Waits for other writers of the shop, and locks its row until the commit. The random column is
    /// the stamp of the changes of this transaction.
    LOCK_SHOP = "SELECT last_seq, next_product_id, product_ids_end, search_state, last_stamp,
                     (random() * 9007199254740991)::bigint, product_count, stored_bytes,
                     attribute_names
                 FROM shops WHERE shop_id = $1 FOR UPDATE";
    /// Inserts a shop on its first write.
    INSERT_SHOP = "INSERT INTO shops (shop_id, search_state, search_inference)
                   VALUES ($1, $2, $3)
                   ON CONFLICT (shop_id) DO NOTHING";
    /// Stores the new position and counts of a shop.
    UPDATE_SHOP = "UPDATE shops SET last_seq = $2, next_product_id = $3, product_ids_end = $4,
                       product_count = product_count + $5, visible_count = visible_count + $6,
                       last_stamp = $7, stored_bytes = greatest(stored_bytes + $8, 0),
                       attribute_names = greatest(attribute_names + $9, 0)
                   WHERE shop_id = $1";
    /// How many products of a shop have attribute names, in the order of the names.
    NAME_COUNTS = "SELECT coalesce(n.products, 0)
                   FROM unnest($2::text[]) WITH ORDINALITY AS wanted (name, place)
                   LEFT JOIN attribute_names n ON n.shop_id = $1 AND n.name = wanted.name
                   ORDER BY place";
    /// Stores how many products of a shop have attribute names.
    UPSERT_NAMES = "INSERT INTO attribute_names (shop_id, name, products)
                    SELECT $1, * FROM unnest($2::text[], $3::bigint[])
                    ON CONFLICT (shop_id, name) DO UPDATE SET products = excluded.products";
    /// Deletes attribute names that no product has.
    DELETE_NAMES = "DELETE FROM attribute_names WHERE shop_id = $1 AND name = ANY($2)";
    /// For the operator: what shops with products take.
    USAGE = "SELECT shop_id, product_count, stored_bytes, attribute_names FROM shops
             WHERE product_count > 0";
    /// The position and counts of a shop.
    SHOP = "SELECT last_seq, product_count, visible_count FROM shops WHERE shop_id = $1";
    /// All shops with products.
    SHOPS = "SELECT shop_id, product_count, visible_count FROM shops
             WHERE product_count > 0 ORDER BY product_count DESC, shop_id";
    /// Reserves the next block of product ids.
    NEXT_PRODUCT_IDS = "SELECT nextval('product_id_blocks')";

    /// Products by id.
    PRODUCTS = concat!("SELECT ", product_columns!(), " FROM products p
                        WHERE p.shop_id = $1 AND p.id = ANY($2)");
    /// Products by key.
    PRODUCTS_BY_KEY = concat!("SELECT ", product_columns!(), " FROM products p
                               WHERE p.shop_id = $1 AND p.key = ANY($2)");
    /// The texts of products.
    TEXTS = "SELECT id, title, description, attributes FROM products
             WHERE shop_id = $1 AND id = ANY($2)";
    /// A page of all products.
    PAGE = page!("");
    /// A page of the visible products.
    VISIBLE_PAGE = page!("AND NOT hidden");
    /// The columns that an index is built from, with the vectors of one model, and those that the
    /// local replica needs in addition.
    SCAN = "SELECT p.id, p.version, p.hidden, p.price, p.title, p.description, v.scale, v.vector,
                v.deep, p.media, p.created_at, p.updated_at, p.key, p.attributes, p.url, p.inferred
            FROM products p LEFT JOIN vectors v
                ON v.shop_id = $1 AND v.product_id = p.id AND v.model = $2
            WHERE p.shop_id = $1 ORDER BY p.id";
    /// All products of a shop.
    EVERY_PRODUCT = concat!("SELECT ", product_columns!(), " FROM products p
                             WHERE p.shop_id = $1 ORDER BY p.id");
    /// Inserts or updates products.
    UPSERT_PRODUCTS =
        "INSERT INTO products (shop_id, id, title, description, price, hidden, media, created_at,
                               updated_at, version, key, url, attributes, inferred)
         SELECT $1, * FROM unnest($2::bigint[], $3::text[], $4::text[], $5::text[], $6::boolean[],
                                  $7::text[], $8::bigint[], $9::bigint[], $10::bigint[],
                                  $11::text[], $12::text[], $13::text[], $14::bytea[])
         ON CONFLICT (shop_id, id) DO UPDATE SET
             title = excluded.title, description = excluded.description, price = excluded.price,
             hidden = excluded.hidden, media = excluded.media, updated_at = excluded.updated_at,
             version = excluded.version, key = excluded.key, url = excluded.url,
             attributes = excluded.attributes, inferred = excluded.inferred";
    /// Releases the keys of products that get another one, before other products take them.
    RELEASE_KEYS = "UPDATE products SET key = NULL WHERE shop_id = $1 AND id = ANY($2)";
    /// Deletes products.
    DELETE_PRODUCTS = "DELETE FROM products WHERE shop_id = $1 AND id = ANY($2)";

    /// Inserts change records.
    INSERT_CHANGES =
        "INSERT INTO changes (shop_id, seq, product_id, deleted, is_vector, key, stamp)
         SELECT $1, new.*, $7::bigint
         FROM unnest($2::bigint[], $3::bigint[], $4::boolean[], $5::boolean[], $6::text[]) new";
    /// The position of a shop and the current state of the products that changed since a change,
    /// with the first change of each, and the stamps of the given change and of the last one. One
    /// statement sees one snapshot.
    ///
    /// Changes, products and vectors are looked up one by one, by their primary keys. The planner does
    /// not know that few changes are new: of a condition `seq > $2` it expects a third of them to be,
    /// and would read both tables after every write. Changes are removed from the first one on, so those
    /// that are left have no gaps.
    CHANGES_SINCE = concat!("SELECT s.last_seq, c.product_id, c.first_seq, c.last_seq, v.scale,
            v.vector, v.deep, ", product_columns!(), ",
            (SELECT stamp FROM changes WHERE shop_id = $1 AND seq = $2),
            (SELECT stamp FROM changes WHERE shop_id = $1 AND seq = s.last_seq)
        FROM shops s
        LEFT JOIN LATERAL (
            SELECT one.product_id, min(one.seq) AS first_seq, max(one.seq) AS last_seq
            FROM generate_series(
                greatest($2::bigint + 1,
                         (SELECT min(seq) FROM changes WHERE shop_id = $1 AND seq > $2)), s.last_seq
            ) AS new (seq)
            CROSS JOIN LATERAL (SELECT product_id, seq FROM changes
                                WHERE shop_id = $1 AND seq = new.seq LIMIT 1) one
            GROUP BY one.product_id
        ) c ON true
        LEFT JOIN LATERAL (SELECT * FROM products
                           WHERE shop_id = $1 AND id = c.product_id LIMIT 1) p ON true
        LEFT JOIN LATERAL (SELECT scale, vector, deep FROM vectors
                           WHERE shop_id = $1 AND product_id = c.product_id AND model = $3
                           LIMIT 1) v ON true
        WHERE s.shop_id = $1 ORDER BY c.last_seq");
    /// The last change of a shop, the last removed one of its products, and a page of those after a
    /// change.
    CHANGES =
        "SELECT s.last_seq, r.removed_to, c.seq, c.product_id, c.deleted, c.key
         FROM (SELECT coalesce(max(last_seq), 0) AS last_seq FROM shops
               WHERE shop_id = $1) s
         CROSS JOIN (SELECT coalesce(max(removed_to), 0) AS removed_to FROM removed_changes
                     WHERE shop_id = $1) r
         LEFT JOIN (
             SELECT c.seq, c.product_id, c.deleted,
                 CASE WHEN c.deleted THEN c.key ELSE p.key END AS key
             FROM changes c LEFT JOIN products p ON p.shop_id = $1 AND p.id = c.product_id
             WHERE c.shop_id = $1 AND c.seq > $2 AND NOT c.is_vector ORDER BY c.seq LIMIT $3
         ) c ON true ORDER BY c.seq";
    /// The positions of shops.
    POSITIONS = "SELECT s.shop_id, s.last_seq, c.stamp
                 FROM shops s LEFT JOIN changes c ON c.shop_id = s.shop_id AND c.seq = s.last_seq
                 WHERE s.shop_id = ANY($1)";
    /// Notifies the nodes after the commit.
    NOTIFY = "SELECT pg_notify('shopkeeper_changes', $1::bigint || ':' || $2::bigint)
              FROM shops WHERE shop_id = $1";

    /// Inserts or resets the vector rows of new texts, with the vector where it is known already.
    UPSERT_VECTORS =
        "INSERT INTO vectors (shop_id, product_id, version, model, encoder, scale, vector, deep)
         SELECT $1, new.*
         FROM unnest($2::bigint[], $3::bigint[], $4::text[], $5::text[], $6::real[], $7::halfvec[],
                     $8::bytea[]) new
         ON CONFLICT (shop_id, product_id) DO UPDATE SET
             version = excluded.version, model = excluded.model, encoder = excluded.encoder,
             scale = excluded.scale, vector = excluded.vector, deep = excluded.deep,
             text_order = excluded.text_order";
    /// Stores vectors, unless the text has changed since they were made.
    PUT_VECTORS =
        "UPDATE vectors SET model = $4, encoder = $5, scale = $6, vector = $7, deep = $8
         WHERE shop_id = $1 AND product_id = $2 AND version = $3";
    /// Deletes the vectors of deleted products.
    DELETE_VECTORS = "DELETE FROM vectors WHERE shop_id = $1 AND product_id = ANY($2)";
    /// A product's vectors of one model.
    VECTORS_OF = "SELECT scale, vector, deep FROM vectors
                 WHERE shop_id = $1 AND product_id = $2 AND model = $3 AND vector IS NOT NULL";
    /// All vectors of a shop.
    SCAN_VECTORS =
        "SELECT product_id, version, model, encoder, scale, vector, deep FROM vectors
         WHERE shop_id = $1 AND vector IS NOT NULL ORDER BY product_id";
    /// Background: products without a vector whose texts were stored after a place, newest first.
    UNEMBEDDED =
        "SELECT shop_id, product_id, text_order FROM vectors WHERE model IS NULL AND text_order > $1
         ORDER BY text_order DESC LIMIT $2";
    /// Background: products with a vector of another model. Each part walks an index.
    EMBEDDED_OTHERWISE =
        "(SELECT shop_id, product_id, text_order FROM vectors WHERE model < $1 LIMIT $3) UNION ALL
         (SELECT shop_id, product_id, text_order FROM vectors WHERE model > $1 LIMIT $3) UNION ALL
         (SELECT shop_id, product_id, text_order FROM vectors
          WHERE model = $1 AND encoder = ANY($2) LIMIT $3) LIMIT $3";
    /// Background: the texts of those of these products that are still of either kind, in this
    /// order. Rows are looked up one by one, by their primary keys.
    STILL_UNEMBEDDED =
        "SELECT v.shop_id, v.product_id, v.version, p.title, p.description
         FROM unnest($1::bigint[], $2::bigint[]) WITH ORDINALITY AS listed (shop, product, place)
         CROSS JOIN LATERAL (SELECT * FROM vectors
                             WHERE shop_id = listed.shop AND product_id = listed.product LIMIT 1) v
         CROSS JOIN LATERAL (SELECT title, description FROM products
                             WHERE shop_id = listed.shop AND id = listed.product LIMIT 1) p
         WHERE v.model IS DISTINCT FROM $3 OR v.encoder = ANY($4) ORDER BY listed.place";
    /// Background: the number of both.
    UNEMBEDDED_COUNT =
        "SELECT (SELECT count(*) FROM vectors WHERE model IS NULL)
              + (SELECT count(*) FROM vectors WHERE model < $1)
              + (SELECT count(*) FROM vectors WHERE model > $1)
              + (SELECT count(*) FROM vectors WHERE model = $1 AND encoder = ANY($2))";

    /// Leases texts that no other node has leased, and returns their positions in the list. A lease
    /// lasts until the end of the transaction.
    LEASE =
        "SELECT place FROM unnest($1::int[]) WITH ORDINALITY AS waiting (key, place)
         WHERE pg_try_advisory_xact_lock(1397247056, key) LIMIT $2";
    /// For the operator: vectors by model and encoder.
    VECTOR_COUNTS =
        "SELECT model, encoder, count(*) FROM vectors WHERE model IS NOT NULL
         GROUP BY model, encoder ORDER BY model, encoder";
    /// For the operator: the size of the database.
    SIZE = "SELECT pg_database_size(current_database())";

    /// The response stored under an idempotency key.
    STORED_RESPONSE = "SELECT fingerprint, answer FROM idempotency_keys
              WHERE shop_id = $1 AND key = $2 AND created_at >= $3";
    /// Stores a response under an idempotency key.
    STORE_RESPONSE =
        "INSERT INTO idempotency_keys (shop_id, key, fingerprint, answer, created_at)
         VALUES ($1, $2, $3, $4, $5)
         ON CONFLICT (shop_id, key) DO UPDATE SET fingerprint = excluded.fingerprint,
             answer = excluded.answer, created_at = excluded.created_at";
    /// Removes a batch of expired responses, and returns how many, and when the last was stored; rows
    /// that another node is removing are skipped. All before $3 were removed before: as long as
    /// another transaction may see them, their index entries remain, and would all be read again.
    REMOVE_KEYS =
        "WITH removed AS (
             DELETE FROM idempotency_keys WHERE (shop_id, key) IN (
                 SELECT shop_id, key FROM idempotency_keys
                 WHERE created_at >= $3 AND created_at < $1
                 ORDER BY created_at LIMIT $2 FOR UPDATE SKIP LOCKED
             ) RETURNING created_at
         ) SELECT count(*), coalesce(max(created_at), $3) FROM removed";
    /// The next shops with more change records than are kept, and up to which they were removed.
    SHOPS_WITH_OLD_CHANGES =
        "SELECT s.shop_id, s.last_seq, coalesce(r.removed_to, 0)
         FROM shops s LEFT JOIN removed_changes r ON r.shop_id = s.shop_id
         WHERE s.shop_id > $1 AND s.last_seq > $2 ORDER BY s.shop_id LIMIT $3";
    /// Removes a batch of the oldest change records of a shop, up to a sequence number, and returns
    /// how many, and the last. The numbers have no gaps. All up to $4 were removed before: as long as
    /// another transaction may see them, their index entries remain, and would all be read again.
    REMOVE_CHANGES =
        "WITH removed AS (
             DELETE FROM changes WHERE shop_id = $1 AND seq > $4 AND seq <= $2
                 AND seq < (SELECT min(seq) FROM changes WHERE shop_id = $1 AND seq > $4) + $3
             RETURNING seq, is_vector
         ), noted AS (
             INSERT INTO removed_changes (shop_id, removed_to)
             SELECT $1, max(seq) FROM removed WHERE NOT is_vector HAVING max(seq) IS NOT NULL
             ON CONFLICT (shop_id) DO UPDATE SET
                 removed_to = greatest(removed_changes.removed_to, excluded.removed_to)
         ) SELECT count(*), coalesce(max(seq), $4) FROM removed";

    /// The next token id.
    NEXT_TOKEN_ID = "SELECT nextval('token_ids')";
    /// Inserts a token.
    INSERT_TOKEN =
        "INSERT INTO tokens (id, shop_id, role, name, secret_hash, created_at, expires_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7)";
    /// Revokes a token.
    REVOKE_TOKEN = "UPDATE tokens SET revoked_at = $3
                    WHERE id = $1 AND shop_id = $2 AND revoked_at IS NULL";
    /// Tokens by their ids. The shop is part of the result, so it cannot be a parameter.
    TOKENS_WITH_IDS = "SELECT id, shop_id, role, name, secret_hash, created_at, expires_at, revoked_at
                       FROM tokens WHERE id = ANY($1)";
    /// The tokens of a shop after an id.
    TOKENS = "SELECT id, shop_id, role, name, secret_hash, created_at, expires_at, revoked_at
              FROM tokens WHERE shop_id = $1 AND id > $2 ORDER BY id LIMIT $3";
    /// For the operator: the tokens of all shops after an id.
    ALL_TOKENS = "SELECT id, shop_id, role, name, secret_hash, created_at, expires_at, revoked_at
                  FROM tokens WHERE id > $1 ORDER BY id LIMIT $2";
    /// A page of the tokens of a shop.
    TOKEN_PAGE = "SELECT id, shop_id, role, name, secret_hash, created_at, expires_at, revoked_at
                  FROM tokens WHERE shop_id = $1 ORDER BY id LIMIT $2 OFFSET $3";
    /// The number of tokens of a shop.
    TOKEN_COUNT = "SELECT count(*) FROM tokens WHERE shop_id = $1";
    /// The number of tokens of a shop that work, up to a limit.
    WORKING_TOKENS =
        "SELECT count(*) FROM (
             SELECT 1 FROM tokens WHERE shop_id = $1 AND least(revoked_at, expires_at) IS NULL
             UNION ALL
             SELECT 1 FROM tokens WHERE shop_id = $1 AND least(revoked_at, expires_at) > $2
             LIMIT $3
         ) working";
    /// Removes a few of the oldest tokens of a shop that have ended, beyond the newest.
    REMOVE_ENDED_TOKENS =
        "DELETE FROM tokens WHERE shop_id = $1 AND id IN (
             SELECT id FROM tokens WHERE shop_id = $1 AND least(revoked_at, expires_at) <= $2
             ORDER BY least(revoked_at, expires_at) DESC LIMIT 10 OFFSET $3
         )";
    /// Removes a batch of tokens that ended some time ago, and returns how many, and when the last
    /// ended; rows that another node is removing are skipped. All before $3 were removed before, see
    /// `REMOVE_KEYS`.
    REMOVE_TOKENS =
        "WITH removed AS (
             DELETE FROM tokens WHERE id IN (
                 SELECT id FROM tokens
                 WHERE least(revoked_at, expires_at) >= $3 AND least(revoked_at, expires_at) < $1
                 ORDER BY least(revoked_at, expires_at) LIMIT $2 FOR UPDATE SKIP LOCKED
             ) RETURNING least(revoked_at, expires_at) AS ended_at
         ) SELECT count(*), coalesce(max(ended_at), $3) FROM removed";

    /// Bulk load: the last product of a shop.
    LAST_PRODUCT = "SELECT max(id) FROM products WHERE shop_id = $1";
    /// Bulk load: inserts a shop.
    LOADED_SHOP =
        "INSERT INTO shops (shop_id, product_count, visible_count, last_seq, stored_bytes,
                            attribute_names)
         VALUES ($1, $2, $3, $4, $5, $6)
         ON CONFLICT (shop_id) DO UPDATE SET product_count = excluded.product_count,
             visible_count = excluded.visible_count, last_seq = excluded.last_seq,
             stored_bytes = excluded.stored_bytes, attribute_names = excluded.attribute_names";
    /// Bulk load: removes the attribute names of an interrupted one.
    CLEAR_NAMES = "DELETE FROM attribute_names WHERE shop_id = $1";
    /// Bulk load: change records are not loaded.
    LOADED_CHANGES = "INSERT INTO removed_changes (shop_id, removed_to) VALUES ($1, $2)
                      ON CONFLICT (shop_id) DO UPDATE SET removed_to = excluded.removed_to";
    /// Bulk load: inserts a token.
    LOADED_TOKEN =
        "INSERT INTO tokens (id, shop_id, role, name, secret_hash, created_at, expires_at,
                             revoked_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (id) DO NOTHING";
    /// Health check.
    CHECK = "SELECT version FROM schema_version";
}

#[cfg(test)]
mod tests {
    use super::{
        super::{Postgres, search::statements as search},
        *,
    };
    use crate::testing::settings;

    /// Statements that do not name the shop, with the reason.
    const WITHOUT_A_SHOP: &[(Sql, &str)] = &[
        (SHOPS, "start-up: which shops are there?"),
        (search::LARGE_SHOPS, "background: whichever shop is large"),
        (NEXT_PRODUCT_IDS, "a sequence: numbers that are unique over all shops"),
        (NEXT_TOKEN_ID, "a sequence"),
        (UNEMBEDDED, "background: whichever shop has work"),
        (EMBEDDED_OTHERWISE, "background: whichever shop has work"),
        (STILL_UNEMBEDDED, "background: the shop of each product is a parameter"),
        (UNEMBEDDED_COUNT, "background: a figure over all shops"),
        (USAGE, "the operator's figures"),
        (LEASE, "locks on numbers, no tables"),
        (VECTOR_COUNTS, "the operator's figures"),
        (SIZE, "the operator's figures"),
        (REMOVE_KEYS, "background: expired keys of any shop"),
        (REMOVE_TOKENS, "background: tokens of any shop that ended"),
        (SHOPS_WITH_OLD_CHANGES, "background: whichever shop has old changes"),
        (TOKENS_WITH_IDS, "tokens are a reference table; the shop is part of the result"),
        (ALL_TOKENS, "the operator's list"),
        (CHECK, "says nothing of shops"),
    ];

    /// The text on one line, with single spaces.
    fn plain(sql: Sql) -> String {
        sql.text().split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Whether the statement is restricted to the one shop that its first parameter names.
    fn names_the_shop(text: &str) -> bool {
        let reads_one_shop = ["shop_id = $1", "shop_id = $2", "shop_id = ANY($1)"]
            .iter()
            .any(|names| text.contains(names));
        let writes_one_shop = text.starts_with("INSERT INTO")
            && text.contains("(shop_id")
            && (text.contains("VALUES ($1") || text.contains("SELECT $1,"));
        let writes_a_token = text.starts_with("INSERT INTO tokens (id, shop_id,");
        !text.contains(" OR ") && (reads_one_shop || writes_one_shop || writes_a_token)
    }

    #[test]
    fn every_statement_names_the_shop() {
        for sql in ALL.iter().chain(search::ALL) {
            let excused = WITHOUT_A_SHOP.iter().any(|(excused, _)| excused == sql);
            let text = plain(*sql);
            assert_ne!(names_the_shop(&text), excused, "{}: {text}", sql.name());
        }
    }

    /// A node follows every write. What that reads must not grow with the shop.
    #[test]
    fn few_changes_are_read_without_reading_the_shop() {
        let server = testkit::postgres();
        let url = server.database();
        let database = url.rsplit('/').next().unwrap();
        Postgres::new(&settings(&url)).unwrap().migrate().unwrap();
        let plan = server.psql(
            database,
            &format!(
                "INSERT INTO products SELECT 1, n, 'Lamp', '', '$1', false, '[]', 0, 0, n
                     FROM generate_series(1, 20000) n;
                 INSERT INTO changes SELECT 1, n, n, false FROM generate_series(1, 20000) n;
                 INSERT INTO vectors SELECT 1, n, n FROM generate_series(1, 20000) n;
                 ANALYZE;
                 SET plan_cache_mode = force_generic_plan;
                 PREPARE changes_since (bigint, bigint, text) AS {};
                 EXPLAIN EXECUTE changes_since (1, 19990, 'model')",
                CHANGES_SINCE.text()
            ),
        );
        for table in ["products", "changes", "vectors"] {
            let reads = |scan: &str| plan.contains(&format!("{scan} on {table} "));
            let reads_all = reads("Seq Scan") || reads("Bitmap Heap Scan");
            assert!(plan.contains(&format!(" on {table} ")) && !reads_all, "{plan}");
        }
    }

    /// Every table inside of a statement is restricted to that shop.
    #[test]
    fn every_part_of_a_statement_names_the_shop() {
        let all = ALL.iter().chain(search::ALL);
        for sql in all.filter(|sql| WITHOUT_A_SHOP.iter().all(|(other, _)| other != *sql)) {
            let text = plain(*sql);
            let tables = [
                "shops",
                "products",
                "changes",
                "removed_changes",
                "vectors",
                "idempotency_keys",
                "tokens",
                "search_rows",
                "search_words",
                "attribute_names",
            ];
            let used: usize = tables
                .iter()
                .map(|table| {
                    text.matches(&format!("FROM {table} ")).count()
                        + text.matches(&format!("UPDATE {table} ")).count()
                })
                .sum();
            let named = ["shop_id = $1", "shop_id = $2", "shop_id = ANY($1)"]
                .iter()
                .map(|names| text.matches(names).count())
                .sum::<usize>();
            assert!(named >= used, "{}: {used} tables, {named} shops: {text}", sql.name());
        }
    }
}
