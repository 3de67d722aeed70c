//! What is the database asked? Every statement there is, so that one test can look at them all.
//!
//! Every statement names the shop, which is what lets the tables be spread over machines by
//! shop. The few that cannot are marked with why.

/// One of the statements below; nothing else can be prepared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Sql {
    pub(super) name: &'static str,
    pub(super) text: &'static str,
}

impl Sql {
    /// What the code calls it.
    pub(super) fn name(self) -> &'static str {
        self.name
    }

    /// What the database is told.
    pub(super) fn text(self) -> &'static str {
        self.text
    }
}

macro_rules! statements {
    ($( $(#[doc = $doc:literal])+ $name:ident = $text:expr; )+) => {
        $(
            $(#[doc = $doc])+
            pub(in crate::store::postgres) const $name: Sql = Sql { name: stringify!($name), text: $text };
        )+

        /// All of them.
        #[cfg(test)]
        pub(in crate::store::postgres) const ALL: &[Sql] = &[$( $name ),+];
    };
}

/// The columns of a product, in the order `rows::read` expects them.
macro_rules! product_columns {
    () => {
        "p.id, p.shop_id, p.title, p.description, p.price, p.hidden, p.media, p.created_at,
         p.updated_at, p.version"
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
    /// Waits for whoever writes to the shop, and holds the shop until the commit.
    /// The last value is the stamp of whatever the transaction changes.
    LOCK_SHOP = "SELECT last_seq, next_product_id, product_ids_end, search_state, last_stamp,
                     (random() * 9007199254740991)::bigint
                 FROM shops WHERE shop_id = $1 FOR UPDATE";
    /// A shop that nobody has written to before.
    INSERT_SHOP = "INSERT INTO shops (shop_id, search_state) VALUES ($1, $2)
                   ON CONFLICT (shop_id) DO NOTHING";
    /// What a transaction did to a shop.
    UPDATE_SHOP = "UPDATE shops SET last_seq = $2, next_product_id = $3, product_ids_end = $4,
                       product_count = product_count + $5, visible_count = visible_count + $6,
                       last_stamp = $7
                   WHERE shop_id = $1";
    /// The numbers and counts of a shop.
    SHOP = "SELECT last_seq, product_count, visible_count FROM shops WHERE shop_id = $1";
    /// Every shop, at start-up.
    SHOPS = "SELECT shop_id, product_count, visible_count FROM shops
             WHERE product_count > 0 ORDER BY product_count DESC, shop_id";
    /// The next product numbers that no shop has.
    NEXT_PRODUCT_IDS = "SELECT nextval('product_id_blocks')";

    /// Products by their numbers.
    PRODUCTS = concat!("SELECT ", product_columns!(), " FROM products p
                        WHERE p.shop_id = $1 AND p.id = ANY($2)");
    /// The texts of products.
    TEXTS = "SELECT id, title, description FROM products WHERE shop_id = $1 AND id = ANY($2)";
    /// A page of everything.
    PAGE = page!("");
    /// A page of what is not hidden.
    VISIBLE_PAGE = page!("AND NOT hidden");
    /// All that an index needs to know, with the vectors of one model, and what else a copy needs.
    SCAN = "SELECT p.id, p.version, p.hidden, p.price, p.title, p.description, v.scale, v.vector,
                p.media, p.created_at, p.updated_at
            FROM products p LEFT JOIN vectors v
                ON v.shop_id = $1 AND v.product_id = p.id AND v.model = $2
            WHERE p.shop_id = $1 ORDER BY p.id";
    /// All products of a shop.
    EVERY_PRODUCT = concat!("SELECT ", product_columns!(), " FROM products p
                             WHERE p.shop_id = $1 ORDER BY p.id");
    /// New and changed products. A conflict is a product that was there before.
    UPSERT_PRODUCTS =
        "INSERT INTO products (shop_id, id, title, description, price, hidden, media, created_at,
                               updated_at, version)
         SELECT $1, * FROM unnest($2::bigint[], $3::text[], $4::text[], $5::text[], $6::boolean[],
                                  $7::text[], $8::bigint[], $9::bigint[], $10::bigint[])
         ON CONFLICT (shop_id, id) DO UPDATE SET
             title = excluded.title, description = excluded.description, price = excluded.price,
             hidden = excluded.hidden, media = excluded.media, updated_at = excluded.updated_at,
             version = excluded.version";
    /// Products that are gone.
    DELETE_PRODUCTS = "DELETE FROM products WHERE shop_id = $1 AND id = ANY($2)";

    /// The record of changes.
    INSERT_CHANGES =
        "INSERT INTO changes (shop_id, seq, product_id, deleted, stamp)
         SELECT $1, new.*, $5::bigint FROM unnest($2::bigint[], $3::bigint[], $4::boolean[]) new";
    /// How far a shop has come, and what the products that changed lately are now, with the first
    /// change of each; and the stamps of the change that was asked from and of the last one. One
    /// statement sees one state.
    CHANGES_SINCE = concat!("SELECT s.last_seq, c.product_id, c.first_seq, c.last_seq, v.scale,
            v.vector, ", product_columns!(), ",
            (SELECT stamp FROM changes WHERE shop_id = $1 AND seq = $2),
            (SELECT stamp FROM changes WHERE shop_id = $1 AND seq = s.last_seq)
        FROM shops s
        LEFT JOIN (SELECT product_id, min(seq) AS first_seq, max(seq) AS last_seq
                   FROM changes WHERE shop_id = $1 AND seq > $2 GROUP BY product_id) c ON true
        LEFT JOIN products p ON p.shop_id = $1 AND p.id = c.product_id
        LEFT JOIN vectors v ON v.shop_id = $1 AND v.product_id = c.product_id AND v.model = $3
        WHERE s.shop_id = $1 ORDER BY c.last_seq");
    /// How far the shops in memory have come.
    POSITIONS = "SELECT s.shop_id, s.last_seq, c.stamp
                 FROM shops s LEFT JOIN changes c ON c.shop_id = s.shop_id AND c.seq = s.last_seq
                 WHERE s.shop_id = ANY($1)";
    /// Wakes the nodes that hold the shop in memory, once the commit is done.
    NOTIFY = "SELECT pg_notify('shopkeeper_changes', $1::bigint || ':' || $2::bigint)
              FROM shops WHERE shop_id = $1";

    /// Room for the vectors of new texts, with the vector where it is known already.
    UPSERT_VECTORS =
        "INSERT INTO vectors (shop_id, product_id, version, model, encoder, scale, vector)
         SELECT $1, id, version, model, encoder, scale, vector::halfvec
         FROM unnest($2::bigint[], $3::bigint[], $4::text[], $5::text[], $6::real[], $7::text[])
              AS new (id, version, model, encoder, scale, vector)
         ON CONFLICT (shop_id, product_id) DO UPDATE SET
             version = excluded.version, model = excluded.model, encoder = excluded.encoder,
             scale = excluded.scale, vector = excluded.vector";
    /// A vector for the text that it was made of, and no other.
    PUT_VECTOR =
        "UPDATE vectors SET model = $4, encoder = $5, scale = $6, vector = $7::text::halfvec
         WHERE shop_id = $1 AND product_id = $2 AND version = $3";
    /// Vectors of products that are gone.
    DELETE_VECTORS = "DELETE FROM vectors WHERE shop_id = $1 AND product_id = ANY($2)";
    /// All vectors of a shop.
    SCAN_VECTORS =
        "SELECT product_id, version, model, encoder, scale, vector FROM vectors
         WHERE shop_id = $1 AND vector IS NOT NULL ORDER BY product_id";
    /// Texts without a vector, in the background.
    UNEMBEDDED =
        "SELECT v.shop_id, v.product_id, v.version, p.title, p.description
         FROM vectors v JOIN products p ON p.shop_id = v.shop_id AND p.id = v.product_id
         WHERE v.model IS NULL ORDER BY v.version DESC, v.shop_id, v.product_id LIMIT $1";
    /// Texts with a vector of another model, in the background. Each part walks an index.
    EMBEDDED_OTHERWISE =
        "SELECT v.shop_id, v.product_id, v.version, p.title, p.description FROM (
             (SELECT * FROM vectors WHERE model < $1 LIMIT $3) UNION ALL
             (SELECT * FROM vectors WHERE model > $1 LIMIT $3) UNION ALL
             (SELECT * FROM vectors WHERE model = $1 AND encoder = ANY($2) LIMIT $3)
         ) v JOIN products p ON p.shop_id = v.shop_id AND p.id = v.product_id LIMIT $3";
    /// How many of both there are, in the background.
    UNEMBEDDED_COUNT =
        "SELECT (SELECT count(*) FROM vectors WHERE model IS NULL)
              + (SELECT count(*) FROM vectors WHERE model < $1)
              + (SELECT count(*) FROM vectors WHERE model > $1)
              + (SELECT count(*) FROM vectors WHERE model = $1 AND encoder = ANY($2))";

    /// Of texts that wait, those that no other node works on, by their places in the list. Who is
    /// first has them until the end of its transaction.
    CLAIM =
        "SELECT place FROM unnest($1::int[]) WITH ORDINALITY AS waiting (key, place)
         WHERE pg_try_advisory_xact_lock(1397247056, key) LIMIT $2";
    /// Vectors by who made them, for the operator.
    VECTOR_COUNTS =
        "SELECT model, encoder, count(*) FROM vectors WHERE model IS NOT NULL
         GROUP BY model, encoder ORDER BY model, encoder";
    /// How large everything is, for the operator.
    SIZE = "SELECT pg_database_size(current_database())";

    /// The answer to a key.
    RECALL = "SELECT fingerprint, answer FROM idempotency_keys
              WHERE shop_id = $1 AND key = $2 AND created_at >= $3";
    /// Remembers an answer under a key.
    REMEMBER =
        "INSERT INTO idempotency_keys (shop_id, key, fingerprint, answer, created_at)
         VALUES ($1, $2, $3, $4, $5)
         ON CONFLICT (shop_id, key) DO UPDATE SET fingerprint = excluded.fingerprint,
             answer = excluded.answer, created_at = excluded.created_at";
    /// Removes a batch of expired answers; what another node removes is left to it.
    REMOVE_KEYS = "DELETE FROM idempotency_keys WHERE (shop_id, key) IN (
                       SELECT shop_id, key FROM idempotency_keys WHERE created_at < $1
                       ORDER BY created_at LIMIT $2 FOR UPDATE SKIP LOCKED
                   )";
    /// The next shops with more changes than are kept.
    SHOPS_WITH_OLD_CHANGES = "SELECT shop_id, last_seq FROM shops
                              WHERE shop_id > $1 AND last_seq > $2 ORDER BY shop_id LIMIT $3";
    /// Removes the oldest changes of a shop up to one of them, a batch at a time: their numbers
    /// have no gaps.
    REMOVE_CHANGES = "DELETE FROM changes WHERE shop_id = $1 AND seq <= $2
                      AND seq < (SELECT min(seq) FROM changes WHERE shop_id = $1) + $3";

    /// The next number of a token.
    NEXT_TOKEN_ID = "SELECT nextval('token_ids')";
    /// A new token.
    INSERT_TOKEN =
        "INSERT INTO tokens (id, shop_id, role, name, secret_hash, created_at, expires_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7)";
    /// A token that no longer works.
    REVOKE_TOKEN = "UPDATE tokens SET revoked_at = $3
                    WHERE id = $1 AND shop_id = $2 AND revoked_at IS NULL";
    /// Whose token it is. The shop is the answer, so it cannot be part of the question.
    TOKEN = "SELECT id, shop_id, role, name, secret_hash, created_at, expires_at, revoked_at
             FROM tokens WHERE id = $1";
    /// The tokens of a shop.
    TOKENS = "SELECT id, shop_id, role, name, secret_hash, created_at, expires_at, revoked_at
              FROM tokens WHERE shop_id = $1 ORDER BY id";
    /// The tokens of all shops, for the operator.
    ALL_TOKENS = "SELECT id, shop_id, role, name, secret_hash, created_at, expires_at, revoked_at
                  FROM tokens ORDER BY id";

    /// How far a shop that moves in has come.
    LAST_PRODUCT = "SELECT max(id) FROM products WHERE shop_id = $1";
    /// A shop that has moved in.
    ARRIVED_SHOP =
        "INSERT INTO shops (shop_id, product_count, visible_count, last_seq)
         VALUES ($1, $2, $3, $4)
         ON CONFLICT (shop_id) DO UPDATE SET product_count = excluded.product_count,
             visible_count = excluded.visible_count, last_seq = excluded.last_seq";
    /// A token that has moved in.
    ARRIVED_TOKEN =
        "INSERT INTO tokens (id, shop_id, role, name, secret_hash, created_at, expires_at,
                             revoked_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (id) DO NOTHING";
    /// Whether the database answers.
    CHECK = "SELECT version FROM schema_version";
}

#[cfg(test)]
mod tests {
    use super::{super::search::statements as search, *};

    /// Statements that do not say which shop, and why they may not.
    const WITHOUT_A_SHOP: &[(Sql, &str)] = &[
        (SHOPS, "start-up: which shops are there?"),
        (search::LARGE_SHOPS, "background: whichever shop is large"),
        (NEXT_PRODUCT_IDS, "a sequence: numbers that are unique over all shops"),
        (NEXT_TOKEN_ID, "a sequence"),
        (UNEMBEDDED, "background: whichever shop has work"),
        (EMBEDDED_OTHERWISE, "background: whichever shop has work"),
        (UNEMBEDDED_COUNT, "background: a figure over all shops"),
        (CLAIM, "locks on numbers, no tables"),
        (VECTOR_COUNTS, "the operator's figures"),
        (SIZE, "the operator's figures"),
        (REMOVE_KEYS, "background: expired keys of any shop"),
        (SHOPS_WITH_OLD_CHANGES, "background: whichever shop has old changes"),
        (TOKEN, "tokens are small and on every machine; the shop is the answer"),
        (ALL_TOKENS, "the operator's list"),
        (CHECK, "says nothing of shops"),
    ];

    /// One line, single spaces.
    fn plain(sql: Sql) -> String {
        sql.text().split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Whether the statement is about the one shop that its first value names.
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

    /// Each table that is asked about inside a statement is asked about for that shop.
    #[test]
    fn every_part_of_a_statement_names_the_shop() {
        let all = ALL.iter().chain(search::ALL);
        for sql in all.filter(|sql| WITHOUT_A_SHOP.iter().all(|(other, _)| other != *sql)) {
            let text = plain(*sql);
            let tables = [
                "shops",
                "products",
                "changes",
                "vectors",
                "idempotency_keys",
                "tokens",
                "search_rows",
                "search_words",
            ];
            let asked: usize = tables
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
            assert!(named >= asked, "{}: {asked} tables, {named} shops: {text}", sql.name());
        }
    }
}
