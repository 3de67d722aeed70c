//! Searches a store without an engine.

use std::sync::Arc;

use catalog::product::access::ReadPass;
use embed::Embedder;
use store::{CatalogReads, StoreError};

use super::{MemorySource, QueryEncoder, SearchContext, SearchRequest, SearchResults, search};
use crate::replication::ShopRegistry;

/// Searches a store that another process may be using. Locks nothing and writes nothing.
pub struct OfflineSearcher {
    readers: Arc<dyn CatalogReads>,
    shops: ShopRegistry,
    queries: Option<QueryEncoder>,
}

impl OfflineSearcher {
    /// Queries are encoded by the deep encoder of the model, however many there are.
    pub fn new(readers: Arc<dyn CatalogReads>, embedder: Option<Arc<dyn Embedder>>) -> Self {
        let model = embedder.as_ref().map(|embedder| embedder.model().clone());
        let shops = ShopRegistry::new(readers.clone(), model, usize::MAX);
        let queries = embedder.map(|embedder| QueryEncoder::new(embedder, usize::MAX));
        Self { readers, shops, queries }
    }

    /// The products that match a query, best first. Blocks. The first search of a shop loads it
    /// into memory; later writes are not seen.
    pub fn search(
        &self,
        pass: ReadPass,
        request: &SearchRequest,
    ) -> Result<SearchResults, StoreError> {
        let snapshot = self.shops.index(pass.shop())?.snapshot();
        let source = MemorySource { snapshot: &snapshot, readers: &*self.readers, pass: &pass };
        search(&source, &SearchContext::new(self.queries.as_ref(), 1), request)
    }
}
