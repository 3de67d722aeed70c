//! Creates the search rows and indexes of a shop while it is written to.
//!
//! Rows are created in small transactions. From the first of them on, every write to the shop
//! maintains its search rows. Progress is stored with the shop, so any node can continue. Rows that
//! an earlier version of the inference or of the text analysis made are made again in the same way,
//! while the shop is searched with them.

use std::{sync::mpsc, thread};

use catalog::product::{Product, ShopId};
use embed::ModelId;

use super::{
    super::{
        super::{StoreError, decoding},
        rows::{self, get},
        session::{Session, Value},
    },
    rows::{self as search_rows, SearchRow, SearchRows, SearchState},
    statements,
    statistics::Statistics,
};

/// Class of the advisory lock that is held, with a hash of the shop id, while indexes are built.
const INDEX_LOCK: i32 = 730_833_990;

/// pgvector cannot index vectors with more dimensions; searches compare all of them instead.
const MAX_INDEXED_DIMS: usize = 4000;
/// Vectors in a list of an index. A search compares those of a constant number of lists.
const LIST_VECTORS: usize = 500;
/// More lists would take long to build: k-means compares each list with each of 50 samples per list
/// again and again, and then every vector with each list.
const MAX_LISTS: usize = 512;
/// Memory for building indexes, unless the server's setting is higher: k-means with
/// [`MAX_LISTS`] of 256 dimensions fails with less than 65 MB.
const BUILD_MEMORY: &str = "SELECT set_config('maintenance_work_mem', greatest(536870912,
    pg_size_bytes(current_setting('maintenance_work_mem'))) / 1024 || 'kB', false)";

/// Search rows of a statement of a backfill…
const STATEMENT_ROWS: usize = 1_000;
/// … and how many such groups of rows may wait for the database.
const ROWS_AHEAD: usize = 2;

/// A shop that exceeds the limit or has search rows.
#[derive(Clone, Copy, Debug)]
pub(super) struct LargeShop {
    pub(super) shop: ShopId,
    pub(super) products: usize,
    pub(super) state: SearchState,
}

/// The progress of a shop, as of a transaction that locks it.
#[derive(Clone, Copy)]
struct Progress {
    state: SearchState,
    filled_to: i64,
    /// `search_inference` of the schema.
    rows_version: i16,
    inferred_to: i64,
}

/// A connection for backfills.
pub struct Backfill {
    session: Session,
}

impl Backfill {
    pub(in super::super) fn on(mut session: Session) -> Result<Self, StoreError> {
        session.remove_time_limits()?;
        session.control(BUILD_MEMORY)?;
        Ok(Self { session })
    }

    /// Whether the connection still works.
    pub(super) fn is_usable(&self) -> bool {
        self.session.is_usable()
    }

    /// Shops with more than `above` products, and all shops with search rows.
    pub(super) fn large_shops(&mut self, above: usize) -> Result<Vec<LargeShop>, StoreError> {
        let above = i64::try_from(above).unwrap_or(i64::MAX);
        let found = self.session.query(statements::LARGE_SHOPS, &[&above])?;
        let read = |row: &tokio_postgres::Row| {
            let (products, state) = (get(row, 1)?, SearchState::of_column(get(row, 2)?));
            let products = decoding::count(products);
            Ok(decoding::shop_id(get(row, 0)?).map(|shop| LargeShop { shop, products, state }))
        };
        found.iter().filter_map(|row| read(row).transpose()).collect()
    }

    /// Creates the rows of the next `limit` products of a shop; `true` if none were left.
    pub fn fill(&mut self, shop: ShopId, limit: usize) -> Result<bool, StoreError> {
        self.locked(shop, |session, progress| {
            let number = shop.get().cast_signed();
            let after = match progress.state {
                SearchState::InDatabase => return Ok(true),
                SearchState::Backfilling => progress.filled_to,
                SearchState::InMemory => {
                    let values: [Value<'_>; 3] = [&number, &search_rows::VERSION, &0_i64];
                    session.execute(statements::SET_SEARCH_INFERENCE, &values)?;
                    0
                }
            };
            let last = make_rows(session, number, after, limit)?;
            let state = SearchState::Backfilling.column();
            let filled_to = last.unwrap_or(after);
            session.execute(statements::SET_SEARCH_STATE, &[&number, &state, &filled_to])?;
            Ok(last.is_none())
        })
    }

    /// Makes the rows of the next `limit` products of a shop again if they were made with an
    /// earlier version; `true` if none were left.
    pub fn remake(&mut self, shop: ShopId, limit: usize) -> Result<bool, StoreError> {
        self.locked(shop, |session, progress| {
            let number = shop.get().cast_signed();
            let is_begun = progress.rows_version == -search_rows::VERSION;
            let is_old = is_begun || progress.rows_version.abs() < search_rows::VERSION;
            if progress.state != SearchState::InDatabase || !is_old {
                return Ok(true);
            }
            let after = if is_begun { progress.inferred_to } else { 0 };
            let last = make_rows(session, number, after, limit)?;
            let (version, remade_to) = match last {
                Some(last) => (-search_rows::VERSION, last),
                None => (search_rows::VERSION, 0),
            };
            let values: [Value<'_>; 3] = [&number, &version, &remade_to];
            session.execute(statements::SET_SEARCH_INFERENCE, &values)?;
            Ok(last.is_none())
        })
    }

    /// Marks a shop whose rows are complete as searched in the database.
    pub fn finish(&mut self, shop: ShopId) -> Result<(), StoreError> {
        self.locked(shop, |session, progress| {
            if progress.state == SearchState::Backfilling {
                let (number, state) = (shop.get().cast_signed(), SearchState::InDatabase.column());
                let values: [Value<'_>; 3] = [&number, &state, &progress.filled_to];
                session.execute(statements::SET_SEARCH_STATE, &values)?;
            }
            Ok(())
        })?;
        self.analyze()
    }

    /// Marks a shop as searched in memory, and drops its search rows and indexes.
    pub fn remove(&mut self, shop: ShopId) -> Result<(), StoreError> {
        let number = shop.get().cast_signed();
        self.locked(shop, |session, _| {
            let state = SearchState::InMemory.column();
            session.execute(statements::SET_SEARCH_STATE, &[&number, &state, &0_i64])?;
            session.execute(statements::RESET_LENGTHS, &[&number])?;
            session.execute(statements::DELETE_ALL_SEARCH_ROWS, &[&number])?;
            session.execute(statements::DELETE_ALL_SEARCH_WORDS, &[&number])?;
            Ok(())
        })?;
        let patterns = [
            format!("search\\_words\\_of\\_{number}"),
            format!("search\\_labels\\_of\\_{number}"),
            format!("search\\_typos\\_of\\_{number}"),
            format!("search\\_lists\\_of\\_{number}\\_%"),
        ];
        for pattern in patterns {
            for index in self.indexes_like(&pattern)? {
                self.drop_index(&index)?;
            }
        }
        Ok(())
    }

    /// Builds the missing indexes of a shop with this many products, for the vectors of this model
    /// and number of dimensions; `false` if another node is building them.
    pub(super) fn build_indexes(
        &mut self,
        shop: ShopId,
        products: usize,
        model: Option<(&ModelId, usize)>,
    ) -> Result<bool, StoreError> {
        self.with_index_lock(shop.get(), |own| own.build_missing(shop.get(), products, model))
    }

    /// Builds the missing index of a shop's vectors alone, which needs no search rows; does nothing
    /// if another node is building indexes.
    pub(super) fn build_vector_index(
        &mut self,
        shop: ShopId,
        products: usize,
        model: (&ModelId, usize),
    ) -> Result<(), StoreError> {
        let number = shop.get();
        let build = |own: &mut Self| {
            let existing = own.vector_indexes(number)?;
            let wanted = vector_index(number, products, Some(model), &existing);
            own.create_missing(wanted).map(drop)
        };
        self.with_index_lock(number, build).map(drop)
    }

    /// Runs `build` unless another node is building indexes of the shop.
    fn with_index_lock(
        &mut self,
        shop: u64,
        build: impl FnOnce(&mut Self) -> Result<(), StoreError>,
    ) -> Result<bool, StoreError> {
        // Two concurrent builds of one index would deadlock.
        let lock = format!("SELECT pg_try_advisory_lock({INDEX_LOCK}, hashint8({shop}))");
        if self.session.simple(&lock)?.as_deref() != Some("t") {
            return Ok(false);
        }
        let built = build(self);
        if self.session.is_usable() {
            let unlock = format!("SELECT pg_advisory_unlock({INDEX_LOCK}, hashint8({shop}))");
            self.session.simple(&unlock)?;
        }
        built.map(|()| true)
    }

    fn build_missing(
        &mut self,
        shop: u64,
        products: usize,
        model: Option<(&ModelId, usize)>,
    ) -> Result<(), StoreError> {
        let mut superseded = self.vector_indexes(shop)?;
        let mut wanted = index_definitions(shop);
        wanted.extend(vector_index(shop, products, model, &superseded));
        superseded.retain(|other| wanted.iter().all(|(name, _)| name != other));
        let is_new = self.create_missing(wanted)?;
        for other in superseded {
            self.drop_index(&other)?;
        }
        if is_new { self.analyze() } else { Ok(()) }
    }

    /// Creates those indexes that do not exist; whether there were any.
    fn create_missing(
        &mut self,
        wanted: impl IntoIterator<Item = (String, String)>,
    ) -> Result<bool, StoreError> {
        let mut is_new = false;
        for (name, definition) in wanted {
            if self.is_valid_index(&name)? {
                continue;
            }
            // An interrupted build leaves an invalid index behind.
            self.drop_index(&name)?;
            self.session.control(&format!("CREATE INDEX CONCURRENTLY {name} ON {definition}"))?;
            is_new = true;
        }
        Ok(is_new)
    }

    /// The existing vector indexes of a shop, of any model and size.
    fn vector_indexes(&mut self, shop: u64) -> Result<Vec<String>, StoreError> {
        self.indexes_like(&format!("search\\_lists\\_of\\_{shop}\\_%"))
    }

    fn analyze(&mut self) -> Result<(), StoreError> {
        self.session.control("ANALYZE search_rows, search_words, vectors, products")
    }

    fn drop_index(&mut self, name: &str) -> Result<(), StoreError> {
        self.session.control(&format!("DROP INDEX CONCURRENTLY IF EXISTS {name}"))
    }

    fn is_valid_index(&mut self, name: &str) -> Result<bool, StoreError> {
        let query = format!(
            "SELECT 1 FROM pg_index WHERE indexrelid = to_regclass('{name}') AND indisvalid"
        );
        Ok(self.session.simple(&query)?.is_some())
    }

    /// The names of indexes that match a LIKE pattern.
    fn indexes_like(&mut self, pattern: &str) -> Result<Vec<String>, StoreError> {
        let query = format!(
            "SELECT coalesce(string_agg(relname, ' '), '') FROM pg_class
             WHERE relkind = 'i' AND relname LIKE '{pattern}' AND pg_table_is_visible(oid)"
        );
        let names = self.session.simple(&query)?.unwrap_or_default();
        Ok(names.split_whitespace().map(str::to_owned).collect())
    }

    /// Runs `work` in a transaction that locks the shop, with its progress.
    fn locked<T>(
        &mut self,
        shop: ShopId,
        work: impl FnOnce(&mut Session, Progress) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.session.begin()?;
        let session = &mut self.session;
        let done = (|| {
            let number = shop.get().cast_signed();
            let row = session.query_one(statements::LOCK_FOR_BACKFILL, &[&number])?;
            let progress = Progress {
                state: SearchState::of_column(get(&row, 0)?),
                filled_to: get(&row, 1)?,
                rows_version: get(&row, 2)?,
                inferred_to: get(&row, 3)?,
            };
            work(session, progress)
        })();
        match done {
            Ok(done) => session.commit().map(|()| done),
            Err(error) => {
                session.roll_back();
                Err(error)
            }
        }
    }
}

/// Makes the search rows of the next `limit` products with ids above `after`, and returns the last
/// of them; `None` if there are none.
fn make_rows(
    session: &mut Session,
    shop: i64,
    after: i64,
    limit: usize,
) -> Result<Option<i64>, StoreError> {
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let found = session.query(statements::NEXT_PRODUCTS, &[&shop, &after, &limit])?;
    let read = |row| rows::read(row, 0).transpose();
    let next: Vec<Product> = found.iter().filter_map(read).collect::<Result<_, _>>()?;
    if !next.is_empty() {
        put_rows(session, shop, &next)?;
    }
    Ok(next.last().map(|last| last.id.get().cast_signed()))
}

/// Stores the search rows of products, while those of the products after them are made on another
/// thread.
fn put_rows(session: &mut Session, shop: i64, products: &[Product]) -> Result<(), StoreError> {
    let replaced = products.iter().map(|product| product.id.get().cast_signed()).collect();
    session.execute_all(&Statistics::default().update(shop, replaced))?;
    let mut added = Statistics::default();
    thread::scope(|scope| {
        let (made, rows) = mpsc::sync_channel(ROWS_AHEAD);
        let added = &mut added;
        scope.spawn(move || {
            let chunks = products.chunks(STATEMENT_ROWS);
            let rows_of =
                |chunk: &[Product]| SearchRows::of(chunk.iter().map(SearchRow::of), added);
            // Ends early if a statement has failed.
            chunks.map(rows_of).all(|rows| made.send(rows).is_ok())
        });
        rows.into_iter().try_for_each(|rows| session.execute_all(&[rows.upsert(shop)]))
    })?;
    session.execute_all(&added.update(shop, Vec::new()))
}

/// Names and definitions of the partial indexes of a shop on words, labels and trigrams of words.
fn index_definitions(shop: u64) -> Vec<(String, String)> {
    vec![
        (
            format!("search_words_of_{shop}"),
            format!("search_rows USING gin (words) WHERE shop_id = {shop}"),
        ),
        (
            format!("search_labels_of_{shop}"),
            format!("search_rows USING gin (labels) WHERE shop_id = {shop}"),
        ),
        (
            format!("search_typos_of_{shop}"),
            format!("search_words USING gin (word gin_trgm_ops) WHERE shop_id = {shop}"),
        ),
    ]
}

/// Name and definition of the index on the vectors of a shop; `None` if they cannot be indexed.
fn vector_index(
    shop: u64,
    products: usize,
    model: Option<(&ModelId, usize)>,
    existing: &[String],
) -> Option<(String, String)> {
    let (model, dims) = model.filter(|(_, dims)| *dims <= MAX_INDEXED_DIMS)?;
    let index = VectorIndex { shop, model, dims };
    let lists = index.lists_among(existing, products);
    Some((index.name(lists), index.definition(lists)))
}

/// The partial index on the vectors of a shop: lists of vectors that are near to each other.
struct VectorIndex<'a> {
    shop: u64,
    model: &'a ModelId,
    dims: usize,
}

impl VectorIndex<'_> {
    fn name(&self, lists: usize) -> String {
        let fingerprint = catalog::text::analysis::fingerprint(self.model.as_str());
        format!("search_lists_of_{}_{fingerprint:08x}_{lists}", self.shop)
    }

    fn definition(&self, lists: usize) -> String {
        let Self { shop, model, dims } = self;
        let model = model.as_str().replace('\'', "''");
        format!(
            "vectors USING ivfflat ((vector::halfvec({dims})) halfvec_cosine_ops)
             WITH (lists = {lists}) WHERE shop_id = {shop} AND model = '{model}'"
        )
    }

    /// The number of lists for this many products: that of an existing index whose lists are at most
    /// twice as long or half as long as those of a new one.
    fn lists_among(&self, existing: &[String], products: usize) -> usize {
        let ideal = (products / LIST_VECTORS).next_power_of_two().min(MAX_LISTS);
        let usable = [ideal, ideal * 2, ideal / 2];
        usable.into_iter().find(|lists| existing.contains(&self.name(*lists))).unwrap_or(ideal)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_is_built_again_when_its_lists_have_become_long() {
        let model = ModelId::new("a model");
        let index = VectorIndex { shop: 7, model: &model, dims: 256 };
        assert_eq!(index.lists_among(&[], 100_000), 256);
        assert_eq!(index.lists_among(&[], 10), 1);
        assert_eq!(index.lists_among(&[], 100_000_000), MAX_LISTS);
        let existing = [index.name(128)];
        assert_eq!(index.lists_among(&existing, 120_000), 128);
        assert_eq!(index.lists_among(&existing, 30_000), 128);
        assert_eq!(index.lists_among(&existing, 300_000), 512);
        let other = VectorIndex { shop: 8, ..index };
        assert_eq!(other.lists_among(&existing, 120_000), 256);
    }
}
