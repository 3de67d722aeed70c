//! Which shops are too large for memory, and how are they searched? Inside the database: it names
//! the products that may answer, and these are ranked like those in memory.
//!
//! Architecture invariants:
//! - what a condition says is exact here too: the database leaves out what surely breaks it, and of
//!   what is left the texts decide;
//! - scores are those of memory: the same code, with the statistics of the whole shop;
//! - a `total` that may be too small says so.

mod candidates;
mod keeper;
mod query;
mod search;
mod similar;
#[cfg(test)]
mod tests;
mod words;

use std::{collections::HashSet, io, sync::Arc};

use catalog::product::ShopId;
use parking_lot::RwLock;

use self::keeper::Keeper;
use crate::{
    embed::{Embedder, ModelId},
    shops::Shops,
    store::{Postgres, PostgresReaders, SearchState, StoreError},
};

/// How much is looked at. Only the first is for operators.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sizes {
    /// Products beyond which a shop is searched in the database.
    pub(crate) above: usize,
    /// If so few products satisfy the conditions, all of them are ranked.
    pub(crate) exact: usize,
    /// Candidates by words, and as many by meaning: for pages that end before as many products…
    pub(crate) candidates: usize,
    /// … and for pages beyond.
    pub(crate) deep_candidates: usize,
    /// Products with the words that are compared to find the best of them.
    pub(crate) looked_at: usize,
    /// Products from which on a shop has indexes of its own.
    pub(crate) indexed_from: usize,
}

impl Sizes {
    pub(crate) fn above(above: usize) -> Self {
        Self {
            above,
            exact: 2_000,
            candidates: 500,
            deep_candidates: 1_100,
            looked_at: 20_000,
            indexed_from: 10_000,
        }
    }
}

/// The shops that are searched in the database.
pub(crate) struct LargeShops {
    readers: Arc<PostgresReaders>,
    /// The model whose vectors are compared.
    model: Option<ModelId>,
    sizes: Sizes,
    /// Those that are, as far as it is known.
    here: Arc<RwLock<HashSet<ShopId>>>,
    /// Gets shops ready.
    _keeper: Option<Keeper>,
}

impl LargeShops {
    /// Starts to look after large shops.
    pub(crate) fn start(
        postgres: Postgres,
        readers: Arc<PostgresReaders>,
        shops: Arc<Shops>,
        embedder: Option<&dyn Embedder>,
        sizes: Sizes,
    ) -> io::Result<Self> {
        let here = Arc::<RwLock<HashSet<ShopId>>>::default();
        let model = embedder.map(|embedder| embedder.model().clone());
        let space = embedder.map(|embedder| (embedder.model().clone(), embedder.dims()));
        let keeper = Keeper::start(postgres, shops, Arc::clone(&here), space, sizes)?;
        Ok(Self { readers, model, sizes, here, _keeper: Some(keeper) })
    }

    /// Whether a shop may be searched in the database; who searches there is told if it is not.
    pub(crate) fn may_hold(&self, shop: ShopId) -> bool {
        self.sizes.above == 0 || self.here.read().contains(&shop)
    }

    /// Whether a shop with so many products is searched where it will be, with all its indexes, as
    /// far as this node has looked.
    pub(crate) fn has_settled(&self, shop: ShopId, products: usize) -> bool {
        products <= self.sizes.above || self.here.read().contains(&shop)
    }

    /// Whether a shop with so many products is searched in the database, for who has not searched
    /// it yet.
    pub(crate) fn holds(&self, shop: ShopId, products: usize) -> Result<bool, StoreError> {
        if products <= self.sizes.above {
            return Ok(false);
        }
        let known = self.readers.glance(shop, |glance| glance.shop())?;
        Ok(known.is_some_and(|known| known.state == SearchState::InDatabase))
    }
}
