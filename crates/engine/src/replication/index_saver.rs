//! Restores shops from their index files, and writes the files that are due.

use std::{
    io,
    sync::Arc,
    time::{Duration, Instant},
};

use catalog::product::ShopId;
use index::ShopIndex;
use jiff::SignedDuration;
use store::{
    ErrorChain, StoreError,
    background::{BackgroundThread, Next},
};

use super::{
    index_files::{FileState, IndexFiles, MAX_AGE},
    registry::ShopRegistry,
    table::{ReadyShop, ShopState},
};

/// The pause between two checks whether a file is due.
const CHECK_INTERVAL: Duration = Duration::from_mins(1);
/// How long shutdown may take to write files.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(10);
/// A load uses no file that lacks more changes than one product in this many has: indexing all
/// products on several threads is faster than reading and applying the changes one by one.
const MAX_MISSING_SHARE: usize = 8;

impl ShopRegistry {
    /// The index of a shop from its file, as of the last change that the file contains.
    pub(super) fn restore(
        &self,
        shop: ShopId,
    ) -> Result<Option<(ShopIndex, FileState)>, StoreError> {
        let Some(files) = &self.index_files else { return Ok(None) };
        let Some((index, state)) = files.load(shop, self.model.as_ref()) else { return Ok(None) };
        let snapshot = index.snapshot();
        let most = (snapshot.product_count() / MAX_MISSING_SHARE).max(1);
        if files.readers.changes_after(shop, snapshot.seq(), most + 1)? > most {
            files.discard(shop, "indexing all products is faster than applying the changes since");
            return Ok(None);
        }
        Ok(Some((index, state)))
    }

    /// Discards the file of a shop.
    pub(super) fn discard_file(&self, shop: ShopId, reason: &str) {
        if let Some(files) = &self.index_files {
            files.discard(shop, reason);
        }
    }

    /// Writes the files that are due.
    fn save_due(&self, is_stopping: bool, is_cancelled: &dyn Fn() -> bool) {
        let Some(files) = &self.index_files else { return };
        let now = (files.clock)();
        let is_due = |ready: &ReadyShop| {
            let products = ready.index.snapshot().product_count();
            let is_worth_it = products >= files.min_products;
            (is_worth_it && ready.file.is_due(products, now, is_stopping))
                || (!is_worth_it && ready.file.written_at.is_some())
        };
        let due: Vec<_> = {
            let table = self.table.lock();
            let ready = table.states.iter().filter_map(|(shop, state)| match state {
                ShopState::Ready(ready) if is_due(ready) => Some((*shop, ready)),
                _ => None,
            });
            ready.map(|(shop, ready)| (shop, Arc::clone(&ready.index), ready.file)).collect()
        };
        for (shop, index, before) in due {
            if is_cancelled() {
                return;
            }
            self.save(files, shop, &index, before, is_cancelled);
        }
        let absent = |shop| !self.table.lock().states.contains_key(&shop);
        files.remove_where(|shop, _, age| {
            SignedDuration::try_from(age).is_ok_and(|age| age >= MAX_AGE) && absent(shop)
        });
    }

    fn save(
        &self,
        files: &IndexFiles,
        shop: ShopId,
        index: &Arc<ShopIndex>,
        before: FileState,
        is_cancelled: &dyn Fn() -> bool,
    ) {
        let snapshot = index.snapshot();
        let written_at = if snapshot.product_count() < files.min_products {
            files.discard(shop, "the shop has become small");
            None
        } else {
            match files.save(shop, self.model.as_ref(), &snapshot, is_cancelled) {
                Ok(Some(written_at)) => Some(written_at),
                Ok(None) => return,
                Err(error) => {
                    let error = ErrorChain(&error);
                    tracing::warn!(%shop, %error, "the index of a shop cannot be saved");
                    return;
                }
            }
        };
        if let Some(ready) = self.table.lock().current_mut(shop, index) {
            let unsaved = ready.file.unsaved - before.unsaved.min(ready.file.unsaved);
            ready.file = FileState { written_at, unsaved };
        }
    }
}

/// Writes index files in the background and, when it is dropped, those that are due at shutdown.
pub(crate) struct IndexSaver {
    registry: Arc<ShopRegistry>,
    thread: Option<BackgroundThread>,
}

impl IndexSaver {
    pub(crate) fn start(registry: Arc<ShopRegistry>) -> io::Result<Self> {
        let shops = Arc::clone(&registry);
        let thread = BackgroundThread::start("index-files", Arc::default(), move |run| {
            shops.save_due(false, &|| run.is_stopping());
            Next::WaitAtMost(CHECK_INTERVAL)
        })?;
        Ok(Self { registry, thread: Some(thread) })
    }
}

impl Drop for IndexSaver {
    fn drop(&mut self) {
        drop(self.thread.take());
        let until = Instant::now() + SHUTDOWN_TIMEOUT;
        self.registry.save_due(true, &|| Instant::now() >= until);
    }
}

#[cfg(test)]
mod tests;
