//! When does a shop come to be searched in the database? A thread looks every few seconds which
//! shops are large, makes their rows and indexes, and lets them leave memory once all is there.

use std::{
    collections::HashSet,
    io,
    sync::Arc,
    time::{Duration, Instant},
};

use catalog::product::ShopId;
use parking_lot::RwLock;

use super::Sizes;
use crate::{
    background::BackgroundThread,
    bell::Bell,
    embed::ModelId,
    shops::Shops,
    store::{ErrorChain, Filling, Postgres, SearchState, StoreError},
};

/// How often somebody looks.
const LOOK_EVERY: Duration = Duration::from_secs(5);
/// Products whose rows are made in one transaction; who writes to the shop waits for it.
const BATCH: usize = 500;
/// The thread. It stops when this is dropped. An index that takes its time is not waited for:
/// another node, or the next start, goes on.
pub(super) struct Keeper {
    _thread: BackgroundThread,
}

impl Keeper {
    pub(super) fn start(
        postgres: Postgres,
        shops: Arc<Shops>,
        here: Arc<RwLock<HashSet<ShopId>>>,
        space: Option<(ModelId, usize)>,
        sizes: Sizes,
    ) -> io::Result<Self> {
        let bell = Arc::<Bell>::default();
        let desk =
            Desk { postgres, filling: None, shops, here, space, sizes, bell: Arc::clone(&bell) };
        let thread = BackgroundThread::start("large shops", bell, move || desk.run())?;
        Ok(Self { _thread: thread })
    }
}

/// The thread's own things.
struct Desk {
    postgres: Postgres,
    filling: Option<Filling>,
    shops: Arc<Shops>,
    here: Arc<RwLock<HashSet<ShopId>>>,
    space: Option<(ModelId, usize)>,
    sizes: Sizes,
    bell: Arc<Bell>,
}

impl Desk {
    fn run(mut self) {
        let mut is_failing = false;
        loop {
            match self.look() {
                Ok(()) => is_failing = false,
                Err(error) if !is_failing => {
                    is_failing = true;
                    let error = ErrorChain(&error);
                    tracing::warn!(%error, "large shops cannot be prepared for search");
                }
                Err(_) => {}
            }
            if !self.bell.pause(LOOK_EVERY) {
                return;
            }
        }
    }

    fn look(&mut self) -> Result<(), StoreError> {
        let mut filling = match self.filling.take().filter(Filling::is_usable) {
            Some(filling) => filling,
            None => self.postgres.filling()?,
        };
        let above = self.sizes.above;
        // Ready before it is too large, and not ready again and again at the limit.
        let prepared_above = above - above / 5;
        for large in filling.large_shops(prepared_above)? {
            if self.bell.stopping() {
                break;
            }
            let (shop, products) = (large.shop, large.products);
            let is_ready = match large.state {
                SearchState::InDatabase | SearchState::Filling if products < above / 2 => {
                    self.here.write().remove(&shop);
                    filling.stop(shop)?;
                    tracing::info!(%shop, products, "a shop is searched in memory again");
                    false
                }
                SearchState::InDatabase => {
                    self.index(&mut filling, shop, products)?;
                    true
                }
                SearchState::InMemory | SearchState::Filling => {
                    self.get_ready(&mut filling, shop, products)?
                }
            };
            self.place(shop, is_ready, products);
        }
        self.filling = Some(filling);
        Ok(())
    }

    /// Makes rows and indexes; `false` if another node is at it, or it is time to stop.
    fn get_ready(
        &self,
        filling: &mut Filling,
        shop: ShopId,
        products: usize,
    ) -> Result<bool, StoreError> {
        let started = Instant::now();
        while !filling.fill(shop, BATCH)? {
            if self.bell.stopping() {
                return Ok(false);
            }
        }
        if !self.index(filling, shop, products)? {
            return Ok(false);
        }
        filling.finish(shop)?;
        let elapsed_ms = started.elapsed().as_millis() as u64;
        tracing::info!(%shop, products, elapsed_ms, "a shop can be searched in the database");
        Ok(true)
    }

    /// Makes the indexes that are missing; a shop that is not so large needs none.
    fn index(
        &self,
        filling: &mut Filling,
        shop: ShopId,
        products: usize,
    ) -> Result<bool, StoreError> {
        if products < self.sizes.indexed_from {
            return Ok(true);
        }
        let space = self.space.as_ref().map(|(model, dims)| (model, *dims));
        filling.index(shop, space)
    }

    /// Searches go where the shop is. At the limit it stays where it was.
    fn place(&self, shop: ShopId, is_ready: bool, products: usize) {
        let above = self.sizes.above;
        let was_here = self.here.read().contains(&shop);
        let least = if was_here { above - above / 10 } else { above };
        let is_here = is_ready && products > least;
        if is_here && !was_here {
            self.here.write().insert(shop);
            self.shops.let_go(shop);
        } else if was_here && !is_here {
            self.here.write().remove(&shop);
        }
    }
}
