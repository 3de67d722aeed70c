//! Searches and similar products: routes a request to the database or the index in memory.

use std::sync::Arc;

use catalog::product::{Product, ShopId, access::ReadPass};
use store::{CatalogReads, StoreError, postgres_search::PostgresSearch};

use super::{Engine, EngineError};
use crate::search::{
    CacheKey, MemorySource, SearchContext, SearchRequest, SearchResults, SimilarRequest,
    postgres::PostgresSource, search, similar,
};

impl Engine {
    /// The products that match a query, best first.
    pub async fn search(
        &self,
        pass: ReadPass,
        request: SearchRequest,
    ) -> Result<Arc<SearchResults>, EngineError> {
        if let Some(results) = self.cached(&pass, &request) {
            return Ok(results);
        }
        let (queries, searches) = (self.queries.clone(), self.searches.clone());
        if let Some(large) = self.postgres_search(pass.shop()) {
            let request = request.clone();
            let found = self.run_search(pass.shop(), move |_| {
                let context = SearchContext::new(queries.as_deref(), searches.load())
                    .with_idle_threads(searches.idle_cores());
                PostgresSource::with(&large, &pass, |source| search(source, &context, &request))
            });
            if let Some(results) = found.await? {
                return Ok(Arc::new(results));
            }
        }
        // Waits for the shop to load before the search takes a thread of the pool.
        let index = self.loader.index(pass.shop()).await?;
        let cache = Arc::clone(&self.cache);
        let (queries, searches) = (self.queries.clone(), self.searches.clone());
        self.run_search(pass.shop(), move |readers| {
            let snapshot = index.snapshot();
            let context = SearchContext::new(queries.as_deref(), searches.load())
                .with_idle_threads(searches.idle_cores());
            let source = MemorySource { snapshot: &snapshot, readers, pass: &pass };
            let results = Arc::new(search(&source, &context, &request)?);
            // With the deep encoder, the next search may give better results.
            let key = CacheKey::of(snapshot.id(), pass.visibility(), &request);
            if let Some(key) = key.filter(|_| !context.used_fallback()) {
                cache.put(key, &results);
            }
            Ok(results)
        })
        .await
    }

    /// The products most similar to another one, most similar first; `None` if that product does
    /// not exist or the caller may not see it.
    pub async fn similar(
        &self,
        pass: ReadPass,
        request: SimilarRequest,
    ) -> Result<Option<Vec<Product>>, EngineError> {
        if let Some(large) = self.postgres_search(pass.shop()) {
            let found = self.run_search(pass.shop(), move |_| {
                PostgresSource::with(&large, &pass, |source| similar(source, &request))
            });
            if let Some(results) = found.await? {
                return Ok(results);
            }
        }
        let index = self.loader.index(pass.shop()).await?;
        self.run_search(pass.shop(), move |readers| {
            let snapshot = index.snapshot();
            similar(&MemorySource { snapshot: &snapshot, readers, pass: &pass }, &request)
        })
        .await
    }

    /// Cached results, if the shop is in memory.
    fn cached(&self, pass: &ReadPass, request: &SearchRequest) -> Option<Arc<SearchResults>> {
        let index = self.shops.in_memory(pass.shop())?;
        let key = CacheKey::of(index.snapshot().id(), pass.visibility(), request)?;
        self.cache.get(&key)
    }

    /// Search in the database, if the shop may be searched there.
    fn postgres_search(&self, shop: ShopId) -> Option<Arc<PostgresSearch>> {
        self.postgres_search.clone().filter(|large| large.may_hold(shop))
    }

    /// Runs a search of a shop in the pool for searches.
    async fn run_search<T: Send + 'static>(
        &self,
        shop: ShopId,
        work: impl FnOnce(&dyn CatalogReads) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, EngineError> {
        let readers = Arc::clone(&self.readers);
        Ok(self.searches.run(shop, move || work(&*readers)).await??)
    }
}
