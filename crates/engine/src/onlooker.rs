//! What would a search find? Asked of a store that somebody else may be using: nothing is taken,
//! nothing is written.

use std::sync::Arc;

use catalog::access::ReadPass;

use crate::{
    embed::Embedder,
    meaning::{QueryEncoder, QueryReader},
    search::{self, SearchRequest, SearchResults},
    shops::Shops,
    store::{CatalogReads, StoreError},
};

/// Somebody who searches a store without being its engine.
pub struct Onlooker {
    readers: Arc<dyn CatalogReads>,
    shops: Shops,
    queries: Option<QueryEncoder>,
}

impl Onlooker {
    /// Looks at what these read. Queries are read by the model's best encoder.
    pub fn new(readers: Arc<dyn CatalogReads>, embedder: Option<Arc<dyn Embedder>>) -> Self {
        let model = embedder.as_ref().map(|embedder| embedder.model().clone());
        let shops = Shops::new(readers.clone(), model, usize::MAX);
        let queries = embedder.map(|embedder| QueryEncoder::new(embedder, usize::MAX));
        Self { readers, shops, queries }
    }

    /// The products that answer a query, best first. Blocks. The shop is read when it is first
    /// searched; what is written after that is not seen.
    pub fn search(
        &self,
        pass: ReadPass,
        request: &SearchRequest,
    ) -> Result<SearchResults, StoreError> {
        let snapshot = self.shops.index(pass.shop())?.snapshot();
        let reader = QueryReader::new(self.queries.as_ref(), 1);
        search::search(&snapshot, &*self.readers, &reader, &pass, request)
    }
}
