//! Are large shops searched as those in memory are?

use std::{collections::BTreeMap, sync::Arc};

use catalog::{
    access::{Caller, ReadPass, Role},
    price::Price,
    product::{Description, Draft, Patch, Product, ProductId, ShopId, Title},
    query::QueryText,
    query_parser::ParseOptions,
    tuning::TUNING,
};
use jiff::Timestamp;

use super::*;
use crate::{
    embed::tests::tiny_model,
    meaning::{QueryEncoder, QueryReader},
    search::{self, SearchRequest, SearchResults},
    similar::{self, SimilarRequest},
    store::{CatalogStore, PostgresSettings, PostgresStore, conformance::settings, step_from},
};

const NOW: Timestamp = Timestamp::UNIX_EPOCH;

/// Everything by which a shop is searched, in memory and in the database.
struct Bench {
    url: String,
    postgres: Postgres,
    store: PostgresStore,
    readers: Arc<PostgresReaders>,
    embedder: Arc<dyn Embedder>,
    queries: QueryEncoder,
}

impl Bench {
    /// An empty database whose new shops are searched there, or are not.
    fn new(search_above: usize) -> Self {
        let url = testkit::postgres().database();
        let settings = PostgresSettings { search_above, ..settings(&url) };
        let postgres = Postgres::new(&settings).unwrap();
        postgres.migrate().unwrap();
        let embedder: Arc<dyn Embedder> = Arc::new(tiny_model());
        Self {
            url,
            store: postgres.store(),
            readers: Arc::new(postgres.readers()),
            queries: QueryEncoder::new(Arc::clone(&embedder), usize::MAX),
            postgres,
            embedder,
        }
    }

    /// What the database prints.
    fn psql(&self, statement: &str) -> String {
        let name = self.url.rsplit_once('/').unwrap().1;
        testkit::postgres().psql(name, statement)
    }

    fn write<T>(&mut self, write: impl FnOnce(&mut crate::store::WriteTransaction<'_>) -> T) -> T {
        let mut transaction = self.store.begin().unwrap().embedding_with(Some(&*self.embedder));
        let written = write(&mut transaction);
        transaction.commit().unwrap();
        written
    }

    fn create(&mut self, drafts: Vec<Draft>) -> Vec<Product> {
        self.write(|transaction| {
            let create = |draft| transaction.create(shop(), draft, NOW).unwrap();
            drafts.into_iter().map(create).collect()
        })
    }

    fn in_memory(&self) -> Shops {
        let model = self.embedder.model().clone();
        Shops::new(Arc::clone(&self.readers) as _, Some(model), usize::MAX)
    }

    /// Who searches in the database; nobody gets shops ready.
    fn large(&self, sizes: Sizes) -> LargeShops {
        LargeShops {
            readers: Arc::clone(&self.readers),
            model: Some(self.embedder.model().clone()),
            sizes,
            here: Arc::default(),
            _keeper: None,
        }
    }

    /// Who gets shops ready, too.
    fn start(&self, shops: &Arc<Shops>, sizes: Sizes) -> LargeShops {
        let (readers, shops) = (Arc::clone(&self.readers), Arc::clone(shops));
        let embedder = Some(&*self.embedder);
        LargeShops::start(self.postgres.clone(), readers, shops, embedder, sizes).unwrap()
    }

    fn reader(&self) -> QueryReader<'_> {
        QueryReader::new(Some(&self.queries), 1)
    }
}

fn shop() -> ShopId {
    ShopId::new(1).unwrap()
}

fn pass(hidden_too: bool) -> ReadPass {
    Caller::new(shop(), Role::Viewer).may_search(hidden_too).unwrap()
}

fn request(query: &str, limit: usize) -> SearchRequest {
    SearchRequest {
        query: QueryText::parse(query).unwrap(),
        limit,
        offset: 0,
        parse_options: ParseOptions::default(),
        explain: true,
        tuning: TUNING,
        time_limit: None,
    }
}

/// Numbers that look random and are the same every time.
struct Dice(fastrand::Rng);

impl Dice {
    fn seeded(seed: u64) -> Self {
        Self(fastrand::Rng::with_seed(seed))
    }

    fn roll(&mut self, sides: usize) -> usize {
        self.0.usize(..sides)
    }

    fn pick<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[self.roll(words.len())]
    }
}

const THINGS: [&str; 12] = [
    "sofa",
    "lamp",
    "desk lamp",
    "running shoes",
    "ladder 5 ft.",
    "WD-40 spray",
    "backpack",
    "water bottle",
    "garden hose",
    "t-shirt",
    "coffee table",
    "blanket",
];
const QUALITIES: [&str; 12] = [
    "red",
    "blue",
    "black",
    "soft",
    "large",
    "leather",
    "wooden",
    "waterproof",
    "cheap",
    "new",
    "steel toe",
    "vegan",
];
const REMARKS: [&str; 8] = [
    "Made without leather.",
    "Leather-free and light.",
    "Fits every home",
    "18 x 18 in., 2 lb",
    "",
    "A gift for the whole family; no sugar.",
    "Soft leather sole with a steel toe",
    "Schuhe für 绿茶",
];
const PRICES: [&str; 8] = ["$5", "$19.99", "20.00 EUR", "£1,299", "¥1500", "$20", "EUR 0.5", "$99"];

fn draft(dice: &mut Dice) -> Draft {
    let title =
        format!("{} {} {}", dice.pick(&QUALITIES), dice.pick(&QUALITIES), dice.pick(&THINGS));
    Draft {
        title: Title::parse(&title).unwrap(),
        description: Description::parse(dice.pick(&REMARKS)).unwrap(),
        price: Price::parse(dice.pick(&PRICES)).unwrap(),
        hidden: dice.roll(9) == 0,
        media: vec![],
    }
}

const QUERIES: [&str; 31] = [
    "red sofa",
    "sofas",
    "somthing soft to sit on",
    "blak lether lamp",
    "5' ladder",
    "wd40",
    "wd 40 spray under $20",
    "shoes without leather",
    "blue shoes not made of leather",
    "backpack without steel toe",
    "back pack",
    "under 20 euros",
    "over $50",
    "without leather",
    "between 5 and 20 dollars without steel toe",
    "cheapest lamp",
    "most expensive red lamp",
    "newest shoes",
    "cheapest without leather",
    "newest arrivals",
    "xyzzy qwrtz",
    "the who",
    "18\"x18\" blanket",
    "绿茶",
    "t shirts about $20",
    "leather leather red red",
    "watr botle",
    "lmap",
    "hose for the garden",
    "tble",
    "\0 nul\0 sofa '\\ | & !",
];

/// What a search found, as far as it does not depend on when it was asked.
fn told(found: &SearchResults) -> (Vec<u64>, Vec<String>, usize, String) {
    let scores = found.products.iter().map(|product| {
        found.explanations.get(&product.id).map_or_else(String::new, |why| format!("{why:?}"))
    });
    (
        found.products.iter().map(|product| product.id.get()).collect(),
        scores.collect(),
        found.total,
        format!("{:?}", found.parsed),
    )
}

fn compare(bench: &Bench, sizes: Sizes) {
    let shops = bench.in_memory();
    let snapshot = shops.index(shop()).unwrap().snapshot();
    let large = bench.large(sizes);
    for query in QUERIES {
        for hidden_too in [false, true] {
            let (pass, request) = (pass(hidden_too), request(query, 50));
            let there =
                search::search(&snapshot, &*bench.readers, &bench.reader(), &pass, &request);
            let here = large.search(&bench.reader(), &pass, &request).unwrap().unwrap();
            assert_eq!(told(&here), told(&there.unwrap()), "{query}");
            assert_eq!(here.seq, snapshot.seq());
        }
    }
}

#[test]
fn a_shop_is_searched_in_the_database_as_in_memory() {
    let mut bench = Bench::new(0);
    let mut dice = Dice::seeded(7);
    let drafts = (0..300).map(|_| draft(&mut dice)).collect();
    let made = bench.create(drafts);
    // All products are ranked.
    compare(&bench, Sizes::above(0));
    // All are candidates by words or by meaning.
    let sizes = Sizes { exact: 0, candidates: 10_000, ..Sizes::above(0) };
    compare(&bench, sizes);
    // Some were changed, some are gone.
    bench.write(|transaction| {
        for product in &made {
            match dice.roll(6) {
                0 => transaction.delete(product).unwrap(),
                1 => {
                    let other = draft(&mut dice);
                    let patch = Patch {
                        title: Some(other.title),
                        price: Some(other.price),
                        hidden: Some(other.hidden),
                        ..Patch::default()
                    };
                    drop(transaction.update(product.clone(), patch, NOW).unwrap());
                }
                _ => {}
            }
        }
    });
    compare(&bench, Sizes::above(0));
    compare(&bench, sizes);
}

#[test]
fn few_candidates_break_no_condition_and_score_as_they_do_in_memory() {
    let mut bench = Bench::new(0);
    let mut dice = Dice::seeded(11);
    let drafts = (0..400).map(|_| draft(&mut dice)).collect();
    bench.create(drafts);
    let shops = bench.in_memory();
    let snapshot = shops.index(shop()).unwrap().snapshot();
    let large = bench.large(Sizes { exact: 5, candidates: 20, looked_at: 60, ..Sizes::above(0) });
    let mut inexact = 0;
    for query in QUERIES {
        let (pass, mut request) = (pass(false), request(query, 10));
        let here = large.search(&bench.reader(), &pass, &request).unwrap().unwrap();
        for product in &here.products {
            assert!(!product.hidden && here.parsed.admits(&product.price), "{query}");
            let texts = (product.title.as_str(), product.description.as_str());
            assert!(here.parsed.allows(texts.0, texts.1), "{query}");
        }
        request.limit = usize::MAX / 2;
        let there =
            search::search(&snapshot, &*bench.readers, &bench.reader(), &pass, &request).unwrap();
        assert!(here.total <= there.total || !here.is_total_exact, "{query}");
        assert!(!here.is_total_exact || here.total == there.total, "{query}");
        assert_eq!(here.products.is_empty(), there.products.is_empty(), "{query}");
        inexact += usize::from(!here.is_total_exact);
        for (id, why) in &here.explanations {
            let Some(same) = there.explanations.get(id) else { continue };
            assert_eq!(why.lexical, same.lexical, "{query}");
            assert_eq!(why.dense.is_some(), same.dense.is_some(), "{query}");
        }
    }
    assert!(inexact > 10, "{inexact}");
}

#[test]
fn pages_follow_each_other() {
    let mut bench = Bench::new(0);
    let mut dice = Dice::seeded(13);
    let drafts = (0..300).map(|_| draft(&mut dice)).collect();
    bench.create(drafts);
    let large = bench.large(Sizes { exact: 5, candidates: 40, ..Sizes::above(0) });
    for query in ["red lamp", "cheapest lamp", "over $1 without leather"] {
        let page = |offset, limit| {
            let request = SearchRequest { offset, ..request(query, limit) };
            let found = large.search(&bench.reader(), &pass(false), &request).unwrap().unwrap();
            found.products.iter().map(|product| product.id.get()).collect::<Vec<_>>()
        };
        let whole = page(0, 30);
        let parts: Vec<_> = (0..6).flat_map(|number| page(number * 5, 5)).collect();
        assert_eq!(parts, whole, "{query}");
    }
}

#[test]
fn like_products_are_the_same_as_in_memory() {
    let mut bench = Bench::new(0);
    let mut dice = Dice::seeded(17);
    let drafts = (0..120).map(|_| draft(&mut dice)).collect();
    let made = bench.create(drafts);
    let shops = bench.in_memory();
    let snapshot = shops.index(shop()).unwrap().snapshot();
    let large = bench.large(Sizes::above(0));
    let reader = |role| Caller::new(shop(), role).may_read();
    for product in made.iter().map(|product| product.id).chain([ProductId::new(9999).unwrap()]) {
        for (role, include_hidden) in [(Role::Shopper, false), (Role::Viewer, true)] {
            let request = SimilarRequest { product, limit: 7, include_hidden };
            let there =
                similar::similar(&snapshot, &*bench.readers, &reader(role), &request).unwrap();
            let here = large.similar(&reader(role), &request).unwrap().unwrap();
            assert_eq!(here, there, "{product}");
        }
    }
}

#[test]
fn a_shop_that_grows_gets_rows_and_indexes_and_loses_them_when_it_shrinks() {
    let mut bench = Bench::new(50);
    let mut dice = Dice::seeded(19);
    let drafts = (0..30).map(|_| draft(&mut dice)).collect();
    let mut made = bench.create(drafts);
    let sizes = Sizes { indexed_from: 20, ..Sizes::above(50) };
    let shops = Arc::new(bench.in_memory());
    assert!(!bench.start(&shops, sizes).may_hold(shop()), "it is small");
    let more = (0..570).map(|_| draft(&mut dice)).collect();
    made.extend(bench.create(more));
    shops.index(shop()).unwrap();
    let large = bench.start(&shops, sizes);
    testkit::until("the shop is in the database", || large.may_hold(shop()));
    assert!(large.holds(shop(), 600).unwrap());
    assert!(shops.in_memory(shop()).is_none());
    let indexes = "SELECT count(*) FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
                   WHERE c.relname LIKE 'search\\_%\\_of\\_1%' AND i.indisvalid";
    assert_eq!(bench.psql(indexes), "3");
    drop(large);
    compare(&bench, sizes);
    compare(&bench, Sizes { exact: 0, candidates: 10_000, ..sizes });
    let counted = words(&bench);
    assert!(counted.len() > 20, "{counted:?}");
    // Now it shrinks.
    let gone = made.split_off(10);
    bench.write(|transaction| gone.iter().for_each(|gone| transaction.delete(gone).unwrap()));
    let large = bench.start(&shops, sizes);
    testkit::until("the shop is in memory", || bench.psql(indexes) == "0");
    assert!(!large.may_hold(shop()));
    assert_eq!(bench.psql("SELECT count(*) FROM search_rows"), "0");
    assert_eq!(bench.psql("SELECT count(*) FROM search_words"), "0");
}

/// How many products say each word, how many of them are hidden, and the lengths of all of them.
fn words(bench: &Bench) -> BTreeMap<String, String> {
    let counted = bench.psql(
        "SELECT word, products || ' ' || hidden_products FROM search_words
         WHERE products <> 0 OR hidden_products <> 0
         UNION ALL SELECT 'title', title_words || ' ' || hidden_title_words FROM shops
         UNION ALL SELECT 'description', description_words || ' ' || hidden_description_words
                   FROM shops",
    );
    let pairs = counted.lines().filter_map(|line| line.split_once('|'));
    pairs.map(|(word, products)| (word.to_owned(), products.to_owned())).collect()
}

#[test]
fn words_counted_change_by_change_are_those_counted_at_once() {
    let mut bench = Bench::new(0);
    let mut dice = Dice::seeded(23);
    let drafts = (0..60).map(|_| draft(&mut dice)).collect();
    let mut made = bench.create(drafts);
    for _ in 0..20 {
        let at = dice.roll(made.len());
        let other = draft(&mut dice);
        match dice.roll(3) {
            0 => {
                let gone = made.swap_remove(at);
                bench.write(|transaction| transaction.delete(&gone).unwrap());
            }
            1 => made.extend(bench.create(vec![other])),
            _ => {
                let hidden = Some(other.hidden);
                let patch = Patch { title: Some(other.title), hidden, ..Patch::default() };
                let before = made[at].clone();
                made[at] =
                    bench.write(|transaction| transaction.update(before, patch, NOW).unwrap());
            }
        }
    }
    let followed = words(&bench);
    let mut filling = bench.postgres.filling().unwrap();
    filling.stop(shop()).unwrap();
    while !filling.fill(shop(), 7).unwrap() {
        // Somebody writes meanwhile.
        let before = made[0].clone();
        let patch = Patch { hidden: Some(!before.hidden), ..Patch::default() };
        made[0] = bench.write(|transaction| transaction.update(before, patch, NOW).unwrap());
    }
    filling.finish(shop()).unwrap();
    assert_eq!(words(&bench), followed);
    compare(&bench, Sizes::above(0));
}

#[test]
fn hidden_products_that_are_there_before_they_are_counted_are_counted() {
    let mut bench = Bench::new(0);
    let mut dice = Dice::seeded(29);
    bench.create((0..60).map(|_| draft(&mut dice)).collect());
    let counted = words(&bench);
    assert!(counted.values().any(|counts| !counts.ends_with(" 0")), "{counted:?}");
    bench.psql(
        "ALTER TABLE search_words DROP COLUMN hidden_products;
         ALTER TABLE shops DROP COLUMN hidden_title_words, DROP COLUMN hidden_description_words",
    );
    bench.psql(step_from(2));
    assert_eq!(words(&bench), counted);
}
