//! Which products of a large shop may answer a search, as far as the database can tell? All
//! questions of one search are answered by one state of it.

use std::collections::HashMap;

use catalog::{
    access::Visibility,
    change::Seq,
    price::Money,
    product::{Product, ProductId, ShopId},
    query_parser::SortOrder,
    ranking::CorpusStats,
};

use super::{
    super::{StoreError, decoding},
    rows::{self, get},
    search_rows::{ABOVE_PRICES, NO_PRICE, SearchState},
    session::{Session, Value},
    statements::{self, Sql, search},
};
use crate::embed::{ModelId, StoredVector};

/// What a search needs of the planner and the indexes: plans for this very shop, which has indexes
/// of its own; a walk through the graph that goes on until enough products pass the conditions.
/// Words are alike from a fifth of their groups of three letters on: two slips in eight letters.
pub(super) const BEGIN: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;
    SET LOCAL plan_cache_mode = force_custom_plan;
    SET LOCAL hnsw.iterative_scan = strict_order;
    SET LOCAL hnsw.ef_search = 400;
    SET LOCAL hnsw.max_scan_tuples = 40000;
    SET LOCAL pg_trgm.similarity_threshold = 0.2";

/// One state of a shop, for as long as somebody looks.
pub(crate) struct Glance<'session> {
    session: &'session mut Session,
    shop: i64,
}

/// How a shop is searched, and what its scores rest on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SearchedShop {
    pub(crate) seq: Seq,
    pub(crate) state: SearchState,
    /// The sums over all products.
    corpus: CorpusStats,
    /// The sums over the hidden ones.
    hidden: CorpusStats,
}

impl SearchedShop {
    /// The sums over the visible products.
    pub(crate) fn corpus(&self, visibility: Visibility) -> CorpusStats {
        match visibility {
            Visibility::All => self.corpus,
            Visibility::VisibleOnly => self.corpus.minus(self.hidden),
        }
    }
}

/// What a product must satisfy, as far as the database can tell.
#[derive(Clone, Debug)]
pub(crate) struct Conditions {
    pub(crate) visibility: Visibility,
    /// The least and the greatest amount, both included.
    pub(crate) amounts: (String, String),
    /// Any, if none are named.
    pub(crate) currencies: Option<Vec<String>>,
    /// A text search query that products satisfy.
    pub(crate) said: Option<String>,
}

impl Conditions {
    /// All that may be seen.
    pub(crate) fn seen(visibility: Visibility) -> Self {
        let amounts = ("0".to_owned(), NO_PRICE.to_owned());
        Self { visibility, amounts, currencies: None, said: None }
    }
}

/// A word of a query, as products are compared by it.
#[derive(Clone, Debug)]
pub(crate) struct Weighed {
    /// As text search queries have it.
    pub(crate) word: String,
    /// How much it says.
    pub(crate) rarity: f32,
}

/// A product that may answer.
#[derive(Clone, Debug)]
pub(crate) struct CandidateRow {
    pub(crate) id: ProductId,
    pub(crate) version: Seq,
    pub(crate) hidden: bool,
    /// `None` where it cannot be parsed.
    pub(crate) price: Option<Money>,
    pub(crate) title: String,
    pub(crate) description: String,
    pub(crate) vector: Option<StoredVector>,
}

impl<'session> Glance<'session> {
    pub(super) fn at(session: &'session mut Session, shop: ShopId) -> Self {
        Self { session, shop: shop.get().cast_signed() }
    }

    /// The shop; nothing if nobody has ever written to it.
    pub(crate) fn shop(&mut self) -> Result<Option<SearchedShop>, StoreError> {
        let found = self.session.query_opt(search::SEARCHED_SHOP, &[&self.shop])?;
        let read = |row: &tokio_postgres::Row| {
            let count = |at| Ok::<_, StoreError>(get::<i64>(row, at)?.cast_unsigned());
            let corpus = |from: usize| {
                Ok::<_, StoreError>(CorpusStats {
                    products: count(from)?,
                    title_words: count(from + 1)?,
                    description_words: count(from + 2)?,
                })
            };
            Ok(SearchedShop {
                seq: decoding::seq(get(row, 0)?),
                state: SearchState::of_column(get(row, 1)?),
                corpus: corpus(2)?,
                hidden: corpus(5)?,
            })
        };
        found.as_ref().map(read).transpose()
    }

    /// How many visible products say each of these words; those that none says are left out.
    pub(crate) fn word_counts(
        &mut self,
        visibility: Visibility,
        words: &[String],
    ) -> Result<HashMap<String, u64>, StoreError> {
        self.words(search::WORD_COUNTS, visibility, &[&words])
    }

    /// Words that look like another, with how many visible products say them.
    pub(crate) fn like(
        &mut self,
        visibility: Visibility,
        word: &str,
        most: i64,
    ) -> Result<HashMap<String, u64>, StoreError> {
        self.words(search::LIKE_WORDS, visibility, &[&word, &most])
    }

    /// Words that begin with another, with how many visible products say them.
    pub(crate) fn beginning(
        &mut self,
        visibility: Visibility,
        word: &str,
        most: i64,
    ) -> Result<HashMap<String, u64>, StoreError> {
        let end = format!("{word}{}", char::MAX);
        self.words(search::WORDS_BETWEEN, visibility, &[&word, &end, &most])
    }

    /// The words of a statement that begins with the shop and what is visible.
    fn words(
        &mut self,
        sql: Sql,
        visibility: Visibility,
        more: &[Value<'_>],
    ) -> Result<HashMap<String, u64>, StoreError> {
        let (shop, hidden_too) = (self.shop, visibility == Visibility::All);
        let first: [Value<'_>; 2] = [&shop, &hidden_too];
        let values: Vec<Value<'_>> = first.into_iter().chain(more.iter().copied()).collect();
        let found = self.session.query(sql, &values)?;
        found.iter().map(|row| Ok((get(row, 0)?, get::<i64>(row, 1)?.cast_unsigned()))).collect()
    }

    /// How many visible products satisfy a text search query; no more than `most` are counted.
    pub(crate) fn saying(
        &mut self,
        visibility: Visibility,
        query: &str,
        most: i64,
    ) -> Result<u64, StoreError> {
        let hidden_too = visibility == Visibility::All;
        let values: [Value<'_>; 4] = [&self.shop, &hidden_too, &query, &most];
        let row = self.session.query_one(search::SAYING, &values)?;
        Ok(get::<i64>(&row, 0)?.cast_unsigned())
    }

    /// Some products that satisfy the conditions.
    pub(crate) fn some(
        &mut self,
        conditions: &Conditions,
        most: i64,
    ) -> Result<Vec<ProductId>, StoreError> {
        self.ids(search::SOME_PASSING, conditions, &[&most])
    }

    /// How many products satisfy the conditions.
    pub(crate) fn count(&mut self, conditions: &Conditions) -> Result<usize, StoreError> {
        let found = self.filtered(search::COUNT_PASSING, conditions, &[])?;
        let row = found.first().ok_or_else(|| StoreError::damaged("a count without a row"))?;
        get(row, 0).map(decoding::count)
    }

    /// The first products in an order, of those that satisfy the conditions and a text search query.
    pub(crate) fn first(
        &mut self,
        conditions: &Conditions,
        order: SortOrder,
        query: Option<&str>,
        most: i64,
    ) -> Result<Vec<ProductId>, StoreError> {
        let (least, greatest) = &conditions.amounts;
        if order != SortOrder::PriceDescending || greatest != NO_PRICE {
            return self.in_order(conditions, order, query, most);
        }
        // Products without a price come last here too.
        let between = |least: &str, greatest: &str| {
            let amounts = (least.to_owned(), greatest.to_owned());
            Conditions { amounts, ..conditions.clone() }
        };
        let mut first = self.in_order(&between(least, ABOVE_PRICES), order, query, most)?;
        let room = most - i64::try_from(first.len()).unwrap_or(most);
        if room > 0 {
            first.extend(self.in_order(&between(NO_PRICE, NO_PRICE), order, query, room)?);
        }
        Ok(first)
    }

    fn in_order(
        &mut self,
        conditions: &Conditions,
        order: SortOrder,
        query: Option<&str>,
        most: i64,
    ) -> Result<Vec<ProductId>, StoreError> {
        match query {
            None => {
                let sql = match order {
                    SortOrder::PriceAscending => search::FIRST_CHEAPEST,
                    SortOrder::PriceDescending => search::FIRST_DEAREST,
                    SortOrder::Newest => search::FIRST_NEWEST,
                };
                self.ids(sql, conditions, &[&most])
            }
            Some(query) => {
                let sql = match order {
                    SortOrder::PriceAscending => search::FIRST_CHEAPEST_SAYING,
                    SortOrder::PriceDescending => search::FIRST_DEAREST_SAYING,
                    SortOrder::Newest => search::FIRST_NEWEST_SAYING,
                };
                self.ids(sql, conditions, &[&most, &query])
            }
        }
    }

    /// The best products by their words, of at most so many that satisfy the conditions and a text
    /// search query. `formula` has the constants of the ranking, with the average lengths.
    pub(crate) fn by_words(
        &mut self,
        conditions: &Conditions,
        query: &str,
        weighed: &[Weighed],
        formula: &[f32],
        looked_at: i64,
        most: i64,
    ) -> Result<Vec<ProductId>, StoreError> {
        let words: Vec<&str> = weighed.iter().map(|weighed| &*weighed.word).collect();
        let rarities: Vec<f32> = weighed.iter().map(|weighed| weighed.rarity).collect();
        let values: [Value<'_>; 6] = [&looked_at, &query, &words, &rarities, &formula, &most];
        self.ids(search::BY_WORDS, conditions, &values)
    }

    /// The products nearest to a vector, of those that satisfy the conditions.
    pub(crate) fn nearest(
        &mut self,
        conditions: &Conditions,
        model: &ModelId,
        numbers: &[i8],
        most: i64,
    ) -> Result<Vec<ProductId>, StoreError> {
        let texts: Vec<String> = numbers.iter().map(ToString::to_string).collect();
        let vector = format!("[{}]", texts.join(","));
        let sql = search::NEAREST.of_dims(numbers.len());
        self.ids(sql, conditions, &[&most, &model.as_str(), &vector])
    }

    /// What a product means.
    pub(crate) fn vector(
        &mut self,
        id: ProductId,
        model: &ModelId,
    ) -> Result<Option<StoredVector>, StoreError> {
        let product = id.get().cast_signed();
        let values: [Value<'_>; 3] = [&self.shop, &product, &model.as_str()];
        let found = self.session.query_opt(search::VECTOR_OF, &values)?;
        found.map_or(Ok(None), |row| rows::read_stored(&row, 0, (self.shop, product)))
    }

    /// All that a ranking needs to know of products, by ascending id.
    pub(crate) fn candidates(
        &mut self,
        ids: &[ProductId],
        model: Option<&ModelId>,
    ) -> Result<Vec<CandidateRow>, StoreError> {
        let ids: Vec<i64> = ids.iter().map(|id| id.get().cast_signed()).collect();
        let values: [Value<'_>; 3] = [&self.shop, &model.map(ModelId::as_str), &ids];
        let found = self.session.query(search::CANDIDATES, &values)?;
        let shop = self.shop;
        let read = |row: &tokio_postgres::Row| {
            let product = get(row, 0)?;
            let Some(id) = decoding::product_id(shop, product) else { return Ok(None) };
            Ok(Some(CandidateRow {
                id,
                version: decoding::seq(get(row, 1)?),
                hidden: get(row, 2)?,
                price: decoding::money(shop, product, get(row, 3)?),
                title: get(row, 4)?,
                description: get(row, 5)?,
                vector: rows::read_stored(row, 6, (shop, product))?,
            }))
        };
        found.iter().filter_map(|row| read(row).transpose()).collect()
    }

    /// The products with these ids, in this order; unknown ones are left out.
    pub(crate) fn products(&mut self, ids: &[ProductId]) -> Result<Vec<Product>, StoreError> {
        let asked: Vec<i64> = ids.iter().map(|id| id.get().cast_signed()).collect();
        let found = self.session.query(statements::PRODUCTS, &[&self.shop, &asked])?;
        let mut by_id = HashMap::with_capacity(found.len());
        for row in &found {
            by_id.extend(rows::read(row, 0)?.map(|product| (product.id, product)));
        }
        Ok(ids.iter().filter_map(|id| by_id.remove(id)).collect())
    }

    fn ids(
        &mut self,
        sql: Sql,
        conditions: &Conditions,
        more: &[Value<'_>],
    ) -> Result<Vec<ProductId>, StoreError> {
        let found = self.filtered(sql, conditions, more)?;
        let read = |row| Ok(decoding::product_id(self.shop, get(row, 0)?));
        found.iter().filter_map(|row| read(row).transpose()).collect()
    }

    /// The rows of a statement that begins with the conditions.
    fn filtered(
        &mut self,
        sql: Sql,
        conditions: &Conditions,
        more: &[Value<'_>],
    ) -> Result<Vec<tokio_postgres::Row>, StoreError> {
        let hidden_too = conditions.visibility == Visibility::All;
        let (least, greatest) = &conditions.amounts;
        let first: [Value<'_>; 6] =
            [&self.shop, &hidden_too, least, greatest, &conditions.currencies, &conditions.said];
        let values: Vec<Value<'_>> = first.into_iter().chain(more.iter().copied()).collect();
        self.session.query(sql, &values)
    }
}
