//! SQL statements for shops that are searched inside PostgreSQL.
//!
//! `search_rows` holds the columns that filters, orders, facets and text queries are evaluated on.
//! `search_words` holds the document frequency of each word, and how many of these documents are
//! hidden. Both tables hold rows of large shops only.

use std::{collections::HashMap, sync::LazyLock};

use parking_lot::Mutex;

use super::super::statements::Sql;

/// Placeholder for the number of dimensions in the text of a statement.
const DIMS: &str = "(DIMS)";

impl Sql {
    /// The statement for vectors with `dims` dimensions: the type of an indexed vector column
    /// includes them, so they cannot be a parameter.
    pub(super) fn with_dims(self, dims: usize) -> Self {
        // A process uses one model, so the cache holds a few texts at most.
        static TEXTS: LazyLock<Mutex<HashMap<(&'static str, usize), &'static str>>> =
            LazyLock::new(Mutex::default);
        let text = *TEXTS.lock().entry((self.name, dims)).or_insert_with(|| {
            Box::leak(self.text.replace(DIMS, &format!("({dims})")).into_boxed_str())
        });
        Self { text, ..self }
    }
}

/// The filter of a search: $1 the shop, $2 whether hidden products are included, $3 and $4 the
/// lowest and highest amount, $5 the currencies (null: any), $6 a text query for the exclusions
/// (null: none), $7 products that pass it whatever their words, $8 a query on labels (null: any),
/// $9 to $11 excluded prices (null: none), $12 a text query (null: any). Values are constants to
/// the planner, so what a null switches off is not part of the plan.
macro_rules! filter {
    () => {
        concat!(
            filter!(any text),
            "AND CASE WHEN $12::text IS NULL THEN true ELSE s.words @@ $12::text::tsquery END "
        )
    };
    (any text) => {
        // Without $12.
        concat!(
            filter!("s.amount", "s.currency"),
            "AND CASE WHEN $8::text IS NULL THEN true ELSE s.labels @@ $8::text::tsquery END "
        )
    };
    (of one) => {
        // Without $12, and evaluated for one product at a time: the expressions keep the planner
        // from any index but the primary key.
        concat!(
            filter!("(s.amount + 0)", "(s.currency || '')"),
            "AND coalesce(s.labels @@ $8::text::tsquery, true) "
        )
    };
    ($amount:literal, $currency:literal) => {
        concat!(
            "s.shop_id = $1 AND s.hidden <= $2 AND ",
            $amount,
            " >= $3::text::numeric AND ",
            $amount,
            " <= $4::text::numeric AND ",
            $currency,
            " = ANY(coalesce($5::text[], ARRAY[s.currency]))
              AND CASE WHEN $6::text IS NULL THEN true WHEN s.words @@ $6::text::tsquery THEN true
                       ELSE s.product_id = ANY($7::bigint[]) END
              AND CASE WHEN $9::text[] IS NULL THEN true ELSE NOT EXISTS (
                      SELECT FROM unnest($9::text[], $10::text[], $11::text[])
                          AS x (lowest, highest, currency)
                      WHERE s.amount >= x.lowest::numeric AND s.amount <= x.highest::numeric
                          AND s.currency = coalesce(x.currency, s.currency)
                  ) END "
        )
    };
}

/// The document frequency of a word among the visible products.
macro_rules! doc_freq {
    () => {
        "(products - CASE WHEN $2::boolean THEN 0 ELSE hidden_products END)"
    };
}

/// A page of the products that pass the filter, in an order.
macro_rules! page_in_order {
    ($($order:tt)+) => {
        concat!(
            "SELECT s.product_id FROM search_rows s WHERE ",
            filter!(),
            "ORDER BY ",
            $($order)+,
            "s.product_id LIMIT $13 OFFSET $14"
        )
    };
}

/// The number that a product has as the attribute $15; null if it has none.
macro_rules! number {
    () => {
        "CASE jsonb_typeof(s.attributes -> $15::text) WHEN 'number'
              THEN (s.attributes ->> $15::text)::numeric END"
    };
}

/// Whether more than $21 products pass the filter, or $21 is null.
macro_rules! are_many {
    () => {
        "coalesce((SELECT count(*) FROM few) > $21::bigint, true) "
    };
}

/// The contribution of the words $17 with these numbers to the lexical score, with their weights $18.
/// Words are constants to the planner, so missing ones cost nothing.
macro_rules! word_scores {
    ($($number:literal)+) => {
        concat!($(
            "+ CASE WHEN ($17::text[])[", $number, "] IS NULL THEN 0 ELSE ($18::real[])[", $number,
            "] * ts_rank(f.weights, f.words, ($17::text[])[", $number, "]::tsquery) END "
        ),+)
    };
}

/// At most $15 of the products that pass the filter and match a text query (null: none), with their
/// lexical scores, if the conditions `$only_if` hold.
///
/// The formula approximates that of `catalog::ranking::bm25f` with what a tsvector holds: `ts_rank` of a
/// word adds up its occurrences with decreasing weight. The weight of a field is the score of a
/// single occurrence in it. Variants of one term all count. $19 has the constants and the average
/// field lengths.
macro_rules! scored {
    ($text:literal, $($only_if:tt)+) => {
        concat!(
            "SELECT f.product_id, 0 ", word_scores!(1 2 3 4 5 6 7 8 9 10 11 12), "AS score FROM (
                 SELECT s.product_id, s.words, ARRAY[
                     ($19::real[])[2] / (($19::real[])[2]
                         + ($19::real[])[3] + ($19::real[])[4] * s.description_words),
                     0,
                     ($19::real[])[1],
                     ($19::real[])[5] / (($19::real[])[5]
                         + ($19::real[])[6] + ($19::real[])[7] * s.title_words)
                 ]::real[] AS weights
                 FROM search_rows s WHERE ", filter!(any text),
            "    AND s.words @@ ", $text, "::text::tsquery AND ", $($only_if)+,
            "    LIMIT $15
             ) f "
        )
    };
}

/// What scoring needs of the products with these ids, with their vectors of one model.
macro_rules! candidate_rows {
    ($ids:literal, $model:literal) => {
        concat!(
            "SELECT p.id, p.version, p.hidden, p.price, p.title, p.description, v.scale, v.vector,
                    v.deep, p.key, p.attributes, p.inferred
             FROM products p LEFT JOIN LATERAL (
                 SELECT scale, vector, deep FROM vectors
                 WHERE shop_id = $1 AND product_id = p.id AND model || '' = ",
            $model,
            " OFFSET 0
             ) v ON true
             WHERE p.shop_id = $1 AND p.id = ANY(",
            $ids,
            ")"
        )
    };
}

statements! {
    /// Where a shop is searched, and its corpus statistics.
    SHOP_STATISTICS = "SELECT last_seq, search_state, product_count, title_words, description_words,
                            product_count - visible_count, hidden_title_words,
                            hidden_description_words, search_inference
                     FROM shops WHERE shop_id = $1";
    /// Shops with more products than $1, and all that have search rows (background).
    LARGE_SHOPS = "SELECT shop_id, product_count, search_state FROM shops
                   WHERE product_count > $1::bigint * (1 - least(search_state, 1))
                   ORDER BY product_count DESC, shop_id";
    /// Locks a shop until the commit and returns the progress of its backfill.
    LOCK_FOR_BACKFILL = "SELECT search_state, search_filled_to, search_inference, search_inferred_to
                         FROM shops WHERE shop_id = $1 FOR UPDATE";
    /// Sets where a shop is searched, and the progress of its backfill.
    SET_SEARCH_STATE = "UPDATE shops SET search_state = $2, search_filled_to = $3 WHERE shop_id = $1";
    /// Sets the version of the inference that the search rows of a shop are made with, and the
    /// progress of making them again.
    SET_SEARCH_INFERENCE = "UPDATE shops SET search_inference = $2, search_inferred_to = $3
                            WHERE shop_id = $1";
    /// Resets the length statistics of a shop without search rows.
    RESET_LENGTHS = "UPDATE shops SET title_words = 0, description_words = 0,
                                       hidden_title_words = 0, hidden_description_words = 0
                      WHERE shop_id = $1";
    /// Removes the search rows of a shop.
    DELETE_ALL_SEARCH_ROWS = "DELETE FROM search_rows WHERE shop_id = $1";
    /// Removes the word statistics of a shop.
    DELETE_ALL_SEARCH_WORDS = "DELETE FROM search_words WHERE shop_id = $1";
    /// The next products of a backfill, by ascending id.
    NEXT_PRODUCTS = concat!("SELECT ", product_columns!(), " FROM products p
                             WHERE p.shop_id = $1 AND p.id > $2 ORDER BY p.id LIMIT $3");

    /// Updates document frequencies: subtracts the words of the products' old rows, adds the words
    /// $3, each with how many products $4 and hidden products $5 contain it.
    UPDATE_DOC_FREQS =
        "INSERT INTO search_words (shop_id, word, products, hidden_products)
         SELECT $1, changed.word, sum(changed.products), sum(changed.hidden) FROM (
             SELECT old.word, -1 AS products, -s.hidden::integer AS hidden
             FROM search_rows s CROSS JOIN LATERAL unnest(tsvector_to_array(s.words)) AS old (word)
             WHERE s.shop_id = $1 AND s.product_id = ANY($2)
             UNION ALL
             SELECT new.word, new.products, new.hidden
             FROM unnest($3::text[], $4::integer[], $5::integer[]) AS new (word, products, hidden)
         ) changed
         GROUP BY changed.word
         HAVING (sum(changed.products), sum(changed.hidden)) <> (0, 0)
         ORDER BY changed.word
         ON CONFLICT (shop_id, word) DO UPDATE
             SET products = search_words.products + excluded.products,
                 hidden_products = search_words.hidden_products + excluded.hidden_products";
    /// Updates the sums of field lengths: subtracts those of the products' old rows, adds $3 to $6.
    UPDATE_LENGTHS =
        "UPDATE shops SET
             title_words = shops.title_words + $3 - old.title,
             description_words = shops.description_words + $4 - old.description,
             hidden_title_words = shops.hidden_title_words + $5 - old.hidden_title,
             hidden_description_words =
                 shops.hidden_description_words + $6 - old.hidden_description
         FROM (SELECT coalesce(sum(title_words), 0) AS title,
                      coalesce(sum(description_words), 0) AS description,
                      coalesce(sum(title_words) FILTER (WHERE hidden), 0) AS hidden_title,
                      coalesce(sum(description_words) FILTER (WHERE hidden), 0)
                          AS hidden_description
               FROM search_rows WHERE shop_id = $1 AND product_id = ANY($2)) old
         WHERE shops.shop_id = $1";
    /// Inserts or replaces search rows.
    UPSERT_SEARCH_ROWS =
        "INSERT INTO search_rows (shop_id, product_id, hidden, amount, currency, title_words,
                                  description_words, words, labels, attributes)
         SELECT $1, id, hidden, amount::numeric, currency, title_words, description_words,
                words::tsvector, labels::tsvector, attributes::jsonb
         FROM unnest($2::bigint[], $3::boolean[], $4::text[], $5::text[], $6::integer[],
                     $7::integer[], $8::text[], $9::text[], $10::text[])
              AS new (id, hidden, amount, currency, title_words, description_words, words, labels,
                      attributes)
         ON CONFLICT (shop_id, product_id) DO UPDATE SET
             hidden = excluded.hidden, amount = excluded.amount, currency = excluded.currency,
             title_words = excluded.title_words, description_words = excluded.description_words,
             words = excluded.words, labels = excluded.labels, attributes = excluded.attributes";
    /// Removes the search rows of deleted products.
    DELETE_SEARCH_ROWS = "DELETE FROM search_rows WHERE shop_id = $1 AND product_id = ANY($2)";

    /// Document frequencies of words among the visible products.
    DOC_FREQS = concat!("SELECT word, ", doc_freq!(), " FROM search_words
                           WHERE shop_id = $1 AND ", doc_freq!(), " > 0 AND word = ANY($3)");
    /// Words similar to another by trigrams, most similar first.
    SIMILAR_WORDS = concat!("SELECT word, ", doc_freq!(), " FROM search_words
                          WHERE shop_id = $1 AND ", doc_freq!(), " > 0 AND word % $3
                          ORDER BY similarity(word, $3) DESC, word LIMIT $4");
    /// Words in a range; the upper end is exclusive.
    WORDS_IN_RANGE = concat!("SELECT word, ", doc_freq!(), " FROM search_words
                             WHERE shop_id = $1 AND ", doc_freq!(), " > 0 AND word >= $3 AND word < $4
                             ORDER BY word LIMIT $5");
    /// Words that match any of these patterns.
    WORDS_LIKE = concat!("SELECT word, ", doc_freq!(), " FROM search_words
                         WHERE shop_id = $1 AND ", doc_freq!(), " > 0 AND word LIKE ANY ($3)
                         ORDER BY word LIMIT $4");
    /// How many visible products match a text query, up to a limit.
    COUNT_MATCHING = "SELECT count(*) FROM (
                  SELECT FROM search_rows s
                  WHERE s.shop_id = $1 AND s.hidden <= $2 AND s.words @@ $3::text::tsquery LIMIT $4
              ) few";

    /// How many products pass the filter.
    COUNT_FILTERED = concat!("SELECT count(*) FROM search_rows s WHERE ", filter!());
    /// How many products that pass the filter have a price in each currency, the most frequent
    /// first; the currency of those without a price is empty.
    COUNT_CURRENCIES = concat!(
        "SELECT s.currency, count(*) FROM search_rows s WHERE ", filter!(),
        "GROUP BY s.currency ORDER BY count(*) DESC, s.currency");
    /// How many of the newest $13 products that pass the filter have each value of the attributes
    /// $14: name, type of the value, value and number. The type of a missing value is `null`.
    COUNT_VALUES = concat!(
        "SELECT a.name, jsonb_typeof(v.value), v.value #>> '{}', count(*)
         FROM (SELECT s.attributes FROM search_rows s WHERE ", filter!(),
        "      ORDER BY s.product_id DESC LIMIT $13) f
             CROSS JOIN unnest($14::text[]) AS a (name)
             CROSS JOIN LATERAL jsonb_array_elements(
                 CASE jsonb_typeof(f.attributes -> a.name) WHEN 'array' THEN f.attributes -> a.name
                      ELSE jsonb_build_array(f.attributes -> a.name) END
             ) AS v (value)
         GROUP BY a.name, v.value");
    /// How many of the newest $13 products that pass the filter have each price.
    COUNT_PRICES = concat!(
        "SELECT f.currency, f.amount::text, count(*)
         FROM (SELECT s.currency, s.amount FROM search_rows s WHERE ", filter!(),
        "      ORDER BY s.product_id DESC LIMIT $13) f
         WHERE f.currency <> '' GROUP BY f.currency, f.amount");
    /// A page by ascending price.
    CHEAPEST = page_in_order!("s.amount, ");
    /// A page by descending price.
    MOST_EXPENSIVE = page_in_order!("s.amount DESC, ");
    /// A page by ascending id.
    OLDEST = page_in_order!("");
    /// A page by descending id.
    NEWEST = concat!("SELECT s.product_id FROM search_rows s WHERE ", filter!(),
                     "ORDER BY s.product_id DESC LIMIT $13 OFFSET $14");
    /// A page by ascending attribute.
    LEAST_FIRST = page_in_order!(concat!(number!(), " NULLS LAST, "));
    /// A page by descending attribute.
    GREATEST_FIRST = page_in_order!(concat!(number!(), " DESC NULLS LAST, "));
    /// The candidates of a search by terms, in one round trip. If at most $21 products pass the
    /// filter, all of them; otherwise the best $16 by lexical score among those that match the text
    /// queries $12 to $14 (null: none), and the nearest $16 to the vector $20 (null: none); in both
    /// cases the products $22. The last column tells which, in one row at least. A text query is
    /// evaluated if those before it found fewer than $16. $24 tells that every product passes the
    /// filter, so that the nearest need not be looked up to know.
    /// See [`Sql::with_dims`].
    SELECT_CANDIDATES = concat!(
        "WITH few AS MATERIALIZED (
             SELECT s.product_id FROM search_rows s WHERE ", filter!(any text),
        "    AND $21::bigint IS NOT NULL LIMIT $21::bigint + 1
         ), first AS MATERIALIZED (", scored!("$12", are_many!()),
        "), second AS MATERIALIZED (", scored!("$13",
             are_many!(), "AND (SELECT count(*) FROM first) < $16 "),
        "), third AS MATERIALIZED (", scored!("$14",
             are_many!(), "AND (SELECT count(*) FROM first) + (SELECT count(*) FROM second) < $16 "),
        "), best AS (
             SELECT m.product_id FROM (
                 TABLE first UNION ALL TABLE second UNION ALL TABLE third
             ) m ORDER BY m.score DESC NULLS LAST, m.product_id LIMIT $16
         ), nearest AS (
             SELECT v.product_id FROM vectors v
             WHERE v.shop_id = $1 AND v.model = $23 AND $20::text IS NOT NULL AND ", are_many!(),
        "        AND CASE WHEN $24 THEN true ELSE EXISTS (
                     SELECT FROM search_rows s WHERE s.product_id = v.product_id AND ",
                         filter!(of one),
        "            OFFSET 0
                 ) END
             ORDER BY v.vector::halfvec(DIMS) <=> $20::text::halfvec(DIMS) LIMIT $16
         )
         SELECT c.*, NOT ", are_many!(), "FROM (SELECT) one LEFT JOIN (", candidate_rows!(
            "ARRAY(SELECT product_id FROM few WHERE (SELECT count(*) FROM few) <= $21::bigint
                   UNION SELECT product_id FROM best UNION SELECT product_id FROM nearest
                   UNION SELECT unnest($22::bigint[]))", "$23"),
        ") c ON true ORDER BY c.id");
    /// The products nearest to a vector, see [`Sql::with_dims`].
    NEAREST = concat!(
        "SELECT v.product_id FROM vectors v CROSS JOIN LATERAL (
             SELECT FROM search_rows s WHERE s.product_id = v.product_id AND ", filter!(of one),
        "    OFFSET 0
         ) filtered
         WHERE v.shop_id = $1 AND v.model = $13
         ORDER BY v.vector::halfvec(DIMS) <=> $14::text::halfvec(DIMS) LIMIT $12");
    /// The visible product with a key.
    WITH_KEY = "SELECT id FROM products WHERE shop_id = $1 AND hidden <= $2 AND key = $3";
    /// What scoring needs of products, with their vectors of one model.
    CANDIDATES = concat!(candidate_rows!("$3", "$2"), " ORDER BY p.id");
}
