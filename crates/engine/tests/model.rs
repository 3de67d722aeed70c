//! Does the engine do what a map of products would? Seeded random operations on a real engine
//! in a real folder, compared after each step with a `BTreeMap`, through restarts, evictions of
//! shop indexes and idempotency keys that grow old.
//!
//! A failure prints the seed and the last operations; `TEST_SEED=<seed>` repeats the run.
#![allow(clippy::unwrap_used)]

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    env,
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    thread,
    time::{SystemTime, UNIX_EPOCH},
};

use catalog::{
    access::{Caller, ReadPass, Role, Visibility, WritePass},
    analysis::{QueryTerms, for_each_word},
    change::Seq,
    media::{Media, MediaKind},
    price::Price,
    product::{Description, Draft, Patch, Product, ProductId, ShopId, Title},
    query::QueryText,
    query_parser::ParseOptions,
    tuning::TUNING,
};
use engine::{
    Engine, SearchRequest, Settings, WarmUp,
    writer::WriterSettings,
    writes::{Created, Edit, Once, Precondition, Refusal},
};
use fastrand::Rng;
use jiff::{SignedDuration, Timestamp};
use tempfile::TempDir;
use tokio::runtime::Runtime;

const STEPS: usize = 2000;
const SHOPS: u64 = 4;
const MANY: usize = 40;
/// About two of the shops fit.
const INDEX_MEMORY: usize = 5 << 10;
/// So much time passes whenever the engine looks at its clock.
const TICK: SignedDuration = SignedDuration::from_secs(60);
/// Some keys are used again before this, some after.
const REMEMBER_FOR: SignedDuration = SignedDuration::from_mins(200);
const KEYS: u64 = 12;
const LAST_OPERATIONS: usize = 25;
const EVERYTHING: usize = 10_000;

const WORDS: &[&str] = &[
    "linen", "oak", "brass", "velvet", "sofa", "lamp", "table", "mirror", "wool", "rug", "red",
    "green", "small", "round", "WD-40", "L'Oréal", "501", "绿茶", "crème",
];
const PRICES: &[&str] = &["$19.99", "19,99 €", "EUR 1.299,00", "£1,299", "¥1500", "1 299 ₽"];

#[test]
fn the_engine_does_what_a_map_would_do() {
    let mut run = Run::new();
    for step in 0..STEPS {
        run.step();
        if step % 250 == 249 {
            run.restart();
            run.compare_everything();
        }
    }
    run.compare_everything();
    assert!(run.bench.engine().figures().shops < SHOPS as usize, "no index ever left memory");
}

#[test]
fn concurrent_updates_of_one_product_lose_no_field() {
    let bench = Bench::new();
    let shop = shop(1);
    let one = created(bench.create(shop, vec![draft("Sofa", "soft", "$1", false)], None));
    let id = one[0].id;
    for round in 0..20 {
        let said = format!("round {round}");
        let patches = [
            Patch { title: Some(Title::parse(&said).unwrap()), ..Patch::default() },
            Patch { description: Some(Description::parse(&said).unwrap()), ..Patch::default() },
            Patch { price: Some(Price::parse(&format!("${round}")).unwrap()), ..Patch::default() },
            Patch { hidden: Some(round % 2 == 0), ..Patch::default() },
        ];
        let writes: Vec<_> = patches
            .into_iter()
            .map(|patch| {
                let engine = bench.engine();
                let edit = Edit { id, patch, precondition: Precondition::Exists };
                bench.runtime.spawn(async move { engine.update(may_write(shop), vec![edit]).await })
            })
            .collect();
        for write in writes {
            bench.runtime.block_on(write).unwrap().unwrap()[0].as_ref().unwrap();
        }
        let found = bench.product(shop, id).unwrap();
        assert_eq!(found.title.as_str(), said);
        assert_eq!(found.description.as_str(), said);
        assert_eq!(found.price.text(), format!("${round}"));
        assert_eq!(found.hidden, round % 2 == 0);
    }
}

#[test]
fn of_many_equal_creates_with_one_key_exactly_one_happens() {
    let bench = Bench::new();
    let shop = shop(1);
    let creates: Vec<_> = (0..32)
        .map(|_| {
            let engine = bench.engine();
            let drafts = vec![draft("Sofa", "", "$1", false)];
            let once = Some(once("the key", 7));
            bench.runtime.spawn(async move { engine.create(may_write(shop), drafts, once).await })
        })
        .collect();
    let mut new = 0;
    let mut answers = BTreeSet::new();
    for create in creates {
        match bench.runtime.block_on(create).unwrap().unwrap() {
            Created::Now(products) => {
                new += 1;
                answers.insert(answer(&products));
            }
            Created::Before(answer) => _ = answers.insert(answer),
            Created::KeyTaken => panic!("the key stands for this very request"),
        }
    }
    assert_eq!((new, answers.len()), (1, 1));
    assert_eq!(bench.page(shop, EVERYTHING, 0).1, 1);
}

/// An engine on a folder of its own, and the calls of it that wait.
struct Bench {
    folder: TempDir,
    runtime: Runtime,
    clock: Arc<AtomicI64>,
    engine: Option<Arc<Engine>>,
}

impl Bench {
    fn new() -> Self {
        let mut bench = Self {
            folder: tempfile::tempdir().unwrap(),
            runtime: tokio::runtime::Builder::new_multi_thread()
                .worker_threads(2)
                .enable_time()
                .build()
                .unwrap(),
            clock: Arc::default(),
            engine: None,
        };
        bench.open();
        bench
    }

    fn open(&mut self) {
        let ticks = Arc::clone(&self.clock);
        let settings = Settings {
            writer: WriterSettings { queue: 64, group_products: 50, remember_for: REMEMBER_FOR },
            reader_threads: 2,
            reader_queue: 64,
            index_memory: INDEX_MEMORY,
            answer_memory: 1 << 20,
            embedder: None,
            background: true,
            query_budget: 0,
            clock: Arc::new(move || time(ticks.fetch_add(1, Ordering::SeqCst) + 1)),
            random: Arc::new(|bytes| bytes.fill(1)),
        };
        self.engine = Some(Arc::new(Engine::open(self.folder.path(), settings).unwrap()));
    }

    fn reopen(&mut self) {
        // The folder is free again only when nobody holds the engine any more.
        assert!(Arc::into_inner(self.engine.take().unwrap()).is_some());
        self.open();
    }

    fn engine(&self) -> Arc<Engine> {
        Arc::clone(self.engine.as_ref().unwrap())
    }

    /// The time the engine was told last.
    fn last_time(&self) -> Timestamp {
        time(self.clock.load(Ordering::SeqCst))
    }

    fn create(&self, shop: ShopId, drafts: Vec<Draft>, once: Option<Once>) -> Created {
        self.runtime.block_on(self.engine().create(may_write(shop), drafts, once)).unwrap()
    }

    fn update(&self, shop: ShopId, edits: Vec<Edit>) -> Vec<Result<Product, Refusal>> {
        self.runtime.block_on(self.engine().update(may_write(shop), edits)).unwrap()
    }

    fn delete(
        &self,
        shop: ShopId,
        ids: Vec<ProductId>,
        precondition: Precondition,
    ) -> Vec<Result<(), Refusal>> {
        self.runtime.block_on(self.engine().delete(may_write(shop), ids, precondition)).unwrap()
    }

    fn product(&self, shop: ShopId, id: ProductId) -> Option<Product> {
        self.runtime.block_on(self.engine().product(may_see_all(shop), id)).unwrap()
    }

    fn page(&self, shop: ShopId, limit: usize, offset: usize) -> (Vec<Product>, usize) {
        self.page_as(may_see_all(shop), limit, offset)
    }

    fn page_as(&self, pass: ReadPass, limit: usize, offset: usize) -> (Vec<Product>, usize) {
        let page = self.runtime.block_on(self.engine().page(pass, limit, offset)).unwrap();
        (page.products, page.total)
    }

    fn search(
        &self,
        pass: ReadPass,
        query: &str,
        limit: usize,
        offset: usize,
    ) -> (Vec<Product>, usize) {
        let request = SearchRequest {
            query: QueryText::parse(query).unwrap(),
            limit,
            offset,
            // The model says which words match, not which are near.
            parse_options: ParseOptions { corrections: false, ..ParseOptions::default() },
            explain: false,
            tuning: TUNING,
            time_limit: None,
        };
        let found = self.runtime.block_on(self.engine().search(pass, request)).unwrap();
        (found.products.clone(), found.total)
    }
}

/// What an idempotency key stands for.
struct Remembered {
    fingerprint: u8,
    answer: Vec<u8>,
    at: Timestamp,
}

/// What the engine should hold.
#[derive(Default)]
struct Model {
    products: BTreeMap<ProductId, Product>,
    keys: BTreeMap<(ShopId, String), Remembered>,
    last_id: u64,
    last_seq: u64,
}

impl Model {
    fn of_shop(&self, shop: ShopId, visibility: Visibility) -> Vec<Product> {
        self.products
            .values()
            .filter(|product| product.shop == shop)
            .filter(|product| visibility == Visibility::All || !product.hidden)
            .cloned()
            .collect()
    }

    fn get(&self, shop: ShopId, id: ProductId) -> Option<&Product> {
        self.products.get(&id).filter(|product| product.shop == shop)
    }

    fn next_seq(&mut self) -> Seq {
        self.last_seq += 1;
        Seq(self.last_seq)
    }

    fn create(&mut self, shop: ShopId, draft: Draft, at: Timestamp) -> Product {
        self.last_id += 1;
        let id = ProductId::new(self.last_id).unwrap();
        let product = Product::create(id, shop, draft, at, self.next_seq());
        self.products.insert(id, product.clone());
        product
    }

    fn check(
        &self,
        shop: ShopId,
        id: ProductId,
        precondition: &Precondition,
    ) -> Result<Product, Refusal> {
        let product = self.get(shop, id).ok_or(Refusal::NotFound)?;
        match precondition {
            Precondition::IsVersion(known) if !known.contains(&product.version) => {
                Err(Refusal::Changed)
            }
            _ => Ok(product.clone()),
        }
    }

    fn update(&mut self, shop: ShopId, edit: Edit, at: Timestamp) -> Result<Product, Refusal> {
        let before = self.check(shop, edit.id, &edit.precondition)?;
        let seq = self.next_seq();
        let after = before.apply(edit.patch, at, seq);
        self.products.insert(after.id, after.clone());
        Ok(after)
    }

    fn delete(
        &mut self,
        shop: ShopId,
        id: ProductId,
        precondition: &Precondition,
    ) -> Result<(), Refusal> {
        self.check(shop, id, precondition)?;
        self.next_seq();
        self.products.remove(&id);
        Ok(())
    }

    /// The products that say a word of the query, by id.
    fn search(&self, shop: ShopId, visibility: Visibility, query: &str) -> Vec<Product> {
        let query = QueryTerms::of(query);
        let mut found = self.of_shop(shop, visibility);
        found.retain(|product| {
            let mut said = BTreeSet::new();
            for text in [product.title.as_str(), product.description.as_str()] {
                for_each_word(text, |word| {
                    said.insert(word.to_owned());
                });
            }
            query.match_words(|word| said.contains(word))
        });
        found
    }
}

/// One run: the engine, the model, and what was done to both.
struct Run {
    seed: u64,
    random: Rng,
    bench: Bench,
    model: Model,
    last_operations: VecDeque<String>,
}

impl Run {
    fn new() -> Self {
        let seed = seed();
        Self {
            seed,
            random: Rng::with_seed(seed),
            bench: Bench::new(),
            model: Model::default(),
            last_operations: VecDeque::new(),
        }
    }

    fn step(&mut self) {
        let shop = shop(self.random.u64(1..=SHOPS));
        match self.random.u8(0..16) {
            // A shop that grows large only makes the run slow.
            0..7 if self.model.of_shop(shop, Visibility::All).len() > MANY => self.delete(shop),
            0..5 => self.create(shop, 1),
            5 => {
                let many = self.random.usize(0..8);
                self.create(shop, many);
            }
            6 => self.create_once(shop),
            7..12 => self.update(shop),
            12..15 => self.delete(shop),
            _ => self.compare_ids(shop),
        }
        let id = self.some_id();
        self.compare_product(shop, id);
        self.compare_page(shop);
        self.compare_search(shop);
    }

    fn create(&mut self, shop: ShopId, many: usize) {
        let drafts: Vec<_> = (0..many).map(|_| self.some_draft()).collect();
        self.note(format!("create {many} in shop {shop}"));
        let made = created(self.bench.create(shop, drafts.clone(), None));
        let at = self.bench.last_time();
        let expected: Vec<_> =
            drafts.into_iter().map(|draft| self.model.create(shop, draft, at)).collect();
        assert_eq!(made, expected);
    }

    fn create_once(&mut self, shop: ShopId) {
        let key = format!("key {}", self.random.u64(0..KEYS));
        let fingerprint = self.random.u8(0..2);
        self.note(format!("create in shop {shop} once by {key:?}, saying {fingerprint}"));
        let drafts = vec![self.some_draft(), self.some_draft()];
        let outcome = self.bench.create(shop, drafts.clone(), Some(once(&key, fingerprint)));
        let at = self.bench.last_time();
        let known = self.model.keys.get(&(shop, key.clone()));
        match known.filter(|known| known.at >= at - REMEMBER_FOR) {
            Some(first) if first.fingerprint == fingerprint => {
                assert!(matches!(&outcome, Created::Before(answer) if *answer == first.answer));
            }
            Some(_) => assert!(matches!(outcome, Created::KeyTaken)),
            None => {
                let made = created(outcome);
                let expected: Vec<_> =
                    drafts.into_iter().map(|draft| self.model.create(shop, draft, at)).collect();
                assert_eq!(made, expected);
                let first = Remembered { fingerprint, answer: answer(&made), at };
                self.model.keys.insert((shop, key), first);
            }
        }
    }

    fn update(&mut self, shop: ShopId) {
        let many = if self.random.u8(0..4) == 0 { self.random.usize(0..6) } else { 1 };
        let edits: Vec<_> = (0..many)
            .map(|_| {
                let id = self.some_id_of(shop);
                let precondition = self.some_precondition(shop, id);
                Edit { id, patch: self.some_patch(), precondition }
            })
            .collect();
        self.note(format!("update in shop {shop}: {edits:?}"));
        let outcomes = self.bench.update(shop, edits.clone());
        let at = self.bench.last_time();
        let expected: Vec<_> =
            edits.into_iter().map(|edit| self.model.update(shop, edit, at)).collect();
        assert_eq!(outcomes, expected);
    }

    fn delete(&mut self, shop: ShopId) {
        let (ids, precondition) = if self.random.u8(0..4) == 0 {
            let many = self.random.usize(0..8);
            ((0..many).map(|_| self.some_id_of(shop)).collect(), Precondition::Exists)
        } else {
            let id = self.some_id_of(shop);
            (vec![id], self.some_precondition(shop, id))
        };
        self.note(format!("delete in shop {shop}: {ids:?} if {precondition:?}"));
        let outcomes = self.bench.delete(shop, ids.clone(), precondition.clone());
        let expected: Vec<_> =
            ids.into_iter().map(|id| self.model.delete(shop, id, &precondition)).collect();
        assert_eq!(outcomes, expected);
    }

    fn restart(&mut self) {
        self.note("restart".to_owned());
        self.bench.reopen();
        if self.random.bool() {
            self.note("warm up".to_owned());
            assert!(self.bench.engine().warm_up(WarmUp::default()).is_done());
        }
    }

    fn compare_everything(&mut self) {
        for number in 1..=SHOPS {
            let shop = shop(number);
            for pass in [may_see_all(shop), may_shop(shop)] {
                let expected = self.model.of_shop(shop, pass.visibility());
                let total = expected.len();
                assert_eq!(self.bench.page_as(pass, EVERYTHING, 0), (expected, total));
                for word in WORDS {
                    self.compare_found(pass, word);
                }
            }
        }
    }

    fn compare_product(&mut self, shop: ShopId, id: ProductId) {
        assert_eq!(self.bench.product(shop, id), self.model.get(shop, id).cloned());
    }

    fn compare_ids(&mut self, shop: ShopId) {
        let ids: Vec<_> = (0..self.random.usize(0..12)).map(|_| self.some_id()).collect();
        let pass = may_shop(shop);
        let engine = self.bench.engine();
        let found = self.bench.runtime.block_on(engine.products(pass, ids.clone())).unwrap();
        let expected: Vec<_> = ids
            .into_iter()
            .filter_map(|id| self.model.get(shop, id))
            .filter(|product| !product.hidden)
            .cloned()
            .collect();
        assert_eq!(found, expected);
    }

    fn compare_page(&mut self, shop: ShopId) {
        let pass = if self.random.bool() { may_see_all(shop) } else { may_shop(shop) };
        let (limit, offset) = (self.random.usize(1..20), self.random.usize(0..60));
        let all = self.model.of_shop(shop, pass.visibility());
        let total = all.len();
        let expected: Vec<_> = all.into_iter().skip(offset).take(limit).collect();
        assert_eq!(self.bench.page_as(pass, limit, offset), (expected, total));
    }

    fn compare_search(&mut self, shop: ShopId) {
        let pass = if self.random.bool() { may_see_all(shop) } else { may_shop(shop) };
        let query = self.some_words(1..3);
        self.compare_found(pass, &query);
    }

    /// Exactly the products that say a word of the query are found, as they are now, and pages
    /// are parts of one order.
    fn compare_found(&mut self, pass: ReadPass, query: &str) {
        let expected = self.model.search(pass.shop(), pass.visibility(), query);
        let (in_order, total) = self.bench.search(pass, query, EVERYTHING, 0);
        let mut found = in_order.clone();
        found.sort_by_key(|product| product.id);
        assert_eq!(total, expected.len(), "total of {query:?} in shop {}", pass.shop());
        assert_eq!(found, expected, "{query:?} in shop {}", pass.shop());
        let (offset, limit) = (self.random.usize(0..10), self.random.usize(1..10));
        let (page, page_total) = self.bench.search(pass, query, limit, offset);
        let part: Vec<_> = in_order.into_iter().skip(offset).take(limit).collect();
        assert_eq!((page, page_total), (part, total), "a page of {query:?}");
    }

    fn note(&mut self, operation: String) {
        if self.last_operations.len() == LAST_OPERATIONS {
            self.last_operations.pop_front();
        }
        self.last_operations.push_back(operation);
    }

    /// An id that is, was or will be.
    fn some_id(&mut self) -> ProductId {
        ProductId::new(self.random.u64(1..self.model.last_id + 3)).unwrap()
    }

    /// Most often an id of the shop's.
    fn some_id_of(&mut self, shop: ShopId) -> ProductId {
        let known = self.model.of_shop(shop, Visibility::All);
        match self.random.choice(known) {
            Some(product) if self.random.u8(0..10) > 0 => product.id,
            _ => self.some_id(),
        }
    }

    /// Most often one that holds.
    fn some_precondition(&mut self, shop: ShopId, id: ProductId) -> Precondition {
        let version = self.model.get(shop, id).map_or(Seq(1), |product| product.version);
        match self.random.u8(0..8) {
            0..4 => Precondition::Exists,
            4..6 => Precondition::IsVersion(vec![version]),
            6 => Precondition::IsVersion(vec![Seq(version.0 - 1), version]),
            _ => Precondition::IsVersion(vec![Seq(version.0 - 1)]),
        }
    }

    fn some_words(&mut self, count: std::ops::Range<usize>) -> String {
        let words: Vec<_> =
            (0..self.random.usize(count)).map(|_| *self.random.choice(WORDS).unwrap()).collect();
        words.join(" ")
    }

    fn some_media(&mut self) -> Vec<Media> {
        (0..self.random.u8(0..3))
            .map(|n| Media::new(&format!("https://example.com/{n}.jpg"), MediaKind::Image).unwrap())
            .collect()
    }

    fn some_draft(&mut self) -> Draft {
        let (title, description) = (self.some_words(1..5), self.some_words(0..12));
        let price = *self.random.choice(PRICES).unwrap();
        let hidden = self.random.u8(0..5) == 0;
        Draft { media: self.some_media(), ..draft(&title, &description, price, hidden) }
    }

    /// A change of some of the fields, perhaps of none.
    fn some_patch(&mut self) -> Patch {
        let Draft { title, description, price, hidden, media } = self.some_draft();
        Patch {
            title: self.random.bool().then_some(title),
            description: self.random.bool().then_some(description),
            price: self.random.bool().then_some(price),
            hidden: self.random.bool().then_some(hidden),
            media: self.random.bool().then_some(media),
        }
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        if thread::panicking() {
            eprintln!("the last operations:");
            for operation in &self.last_operations {
                eprintln!("  {operation}");
            }
            eprintln!("repeat with TEST_SEED={}", self.seed);
        }
    }
}

fn seed() -> u64 {
    match env::var("TEST_SEED") {
        Ok(seed) => seed.parse().unwrap(),
        Err(_) => SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos() as u64,
    }
}

fn time(ticks: i64) -> Timestamp {
    Timestamp::UNIX_EPOCH + SignedDuration::from_secs(TICK.as_secs() * ticks)
}

fn shop(number: u64) -> ShopId {
    ShopId::new(number).unwrap()
}

fn may_write(shop: ShopId) -> WritePass {
    Caller::new(shop, Role::Editor).may_write().unwrap()
}

fn may_see_all(shop: ShopId) -> ReadPass {
    Caller::new(shop, Role::Viewer).may_search(true).unwrap()
}

fn may_shop(shop: ShopId) -> ReadPass {
    Caller::new(shop, Role::Shopper).may_read()
}

fn draft(title: &str, description: &str, price: &str, hidden: bool) -> Draft {
    Draft {
        title: Title::parse(title).unwrap(),
        description: Description::parse(description).unwrap(),
        price: Price::parse(price).unwrap(),
        hidden,
        media: vec![],
    }
}

fn created(outcome: Created) -> Vec<Product> {
    match outcome {
        Created::Now(products) => products,
        other => panic!("not created: {other:?}"),
    }
}

fn once(key: &str, fingerprint: u8) -> Once {
    Once { key: key.to_owned(), fingerprint: vec![fingerprint], answer: Arc::new(answer) }
}

fn answer(products: &[Product]) -> Vec<u8> {
    products.iter().flat_map(|product| product.id.get().to_be_bytes()).collect()
}
