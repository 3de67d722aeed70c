//! Search inside PostgreSQL, for shops that are too large for the memory of a node.
//!
//! The database selects candidates ([`candidates`]), which are scored by the code that scores
//! products in memory, with the statistics of the whole shop. Searches without terms need no scores:
//! the database orders and counts their results ([`listing`]). `crate::search::postgres` runs the
//! search pipeline over this module. [`maintenance`] decides which shops are searched here and
//! creates their rows and indexes ([`backfill`]); every write maintains the rows ([`rows`]).
//!
//! Architecture invariants:
//! - conditions are exact: the database filters out what surely breaks them, and the texts decide
//!   about the rest;
//! - a total that may be too low is marked as inexact.

mod backfill;
mod candidates;
mod facet_counts;
mod labels;
mod listing;
mod maintenance;
mod order;
mod row_filter;
mod rows;
mod snapshot;
pub(super) mod statements;
mod statistics;
mod text_query;
mod vocabulary;

use std::{collections::HashSet, io, sync::Arc};

use catalog::product::ShopId;
use parking_lot::RwLock;

use self::maintenance::Maintenance;
pub(super) use self::rows::{VERSION as ROWS_VERSION, statements_for};
pub(crate) use self::{
    backfill::Backfill,
    candidates::{CandidateSelection, Candidates, similar_candidates},
    listing::{Listed, Listing},
    rows::SearchState,
    snapshot::{CandidateRow, SearchSnapshot, ShopStatistics},
    vocabulary::ShopVocabulary,
};
use super::{Postgres, PostgresReaders, session::Session};
use crate::{
    embed::{Embedder, ModelId},
    store::StoreError,
};

/// Sizes of shops and numbers of candidates. Only `search_above` is a setting.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CandidateLimits {
    /// Shops with more products are searched in the database.
    pub(crate) search_above: usize,
    /// If at most this many products satisfy the conditions, all of them are scored.
    pub(crate) rank_all_up_to: usize,
    /// Candidates by lexical score, and as many by vector, for pages that end within this number.
    pub(crate) candidates: usize,
    /// The same, for pages beyond.
    pub(crate) deep_candidates: usize,
    /// Products that are scored in SQL to find the best by lexical score.
    pub(crate) max_scored: usize,
    /// Products whose attributes and prices are counted for the facets of a search without terms.
    pub(crate) max_counted: usize,
    /// Shops with fewer products get no partial indexes.
    pub(crate) index_from: usize,
}

impl CandidateLimits {
    /// The defaults for shops with more than `search_above` products.
    pub(crate) fn new(search_above: usize) -> Self {
        Self {
            search_above,
            rank_all_up_to: 2_000,
            candidates: 200,
            deep_candidates: 1_100,
            max_scored: 2_000,
            max_counted: 100_000,
            index_from: 10_000,
        }
    }
}

/// The shops that are searched in the database.
pub(crate) struct PostgresSearch {
    readers: Arc<PostgresReaders>,
    /// The model whose vectors are compared.
    pub(crate) model: Option<ModelId>,
    pub(crate) limits: CandidateLimits,
    /// The shops whose rows and indexes are complete, as of the last maintenance.
    ready: Arc<RwLock<HashSet<ShopId>>>,
    _maintenance: Option<Maintenance>,
}

impl PostgresSearch {
    /// Starts the maintenance of large shops. `evict` is called when a shop that may be in memory
    /// has become searchable in the database.
    pub(crate) fn start(
        postgres: Postgres,
        readers: Arc<PostgresReaders>,
        embedder: Option<&dyn Embedder>,
        limits: CandidateLimits,
        evict: impl Fn(ShopId) + Send + 'static,
    ) -> io::Result<Self> {
        let vectors = embedder.map(|embedder| (embedder.model().clone(), embedder.dims()));
        let mut search = Self::without_maintenance(readers, embedder, limits);
        let ready = Arc::clone(&search.ready);
        let maintenance = Maintenance::start(postgres, ready, vectors, limits, Box::new(evict))?;
        search._maintenance = Some(maintenance);
        Ok(search)
    }

    /// Searches shops whose rows are complete already.
    pub(crate) fn without_maintenance(
        readers: Arc<PostgresReaders>,
        embedder: Option<&dyn Embedder>,
        limits: CandidateLimits,
    ) -> Self {
        let model = embedder.map(|embedder| embedder.model().clone());
        Self { readers, model, limits, ready: Arc::default(), _maintenance: None }
    }

    /// Whether a shop may be searched in the database; [`with_snapshot`](Self::with_snapshot)
    /// tells whether it is.
    pub(crate) fn may_hold(&self, shop: ShopId) -> bool {
        self.limits.search_above == 0 || self.ready.read().contains(&shop)
    }

    /// Whether a shop with this many products has reached its final place: in memory if it is
    /// small, in the database with all its indexes if it is large.
    pub(crate) fn has_settled(&self, shop: ShopId, products: usize) -> bool {
        products <= self.limits.search_above || self.ready.read().contains(&shop)
    }

    /// Whether a shop with this many products is searched in the database, according to the
    /// database itself.
    pub(crate) fn holds(&self, shop: ShopId, products: usize) -> Result<bool, StoreError> {
        if products <= self.limits.search_above {
            return Ok(false);
        }
        Ok(self.with_snapshot(shop, |_, _| Ok(()))?.is_some())
    }

    /// Runs `work` on one state of a shop; `None` if the shop is not searched in the database.
    pub(crate) fn with_snapshot<T>(
        &self,
        shop: ShopId,
        work: impl FnOnce(&SearchSnapshot<'_>, ShopStatistics) -> Result<T, StoreError>,
    ) -> Result<Option<T>, StoreError> {
        let begin = |session: &mut Session| session.begin_with(snapshot::BEGIN);
        self.readers.pool.with_ready(begin, |session| {
            let snapshot = SearchSnapshot::new(session, shop);
            let result = snapshot.statistics().and_then(|statistics| {
                let searched = statistics.filter(|shop| shop.state == SearchState::InDatabase);
                searched.map(|statistics| work(&snapshot, statistics)).transpose()
            });
            session.roll_back();
            result
        })
    }
}
