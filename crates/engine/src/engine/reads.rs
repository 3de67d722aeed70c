//! Reads of products, pages and counts. They never wait for searches.

use std::sync::Arc;

use catalog::product::{
    Product, ProductId, ShopId,
    access::{ReadPass, Visibility},
    change::Seq,
    key::Key,
};
use store::{CatalogReads, ChangesExpired, ChangesPage, Page, ShopCounts, StoreError};

use super::{Engine, EngineError};

impl Engine {
    /// One product; `None` if it does not exist or the caller may not see it.
    pub async fn product(
        &self,
        pass: ReadPass,
        id: ProductId,
    ) -> Result<Option<Product>, EngineError> {
        self.read(pass.shop(), move |readers| readers.product(&pass, id)).await
    }

    /// The products with these ids, in this order; unknown ones are omitted.
    pub async fn products(
        &self,
        pass: ReadPass,
        ids: Vec<ProductId>,
    ) -> Result<Vec<Product>, EngineError> {
        self.read(pass.shop(), move |readers| readers.products(&pass, &ids)).await
    }

    /// The products with these keys, in this order; unknown ones are omitted.
    pub async fn products_by_key(
        &self,
        pass: ReadPass,
        keys: Vec<Key>,
    ) -> Result<Vec<Product>, EngineError> {
        self.read(pass.shop(), move |readers| readers.products_by_key(&pass, &keys)).await
    }

    /// At most `limit` changes of products after `since`, oldest first, unless records of such
    /// changes were removed or the shop has no change `since`. The pass must show hidden products,
    /// whose changes are listed too.
    pub async fn changes(
        &self,
        pass: ReadPass,
        since: Seq,
        limit: usize,
    ) -> Result<Result<ChangesPage, ChangesExpired>, EngineError> {
        debug_assert_eq!(pass.visibility(), Visibility::All);
        self.read(pass.shop(), move |readers| readers.changes(pass.shop(), since, limit)).await
    }

    /// A page of the catalog, by ascending id.
    pub async fn page(
        &self,
        pass: ReadPass,
        limit: usize,
        offset: usize,
    ) -> Result<Page, EngineError> {
        self.read(pass.shop(), move |readers| readers.page(&pass, limit, offset)).await
    }

    /// The number of products of the shop.
    pub async fn counts(&self, pass: ReadPass) -> Result<ShopCounts, EngineError> {
        self.read(pass.shop(), move |readers| readers.counts(pass.shop())).await
    }

    /// Runs a read of a shop in the pool for reads.
    pub(super) async fn read<T: Send + 'static>(
        &self,
        shop: ShopId,
        work: impl FnOnce(&dyn CatalogReads) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, EngineError> {
        let readers = Arc::clone(&self.readers);
        Ok(self.reads.run(shop, move || work(&*readers)).await??)
    }

    /// Runs a read of a single small row, outside the pools.
    pub(super) async fn look_up<T: Send + 'static>(
        &self,
        work: impl FnOnce(&dyn CatalogReads) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        if self.readers.is_local() {
            // Reading a row of a local file takes less time than switching threads.
            return work(&*self.readers);
        }
        let readers = Arc::clone(&self.readers);
        run_blocking(move || work(&*readers)).await
    }
}

/// Runs a read on a blocking thread.
pub(super) async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, StoreError> + Send + 'static,
) -> Result<T, StoreError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|_| Err(StoreError::unexpected("a read panicked")))
}
