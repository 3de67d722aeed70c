//! Is what is found what a look at every product would find? Real phrases and their vectors, in
//! random shops with filters and without, compared with the formula applied to every product.

use std::{
    collections::{HashMap, HashSet},
    convert::Infallible,
    sync::OnceLock,
};

use catalog::{
    access::Visibility,
    analysis::{fingerprint, for_each_word},
    change::Seq,
    fusion::{Coverage, FUSION_PARAMS, Fusion, QueryProfile, ScoreBounds, Signals},
    price::Price,
    product::ProductId,
    query_parser::{Exclusion, ParsedQuery, parse},
    ranking::{Hit, Score},
};
use proptest::prelude::*;

use crate::embed::{BuiltIn, Embedder, ModelFiles, StoredVector, Text, Vector};

use super::{
    DenseQuery, Entry, EntryVector, IndexChange, Plan, QueryVector, ShopIndex, Snapshot,
    dense_tests::phrases,
    lexical::Statistics,
    search::{CLAIM, Effort, search_with},
};

const TITLES: usize = 1200;
const QUERIES: usize = 60;
/// Products that are hidden, one in so many, and that have no vector.
const HIDDEN: usize = 11;
const WITHOUT_VECTOR: usize = 13;

struct Product {
    title: &'static str,
    description: &'static str,
    price: Price,
    vector: StoredVector,
}

/// Products and queries, each made once.
struct Goods {
    products: Vec<Product>,
    queries: Vec<(String, Vector)>,
}

fn goods() -> &'static Goods {
    static GOODS: OnceLock<Goods> = OnceLock::new();
    GOODS.get_or_init(|| {
        let model = BuiltIn::new(ModelFiles::embedded(), 1).unwrap();
        let embed = |text| model.instant(text).unwrap().vector;
        let titles = phrases("T", TITLES);
        let product = |number: usize| {
            let (title, description) = (titles[number], titles[number * 31 % titles.len()]);
            let price = Price::parse(&format!("${}", 5 + number * 7 % 400)).unwrap();
            let vector = embed(Text::Product { title, description }).stored();
            Product { title, description, price, vector }
        };
        // What people say, single words that many products say, and whole titles.
        let words = titles.iter().step_by(53).filter_map(|title| title.split(' ').next_back());
        let whole = titles.iter().step_by(97).copied();
        let said = phrases("N", QUERIES).into_iter().chain(words).chain(whole);
        let conditions = ["", " under $90", " without leather", " not black"].into_iter().cycle();
        let queries = said
            .zip(conditions)
            .map(|(query, condition)| (format!("{query}{condition}"), embed(Text::Query(query))));
        Goods { products: (0..titles.len()).map(product).collect(), queries: queries.collect() }
    })
}

fn id(number: usize) -> ProductId {
    ProductId::new(number as u64 + 1).unwrap()
}

/// A shop of these products, written in groups of so many.
fn shop(numbers: &[usize], group: usize) -> ShopIndex {
    let goods = goods();
    let index = ShopIndex::empty();
    for (seq, group) in (1..).zip(numbers.chunks(group)) {
        let upsert = |number: &usize| {
            let Product { title, description, price, vector } = &goods.products[*number];
            let has_vector = !number.is_multiple_of(WITHOUT_VECTOR);
            IndexChange::Upsert(Entry {
                id: id(*number),
                version: Seq(seq),
                hidden: number.is_multiple_of(HIDDEN),
                price: price.money(),
                title,
                description,
                vector: if has_vector { EntryVector::Known(vector) } else { EntryVector::Missing },
            })
        };
        index.apply(&group.iter().map(upsert).collect::<Vec<_>>(), Seq(seq));
    }
    index
}

/// How many products are relevant, and which come first.
type Found = (usize, Vec<(ProductId, f32)>);

fn plan<'a>(parsed: &'a ParsedQuery, vector: &Vector, phrase_similarity: f32) -> Plan<'a> {
    let profile =
        QueryProfile { phrase_similarity: Some(phrase_similarity), ..QueryProfile::NEUTRAL };
    let meant = DenseQuery { vector: QueryVector::of(vector).unwrap(), profile };
    Plan { dense: Some(meant), ..Plan::of(parsed, Visibility::VisibleOnly, 0, 20) }
}

fn found(
    snapshot: &Snapshot,
    plan: &Plan<'_>,
    parsed: &ParsedQuery,
    closely: bool,
    threads: usize,
) -> Found {
    let effort = Effort { closely, threads };
    let visibility = plan.visibility;
    let statistics =
        Statistics { visibility, corpus: snapshot.corpus(visibility), products_with: None };
    let judge = |ids: &[ProductId]| {
        let is_refused = |id: &&ProductId| {
            let Product { title, description, .. } = &goods().products[id.get() as usize - 1];
            !parsed.allows(title, description)
        };
        Ok::<_, Infallible>(ids.iter().filter(is_refused).copied().collect())
    };
    let Ok(matches) = search_with(snapshot.segments(), &statistics, plan, effort, judge);
    let hits = matches.hits.iter().map(|hit| (hit.product, hit.score.0));
    (matches.total, hits.collect())
}

/// What the formula says of every product, one after the other.
fn expected(
    snapshot: &Snapshot,
    plan: &Plan<'_>,
    parsed: &ParsedQuery,
    numbers: &[usize],
) -> Found {
    let by_words = Plan {
        dense: None,
        title_fingerprint: 0,
        price_ranges: Vec::new(),
        exclusions: &[],
        order: None,
        limit: numbers.len(),
        ..plan.clone()
    };
    let words: HashMap<ProductId, f32> =
        found(snapshot, &by_words, parsed, true, 1).1.into_iter().collect();
    let meant = plan.dense.as_ref().unwrap();
    let signals = |number: usize| {
        let said = words.get(&id(number)).copied();
        let live = snapshot.segments().iter().find(|live| live.find(id(number)).is_some()).unwrap();
        let mut similarity = f32::NAN;
        let place = (live.find(id(number)).unwrap(), &mut similarity);
        live.vectors().look_closely(&meant.vector, std::iter::once(place));
        Signals {
            lexical: said.unwrap_or(0.0),
            similarity: (!similarity.is_nan()).then_some(similarity),
            is_exact_title: said.is_some()
                && fingerprint(goods().products[number].title) == plan.title_fingerprint,
        }
    };
    let may_be_found = |number: &usize| {
        let Product { title, description, price, .. } = &goods().products[*number];
        !number.is_multiple_of(HIDDEN) && parsed.admits(price) && parsed.allows(title, description)
    };
    let all: Vec<_> =
        numbers.iter().copied().filter(may_be_found).map(|n| (n, signals(n))).collect();
    let hope = ScoreBounds::absolute(&FUSION_PARAMS, meant.profile);
    let has_hope =
        |one: &Signals| one.is_exact_title || hope.may_pass(one.lexical, one.dense_score());
    let hopeful = all.iter().map(|(_, one)| one).filter(|one| has_hope(one));
    let coverage = Coverage { best_lexical: hopeful.map(|one| one.lexical).fold(0.0, f32::max) };
    let fusion = Fusion::hybrid(&FUSION_PARAMS, meant.profile, coverage);
    let others = all.iter().filter(|(_, one)| !one.is_exact_title);
    let best = others.map(|(_, one)| fusion.score(*one)).fold(0.0, f32::max);
    let hit = |(number, one): &(usize, Signals)| Hit {
        product: id(*number),
        version: Seq(1),
        score: Score(fusion.score(*one)),
    };
    let relevant = all.iter().filter(|(_, one)| fusion.score(*one) >= fusion.cutoff().at(best));
    let mut relevant: Vec<Hit> = relevant
        .map(|one| {
            let claim = if makes_claim(parsed, one.0) { CLAIM } else { 0.0 };
            let Hit { score: Score(score), .. } = hit(one);
            Hit { score: Score(score + claim), ..hit(one) }
        })
        .collect();
    relevant.sort_by(Hit::rank);
    let first = relevant.iter().take(plan.limit).map(|hit| (hit.product, hit.score.0));
    (relevant.len(), first.collect())
}

/// Whether a product that may be found claims to be free of something that was asked for so.
fn makes_claim(parsed: &ParsedQuery, number: usize) -> bool {
    let Product { title, description, .. } = &goods().products[number];
    let mut said = HashSet::new();
    for_each_word(&format!("{title}\n{description}"), |word| {
        said.insert(word.to_owned());
    });
    let mut claims = parsed.exclusions.iter().filter(|exclusion| exclusion.is_claim);
    let is_made = |exclusion: &Exclusion| {
        exclusion.claim().is_some_and(|claim| said.contains(&claim))
            || exclusion.words.iter().all(|word| said.contains(&**word))
                && Exclusion::negators().any(|denial| said.contains(denial))
    };
    claims.any(is_made)
}

#[test]
fn every_query_finds_what_the_formula_says() {
    let numbers: Vec<usize> = (0..TITLES).collect();
    let index = shop(&numbers, 500);
    let snapshot = index.snapshot();
    let (mut many, mut by_far) = (0, 0);
    let similarities = [0.4, 0.6, 0.75, 0.85, 0.95].into_iter().cycle();
    for ((query, vector), phrase_similarity) in goods().queries.iter().zip(similarities) {
        let parsed = parse(query);
        let plan = plan(&parsed, vector, phrase_similarity);
        let expected = expected(&snapshot, &plan, &parsed, &numbers);
        for (closely, threads) in [(true, 1), (false, 1), (false, 3)] {
            let found = found(&snapshot, &plan, &parsed, closely, threads);
            assert_eq!(found, expected, "{query}, closely {closely}, {threads} threads");
        }
        many += expected.0;
        by_far = by_far.max(expected.0);
    }
    assert!(many > 500 && by_far > 100, "{many} {by_far}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn any_shop_finds_what_the_formula_says(
        numbers in prop::sample::subsequence((0..TITLES).collect::<Vec<_>>(), 1..400).prop_shuffle(),
        group in 40_usize..400,
        query in any::<prop::sample::Index>(),
        phrase_similarity in 0.3_f32..1.0,
        threads in 1_usize..4,
    ) {
        let (query, vector) = &goods().queries[query.index(goods().queries.len())];
        let index = shop(&numbers, group);
        let snapshot = index.snapshot();
        let parsed = parse(query);
        let plan = plan(&parsed, vector, phrase_similarity);
        let expected = expected(&snapshot, &plan, &parsed, &numbers);
        let found = found(&snapshot, &plan, &parsed, true, threads);
        prop_assert_eq!(found, expected, "{}", query);
    }
}
