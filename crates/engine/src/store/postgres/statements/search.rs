//! What is the database asked about shops that are searched inside it?
//!
//! `search_rows` has what a condition or a word is compared with, `search_words` how many products
//! say each word, and how many of these are hidden. Both are kept of large shops alone.

use super::Sql;

/// What stands for the number of coordinates in the text of a statement.
const DIMS: &str = "(DIMS)";

impl Sql {
    /// The statement for vectors of so many coordinates: an index of vectors knows their number.
    pub(in crate::store::postgres) fn of_dims(self, dims: usize) -> Self {
        use std::{collections::HashMap, sync::LazyLock};

        use parking_lot::Mutex;
        // A process has one model, so this never grows beyond a few.
        static MADE: LazyLock<Mutex<HashMap<(&'static str, usize), &'static str>>> =
            LazyLock::new(Mutex::default);
        let text = *MADE.lock().entry((self.name, dims)).or_insert_with(|| {
            Box::leak(self.text.replace(DIMS, &format!("({dims})")).into_boxed_str())
        });
        Self { text, ..self }
    }
}

/// Which products may be found, whatever is searched for: the shop, whether hidden ones are in
/// visibility, the least and the greatest amount, the currencies (any, if null), and what is not said
/// (nothing, if null). What words alone cannot decide is let pass: texts decide later.
macro_rules! passing {
    () => {
        passing!("s.amount", "s.currency")
    };
    (of one) => {
        // Asked of one product after the other: by its number, and by no other index.
        passing!("(s.amount + 0)", "(s.currency || '')")
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

/// How many visible products say a word: all, or those that are not hidden.
macro_rules! seen {
    () => {
        "(products - CASE WHEN $2::boolean THEN 0 ELSE hidden_products END)"
    };
}

/// The first products that may be found, in an order.
macro_rules! first {
    ($order:literal) => {
        concat!(
            "SELECT s.product_id FROM search_rows s WHERE ",
            passing!(),
            "ORDER BY ",
            $order,
            " LIMIT $7"
        )
    };
    (of words, $order:literal) => {
        concat!(
            "SELECT s.product_id FROM search_rows s WHERE ",
            passing!(),
            "AND s.words @@ $8::text::tsquery ORDER BY ",
            $order,
            " LIMIT $7"
        )
    };
}

statements! {
    /// How a shop is searched, and what its scores rest on.
    SEARCHED_SHOP = "SELECT last_seq, search_state, product_count, title_words, description_words,
                            product_count - visible_count, hidden_title_words,
                            hidden_description_words
                     FROM shops WHERE shop_id = $1";
    /// Shops that are large or were, in the background.
    LARGE_SHOPS = "SELECT shop_id, product_count, search_state FROM shops
                   WHERE product_count > $1::bigint * (1 - least(search_state, 1))
                   ORDER BY product_count DESC, shop_id";
    /// How far a shop has come to be searched here; held until the commit.
    LOCK_TO_FILL = "SELECT search_state, search_filled_to FROM shops WHERE shop_id = $1 FOR UPDATE";
    /// How a shop is searched from now on.
    SET_SEARCH_STATE = "UPDATE shops SET search_state = $2, search_filled_to = $3 WHERE shop_id = $1";
    /// Nothing is known of a shop's words.
    FORGET_LENGTHS = "UPDATE shops SET title_words = 0, description_words = 0,
                                       hidden_title_words = 0, hidden_description_words = 0
                      WHERE shop_id = $1";
    /// What a shop that is no longer large does not need.
    FORGET_SEARCH_ROWS = "DELETE FROM search_rows WHERE shop_id = $1";
    /// What a shop that is no longer large does not need.
    FORGET_SEARCH_WORDS = "DELETE FROM search_words WHERE shop_id = $1";
    /// The next products to look at.
    NEXT_PRODUCTS = concat!("SELECT ", product_columns!(), " FROM products p
                             WHERE p.shop_id = $1 AND p.id > $2 ORDER BY p.id LIMIT $3");

    /// Counts the words of products anew: those that they said, and those that they say.
    COUNT_SEARCH_WORDS =
        "INSERT INTO search_words (shop_id, word, products, hidden_products)
         SELECT $1, changed.word, sum(changed.by), sum(changed.by * changed.hidden::integer) FROM (
             SELECT old.word, s.hidden, -1 AS by
             FROM search_rows s CROSS JOIN LATERAL unnest(tsvector_to_array(s.words)) AS old (word)
             WHERE s.shop_id = $1 AND s.product_id = ANY($2)
             UNION ALL
             SELECT new.word, said.hidden, 1
             FROM unnest($3::text[], $4::boolean[]) AS said (words, hidden)
                 CROSS JOIN LATERAL unnest(tsvector_to_array(said.words::tsvector)) AS new (word)
         ) changed
         GROUP BY changed.word
         HAVING (sum(changed.by), sum(changed.by * changed.hidden::integer)) <> (0, 0)
         ORDER BY changed.word
         ON CONFLICT (shop_id, word) DO UPDATE
             SET products = search_words.products + excluded.products,
                 hidden_products = search_words.hidden_products + excluded.hidden_products";
    /// Counts the lengths of products anew: those that they had, and those that they have.
    COUNT_LENGTHS =
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
    /// What products are compared by.
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
    /// Products that are gone.
    DELETE_SEARCH_ROWS = "DELETE FROM search_rows WHERE shop_id = $1 AND product_id = ANY($2)";

    /// How many visible products say each of these words.
    WORD_COUNTS = concat!("SELECT word, ", seen!(), " FROM search_words
                           WHERE shop_id = $1 AND ", seen!(), " > 0 AND word = ANY($3)");
    /// Words that share many groups of three letters with another.
    LIKE_WORDS = concat!("SELECT word, ", seen!(), " FROM search_words
                          WHERE shop_id = $1 AND ", seen!(), " > 0 AND word % $3
                          ORDER BY similarity(word, $3) DESC, word LIMIT $4");
    /// Words between two others.
    WORDS_BETWEEN = concat!("SELECT word, ", seen!(), " FROM search_words
                             WHERE shop_id = $1 AND ", seen!(), " > 0 AND word >= $3 AND word < $4
                             ORDER BY word LIMIT $5");
    /// How many visible products say something, up to a limit.
    SAYING = "SELECT count(*) FROM (
                  SELECT FROM search_rows s
                  WHERE s.shop_id = $1 AND s.hidden <= $2 AND s.words @@ $3::text::tsquery LIMIT $4
              ) few";

    /// Some products that may be found.
    SOME_PASSING = concat!("SELECT s.product_id FROM search_rows s WHERE ", passing!(),
                           "LIMIT $7");
    /// How many products may be found.
    COUNT_PASSING = concat!("SELECT count(*) FROM search_rows s WHERE ", passing!());
    /// The first by price.
    FIRST_CHEAPEST = first!("s.amount, s.product_id");
    /// The first by price, from the other end.
    FIRST_DEAREST = first!("s.amount DESC, s.product_id");
    /// The first by age.
    FIRST_NEWEST = first!("s.product_id DESC");
    /// The first by price that say something.
    FIRST_CHEAPEST_SAYING = first!(of words, "s.amount, s.product_id");
    /// The first by price, from the other end, that say something.
    FIRST_DEAREST_SAYING = first!(of words, "s.amount DESC, s.product_id");
    /// The first by age that say something.
    FIRST_NEWEST_SAYING = first!(of words, "s.product_id DESC");
    /// Those that say something, the best by their words first. The formula is that of
    /// `catalog::ranking`, as near as a text search vector can tell, and but for words that are
    /// ways to say the same: all of them count. $11 has its constants and the average lengths.
    BY_WORDS = concat!(
        "SELECT f.product_id FROM (
             SELECT s.product_id, s.words, s.title_words, s.description_words
             FROM search_rows s WHERE ", passing!(), "AND s.words @@ $8::text::tsquery LIMIT $7
         ) f CROSS JOIN LATERAL (
             SELECT sum(w.rarity * w.said / (($11::real[])[1] + w.said)) AS score FROM (
                 SELECT q.rarity,
                     ts_rank('{0,0,0,1}', f.words, q.word) * ($11::real[])[2]
                         / (1 - ($11::real[])[3]
                            + ($11::real[])[3] * f.title_words / ($11::real[])[4])
                     + ts_rank('{1,0,0,0}', f.words, q.word) * ($11::real[])[5]
                         / (1 - ($11::real[])[6]
                            + ($11::real[])[6] * f.description_words / ($11::real[])[7]) AS said
                 FROM unnest($9::text[]::tsquery[], $10::real[]) AS q (word, rarity)
             ) w
         ) scored
         ORDER BY scored.score DESC NULLS LAST, f.product_id LIMIT $12");
    /// Those nearest to a vector. For its coordinates, see `Sql::of_dims`.
    NEAREST = concat!(
        "SELECT v.product_id FROM vectors v CROSS JOIN LATERAL (
             SELECT FROM search_rows s WHERE s.product_id = v.product_id AND ", passing!(of one),
        "    OFFSET 0
         ) passing
         WHERE v.shop_id = $1 AND v.model = $8
         ORDER BY v.vector::halfvec(DIMS) <=> $9::text::halfvec(DIMS) LIMIT $7");
    /// All that a ranking needs to know of some products, with the vectors of one model.
    CANDIDATES = "SELECT p.id, p.version, p.hidden, p.price, p.title, p.description, v.scale,
                         v.vector
                  FROM products p LEFT JOIN LATERAL (
                      SELECT scale, vector FROM vectors
                      WHERE shop_id = $1 AND product_id = p.id AND model || '' = $2 OFFSET 0
                  ) v ON true
                  WHERE p.shop_id = $1 AND p.id = ANY($3) ORDER BY p.id";
    /// What a product means.
    VECTOR_OF = "SELECT scale, vector FROM vectors
                 WHERE shop_id = $1 AND product_id = $2 AND model = $3 AND vector IS NOT NULL";
}
