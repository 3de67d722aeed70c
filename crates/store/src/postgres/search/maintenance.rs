//! A background thread that prepares large shops for search in the database and removes the search
//! rows of shops that have become small.

use std::{
    collections::HashSet,
    io,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use catalog::product::ShopId;
use embed::ModelId;
use parking_lot::RwLock;

use super::{
    super::database::Postgres,
    backfill::{Backfill, LargeShop},
    limits::CandidateLimits,
    rows::SearchState,
};
use crate::{
    ErrorChain, StoreError,
    background::{BackgroundThread, Next, Run},
};

/// Pause between two passes over the large shops.
const INTERVAL: Duration = Duration::from_secs(5);
/// Products whose rows are created in one transaction. Writes to the shop wait for it. Most words of
/// a batch occur in many of its products, and the document frequency of each is updated once.
const BATCH: usize = 16_000;

/// The thread; dropping this stops it. It does not wait for an index that is being built: another
/// node, or the next start, continues.
pub(super) struct Maintenance {
    _thread: BackgroundThread,
}

impl Maintenance {
    /// `ready` receives the shops that are searched in the database; `vectors` is the model whose
    /// vectors are indexed, with their dimensions.
    pub(super) fn start(
        postgres: Postgres,
        ready: Arc<RwLock<HashSet<ShopId>>>,
        vectors: Option<(ModelId, usize)>,
        limits: CandidateLimits,
        evict: Box<dyn Fn(ShopId) + Send>,
    ) -> io::Result<Self> {
        let mut worker = Worker { postgres, backfill: None, ready, vectors, limits, evict };
        let thread =
            BackgroundThread::start("large shops", Arc::default(), move |run| worker.step(run))?;
        Ok(Self { _thread: thread })
    }
}

/// The state of the thread.
struct Worker {
    postgres: Postgres,
    /// The connection of the last pass.
    backfill: Option<Backfill>,
    ready: Arc<RwLock<HashSet<ShopId>>>,
    vectors: Option<(ModelId, usize)>,
    limits: CandidateLimits,
    evict: Box<dyn Fn(ShopId) + Send>,
}

impl Worker {
    fn step(&mut self, run: &Run<'_>) -> Next {
        let Err(error) = self.pass(run) else { return Next::Sleep(INTERVAL) };
        if run.failures == 0 {
            let error = ErrorChain(&error);
            tracing::warn!(%error, "search-row backfill failed");
        }
        Next::Retry(INTERVAL)
    }

    /// One pass over the large shops.
    fn pass(&mut self, run: &Run<'_>) -> Result<(), StoreError> {
        let mut backfill = match self.backfill.take().filter(Backfill::is_usable) {
            Some(backfill) => backfill,
            None => self.postgres.backfill()?,
        };
        // Preparation starts below the limit, so that a shop is ready when it reaches it.
        let above = self.limits.search_above;
        for large in backfill.large_shops(above - above / 5)? {
            if run.is_stopping() {
                break;
            }
            self.maintain(run, &mut backfill, large)?;
        }
        self.backfill = Some(backfill);
        Ok(())
    }

    fn maintain(
        &self,
        run: &Run<'_>,
        backfill: &mut Backfill,
        large: LargeShop,
    ) -> Result<(), StoreError> {
        let LargeShop { shop, products, state } = large;
        let is_ready = match state {
            SearchState::InDatabase | SearchState::Backfilling
                if products < self.limits.search_above / 2 =>
            {
                self.ready.write().remove(&shop);
                backfill.remove(shop)?;
                tracing::info!(%shop, products, "search rows removed; shop is searched in memory");
                false
            }
            SearchState::InDatabase => {
                self.build_indexes(backfill, shop, products)?;
                true
            }
            SearchState::InMemory | SearchState::Backfilling => {
                self.prepare(run, backfill, shop, products)?
            }
        };
        self.update_ready(shop, is_ready, products);
        // The shop is searched meanwhile, with the rows of an earlier version.
        while is_ready && !run.is_stopping() && !backfill.remake(shop, BATCH)? {}
        Ok(())
    }

    /// Creates rows and indexes; `false` if another node builds the indexes or the thread stops.
    fn prepare(
        &self,
        run: &Run<'_>,
        backfill: &mut Backfill,
        shop: ShopId,
        products: usize,
    ) -> Result<bool, StoreError> {
        let started = Instant::now();
        let is_filled = self.with_vector_index(shop, products, || {
            while !backfill.fill(shop, BATCH)? {
                if run.is_stopping() {
                    return Ok(false);
                }
            }
            Ok(true)
        })?;
        if !is_filled || !self.build_indexes(backfill, shop, products)? {
            return Ok(false);
        }
        backfill.finish(shop)?;
        let elapsed_ms = started.elapsed().as_millis() as u64;
        tracing::info!(%shop, products, elapsed_ms, "shop is ready for search in the database");
        Ok(true)
    }

    /// Runs `fill`, while the index of vectors, which is of another table, is built on a connection
    /// of its own.
    fn with_vector_index<T>(
        &self,
        shop: ShopId,
        products: usize,
        fill: impl FnOnce() -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let indexed = self.vectors.as_ref().filter(|_| products >= self.limits.index_from);
        let Some((model, dims)) = indexed else { return fill() };
        let postgres = &self.postgres;
        thread::scope(|scope| {
            let built = scope.spawn(move || {
                postgres.backfill()?.build_vector_index(shop, products, (model, *dims))
            });
            let filled = fill();
            match built.join() {
                Ok(built) => built.and(filled),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        })
    }

    /// Builds missing indexes; shops below `index_from` need none.
    fn build_indexes(
        &self,
        backfill: &mut Backfill,
        shop: ShopId,
        products: usize,
    ) -> Result<bool, StoreError> {
        if products < self.limits.index_from {
            return Ok(true);
        }
        let vectors = self.vectors.as_ref().map(|(model, dims)| (model, *dims));
        backfill.build_indexes(shop, products, vectors)
    }

    /// Routes searches of a shop. A margin of a tenth keeps a shop near the limit from going back
    /// and forth.
    fn update_ready(&self, shop: ShopId, is_ready: bool, products: usize) {
        let above = self.limits.search_above;
        let was_ready = self.ready.read().contains(&shop);
        let least = if was_ready { above - above / 10 } else { above };
        let is_ready = is_ready && products > least;
        if is_ready && !was_ready {
            self.ready.write().insert(shop);
            (self.evict)(shop);
        } else if was_ready && !is_ready {
            self.ready.write().remove(&shop);
        }
    }
}
