//! Real phrases and their vectors, with and without conditions.

use std::sync::OnceLock;

use catalog::{
    product::{access::Visibility, price::Price},
    query::parser::parse,
    ranking::fusion::QueryProfile,
};
use embed::{BuiltIn, Embedder, ModelFiles, StoredVector, Text, Vector};
use proptest::prelude::*;

use super::{
    catalogs::{Catalog, plan},
    check,
};
use crate::dense::phrases;

const TITLES: usize = 1200;
const QUERIES: usize = 60;
/// One in this many products is hidden.
const HIDDEN: usize = 11;
/// One in this many products has no vector.
const WITHOUT_VECTOR: usize = 13;

struct PhraseProduct {
    title: &'static str,
    description: &'static str,
    price: Price,
    vector: StoredVector,
}

/// Products and queries, embedded once.
struct Phrases {
    products: Vec<PhraseProduct>,
    queries: Vec<(String, Vector)>,
}

fn embedded() -> &'static Phrases {
    static PHRASES: OnceLock<Phrases> = OnceLock::new();
    PHRASES.get_or_init(|| {
        let model = BuiltIn::new(ModelFiles::embedded(), 1).unwrap();
        let embed = |text| model.instant(text).unwrap().vector;
        let titles = phrases("T", TITLES);
        let product = |number: usize| {
            let (title, description) = (titles[number], titles[number * 31 % titles.len()]);
            let price = Price::parse(&format!("${}", 5 + number * 7 % 400)).unwrap();
            let vector = embed(Text::Product { title, description }).stored();
            PhraseProduct { title, description, price, vector }
        };
        // Phrases of shoppers, single words that many products contain, and whole titles.
        let words = titles.iter().step_by(53).filter_map(|title| title.split(' ').next_back());
        let whole = titles.iter().step_by(97).copied();
        let said = phrases("N", QUERIES).into_iter().chain(words).chain(whole);
        let conditions = ["", " under $90", " without leather", " not black"].into_iter().cycle();
        let queries = said
            .zip(conditions)
            .map(|(query, condition)| (format!("{query}{condition}"), embed(Text::Query(query))));
        Phrases { products: (0..titles.len()).map(product).collect(), queries: queries.collect() }
    })
}

/// A catalog of some of the phrases.
fn catalog(numbers: &[usize]) -> Catalog {
    let mut catalog = Catalog::default();
    for number in numbers.iter().copied() {
        let PhraseProduct { title, description, price, vector } = &embedded().products[number];
        let vector = (!number.is_multiple_of(WITHOUT_VECTOR)).then(|| vector.clone());
        let hidden = number.is_multiple_of(HIDDEN);
        catalog.add(number as u64 + 1, hidden, (title, description), price, vector);
    }
    catalog
}

fn profile(phrase_similarity: f32) -> QueryProfile {
    QueryProfile { phrase_similarity: Some(phrase_similarity), ..QueryProfile::NEUTRAL }
}

fn ids(numbers: &[usize]) -> Vec<u64> {
    numbers.iter().map(|number| *number as u64 + 1).collect()
}

#[test]
fn every_query_finds_what_the_formula_says() {
    let numbers: Vec<usize> = (0..TITLES).collect();
    let catalog = catalog(&numbers);
    let snapshot = catalog.index(&ids(&numbers), 500).snapshot();
    let (mut many, mut most) = (0, 0);
    let similarities = [0.4, 0.6, 0.75, 0.85, 0.95].into_iter().cycle();
    for ((query, vector), phrase_similarity) in embedded().queries.iter().zip(similarities) {
        let parsed = parse(query);
        let plan = plan(&parsed, vector, profile(phrase_similarity), Visibility::VisibleOnly);
        let found = check(&catalog, &snapshot, &plan, &parsed, 3);
        many += found;
        most = most.max(found);
    }
    assert!(many > 500 && most > 100, "{many} {most}");
}

#[test]
fn no_product_is_found_behind_the_last_of_a_segment() {
    let have_vectors = (0..TITLES).filter(|number| !number.is_multiple_of(WITHOUT_VECTOR));
    let numbers: Vec<usize> = have_vectors.collect();
    for (len, phrase_similarity) in [(60, 0.4), (251, 0.6), (379, 0.75), (636, 0.85)] {
        let numbers = &numbers[..len];
        let catalog = catalog(numbers);
        let snapshot = catalog.index(&ids(numbers), len).snapshot();
        for (query, vector) in &embedded().queries {
            let parsed = parse(query);
            let plan = plan(&parsed, vector, profile(phrase_similarity), Visibility::VisibleOnly);
            check(&catalog, &snapshot, &plan, &parsed, 1);
        }
    }
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
        let (query, vector) = &embedded().queries[query.index(embedded().queries.len())];
        let catalog = catalog(&numbers);
        let snapshot = catalog.index(&ids(&numbers), group).snapshot();
        let parsed = parse(query);
        let plan = plan(&parsed, vector, profile(phrase_similarity), Visibility::VisibleOnly);
        check(&catalog, &snapshot, &plan, &parsed, threads);
    }
}
