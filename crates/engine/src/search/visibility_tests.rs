//! Does an answer depend on products that its reader does not get to see? Random catalogs and
//! queries: what a SHOPPER is told is what it is told once all hidden products are deleted.

use std::sync::Arc;

use catalog::{
    access::{Caller, Role, Visibility},
    price::Price,
    product::{Description, Draft, ShopId, Title},
    tuning::TUNING,
};
use jiff::Timestamp;
use proptest::prelude::*;
use tempfile::TempDir;

use super::*;
use crate::{
    embed::{Embedder, tests::tiny_model},
    meaning::QueryEncoder,
    shops::Shops,
    similar::{SimilarRequest, similar},
    store::{CatalogStore, SqliteReaders, SqliteStore, Trouble, WriteTransaction},
};

const NOW: Timestamp = Timestamp::UNIX_EPOCH;

/// Words that are like each other, begin with each other and stand for each other, so that a
/// product more or less changes what is corrected, what is common and what is cut off.
const WORDS: [&str; 26] = [
    "zyph",
    "zyphronix",
    "zyphronic",
    "sofa",
    "sofas",
    "sofabed",
    "bed",
    "lamp",
    "lamps",
    "lampshade",
    "clamp",
    "cotton",
    "cotten",
    "cotton-free",
    "no",
    "free",
    "leather",
    "lether",
    "storage",
    "storge",
    "tower",
    "towel",
    "under",
    "armour",
    "5 ft.",
    "wd-40",
];

const QUERIES: [&str; 22] = [
    "zyph",
    "zyphronixx",
    "sofa",
    "sofa bed",
    "sofbaed lamp",
    "lmap",
    "lampshad",
    "storage towr",
    "storge tower",
    "towl",
    "cotten towel",
    "towels without cotton",
    "not leather",
    "sofa without lether bed",
    "under armour",
    "lamp under 40",
    "cheapest lamp under $20 not cotten",
    "newest",
    "5' clamp",
    "wd40",
    "something to sit on",
    "xyzzy",
];

struct Bench {
    _folder: TempDir,
    store: SqliteStore,
    readers: Arc<SqliteReaders>,
    shops: Shops,
    embedder: Arc<dyn Embedder>,
    queries: QueryEncoder,
}

/// Everything that a reader is told, but for the number of the change.
#[derive(Debug, PartialEq)]
struct Told {
    products: Vec<Product>,
    explanations: Vec<String>,
    total: usize,
    is_total_exact: bool,
    parsed: ParsedQuery,
    encoder: Option<Encoder>,
}

fn request(query: &str) -> SearchRequest {
    SearchRequest {
        query: QueryText::parse(query).unwrap(),
        limit: 50,
        offset: 0,
        parse_options: ParseOptions::default(),
        explain: true,
        tuning: TUNING,
        time_limit: None,
    }
}

fn shop() -> ShopId {
    ShopId::new(1).unwrap()
}

impl Bench {
    fn new(embedder: Arc<dyn Embedder>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(folder.path()).unwrap();
        let readers = Arc::new(SqliteReaders::new(folder.path().to_owned()));
        let shops =
            Shops::new(Arc::clone(&readers) as _, Some(embedder.model().clone()), usize::MAX);
        let queries = QueryEncoder::new(Arc::clone(&embedder), usize::MAX);
        Self { _folder: folder, store, readers, shops, embedder, queries }
    }

    fn write<T>(&mut self, write: impl FnOnce(&mut WriteTransaction<'_>) -> T) -> T {
        let mut transaction = self.store.begin().unwrap().embedding_with(Some(&*self.embedder));
        let written = write(&mut transaction);
        let touched = transaction.commit().unwrap();
        self.shops.apply_and_wait(touched);
        written
    }

    /// What a SHOPPER is told by the index of these shops.
    fn told(&self, shops: &Shops, query: &str) -> Told {
        let snapshot = shops.index(shop()).unwrap().snapshot();
        let reader = QueryReader::new(Some(&self.queries), 1);
        let pass = Caller::new(shop(), Role::Shopper).may_search(false).unwrap();
        let request = request(query);
        let found = search(&snapshot, &*self.readers, &reader, &pass, &request).unwrap();
        let explained = |product: &Product| format!("{:?}", found.explanations.get(&product.id));
        Told {
            explanations: found.products.iter().map(explained).collect(),
            products: found.products,
            total: found.total,
            is_total_exact: found.is_total_exact,
            parsed: found.parsed,
            encoder: found.encoder,
        }
    }

    /// What a SHOPPER is told of products like another one.
    fn similar(&self, shops: &Shops, product: ProductId) -> Option<Vec<Product>> {
        let snapshot = shops.index(shop()).unwrap().snapshot();
        let pass = Caller::new(shop(), Role::Shopper).may_read();
        let request = SimilarRequest { product, limit: 50, include_hidden: false };
        similar(&snapshot, &*self.readers, &pass, &request).unwrap()
    }

    /// All that a SHOPPER is told.
    fn all(&self, shops: &Shops, made: &[Product]) -> (Vec<Told>, Vec<Option<Vec<Product>>>) {
        (
            QUERIES.iter().map(|query| self.told(shops, query)).collect(),
            made.iter().map(|product| self.similar(shops, product.id)).collect(),
        )
    }
}

fn text(words: std::ops::Range<usize>) -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(WORDS.to_vec()), words)
        .prop_map(|words| words.join(" "))
}

fn draft() -> impl Strategy<Value = Draft> {
    let price = prop::sample::select(vec!["$5", "$19.99", "€20", "$40"]);
    (prop::bool::weighted(0.4), text(1..4), text(0..10), price).prop_map(
        |(hidden, title, description, price)| Draft {
            title: Title::parse(&title).unwrap(),
            description: Description::parse(&description).unwrap(),
            price: Price::parse(price).unwrap(),
            hidden,
            media: vec![],
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_shopper_is_told_what_it_is_told_without_hidden_products(
        groups in prop::collection::vec(prop::collection::vec(draft(), 1..30), 1..6),
    ) {
        let mut bench = Bench::new(Arc::new(tiny_model()));
        bench.shops.index(shop()).unwrap();
        let mut made = Vec::new();
        for drafts in groups {
            made.extend(bench.write(|transaction| {
                let create = |draft| transaction.create(shop(), draft, NOW).unwrap();
                drafts.into_iter().map(create).collect::<Vec<_>>()
            }));
        }
        let with_hidden = bench.all(&bench.shops, &made);
        let hidden: Vec<Product> = made.iter().filter(|made| made.hidden).cloned().collect();
        bench.write(|transaction| {
            hidden.iter().for_each(|hidden| transaction.delete(hidden).unwrap());
        });
        let without = bench.all(&bench.shops, &made);
        for ((query, with), without) in QUERIES.iter().zip(&with_hidden.0).zip(&without.0) {
            prop_assert_eq!(with, without, "{}", query);
        }
        prop_assert_eq!(&with_hidden.1, &without.1);
        let model = bench.embedder.model().clone();
        let loaded = Shops::new(Arc::clone(&bench.readers) as _, Some(model), usize::MAX);
        prop_assert_eq!(&bench.all(&loaded, &made), &without, "loaded anew");
    }
}

#[test]
fn a_search_that_may_take_no_time_says_so() {
    let mut bench = Bench::new(Arc::new(tiny_model()));
    bench.shops.index(shop()).unwrap();
    let lamp = Draft {
        title: Title::parse("lamp").unwrap(),
        description: Description::parse("").unwrap(),
        price: Price::parse("$5").unwrap(),
        hidden: false,
        media: vec![],
    };
    bench.write(|transaction| transaction.create(shop(), lamp, NOW).unwrap());
    let snapshot = bench.shops.index(shop()).unwrap().snapshot();
    let search = |time_limit| {
        let reader = QueryReader::new(Some(&bench.queries), 1);
        let pass = Caller::new(shop(), Role::Shopper).may_search(false).unwrap();
        let request = SearchRequest { time_limit, ..request("lamp") };
        super::search(&snapshot, &*bench.readers, &reader, &pass, &request)
    };
    let found = search(Some(Duration::ZERO)).map(|found| found.total);
    assert_eq!(found.map_err(|error| error.trouble()), Err(Trouble::OutOfTime));
    assert_eq!(search(Some(Duration::MAX)).unwrap().total, 1);
    assert_eq!(search(None).unwrap().total, 1);
}

/// What it costs to count only visible products. Run it alone, with optimised code:
/// `cargo test --release -p engine --lib search::visibility_tests -- --ignored --nocapture`.
#[test]
#[ignore = "a measurement"]
fn what_counting_only_products_in_sight_costs() {
    use crate::index::{Entry, EntryVector, IndexBuilder};
    const PRODUCTS: u64 = 60_000;
    const ROUNDS: u32 = 200;
    let price = Price::parse("$5").unwrap().money();
    for hidden_in_a_hundred in [0, 1, 10, 50] {
        let mut rng = fastrand::Rng::with_seed(7);
        let mut builder = IndexBuilder::new();
        for number in 1..=PRODUCTS {
            let texts: Vec<&str> = (0..24).map(|_| WORDS[rng.usize(..WORDS.len())]).collect();
            builder.add(Entry {
                id: ProductId::new(number).unwrap(),
                version: Seq(number),
                hidden: rng.u32(..100) < hidden_in_a_hundred,
                price,
                title: &texts[..4].join(" "),
                description: &texts[4..].join(" "),
                vector: EntryVector::Missing,
            });
        }
        let snapshot = builder.finish(Seq(PRODUCTS)).snapshot();
        let parsed = ParseOptions::default().parse("zyphronix storage tower lamp", &|_| true);
        let time = |visibility| {
            let plan = Plan::of(&parsed, visibility, 0, 10);
            let began = Instant::now();
            for _ in 0..ROUNDS {
                let found = snapshot.search(&plan, |_| Ok::<_, StoreError>(Vec::new())).unwrap();
                assert!(found.total > 0);
            }
            began.elapsed() / ROUNDS
        };
        time(Visibility::All);
        let (all, visible) = (time(Visibility::All), time(Visibility::VisibleOnly));
        let ratio = visible.as_secs_f64() / all.as_secs_f64();
        eprintln!("{hidden_in_a_hundred}% hidden: {all:?} all, {visible:?} visible, {ratio:.2}");
    }
}
