//! Recall and error of the sketches on real vectors: phrases that the built-in model was trained
//! with, compared with a scan of the unquantised vectors.

use std::convert::Infallible;

use catalog::{
    access::Visibility, change::Seq, fusion::QueryProfile, price::Money, product::ProductId,
    query_parser::parse,
};

use crate::embed::{BuiltIn, Embedder, ModelFiles, Text, Vector};

use super::{QueryVector, Vectors};
use crate::index::{
    DenseQuery, Entry, EntryVector, IndexBuilder, Plan,
    bits::{BLOCK, ones},
    lexical::Statistics,
    scoring::{Effort, search_with},
};

const PHRASES: &str = include_str!("../../../../../training/data/shopper-phrases.tsv");
const TITLES: usize = 1500;
const QUERIES: usize = 100;
/// How far quantisation to bytes may move a cosine.
const QUANTISATION: f32 = 0.002;
/// Hits that are compared.
const TOP: usize = 10;

/// `count` phrases of a kind, evenly from the whole file.
pub(in crate::index) fn phrases(kind: &str, count: usize) -> Vec<&'static str> {
    let of_kind = |line: &'static str| {
        let mut fields = line.split('\t').skip(1);
        let is_kind = fields.next() == Some(kind);
        fields.next().filter(|_| is_kind)
    };
    let all: Vec<_> = PHRASES.lines().filter_map(of_kind).collect();
    all.iter().step_by(all.len() / count).take(count).copied().collect()
}

#[test]
fn recall_against_unquantised_vectors_is_above_99_percent() {
    let model = BuiltIn::new(ModelFiles::embedded(), 1).unwrap();
    let embed = |text| model.instant(text).unwrap().vector;
    let product = |title| embed(Text::Product { title, description: "" });
    let products: Vec<Vector> = phrases("T", TITLES).into_iter().map(product).collect();
    let stored: Vec<_> = products.iter().map(Vector::stored).collect();
    let vectors = Vectors::of(stored.iter().map(|vector| Some(vector.numbers())));
    let (mut kept, mut rescored) = (0, 0);
    for query in phrases("N", QUERIES) {
        let query = embed(Text::Query(query));
        let prepared = QueryVector::of(&query).unwrap();
        let mut exact: Vec<_> = products.iter().map(|product| query.cosine(product)).collect();
        exact.sort_by(|one, other| other.total_cmp(one));
        // A product within the quantisation error of the last of the top hits is as good.
        let least = exact[TOP - 1] - QUANTISATION;
        let mut found: Vec<(f32, usize)> = Vec::new();
        for block in 0..TITLES.div_ceil(BLOCK) {
            let estimate = vectors.estimate_of(block, &prepared, false);
            let may_be_near =
                |at: &usize| estimate.similarities[*at] + estimate.error_bounds[*at] >= least;
            let near = ones(estimate.known).filter(may_be_near);
            let mut near: Vec<_> = near.map(|at| (block * BLOCK + at, 0.0)).collect();
            vectors.cosines(&prepared, near.iter_mut().map(|(at, cosine)| (*at, cosine)));
            rescored += near.len();
            found.extend(near.into_iter().map(|(at, cosine)| (cosine, at)));
        }
        found.sort_by(|one, other| other.0.total_cmp(&one.0));
        let first = found.iter().take(TOP);
        kept += first.filter(|(_, at)| query.cosine(&products[*at]) >= least).count();
    }
    let recall = kept as f64 / (QUERIES * TOP) as f64;
    assert!(recall >= 0.99, "{recall} of the first {TOP}");
    let share = rescored as f64 / (QUERIES * TITLES) as f64;
    assert!(share < 0.2, "rescored {share}");
}

#[test]
fn searches_with_sketches_equal_searches_without() {
    let model = BuiltIn::new(ModelFiles::embedded(), 1).unwrap();
    let embed = |text| model.instant(text).unwrap().vector;
    let mut builder = IndexBuilder::new();
    for (number, title) in (1..).zip(phrases("T", TITLES)) {
        let vector = embed(Text::Product { title, description: "" }).stored();
        builder.add(Entry {
            key: None,
            attributes: catalog::attributes::Attributes::none(),
            inferred: catalog::inference::Inferred::default(),
            id: ProductId::new(number).unwrap(),
            version: Seq(1),
            hidden: false,
            price: Money::parse("$5").ok(),
            title,
            description: "",
            vector: EntryVector::Known(&vector),
        });
    }
    let snapshot = builder.finish(Seq(1)).snapshot();
    let visibility = Visibility::VisibleOnly;
    let statistics =
        Statistics { visibility, corpus: snapshot.corpus(visibility), doc_freqs: None };
    let mut found = 0;
    let similarities = [0.6, 0.75, 0.95].into_iter().cycle();
    for (query, phrase_similarity) in phrases("N", QUERIES).into_iter().zip(similarities) {
        let parsed = parse(query);
        let vector = QueryVector::of(&embed(Text::Query(query))).unwrap();
        let profile =
            QueryProfile { phrase_similarity: Some(phrase_similarity), ..QueryProfile::NEUTRAL };
        let plan = Plan {
            dense: Some(DenseQuery { vector, profile }),
            ..Plan::of(&parsed, Visibility::VisibleOnly, 0, TOP)
        };
        let search = |exact| {
            let verify = |_: &[ProductId]| Ok::<_, Infallible>(Vec::new());
            let effort = Effort { exact, threads: 1 };
            let Ok(found) =
                search_with(snapshot.segments(), &statistics, &plan, Some(effort), verify);
            found
        };
        let exact = search(true);
        assert_eq!(search(false), exact, "{query}");
        found += exact.total;
    }
    assert!(found > 40, "{found}");
}

/// The error budget that `scoring/mod.rs` states: the cosine exceeds the estimate by more than the
/// error bound for about one product in 700, and by more than twice the error bound for none.
#[test]
fn few_cosines_exceed_the_error_bound() {
    let model = BuiltIn::new(ModelFiles::embedded(), 1).unwrap();
    let embed = |text| model.instant(text).unwrap().vector;
    let product = |title| embed(Text::Product { title, description: "" }).stored();
    let products: Vec<_> = phrases("T", TITLES).into_iter().map(product).collect();
    let vectors = Vectors::of(products.iter().map(|vector| Some(vector.numbers())));
    let (mut exceeding, mut all) = (0, 0);
    for query in phrases("N", QUERIES) {
        let query = QueryVector::of(&embed(Text::Query(query))).unwrap();
        for block in 0..TITLES.div_ceil(BLOCK) {
            let estimate = vectors.estimate_of(block, &query, false);
            let exact = vectors.estimate_of(block, &query, true);
            for at in ones(exact.known) {
                let excess = exact.similarities[at] - estimate.similarities[at];
                assert!(excess <= 2.0 * estimate.error_bounds[at], "{excess}");
                exceeding += usize::from(excess > estimate.error_bounds[at]);
                all += 1;
            }
        }
    }
    assert!(exceeding * 500 < all, "{exceeding} of {all}");
}
