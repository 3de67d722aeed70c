//! Loads shops into memory before they are searched.
//!
//! A shop that cannot be loaded does not stop the others and is tried again later. Searches that
//! come meanwhile load what they need themselves.

use store::{ErrorChain, ShopCounts, StoreError};

use super::registry::ShopRegistry;

/// The progress of [`Engine::warm_up`](crate::Engine::warm_up).
#[derive(Debug, Default)]
pub struct WarmUp {
    /// Shops that are not loaded yet, largest first; `None` before the store listed them.
    remaining: Option<Vec<ShopCounts>>,
    has_tried_all: bool,
}

impl WarmUp {
    /// Whether every shop was loaded or failed by itself. A store that cannot be reached counts as
    /// neither.
    pub fn has_tried_all(&self) -> bool {
        self.has_tried_all
    }

    /// Whether no shop remains to be loaded.
    pub fn is_done(&self) -> bool {
        self.remaining.as_ref().is_some_and(Vec::is_empty)
    }

    /// Loads the remaining shops, largest first, until all are in memory or the memory limit is
    /// reached. Blocks. Shops that fail remain for the next call; those for which `is_skipped`
    /// holds are not loaded.
    pub(crate) fn run(
        self,
        registry: &ShopRegistry,
        is_skipped: impl Fn(ShopCounts) -> Result<bool, StoreError>,
    ) -> Self {
        let shops = match self.remaining {
            Some(remaining) => remaining,
            None => match registry.readers().shops() {
                Ok(shops) => shops,
                Err(error) => {
                    let error = ErrorChain(&error);
                    tracing::warn!(%error, "shops cannot be listed; retrying");
                    return self;
                }
            },
        };
        let mut failed = Vec::new();
        for (at, counts) in shops.iter().enumerate() {
            if registry.is_full() {
                failed.clear();
                break;
            }
            let loaded = is_skipped(*counts).and_then(|is_skipped| match is_skipped {
                true => Ok(()),
                false => registry.index(counts.shop).map(drop),
            });
            if let Err(error) = loaded {
                let (shop, error) = (counts.shop, ErrorChain(&error));
                tracing::warn!(%shop, %error, "shop cannot be loaded; retrying later");
                if registry.readers().check().is_err() {
                    failed.extend(&shops[at..]);
                    return Self { remaining: Some(failed), has_tried_all: self.has_tried_all };
                }
                failed.push(*counts);
            }
        }
        Self { remaining: Some(failed), has_tried_all: true }
    }
}
