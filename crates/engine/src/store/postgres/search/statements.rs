//! SQL statements for shops that are searched inside PostgreSQL.
//!
//! `search_rows` holds the columns that filters and text queries are evaluated on. `search_words`
//! holds the document frequency of each word, and how many of these documents are hidden. Both
//! tables hold rows of large shops only.

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
/// (null: none). It may let products pass that break an exclusion; their texts are checked later.
macro_rules! filter {
    () => {
        filter!("s.amount", "s.currency")
    };
    (of one) => {
        // Evaluated for one product at a time: the expressions keep the planner from any index
        // but the primary key.
        filter!("(s.amount + 0)", "(s.currency || '')")
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
              AND coalesce(s.words @@ $6::text::tsquery, true) "
        )
    };
}

/// The document frequency of a word among the visible products.
macro_rules! doc_freq {
    () => {
        "(products - CASE WHEN $2::boolean THEN 0 ELSE hidden_products END)"
    };
}

/// The first products that pass the filter, in an order; with `matching`, only those that match a
/// text query.
macro_rules! first {
    ($order:literal) => {
        concat!(
            "SELECT s.product_id FROM search_rows s WHERE ",
            filter!(),
            "ORDER BY ",
            $order,
            " LIMIT $7"
        )
    };
    (matching, $order:literal) => {
        concat!(
            "SELECT s.product_id FROM search_rows s WHERE ",
            filter!(),
            "AND s.words @@ $8::text::tsquery ORDER BY ",
            $order,
            " LIMIT $7"
        )
    };
}

statements! {
    /// Where a shop is searched, and its corpus statistics.
    SHOP_STATISTICS = "SELECT last_seq, search_state, product_count, title_words, description_words,
                            product_count - visible_count, hidden_title_words,
                            hidden_description_words
                     FROM shops WHERE shop_id = $1";
    /// Shops with more products than $1, and all that have search rows (background).
    LARGE_SHOPS = "SELECT shop_id, product_count, search_state FROM shops
                   WHERE product_count > $1::bigint * (1 - least(search_state, 1))
                   ORDER BY product_count DESC, shop_id";
    /// Locks a shop until the commit and returns the progress of its backfill.
    LOCK_FOR_BACKFILL = "SELECT search_state, search_filled_to FROM shops WHERE shop_id = $1 FOR UPDATE";
    /// Sets where a shop is searched, and the progress of its backfill.
    SET_SEARCH_STATE = "UPDATE shops SET search_state = $2, search_filled_to = $3 WHERE shop_id = $1";
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

    /// Updates document frequencies: subtracts the words of the products' old rows, adds those of
    /// their new texts.
    UPDATE_DOC_FREQS =
        "INSERT INTO search_words (shop_id, word, products, hidden_products)
         SELECT $1, changed.word, sum(changed.by), sum(changed.by * changed.hidden::integer) FROM (
             SELECT old.word, s.hidden, -1 AS by
             FROM search_rows s CROSS JOIN LATERAL unnest(tsvector_to_array(s.words)) AS old (word)
             WHERE s.shop_id = $1 AND s.product_id = ANY($2)
             UNION ALL
             SELECT new.word, doc.hidden, 1
             FROM unnest($3::text[], $4::boolean[]) AS doc (words, hidden)
                 CROSS JOIN LATERAL unnest(tsvector_to_array(doc.words::tsvector)) AS new (word)
         ) changed
         GROUP BY changed.word
         HAVING (sum(changed.by), sum(changed.by * changed.hidden::integer)) <> (0, 0)
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
                                  description_words, words)
         SELECT $1, id, hidden, amount::numeric, currency, title_words, description_words,
                words::tsvector
         FROM unnest($2::bigint[], $3::boolean[], $4::text[], $5::text[], $6::integer[],
                     $7::integer[], $8::text[])
              AS new (id, hidden, amount, currency, title_words, description_words, words)
         ON CONFLICT (shop_id, product_id) DO UPDATE SET
             hidden = excluded.hidden, amount = excluded.amount, currency = excluded.currency,
             title_words = excluded.title_words, description_words = excluded.description_words,
             words = excluded.words";
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
    /// How many visible products match a text query, up to a limit.
    COUNT_MATCHING = "SELECT count(*) FROM (
                  SELECT FROM search_rows s
                  WHERE s.shop_id = $1 AND s.hidden <= $2 AND s.words @@ $3::text::tsquery LIMIT $4
              ) few";

    /// Products that pass the filter, in any order.
    FILTERED = concat!("SELECT s.product_id FROM search_rows s WHERE ", filter!(),
                           "LIMIT $7");
    /// How many products pass the filter.
    COUNT_FILTERED = concat!("SELECT count(*) FROM search_rows s WHERE ", filter!());
    /// The first by ascending price.
    CHEAPEST = first!("s.amount, s.product_id");
    /// The first by descending price.
    MOST_EXPENSIVE = first!("s.amount DESC, s.product_id");
    /// The first by descending id.
    NEWEST = first!("s.product_id DESC");
    /// The first by ascending price that match a text query.
    CHEAPEST_MATCHING = first!(matching, "s.amount, s.product_id");
    /// The first by descending price that match a text query.
    MOST_EXPENSIVE_MATCHING = first!(matching, "s.amount DESC, s.product_id");
    /// The first by descending id that match a text query.
    NEWEST_MATCHING = first!(matching, "s.product_id DESC");
    /// The best by lexical score of at most $7 products that match a text query. The formula
    /// approximates that of `catalog::ranking` with what a tsvector holds; variants of one term
    /// all count. $11 has its constants and the average field lengths.
    TOP_BY_TEXT = concat!(
        "SELECT f.product_id FROM (
             SELECT s.product_id, s.words, s.title_words, s.description_words
             FROM search_rows s WHERE ", filter!(), "AND s.words @@ $8::text::tsquery LIMIT $7
         ) f CROSS JOIN LATERAL (
             SELECT sum(w.idf * w.frequency / (($11::real[])[1] + w.frequency)) AS score FROM (
                 SELECT q.idf,
                     ts_rank('{0,0,0,1}', f.words, q.word) * ($11::real[])[2]
                         / (1 - ($11::real[])[3]
                            + ($11::real[])[3] * f.title_words / ($11::real[])[4])
                     + ts_rank('{1,0,0,0}', f.words, q.word) * ($11::real[])[5]
                         / (1 - ($11::real[])[6]
                            + ($11::real[])[6] * f.description_words / ($11::real[])[7]) AS frequency
                 FROM unnest($9::text[]::tsquery[], $10::real[]) AS q (word, idf)
             ) w
         ) scored
         ORDER BY scored.score DESC NULLS LAST, f.product_id LIMIT $12");
    /// The products nearest to a vector, see [`Sql::with_dims`].
    NEAREST = concat!(
        "SELECT v.product_id FROM vectors v CROSS JOIN LATERAL (
             SELECT FROM search_rows s WHERE s.product_id = v.product_id AND ", filter!(of one),
        "    OFFSET 0
         ) filtered
         WHERE v.shop_id = $1 AND v.model = $8
         ORDER BY v.vector::halfvec(DIMS) <=> $9::text::halfvec(DIMS) LIMIT $7");
    /// What scoring needs of products, with their vectors of one model.
    CANDIDATES = "SELECT p.id, p.version, p.hidden, p.price, p.title, p.description, v.scale,
                         v.vector
                  FROM products p LEFT JOIN LATERAL (
                      SELECT scale, vector FROM vectors
                      WHERE shop_id = $1 AND product_id = p.id AND model || '' = $2 OFFSET 0
                  ) v ON true
                  WHERE p.shop_id = $1 AND p.id = ANY($3) ORDER BY p.id";
    /// A product's vector of one model.
    VECTOR_OF = "SELECT scale, vector FROM vectors
                 WHERE shop_id = $1 AND product_id = $2 AND model = $3 AND vector IS NOT NULL";
}
