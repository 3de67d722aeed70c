//! Every product gets its vector, despite restarts, model changes and failures.

use std::{
    collections::BTreeMap,
    net::{SocketAddr, TcpListener},
    sync::Arc,
    thread,
    time::Instant,
};

use catalog::{
    product::{
        Description, Draft, Patch, Product, ProductId, ShopId, Title,
        access::{Caller, Role},
        price::Price,
    },
    query::QueryText,
};
use embed::{
    Embedder, Encoder, Environment, Priority, Text,
    testing::{Act, Endpoint, remote, tiny_model},
};
use jiff::{SignedDuration, Timestamp};
use store::{FullScan, Quotas, SqliteReaders, VectorRow};
use tempfile::TempDir;

use crate::{
    Engine, SearchRequest, Settings,
    writer::WriterSettings,
    writes::{Created, Edit, Precondition},
};

/// How much faster the clock of the remote model's client runs.
const HASTE: u32 = 50;

/// A data folder, and an engine on it unless it is closed.
struct Bench {
    folder: TempDir,
    runtime: tokio::runtime::Runtime,
    background: bool,
    engine: Option<Engine>,
}

impl Bench {
    fn new(embedder: Option<Arc<dyn Embedder>>) -> Self {
        Self::with_background(embedder, true)
    }

    fn with_background(embedder: Option<Arc<dyn Embedder>>, background: bool) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let mut bench = Self { folder, runtime, background, engine: None };
        bench.reopen(embedder);
        bench
    }

    fn reopen(&mut self, embedder: Option<Arc<dyn Embedder>>) {
        self.engine = None;
        let response_retention = SignedDuration::from_secs(60);
        let quotas = Quotas::default();
        let settings = Settings {
            writer: WriterSettings { queue: 64, group_products: 50, response_retention, quotas },
            reader_threads: 1,
            reader_queue: 8,
            index_memory: 1 << 24,
            index_files_from: None,
            cache_memory: 1 << 20,
            embedder,
            background: self.background,
            kept_changes: None,
            query_budget: 8,
            clock: Arc::new(Timestamp::now),
            random: Arc::new(|bytes| bytes.fill(1)),
        };
        self.engine = Some(Engine::open(self.folder.path(), settings).unwrap());
    }

    fn engine(&self) -> &Engine {
        self.engine.as_ref().unwrap()
    }

    fn create(&self, titles: &[&str]) -> Vec<Product> {
        let pass = Caller::new(shop(), Role::Editor).may_write().unwrap();
        let drafts = titles.iter().map(|title| draft(title)).collect();
        match self.runtime.block_on(self.engine().create(pass, drafts, None)).unwrap() {
            Created::New(made) => made.into_iter().map(Result::unwrap).collect(),
            other => panic!("{other:?}"),
        }
    }

    fn update(&self, id: ProductId, patch: Patch) -> Product {
        let pass = Caller::new(shop(), Role::Editor).may_write().unwrap();
        let edit = Edit { id, patch, precondition: Precondition::Exists };
        let update = self.engine().update(pass, vec![edit]);
        self.runtime.block_on(update).unwrap().remove(0).unwrap()
    }

    fn delete(&self, id: ProductId) {
        let pass = Caller::new(shop(), Role::Editor).may_write().unwrap();
        let delete = self.engine().delete(pass, vec![id], Precondition::Exists);
        self.runtime.block_on(delete).unwrap().remove(0).unwrap();
    }

    fn vectors(&self) -> BTreeMap<ProductId, VectorRow> {
        let mut found = BTreeMap::new();
        let readers = SqliteReaders::new(self.folder.path().to_owned());
        readers.scan_vectors(shop(), &mut |row| drop(found.insert(row.product, row))).unwrap();
        found
    }

    /// Waits until the vectors satisfy a condition.
    fn wait_for(&self, good: impl Fn(&BTreeMap<ProductId, VectorRow>) -> bool) {
        testkit::until("the vectors", || good(&self.vectors()));
    }
}

fn shop() -> ShopId {
    ShopId::new(7).unwrap()
}

fn draft(title: &str) -> Draft {
    Draft {
        description: Description::parse("").unwrap(),
        ..Draft::new(Title::parse(title).unwrap(), Price::parse("$5").unwrap())
    }
}

/// A client with short pauses between retries.
fn impatient_client(address: SocketAddr) -> Arc<dyn Embedder> {
    let start = Instant::now();
    let environment = Environment {
        now: Arc::new(move || start + start.elapsed() * HASTE),
        pause: Arc::new(|time| thread::sleep(time / HASTE)),
        random: Arc::new(|bytes| bytes.fill(7)),
    };
    Arc::new(remote(address, environment))
}

/// Whether all products have deep vectors.
fn all_deep(vectors: &BTreeMap<ProductId, VectorRow>) -> bool {
    vectors.values().all(|row| row.encoder == Encoder::Deep)
}

#[test]
fn every_product_gets_a_deep_vector_of_its_text() {
    let bench = Bench::new(Some(Arc::new(tiny_model())));
    let products = bench.create(&["red sofa", "blue lamp", "warm bed"]);
    assert_eq!(bench.vectors().len(), 3, "from the moment it is written");
    bench.wait_for(all_deep);
    let found = &bench.vectors()[&products[1].id];
    let text = Text::Product { title: "blue lamp", description: "" };
    let expected = tiny_model().deep(&[text], Priority::Search).unwrap().remove(0);
    assert_eq!((&found.model, found.encoder), (&expected.model, expected.encoder));
    assert_eq!(found.vectors, expected.stored());
    assert!(found.vectors.deep.is_some());
    assert_eq!(found.version, products[1].version);
}

#[test]
fn a_new_text_gets_a_new_vector_and_a_new_price_does_not() {
    let bench = Bench::new(Some(Arc::new(tiny_model())));
    let product = bench.create(&["red sofa"]).remove(0);
    bench.wait_for(all_deep);
    let first = bench.vectors()[&product.id].clone();
    let price = Some(Price::parse("$6").unwrap());
    bench.update(product.id, Patch { price, ..Patch::default() });
    assert_eq!(bench.vectors()[&product.id], first);
    let title = Some(Title::parse("blue rug").unwrap());
    let renamed = bench.update(product.id, Patch { title, ..Patch::default() });
    assert_eq!(bench.vectors()[&product.id].version, renamed.version);
    bench.wait_for(all_deep);
    assert_ne!(bench.vectors()[&product.id].vectors, first.vectors);
    bench.delete(product.id);
    assert_eq!(bench.vectors(), BTreeMap::new());
}

#[test]
fn work_resumes_after_a_restart_and_a_change_of_model() {
    let mut bench = Bench::new(None);
    bench.create(&["sofa", "lamp", "bed"]);
    assert_eq!(bench.vectors(), BTreeMap::new());
    bench.reopen(Some(Arc::new(tiny_model())));
    bench.wait_for(|vectors| vectors.len() == 3 && all_deep(vectors));

    let endpoint = Endpoint::start();
    let outside = impatient_client(endpoint.address);
    bench.reopen(Some(Arc::clone(&outside)));
    let product = bench.create(&["rug"]).remove(0);
    bench.wait_for(|vectors| {
        vectors.len() == 4 && vectors.values().all(|row| row.model == *outside.model())
    });
    assert!(bench.vectors().contains_key(&product.id));
}

#[test]
fn without_background_work_imported_products_get_instant_vectors() {
    let mut bench = Bench::with_background(None, false);
    let old = bench.create(&["sofa", "lamp"]).remove(0);
    bench.reopen(Some(Arc::new(tiny_model())));
    bench.wait_for(|vectors| vectors.len() == 2);
    let text = Text::Product { title: "sofa", description: "" };
    let instant = tiny_model().instant(text).unwrap();
    let found = &bench.vectors()[&old.id];
    assert_eq!((found.encoder, &found.vectors), (Encoder::Instant, &instant.stored()));
}

#[test]
fn writes_do_not_wait_for_an_unavailable_model() {
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let bench = Bench::new(Some(impatient_client(address)));
    bench.create(&["red sofa", "blue lamp"]);
    let pass = Caller::new(shop(), Role::Shopper).may_read();
    let query = QueryText::parse("lamp").unwrap();
    let search = bench.engine().search(pass, SearchRequest::new(query, 5));
    assert_eq!(bench.runtime.block_on(search).unwrap().total, 1, "found by its words");
    assert_eq!(bench.vectors(), BTreeMap::new());

    let _endpoint = Endpoint::start_at(address);
    bench.wait_for(|vectors| vectors.len() == 2);
}

#[test]
fn a_rejected_text_does_not_block_the_others() {
    let mut bench = Bench::new(None);
    let products = bench.create(&["sofa", "lamp", "bed"]);
    let endpoint = Endpoint::start();
    // The whole batch, then the newest product alone.
    endpoint.order([Act::Fail(400, None), Act::Fail(400, None)]);
    bench.reopen(Some(impatient_client(endpoint.address)));
    bench.wait_for(|vectors| vectors.len() == 2);
    let more = bench.create(&["rug"]).remove(0);
    bench.wait_for(|vectors| vectors.contains_key(&more.id));
    assert!(!bench.vectors().contains_key(&products[2].id));
}
