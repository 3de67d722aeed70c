//! How does a shop come to be searched inside the database? Its rows are made in small transactions,
//! while everybody goes on writing, and then its indexes.
//!
//! From the first of these transactions on, whoever writes to the shop keeps its rows up to date.
//! How far they have come is said by the shop itself, so any node can go on where another stopped.

use catalog::product::{Product, ShopId};

use super::{
    super::{StoreError, decoding},
    rows::{self, get},
    search_rows::{self, SearchState},
    session::Session,
    statements::search,
};
use crate::embed::ModelId;

/// Whoever makes indexes of a shop holds this lock with the shop's number.
const INDEX_LOCK: i32 = 730_833_990;

/// Vectors with more coordinates cannot have an index; all of them are compared.
const MOST_DIMS: usize = 4000;

/// A shop that is large or was.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LargeShop {
    pub(crate) shop: ShopId,
    pub(crate) products: usize,
    pub(crate) state: SearchState,
}

/// A connection on which shops are got ready.
pub(crate) struct Filling {
    session: Session,
}

impl Filling {
    pub(super) fn on(mut session: Session) -> Result<Self, StoreError> {
        session.be_patient()?;
        Ok(Self { session })
    }

    /// Whether it can be used again.
    pub(crate) fn is_usable(&self) -> bool {
        self.session.is_usable()
    }

    /// Shops with more products than these, and those that are searched here for whatever reason.
    pub(crate) fn large_shops(&mut self, above: usize) -> Result<Vec<LargeShop>, StoreError> {
        let above = i64::try_from(above).unwrap_or(i64::MAX);
        let found = self.session.query(search::LARGE_SHOPS, &[&above])?;
        let read = |row: &tokio_postgres::Row| {
            let (products, state) = (get(row, 1)?, SearchState::of_column(get(row, 2)?));
            let products = decoding::count(products);
            Ok(decoding::shop_id(get(row, 0)?).map(|shop| LargeShop { shop, products, state }))
        };
        found.iter().filter_map(|row| read(row).transpose()).collect()
    }

    /// Makes the rows of the next products of a shop; `true` if there are none left.
    pub(crate) fn fill(&mut self, shop: ShopId, products: usize) -> Result<bool, StoreError> {
        self.locked(shop, |session, state, filled_to| {
            let number = shop.get().cast_signed();
            if state == SearchState::InDatabase {
                return Ok(true);
            }
            let after = if state == SearchState::Filling { filled_to } else { 0 };
            let limit = i64::try_from(products).unwrap_or(i64::MAX);
            let found = session.query(search::NEXT_PRODUCTS, &[&number, &after, &limit])?;
            let read = |row| rows::read(row, 0).transpose();
            let next: Vec<Product> = found.iter().filter_map(read).collect::<Result<_, _>>()?;
            let last = next.last().map_or(after, |last| last.id.get().cast_signed());
            if !next.is_empty() {
                let all: Vec<&Product> = next.iter().collect();
                session.execute_all(&search_rows::statements_for(number, &all, &[]))?;
            }
            let state = SearchState::Filling.column();
            session.execute(search::SET_SEARCH_STATE, &[&number, &state, &last])?;
            Ok(next.is_empty())
        })
    }

    /// From now on a shop whose rows are all there is searched here.
    pub(crate) fn finish(&mut self, shop: ShopId) -> Result<(), StoreError> {
        self.locked(shop, |session, state, filled_to| {
            if state == SearchState::Filling {
                let (number, state) = (shop.get().cast_signed(), SearchState::InDatabase.column());
                session.execute(search::SET_SEARCH_STATE, &[&number, &state, &filled_to])?;
            }
            Ok(())
        })?;
        self.analyse()
    }

    /// From now on a shop is searched in memory, and nothing else is kept of it.
    pub(crate) fn stop(&mut self, shop: ShopId) -> Result<(), StoreError> {
        let number = shop.get().cast_signed();
        self.locked(shop, |session, _, _| {
            let state = SearchState::InMemory.column();
            session.execute(search::SET_SEARCH_STATE, &[&number, &state, &0_i64])?;
            session.execute(search::FORGET_LENGTHS, &[&number])?;
            session.execute(search::FORGET_SEARCH_ROWS, &[&number])?;
            session.execute(search::FORGET_SEARCH_WORDS, &[&number])?;
            Ok(())
        })?;
        let of_shop = [
            format!("words\\_of\\_{number}"),
            format!("typos\\_of\\_{number}"),
            format!("near\\_of\\_{number}\\_%"),
        ];
        for kind in of_shop {
            for index in self.indexes(&format!("search\\_{kind}"))? {
                self.session.control(&format!("DROP INDEX CONCURRENTLY IF EXISTS {index}"))?;
            }
        }
        Ok(())
    }

    /// Makes the indexes that a shop lacks, for the vectors of this model; `false` if another node
    /// is at it.
    pub(crate) fn index(
        &mut self,
        shop: ShopId,
        model: Option<(&ModelId, usize)>,
    ) -> Result<bool, StoreError> {
        let number = shop.get();
        // Two nodes at one index would wait for each other.
        let lock = format!("SELECT pg_try_advisory_lock({INDEX_LOCK}, hashint8({number}))");
        if self.session.simple(&lock)?.as_deref() != Some("t") {
            return Ok(false);
        }
        let made = self.make_indexes(number, model);
        if self.session.is_usable() {
            let unlock = format!("SELECT pg_advisory_unlock({INDEX_LOCK}, hashint8({number}))");
            self.session.simple(&unlock)?;
        }
        made.map(|()| true)
    }

    fn make_indexes(
        &mut self,
        shop: u64,
        model: Option<(&ModelId, usize)>,
    ) -> Result<(), StoreError> {
        let mut wanted = vec![
            (
                format!("search_words_of_{shop}"),
                format!("search_rows USING gin (words) WHERE shop_id = {shop}"),
            ),
            (
                format!("search_typos_of_{shop}"),
                format!("search_words USING gin (word gin_trgm_ops) WHERE shop_id = {shop}"),
            ),
        ];
        if let Some((model, dims)) = model.filter(|(_, dims)| *dims <= MOST_DIMS) {
            let name = model.as_str().replace('\'', "''");
            let print = catalog::analysis::fingerprint(model.as_str());
            wanted.push((
                format!("search_near_of_{shop}_{print:08x}"),
                format!(
                    "vectors USING hnsw ((vector::halfvec({dims})) halfvec_cosine_ops)
                     WHERE shop_id = {shop} AND model = '{name}'"
                ),
            ));
        }
        let there = self.indexes(&format!("search\\_near\\_of\\_{shop}\\_%"))?;
        for other in there.iter().filter(|other| wanted.iter().all(|(name, _)| name != *other)) {
            self.session.control(&format!("DROP INDEX CONCURRENTLY IF EXISTS {other}"))?;
        }
        let mut is_new = false;
        for (name, what) in wanted {
            if self.is_made(&name)? {
                continue;
            }
            // One that somebody began and did not finish is of no use.
            self.session.control(&format!("DROP INDEX CONCURRENTLY IF EXISTS {name}"))?;
            self.session.control(&format!("CREATE INDEX CONCURRENTLY {name} ON {what}"))?;
            is_new = true;
        }
        if is_new { self.analyse() } else { Ok(()) }
    }

    /// Lets the planner know what there is.
    fn analyse(&mut self) -> Result<(), StoreError> {
        self.session.control("ANALYZE search_rows, search_words, vectors, products")
    }

    fn is_made(&mut self, name: &str) -> Result<bool, StoreError> {
        let made = format!(
            "SELECT 1 FROM pg_index WHERE indexrelid = to_regclass('{name}') AND indisvalid"
        );
        Ok(self.session.simple(&made)?.is_some())
    }

    /// The names of indexes like this pattern.
    fn indexes(&mut self, pattern: &str) -> Result<Vec<String>, StoreError> {
        let names = format!(
            "SELECT coalesce(string_agg(relname, ' '), '') FROM pg_class
             WHERE relkind = 'i' AND relname LIKE '{pattern}' AND pg_table_is_visible(oid)"
        );
        let names = self.session.simple(&names)?.unwrap_or_default();
        Ok(names.split_whitespace().map(str::to_owned).collect())
    }

    /// Runs `work` in a transaction that holds the shop.
    fn locked<T>(
        &mut self,
        shop: ShopId,
        work: impl FnOnce(&mut Session, SearchState, i64) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.session.begin()?;
        let session = &mut self.session;
        let done = (|| {
            let row = session.query_one(search::LOCK_TO_FILL, &[&shop.get().cast_signed()])?;
            work(session, SearchState::of_column(get(&row, 0)?), get(&row, 1)?)
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
