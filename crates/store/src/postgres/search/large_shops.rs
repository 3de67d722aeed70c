//! Which shops are searched in the database, and the snapshots that their searches read.

use std::{collections::HashSet, io, sync::Arc};

use catalog::product::ShopId;
use embed::{Embedder, ModelId};
use parking_lot::RwLock;

use super::{
    super::{database::Postgres, reader::PostgresReaders, session::Session},
    limits::CandidateLimits,
    maintenance::Maintenance,
    rows::SearchState,
    snapshot::{self, SearchSnapshot, ShopStatistics},
};
use crate::StoreError;

/// The shops that are searched in the database.
pub struct PostgresSearch {
    readers: Arc<PostgresReaders>,
    /// The model whose vectors are compared.
    pub model: Option<ModelId>,
    /// Sizes of shops, and numbers of candidates.
    pub limits: CandidateLimits,
    /// The shops whose rows and indexes are complete, as of the last maintenance.
    ready: Arc<RwLock<HashSet<ShopId>>>,
    _maintenance: Option<Maintenance>,
}

impl PostgresSearch {
    /// Starts the maintenance of large shops. `evict` is called when a shop that may be in memory
    /// has become searchable in the database.
    pub fn start(
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
    pub fn without_maintenance(
        readers: Arc<PostgresReaders>,
        embedder: Option<&dyn Embedder>,
        limits: CandidateLimits,
    ) -> Self {
        let model = embedder.map(|embedder| embedder.model().clone());
        Self { readers, model, limits, ready: Arc::default(), _maintenance: None }
    }

    /// Whether a shop may be searched in the database; [`with_snapshot`](Self::with_snapshot)
    /// tells whether it is.
    pub fn may_hold(&self, shop: ShopId) -> bool {
        self.limits.search_above == 0 || self.ready.read().contains(&shop)
    }

    /// Whether a shop with this many products has reached its final place: in memory if it is
    /// small, in the database with all its indexes if it is large.
    pub fn has_settled(&self, shop: ShopId, products: usize) -> bool {
        products <= self.limits.search_above || self.ready.read().contains(&shop)
    }

    /// Whether a shop with this many products is searched in the database, according to the
    /// database itself.
    pub fn holds(&self, shop: ShopId, products: usize) -> Result<bool, StoreError> {
        if products <= self.limits.search_above {
            return Ok(false);
        }
        Ok(self.with_snapshot(shop, |_, _| Ok(()))?.is_some())
    }

    /// Runs `work` on one state of a shop; `None` if the shop is not searched in the database.
    pub fn with_snapshot<T>(
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
