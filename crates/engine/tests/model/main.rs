//! Model test: seeded random operations on a real engine in a real folder, compared after each step
//! with a `BTreeMap`, including restarts, evictions of shop indexes and expiring idempotency keys.
//!
//! A failure prints the seed and the last operations; `TEST_SEED=<seed>` repeats the run.
#![allow(clippy::unwrap_used)]

mod bench;
mod reference;
mod run;

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
    product::{
        Description, Draft, Patch, Product, ProductId, ShopId, Title,
        access::{Caller, ReadPass, Role, Visibility, WritePass},
        attributes::{AttributeName, AttributeValue, Attributes, Number},
        change::{ChangeKind, Seq},
        http_url::ProductUrl,
        key::Key,
        media::{Media, MediaKind},
        price::Price,
    },
    query::{QueryText, parser::ParseOptions},
    text::analysis::{QueryTerms, for_each_word},
};
use engine::{
    Engine, SearchRequest, Settings, WarmUp,
    writer::WriterSettings,
    writes::{
        Created, Edit, IdempotencyRequest, Precondition, Refusal, UpsertElement, UpsertOutcome,
        Upserted,
    },
};
use fastrand::Rng;
use jiff::{SignedDuration, Timestamp};
use store::{ChangeEntry, Quotas};
use tempfile::TempDir;
use tokio::runtime::Runtime;

use self::{
    bench::Bench,
    reference::{Model, StoredResponse},
    run::Run,
};

const STEPS: usize = 2000;
const SHOPS: u64 = 4;
const MANY: usize = 40;
/// Enough for about two of the shops.
const INDEX_MEMORY: usize = 5 << 10;
/// By how much the clock advances each time that the engine reads it.
const TICK: SignedDuration = SignedDuration::from_secs(60);
/// Some keys are reused before this time, some after it.
const RESPONSE_RETENTION: SignedDuration = SignedDuration::from_mins(200);
const KEYS: u64 = 12;
/// Few enough that products often want the key of another one.
const PRODUCT_KEYS: u64 = 60;
const LAST_OPERATIONS: usize = 25;
const EVERYTHING: usize = 10_000;

const WORDS: &[&str] = &[
    "linen", "oak", "brass", "velvet", "sofa", "lamp", "table", "mirror", "wool", "rug", "red",
    "green", "small", "round", "WD-40", "L'Oréal", "501", "绿茶", "crème",
];
/// Words of attributes.
const BRANDS: &[&str] = &["Acme", "Globex", "Initech"];
const PRICES: &[&str] = &["$19.99", "19,99 €", "EUR 1.299,00", "£1,299", "¥1500", "1 299 ₽"];

#[test]
fn the_engine_behaves_like_a_map() {
    let mut run = Run::new();
    for step in 0..STEPS {
        run.step();
        if step % 250 == 249 {
            run.restart();
            run.compare_everything();
        }
    }
    run.compare_everything();
    assert!(run.bench.engine().stats().shops < SHOPS as usize, "no index was ever evicted");
}

#[test]
fn concurrent_updates_of_one_product_lose_no_field() {
    let bench = Bench::new();
    let shop = shop(1);
    let one = outcomes(bench.create(shop, vec![draft("Sofa", "soft", "$1", false)], None));
    let id = one[0].as_ref().unwrap().id;
    for round in 0..20 {
        let text = format!("round {round}");
        let patches = [
            Patch { title: Some(Title::parse(&text).unwrap()), ..Patch::default() },
            Patch { description: Some(Description::parse(&text).unwrap()), ..Patch::default() },
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
        assert_eq!(found.title.as_str(), text);
        assert_eq!(found.description.as_str(), text);
        assert_eq!(found.price.text(), format!("${round}"));
        assert_eq!(found.hidden, round % 2 == 0);
    }
}

#[test]
fn concurrent_creates_with_one_idempotency_key_create_once() {
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
    let mut bodies = BTreeSet::new();
    for create in creates {
        match bench.runtime.block_on(create).unwrap().unwrap() {
            Created::New(products) => {
                new += 1;
                bodies.insert(encode(&products));
            }
            Created::Replayed(body) => _ = bodies.insert(body),
            Created::KeyReused => panic!("the fingerprint is the same"),
        }
    }
    assert_eq!((new, bodies.len()), (1, 1));
    assert_eq!(bench.page(shop, EVERYTHING, 0).1, 1);
}

#[test]
fn as_many_changes_are_kept_as_the_setting_says() {
    let mut bench = Bench::new();
    let shop = shop(1);
    for _ in 0..3 {
        outcomes(bench.create(shop, vec![draft("Sofa", "", "$1", false)], None));
    }
    let changes = |bench: &Bench, since| {
        let engine = bench.engine();
        bench.runtime.block_on(engine.changes(may_see_all(shop), Seq(since), 10)).unwrap()
    };
    assert_eq!(changes(&bench, 0).unwrap().changes.len(), 3);
    bench.kept_changes = Some(1);
    bench.reopen();
    testkit::until("the cleanup", || changes(&bench, 0).is_err());
    assert!(changes(&bench, 1).is_err());
    assert_eq!(changes(&bench, 2).unwrap().changes.len(), 1);
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
        description: Description::parse(description).unwrap(),
        hidden,
        ..Draft::new(Title::parse(title).unwrap(), Price::parse(price).unwrap())
    }
}

fn outcomes(created: Created) -> Vec<Outcome> {
    match created {
        Created::New(outcomes) => outcomes,
        other => panic!("not created: {other:?}"),
    }
}

fn once(key: &str, fingerprint: u8) -> IdempotencyRequest<Outcome> {
    IdempotencyRequest {
        key: key.to_owned(),
        fingerprint: vec![fingerprint],
        response: Arc::new(encode),
    }
}

type Outcome = Result<Product, Refusal>;

fn encode(outcomes: &[Outcome]) -> Vec<u8> {
    outcomes.iter().flatten().flat_map(|product| product.id.get().to_be_bytes()).collect()
}
