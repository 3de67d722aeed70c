//! Loads shops into memory before they are searched.
//!
//! A shop that cannot be loaded keeps no other from it, and is tried again later. Searches that
//! come meanwhile load what they need themselves.

use crate::{
    engine::Engine,
    store::{ErrorChain, ShopCounts, StoreError},
};

/// How far [`Engine::warm_up`] has come.
#[derive(Debug, Default)]
pub struct WarmUp {
    /// Shops that are not loaded yet, largest first; `None` before the store was asked for them.
    left: Option<Vec<ShopCounts>>,
    has_tried_all: bool,
}

impl WarmUp {
    /// Whether every shop was loaded or failed by itself: a store that is away counts for neither.
    pub fn has_tried_all(&self) -> bool {
        self.has_tried_all
    }

    /// Whether there is nothing left to load.
    pub fn is_done(&self) -> bool {
        self.left.as_ref().is_some_and(Vec::is_empty)
    }
}

impl Engine {
    /// Loads the shops that are left, largest first, until all are in memory or the memory budget
    /// is used. Blocks. What could not be loaded is left for the next call.
    pub fn warm_up(&self, before: WarmUp) -> WarmUp {
        let shops = match before.left {
            Some(left) => left,
            None => match self.readers().shops() {
                Ok(shops) => shops,
                Err(error) => {
                    let error = ErrorChain(&error);
                    tracing::warn!(%error, "the shops cannot be listed; trying again");
                    return before;
                }
            },
        };
        let mut failed = Vec::new();
        for (at, counts) in shops.iter().enumerate() {
            if self.shops().is_full() {
                failed.clear();
                break;
            }
            if let Err(error) = self.warm_up_shop(*counts) {
                let (shop, error) = (counts.shop, ErrorChain(&error));
                tracing::warn!(%shop, %error, "a shop cannot be loaded; trying again later");
                if self.readers().check().is_err() {
                    failed.extend(&shops[at..]);
                    return WarmUp { left: Some(failed), ..before };
                }
                failed.push(*counts);
            }
        }
        WarmUp { left: Some(failed), has_tried_all: true }
    }

    fn warm_up_shop(&self, counts: ShopCounts) -> Result<(), StoreError> {
        if let Some(large) = self.large()
            && large.holds(counts.shop, counts.products)?
        {
            return Ok(());
        }
        self.shops().index(counts.shop).map(drop)
    }
}
