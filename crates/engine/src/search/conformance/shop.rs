//! A shop in a store of its own that is searched through the source under test.

use std::sync::Arc;

use catalog::{
    product::{
        Draft, Product, ShopId,
        access::{Caller, ReadPass, Role},
    },
    query::QueryText,
};
use jiff::Timestamp;
use tempfile::TempDir;

use crate::{
    replication::ShopRegistry,
    search::{
        MemorySource, QueryEncoder, SearchContext, SearchRequest, SearchResults, SearchSource,
        SimilarRequest, postgres::PostgresSource, search, similar,
    },
};
use embed::{Embedder, testing::tiny_model};
use store::testing::settings;
use store::{
    CatalogReads, CatalogStore, Committed, Postgres, PostgresReaders, PostgresSettings,
    SqliteReaders, SqliteStore, StoreError, WriteTransaction,
    postgres_search::{CandidateLimits, PostgresSearch},
};

pub(in crate::search) const NOW: Timestamp = Timestamp::UNIX_EPOCH;

/// A way to open a source, the part of a [`TestShop`] that a new source has to provide.
pub(in crate::search) trait OpenSource {
    /// Follows a commit.
    fn apply(&self, _committed: Committed) {}

    /// Calls `work` with the source.
    fn open(&self, pass: &ReadPass, work: &mut dyn FnMut(&dyn SearchSource));
}

/// A shop and the source under test.
pub(in crate::search) struct TestShop {
    pub(in crate::search) store: Box<dyn CatalogStore>,
    pub(in crate::search) readers: Arc<dyn CatalogReads>,
    pub(in crate::search) embedder: Arc<dyn Embedder>,
    queries: QueryEncoder,
    pub(in crate::search) source: Box<dyn OpenSource>,
}

impl TestShop {
    fn new(
        store: Box<dyn CatalogStore>,
        readers: Arc<dyn CatalogReads>,
        source: impl FnOnce(&Arc<dyn Embedder>) -> Box<dyn OpenSource>,
    ) -> Self {
        let embedder: Arc<dyn Embedder> = Arc::new(tiny_model());
        let queries = QueryEncoder::new(Arc::clone(&embedder), usize::MAX);
        let source = source(&embedder);
        Self { store, readers, embedder, queries, source }
    }

    /// Stored in SQLite and searched in an index that every commit is applied to.
    pub(in crate::search) fn memory() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(folder.path()).unwrap();
        let readers = Arc::new(SqliteReaders::new(folder.path().to_owned()));
        Self::new(Box::new(store), Arc::clone(&readers) as _, |embedder| {
            let source = InMemory::load(readers, embedder, Some(folder));
            Box::new(source)
        })
    }

    /// Stored and searched in PostgreSQL.
    pub(in crate::search) fn postgres(limits: CandidateLimits) -> Self {
        Database::new(0).shop(limits)
    }

    /// Writes in one transaction.
    pub(in crate::search) fn write<T>(
        &mut self,
        write: impl FnOnce(&mut WriteTransaction<'_>) -> T,
    ) -> T {
        let mut transaction = self.store.begin().unwrap().embedding_with(Some(&*self.embedder));
        let written = write(&mut transaction);
        self.source.apply(transaction.commit().unwrap());
        written
    }

    pub(in crate::search) fn create(&mut self, drafts: Vec<Draft>) -> Vec<Product> {
        self.write(|transaction| {
            let create = |draft| transaction.create(shop_id(), draft, NOW).unwrap();
            drafts.into_iter().map(create).collect()
        })
    }

    pub(in crate::search) fn delete(&mut self, products: &[Product]) {
        self.write(|transaction| {
            products.iter().for_each(|product| transaction.delete(product).unwrap());
        });
    }

    /// The reference: an index loaded from the store as it is now.
    pub(in crate::search) fn reference(&self) -> Box<dyn OpenSource> {
        Box::new(InMemory::load(Arc::clone(&self.readers), &self.embedder, None))
    }

    /// Searches the source under test.
    pub(in crate::search) fn search(
        &self,
        pass: &ReadPass,
        request: &SearchRequest,
    ) -> Result<SearchResults, StoreError> {
        self.search_in(&*self.source, pass, request)
    }

    pub(in crate::search) fn search_in(
        &self,
        source: &dyn OpenSource,
        pass: &ReadPass,
        request: &SearchRequest,
    ) -> Result<SearchResults, StoreError> {
        let context = SearchContext::new(Some(&self.queries), 1);
        opened(source, pass, |source| search(source, &context, request))
    }

    /// Similar products by the source under test.
    pub(in crate::search) fn similar(
        &self,
        pass: &ReadPass,
        request: &SimilarRequest,
    ) -> Option<Vec<Product>> {
        similar_in(&*self.source, pass, request)
    }
}

pub(in crate::search) fn similar_in(
    source: &dyn OpenSource,
    pass: &ReadPass,
    request: &SimilarRequest,
) -> Option<Vec<Product>> {
    opened(source, pass, |source| similar(source, request)).unwrap()
}

fn opened<T>(source: &dyn OpenSource, pass: &ReadPass, work: impl Fn(&dyn SearchSource) -> T) -> T {
    let mut result = None;
    source.open(pass, &mut |source| result = Some(work(source)));
    result.unwrap()
}

/// The index in memory.
struct InMemory {
    shops: ShopRegistry,
    readers: Arc<dyn CatalogReads>,
    _folder: Option<TempDir>,
}

impl InMemory {
    fn load(
        readers: Arc<dyn CatalogReads>,
        embedder: &Arc<dyn Embedder>,
        folder: Option<TempDir>,
    ) -> Self {
        let model = embedder.model().clone();
        let shops = ShopRegistry::new(readers.clone(), Some(model), usize::MAX);
        shops.index(shop_id()).unwrap();
        Self { shops, readers, _folder: folder }
    }
}

impl OpenSource for InMemory {
    fn apply(&self, committed: Committed) {
        self.shops.apply_and_wait(committed);
    }

    fn open(&self, pass: &ReadPass, work: &mut dyn FnMut(&dyn SearchSource)) {
        let snapshot = self.shops.index(pass.shop()).unwrap().snapshot();
        work(&MemorySource { snapshot: &snapshot, readers: &*self.readers, pass });
    }
}

/// An empty PostgreSQL database.
pub(in crate::search) struct Database {
    url: String,
    pub(in crate::search) postgres: Postgres,
    pub(in crate::search) readers: Arc<PostgresReaders>,
}

impl Database {
    /// New shops are searched in the database if `search_above` is 0.
    pub(in crate::search) fn new(search_above: usize) -> Self {
        let url = testkit::postgres().database();
        let settings = PostgresSettings { search_above, ..settings(&url) };
        let postgres = Postgres::new(&settings).unwrap();
        postgres.migrate().unwrap();
        Self { url, readers: Arc::new(postgres.readers()), postgres }
    }

    /// A shop of this database.
    pub(in crate::search) fn shop(&self, limits: CandidateLimits) -> TestShop {
        let (store, readers) = (Box::new(self.postgres.store()), Arc::clone(&self.readers));
        TestShop::new(store, readers, |embedder| self.source(&**embedder, limits))
    }

    /// The source of this database, with these limits.
    pub(in crate::search) fn source(
        &self,
        embedder: &dyn Embedder,
        limits: CandidateLimits,
    ) -> Box<dyn OpenSource> {
        let readers = Arc::clone(&self.readers);
        Box::new(InPostgres(PostgresSearch::without_maintenance(readers, Some(embedder), limits)))
    }

    /// The output of a SQL statement.
    pub(in crate::search) fn psql(&self, statement: &str) -> String {
        let name = self.url.rsplit_once('/').unwrap().1;
        testkit::postgres().psql(name, statement)
    }
}

struct InPostgres(PostgresSearch);

impl OpenSource for InPostgres {
    fn open(&self, pass: &ReadPass, work: &mut dyn FnMut(&dyn SearchSource)) {
        let opened = PostgresSource::with(&self.0, pass, |source| {
            work(source);
            Ok(())
        });
        opened.unwrap().unwrap();
    }
}

pub(in crate::search) fn shop_id() -> ShopId {
    ShopId::new(1).unwrap()
}

/// The pass of a viewer.
pub(in crate::search) fn viewer(include_hidden: bool) -> ReadPass {
    Caller::new(shop_id(), Role::Viewer).may_search(include_hidden).unwrap()
}

/// The pass of a shopper, who never sees hidden products.
pub(in crate::search) fn shopper() -> ReadPass {
    Caller::new(shop_id(), Role::Shopper).may_search(false).unwrap()
}

pub(in crate::search) fn request(query: &str, limit: usize) -> SearchRequest {
    let query = QueryText::parse(query).unwrap();
    SearchRequest { explain: true, ..SearchRequest::new(query, limit) }
}
