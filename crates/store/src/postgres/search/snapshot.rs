//! Reads of one search inside PostgreSQL, all in one transaction and so of one database state.
//!
//! A long file, because all reads share that transaction and the caches of words read in it.

use std::{cell::RefCell, collections::HashMap};

use catalog::{
    product::{
        Product, ProductId, ShopId,
        access::Visibility,
        attributes::{AttributeName, Attributes},
        change::Seq,
        inferred::Inferred,
        price::Money,
    },
    query::{parser::ParsedQuery, sort::Direction},
    ranking::bm25f::CorpusStats,
};
use embed::{
    ModelId, StoredVectors,
    inference::{CategoryEmbeddings, stored_or_inferred},
};
use index::parallel::map_parts;

use super::{
    super::{
        super::{StoreError, decoding},
        rows::{self, get},
        session::{Session, Value},
        statements::{PRODUCTS, Sql},
    },
    row_filter::RowFilter,
    rows::{SearchState, VERSION},
    statements,
};

/// Rows that are worth another thread to be decoded.
const MIN_PER_THREAD: usize = 100;

/// Begins the transaction of a search.
///
/// Plans are made for the shop at hand, because large shops have partial indexes of their own. They
/// run once, so that compiling them or starting workers costs more than it saves. The scan of a
/// vector index continues until enough products pass the filter. The trigram threshold of 0.2 admits
/// two typos in a word of eight letters.
pub(super) const BEGIN: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;
    SET LOCAL plan_cache_mode = force_custom_plan;
    SET LOCAL jit = off;
    SET LOCAL max_parallel_workers_per_gather = 0;
    SET LOCAL ivfflat.probes = 16;
    SET LOCAL ivfflat.iterative_scan = relaxed_order;
    SET LOCAL ivfflat.max_probes = 50;
    SET LOCAL pg_trgm.similarity_threshold = 0.2";

/// One state of a shop.
pub struct SearchSnapshot<'session> {
    session: RefCell<&'session mut Session>,
    shop: i64,
}

/// Where a shop is searched, and its corpus statistics.
#[derive(Clone, Copy, Debug)]
pub struct ShopStatistics {
    /// The last change of the shop.
    pub seq: Seq,
    pub(crate) state: SearchState,
    /// Whether all search rows have what this version finds in texts.
    pub are_rows_current: bool,
    all: CorpusStats,
    hidden: CorpusStats,
}

impl ShopStatistics {
    /// The statistics of the visible products.
    pub fn corpus(&self, visibility: Visibility) -> CorpusStats {
        match visibility {
            Visibility::All => self.all,
            Visibility::VisibleOnly => self.all.minus(self.hidden),
        }
    }
}

/// A word of a query with its weight in the lexical score.
#[derive(Clone, Debug)]
pub(crate) struct WeightedWord {
    /// Quoted for a tsquery.
    pub(crate) word: String,
    /// The inverse document frequency, multiplied by the weight of the variant.
    pub(crate) idf: f32,
}

/// Which products are the candidates of a search by terms, see `SELECT_CANDIDATES`.
#[derive(Clone, Debug)]
pub(super) struct CandidateQuery<'a> {
    pub(super) filter: &'a RowFilter,
    /// Whether every product of the shop passes the filter.
    pub(super) all_pass: bool,
    /// If at most this many products pass the filter, all of them; `None` if there are more.
    pub(super) rank_all_up_to: Option<i64>,
    /// Tsqueries for the best products by lexical score.
    pub(super) tsqueries: &'a [Option<String>; 3],
    pub(super) words: &'a [WeightedWord],
    /// The constants of the scoring formula and the average field lengths.
    pub(super) formula: &'a [f32],
    /// At most this many products of each tsquery are scored.
    pub(super) max_scored: i64,
    /// A quantised vector to which products are near.
    pub(super) vector: Option<&'a [i8]>,
    /// The model of that vector and of the candidates' vectors.
    pub(super) model: Option<&'a ModelId>,
    /// The number of candidates by lexical score, and by vector.
    pub(super) limit: i64,
    /// Further candidates.
    pub(super) others: Vec<i64>,
    /// Maximum number of threads that decode rows.
    pub(super) threads: usize,
}

/// The candidates of a search by terms.
#[derive(Debug)]
pub(super) struct FoundCandidates {
    /// By ascending id.
    pub(super) rows: Vec<CandidateRow>,
    /// Whether these are all products that pass the filter.
    pub(super) are_all: bool,
}

/// What scoring needs of a candidate.
#[derive(Clone, Debug)]
pub struct CandidateRow {
    /// The product.
    pub id: ProductId,
    /// Its version.
    pub version: Seq,
    /// Whether shoppers do not see it.
    pub hidden: bool,
    /// `None` if the price cannot be parsed.
    pub price: Option<Money>,
    /// Its title.
    pub title: String,
    /// Its description.
    pub description: String,
    /// Its vectors, if it has any of the model.
    pub vectors: Option<StoredVectors>,
    /// Its key.
    pub key: Option<String>,
    /// What the merchant states.
    pub attributes: Attributes,
    /// What is inferred.
    pub inferred: Inferred,
}

/// A value of an attribute and how many products have it.
#[derive(Clone, Debug)]
pub(super) struct CountedValue {
    pub(super) attribute: String,
    /// The JSON type in `search_rows.attributes`; `null` for products without the attribute.
    pub(super) kind: String,
    pub(super) value: Option<String>,
    pub(super) products: usize,
}

impl CandidateRow {
    /// Whether the texts satisfy the exclusions of a query. Each attribute is a text of its own, and
    /// so is the key.
    pub fn is_allowed_by(&self, parsed: &ParsedQuery) -> bool {
        let attributes = self.attributes.iter().flat_map(|(_, value)| value.texts());
        let mut others = attributes.map(|text| &**text).chain(self.key.as_deref());
        parsed.allows(&self.title, &self.description, "")
            && others.all(|text| parsed.allows("", text, ""))
    }
}

impl<'session> SearchSnapshot<'session> {
    /// `session` is in a transaction that was begun with [`BEGIN`].
    pub(super) fn new(session: &'session mut Session, shop: ShopId) -> Self {
        Self { session: RefCell::new(session), shop: shop.get().cast_signed() }
    }

    /// `None` if the shop has never been written to.
    pub(crate) fn statistics(&self) -> Result<Option<ShopStatistics>, StoreError> {
        let values: [Value<'_>; 1] = [&self.shop];
        let found = self.session.borrow_mut().query_opt(statements::SHOP_STATISTICS, &values)?;
        let read = |row: &tokio_postgres::Row| {
            let count = |at| Ok::<_, StoreError>(get::<i64>(row, at)?.cast_unsigned());
            let corpus = |from: usize| {
                Ok::<_, StoreError>(CorpusStats {
                    products: count(from)?,
                    title_words: count(from + 1)?,
                    description_words: count(from + 2)?,
                })
            };
            Ok(ShopStatistics {
                seq: decoding::seq(get(row, 0)?),
                state: SearchState::of_column(get(row, 1)?),
                are_rows_current: get::<i16>(row, 8)? == VERSION,
                all: corpus(2)?,
                hidden: corpus(5)?,
            })
        };
        found.as_ref().map(read).transpose()
    }

    /// Document frequencies among the visible products; words that none contains are omitted.
    pub(crate) fn doc_freqs(
        &self,
        visibility: Visibility,
        words: &[String],
    ) -> Result<HashMap<String, u64>, StoreError> {
        self.words(statements::DOC_FREQS, visibility, &[&words])
    }

    /// Words similar to `word` by trigrams, with their document frequencies.
    pub(crate) fn similar_words(
        &self,
        visibility: Visibility,
        word: &str,
        limit: i64,
    ) -> Result<HashMap<String, u64>, StoreError> {
        self.words(statements::SIMILAR_WORDS, visibility, &[&word, &limit])
    }

    /// Words that start with `prefix`, with their document frequencies.
    pub(crate) fn words_with_prefix(
        &self,
        visibility: Visibility,
        prefix: &str,
        limit: i64,
    ) -> Result<HashMap<String, u64>, StoreError> {
        let end = format!("{prefix}{}", char::MAX);
        self.words(statements::WORDS_IN_RANGE, visibility, &[&prefix, &end, &limit])
    }

    /// Words that end with any of `suffixes` and are longer, with their document frequencies.
    pub(crate) fn words_with_suffix(
        &self,
        visibility: Visibility,
        suffixes: &[String],
        limit: i64,
    ) -> Result<HashMap<String, u64>, StoreError> {
        // Words have no characters that are special in a pattern.
        let patterns: Vec<String> = suffixes.iter().map(|suffix| format!("%_{suffix}")).collect();
        self.words(statements::WORDS_LIKE, visibility, &[&patterns, &limit])
    }

    /// The words of a statement whose first parameters are the shop and the visibility.
    fn words(
        &self,
        sql: Sql,
        visibility: Visibility,
        more: &[Value<'_>],
    ) -> Result<HashMap<String, u64>, StoreError> {
        let include_hidden = visibility == Visibility::All;
        let first: [Value<'_>; 2] = [&self.shop, &include_hidden];
        let values: Vec<Value<'_>> = first.into_iter().chain(more.iter().copied()).collect();
        let found = self.session.borrow_mut().query(sql, &values)?;
        found.iter().map(|row| Ok((get(row, 0)?, get::<i64>(row, 1)?.cast_unsigned()))).collect()
    }

    /// How many visible products match a tsquery, up to `limit`.
    pub(crate) fn count_matching(
        &self,
        visibility: Visibility,
        text: &str,
        limit: i64,
    ) -> Result<u64, StoreError> {
        let include_hidden = visibility == Visibility::All;
        let values: [Value<'_>; 4] = [&self.shop, &include_hidden, &text, &limit];
        let row = self.session.borrow_mut().query_one(statements::COUNT_MATCHING, &values)?;
        Ok(get::<i64>(&row, 0)?.cast_unsigned())
    }

    /// How many products pass the filter.
    pub(crate) fn count_filtered(&self, filter: &RowFilter) -> Result<usize, StoreError> {
        let found = self.query_filtered(statements::COUNT_FILTERED, filter, &[])?;
        let row = found.first().ok_or_else(|| StoreError::unexpected("a count without a row"))?;
        get(row, 0).map(decoding::count)
    }

    /// How many products that pass the filter have a price in each currency, the most frequent
    /// first; the currency of those without a price is empty.
    pub(super) fn count_currencies(
        &self,
        filter: &RowFilter,
    ) -> Result<Vec<(String, usize)>, StoreError> {
        let found = self.query_filtered(statements::COUNT_CURRENCIES, filter, &[])?;
        found.iter().map(|row| Ok((get(row, 0)?, get(row, 1).map(decoding::count)?))).collect()
    }

    /// How many of the newest `limit` products that pass the filter have each value of the
    /// attributes.
    pub(super) fn count_values(
        &self,
        filter: &RowFilter,
        attributes: &[&str],
        limit: i64,
    ) -> Result<Vec<CountedValue>, StoreError> {
        let found =
            self.query_filtered(statements::COUNT_VALUES, filter, &[&limit, &attributes])?;
        let read = |row: &tokio_postgres::Row| {
            Ok(CountedValue {
                attribute: get(row, 0)?,
                kind: get(row, 1)?,
                value: get(row, 2)?,
                products: get(row, 3).map(decoding::count)?,
            })
        };
        found.iter().map(read).collect()
    }

    /// How many of the newest `limit` products that pass the filter have each price, as currency
    /// and amount.
    pub(super) fn count_prices(
        &self,
        filter: &RowFilter,
        limit: i64,
    ) -> Result<Vec<(String, String, usize)>, StoreError> {
        let found = self.query_filtered(statements::COUNT_PRICES, filter, &[&limit])?;
        let read = |row: &tokio_postgres::Row| {
            Ok((get(row, 0)?, get(row, 1)?, get(row, 2).map(decoding::count)?))
        };
        found.iter().map(read).collect()
    }

    /// A page of the products that pass the filter, by price.
    pub(super) fn by_price(
        &self,
        filter: &RowFilter,
        direction: Direction,
        page: (i64, i64),
    ) -> Result<Vec<ProductId>, StoreError> {
        let sql = match direction {
            Direction::Ascending => statements::CHEAPEST,
            Direction::Descending => statements::MOST_EXPENSIVE,
        };
        self.ids(sql, filter, &[&page.0, &page.1])
    }

    /// A page of the products that pass the filter, by id.
    pub(super) fn by_id(
        &self,
        filter: &RowFilter,
        direction: Direction,
        page: (i64, i64),
    ) -> Result<Vec<ProductId>, StoreError> {
        let sql = match direction {
            Direction::Ascending => statements::OLDEST,
            Direction::Descending => statements::NEWEST,
        };
        self.ids(sql, filter, &[&page.0, &page.1])
    }

    /// A page of the products that pass the filter, by a numeric attribute.
    pub(super) fn by_attribute(
        &self,
        filter: &RowFilter,
        attribute: &AttributeName,
        direction: Direction,
        page: (i64, i64),
    ) -> Result<Vec<ProductId>, StoreError> {
        let sql = match direction {
            Direction::Ascending => statements::LEAST_FIRST,
            Direction::Descending => statements::GREATEST_FIRST,
        };
        self.ids(sql, filter, &[&page.0, &page.1, &attribute.as_str()])
    }

    /// The visible product with a key.
    pub(super) fn with_key(
        &self,
        visibility: Visibility,
        key: &str,
    ) -> Result<Option<ProductId>, StoreError> {
        let include_hidden = visibility == Visibility::All;
        let values: [Value<'_>; 3] = [&self.shop, &include_hidden, &key];
        let found = self.session.borrow_mut().query_opt(statements::WITH_KEY, &values)?;
        let read = |row| Ok(decoding::product_id(self.shop, get(row, 0)?));
        found.as_ref().map_or(Ok(None), read)
    }

    /// The candidates of a search by terms, by ascending id.
    pub(super) fn select_candidates(
        &self,
        query: &CandidateQuery<'_>,
    ) -> Result<FoundCandidates, StoreError> {
        let words: Vec<&str> = query.words.iter().map(|weighted| &*weighted.word).collect();
        let idfs: Vec<f32> = query.words.iter().map(|weighted| weighted.idf).collect();
        let vector = query.vector.map(vector_text);
        let model = query.model.map(ModelId::as_str);
        let [first, second, third] = query.tsqueries;
        let more: [Value<'_>; 13] = [
            first,
            second,
            third,
            &query.max_scored,
            &query.limit,
            &words,
            &idfs,
            &query.formula,
            &vector,
            &query.rank_all_up_to,
            &query.others,
            &model,
            &query.all_pass,
        ];
        // Without a vector, none is compared, whatever the number of dimensions.
        let dims = query.vector.map_or(1, <[i8]>::len);
        let values = query.filter.values(&self.shop);
        let sql = statements::SELECT_CANDIDATES.with_dims(dims);
        let found = self.session.borrow_mut().query(sql, &[&values[..], &more].concat())?;
        let first = found.first().ok_or_else(|| StoreError::unexpected("no row of candidates"))?;
        let are_all = get(first, 12)?;
        // Without candidates, the row has nothing else.
        let has_rows = get::<Option<i64>>(first, 0)?.is_some();
        let rows = if has_rows {
            self.read_candidates(&found, query.model, query.threads)?
        } else {
            Vec::new()
        };
        Ok(FoundCandidates { rows, are_all })
    }

    /// The products that pass the filter and are nearest to a quantised vector.
    pub(crate) fn nearest(
        &self,
        filter: &RowFilter,
        model: &ModelId,
        vector: &[i8],
        limit: i64,
    ) -> Result<Vec<ProductId>, StoreError> {
        let (sql, model) = (statements::NEAREST.with_dims(vector.len()), model.as_str());
        let (values, vector) = (filter.values(&self.shop), vector_text(vector));
        let more: [Value<'_>; 3] = [&limit, &model, &vector];
        let found = self.session.borrow_mut().query(sql, &[&values[..], &more].concat())?;
        self.read_ids(&found)
    }

    /// A product's vectors of this model.
    pub(crate) fn vectors(
        &self,
        id: ProductId,
        model: &ModelId,
    ) -> Result<Option<StoredVectors>, StoreError> {
        rows::vectors_of(&mut self.session.borrow_mut(), self.shop, id, model)
    }

    /// The candidates with these ids, by ascending id, with their vectors of this model.
    pub fn candidates(
        &self,
        ids: &[ProductId],
        model: Option<&ModelId>,
    ) -> Result<Vec<CandidateRow>, StoreError> {
        let ids: Vec<i64> = ids.iter().map(|id| id.get().cast_signed()).collect();
        let values: [Value<'_>; 3] = [&self.shop, &model.map(ModelId::as_str), &ids];
        let found = self.session.borrow_mut().query(statements::CANDIDATES, &values)?;
        self.read_candidates(&found, model, 1)
    }

    fn read_candidates(
        &self,
        found: &[tokio_postgres::Row],
        model: Option<&ModelId>,
        threads: usize,
    ) -> Result<Vec<CandidateRow>, StoreError> {
        let (shop, embeddings) = (self.shop, CategoryEmbeddings::of(model));
        let read = |row: &tokio_postgres::Row| {
            let product = get(row, 0)?;
            let Some(id) = decoding::product_id(shop, product) else { return Ok(None) };
            let (title, description): (String, String) = (get(row, 4)?, get(row, 5)?);
            let attributes = decoding::attributes(shop, product, get(row, 10)?);
            let inferred = stored_or_inferred(get(row, 11)?, &title, &description, &attributes);
            let mut vectors = rows::read_stored(row, 6, (shop, product))?;
            if let (Some(vectors), Some(embeddings)) = (&mut vectors, embeddings) {
                embeddings.add_to(vectors, inferred.likely_category);
            }
            Ok(Some(CandidateRow {
                inferred,
                id,
                version: decoding::seq(get(row, 1)?),
                hidden: get(row, 2)?,
                price: decoding::money(shop, product, get(row, 3)?),
                title,
                description,
                vectors,
                key: get(row, 9)?,
                attributes,
            }))
        };
        let read_all = |part: &[tokio_postgres::Row]| -> Result<Vec<CandidateRow>, StoreError> {
            part.iter().filter_map(|row| read(row).transpose()).collect()
        };
        let parts = map_parts(found, threads, MIN_PER_THREAD, read_all);
        Ok(parts.into_iter().collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
    }

    /// The visible products with these ids, in this order; unknown ids are omitted.
    pub fn products(
        &self,
        visibility: Visibility,
        ids: &[ProductId],
    ) -> Result<Vec<Product>, StoreError> {
        let numbers: Vec<i64> = ids.iter().map(|id| id.get().cast_signed()).collect();
        let found = self.session.borrow_mut().query(PRODUCTS, &[&self.shop, &numbers])?;
        let mut by_id = HashMap::with_capacity(found.len());
        for row in &found {
            if let Some(product) = rows::read(row, 0)?
                && (visibility == Visibility::All || !product.hidden)
            {
                by_id.insert(product.id, product);
            }
        }
        Ok(ids.iter().filter_map(|id| by_id.remove(id)).collect())
    }

    fn ids(
        &self,
        sql: Sql,
        filter: &RowFilter,
        more: &[Value<'_>],
    ) -> Result<Vec<ProductId>, StoreError> {
        self.read_ids(&self.query_filtered(sql, filter, more)?)
    }

    fn read_ids(&self, found: &[tokio_postgres::Row]) -> Result<Vec<ProductId>, StoreError> {
        let read = |row| Ok(decoding::product_id(self.shop, get(row, 0)?));
        found.iter().filter_map(|row| read(row).transpose()).collect()
    }

    /// The rows of a statement whose first parameters are the filter.
    fn query_filtered(
        &self,
        sql: Sql,
        filter: &RowFilter,
        more: &[Value<'_>],
    ) -> Result<Vec<tokio_postgres::Row>, StoreError> {
        let (first, matching): (_, [Value<'_>; 1]) =
            (filter.values(&self.shop), [&filter.matching]);
        self.session.borrow_mut().query(sql, &[&first[..], &matching, more].concat())
    }
}

/// A quantised vector in pgvector's text format.
fn vector_text(vector: &[i8]) -> String {
    let numbers: Vec<String> = vector.iter().map(ToString::to_string).collect();
    format!("[{}]", numbers.join(","))
}

/// A count as a parameter of a statement.
pub(super) fn bigint(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
