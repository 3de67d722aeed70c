//! The engine under test.

use super::*;

/// An engine on a new data folder, with blocking calls.
pub(super) struct Bench {
    pub(super) folder: TempDir,
    pub(super) runtime: Runtime,
    pub(super) clock: Arc<AtomicI64>,
    pub(super) engine: Option<Arc<Engine>>,
    pub(super) kept_changes: Option<u64>,
}

impl Bench {
    pub(super) fn new() -> Self {
        let mut bench = Self {
            folder: tempfile::tempdir().unwrap(),
            runtime: tokio::runtime::Builder::new_multi_thread()
                .worker_threads(2)
                .enable_time()
                .build()
                .unwrap(),
            clock: Arc::default(),
            engine: None,
            kept_changes: None,
        };
        bench.open();
        bench
    }

    pub(super) fn open(&mut self) {
        let ticks = Arc::clone(&self.clock);
        let settings = Settings {
            writer: WriterSettings {
                queue: 64,
                group_products: 50,
                response_retention: RESPONSE_RETENTION,
                quotas: Quotas::default(),
            },
            reader_threads: 2,
            reader_queue: 64,
            index_memory: INDEX_MEMORY,
            index_files_from: Some(1),
            cache_memory: 1 << 20,
            embedder: None,
            background: true,
            kept_changes: self.kept_changes,
            query_budget: 0,
            clock: Arc::new(move || time(ticks.fetch_add(1, Ordering::SeqCst) + 1)),
            random: Arc::new(|bytes| bytes.fill(1)),
        };
        self.engine = Some(Arc::new(Engine::open(self.folder.path(), settings).unwrap()));
    }

    pub(super) fn reopen(&mut self) {
        // The folder is unlocked only after the last reference to the engine is gone.
        assert!(Arc::into_inner(self.engine.take().unwrap()).is_some());
        self.open();
    }

    pub(super) fn engine(&self) -> Arc<Engine> {
        Arc::clone(self.engine.as_ref().unwrap())
    }

    /// The last time that the engine read from its clock.
    pub(super) fn last_time(&self) -> Timestamp {
        time(self.clock.load(Ordering::SeqCst))
    }

    pub(super) fn create(
        &self,
        shop: ShopId,
        drafts: Vec<Draft>,
        once: Option<IdempotencyRequest<Outcome>>,
    ) -> Created {
        self.runtime.block_on(self.engine().create(may_write(shop), drafts, once)).unwrap()
    }

    pub(super) fn update(&self, shop: ShopId, edits: Vec<Edit>) -> Vec<Result<Product, Refusal>> {
        self.runtime.block_on(self.engine().update(may_write(shop), edits)).unwrap()
    }

    pub(super) fn upsert(&self, shop: ShopId, elements: Vec<UpsertElement>) -> Vec<Upserted> {
        let engine = self.engine();
        let upsert = engine.upsert(may_write(shop), elements, None);
        match self.runtime.block_on(upsert).unwrap() {
            UpsertOutcome::Applied(outcomes) => outcomes,
            other => panic!("{other:?}"),
        }
    }

    pub(super) fn delete(
        &self,
        shop: ShopId,
        ids: Vec<ProductId>,
        precondition: Precondition,
    ) -> Vec<Result<(), Refusal>> {
        self.runtime.block_on(self.engine().delete(may_write(shop), ids, precondition)).unwrap()
    }

    pub(super) fn product(&self, shop: ShopId, id: ProductId) -> Option<Product> {
        self.runtime.block_on(self.engine().product(may_see_all(shop), id)).unwrap()
    }

    pub(super) fn page(&self, shop: ShopId, limit: usize, offset: usize) -> (Vec<Product>, usize) {
        self.page_as(may_see_all(shop), limit, offset)
    }

    pub(super) fn page_as(
        &self,
        pass: ReadPass,
        limit: usize,
        offset: usize,
    ) -> (Vec<Product>, usize) {
        let page = self.runtime.block_on(self.engine().page(pass, limit, offset)).unwrap();
        (page.products, page.total)
    }

    pub(super) fn search(
        &self,
        pass: ReadPass,
        query: &str,
        limit: usize,
        offset: usize,
    ) -> (Vec<Product>, usize) {
        let query = QueryText::parse(query).unwrap();
        // The reference knows exact matches only.
        let parse_options = ParseOptions { corrections: false, ..ParseOptions::default() };
        let request = SearchRequest { offset, parse_options, ..SearchRequest::new(query, limit) };
        let found = self.runtime.block_on(self.engine().search(pass, request)).unwrap();
        (found.products.clone(), found.total)
    }
}
