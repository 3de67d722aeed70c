//! Does looking at sketches first lose anything worth finding? Real vectors of real phrases, those
//! that the built-in model was taught with, compared with a scan of the unrounded vectors.

use std::convert::Infallible;

use catalog::{
    access::Visibility, change::Seq, fusion::QueryProfile, price::Money, product::ProductId,
    query_parser::parse,
};

use crate::embed::{BuiltIn, Embedder, ModelFiles, Text, Vector};

use super::{
    DenseQuery, Entry, EntryVector, IndexBuilder, Plan, QueryVector,
    bits::{BLOCK, ones},
    lexical::Statistics,
    search::{Effort, search_with},
    vectors::Vectors,
};

const PHRASES: &str = include_str!("../../../../training/data/shopper-phrases.tsv");
const TITLES: usize = 1500;
const QUERIES: usize = 100;
/// What rounding a vector to bytes may move a cosine by.
const ROUNDING: f32 = 0.002;
/// How many of the best are looked at.
const FIRST: usize = 10;

/// So many phrases of a kind, evenly from the whole file.
pub(super) fn phrases(kind: &str, most: usize) -> Vec<&'static str> {
    let of_kind = |line: &'static str| {
        let mut fields = line.split('\t').skip(1);
        let is_kind = fields.next() == Some(kind);
        fields.next().filter(|_| is_kind)
    };
    let all: Vec<_> = PHRASES.lines().filter_map(of_kind).collect();
    all.iter().step_by(all.len() / most).take(most).copied().collect()
}

#[test]
fn the_nearest_by_float_are_found_by_sketch_and_bytes() {
    let model = BuiltIn::new(ModelFiles::embedded(), 1).unwrap();
    let embed = |text| model.instant(text).unwrap().vector;
    let product = |title| embed(Text::Product { title, description: "" });
    let products: Vec<Vector> = phrases("T", TITLES).into_iter().map(product).collect();
    let stored: Vec<_> = products.iter().map(Vector::stored).collect();
    let vectors = Vectors::of(stored.iter().map(|vector| Some(vector.numbers())));
    let (mut kept, mut looked_at) = (0, 0);
    for query in phrases("N", QUERIES) {
        let query = embed(Text::Query(query));
        let wanted = QueryVector::of(&query).unwrap();
        let mut exact: Vec<_> = products.iter().map(|product| query.cosine(product)).collect();
        exact.sort_by(|one, other| other.total_cmp(one));
        // One that is as near as the last of the first, but for the rounding to bytes, is as good.
        let least = exact[FIRST - 1] - ROUNDING;
        let mut found: Vec<(f32, usize)> = Vec::new();
        for block in 0..TITLES.div_ceil(BLOCK) {
            let look = vectors.look_at(block, &wanted, false);
            let may_be_near = |at: &usize| look.similarities[*at] + look.doubts[*at] >= least;
            let near = ones(look.known).filter(may_be_near);
            let mut near: Vec<_> = near.map(|at| (block * BLOCK + at, 0.0)).collect();
            vectors.look_closely(&wanted, near.iter_mut().map(|(at, cosine)| (*at, cosine)));
            looked_at += near.len();
            found.extend(near.into_iter().map(|(at, cosine)| (cosine, at)));
        }
        found.sort_by(|one, other| other.0.total_cmp(&one.0));
        let first = found.iter().take(FIRST);
        kept += first.filter(|(_, at)| query.cosine(&products[*at]) >= least).count();
    }
    let recall = kept as f64 / (QUERIES * FIRST) as f64;
    assert!(recall >= 0.99, "{recall} of the first {FIRST}");
    let share = looked_at as f64 / (QUERIES * TITLES) as f64;
    assert!(share < 0.2, "a close look at {share}");
}

#[test]
fn what_is_found_is_what_a_close_look_at_everything_finds() {
    let model = BuiltIn::new(ModelFiles::embedded(), 1).unwrap();
    let embed = |text| model.instant(text).unwrap().vector;
    let mut builder = IndexBuilder::new();
    for (number, title) in (1..).zip(phrases("T", TITLES)) {
        let vector = embed(Text::Product { title, description: "" }).stored();
        builder.add(Entry {
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
        Statistics { visibility, corpus: snapshot.corpus(visibility), products_with: None };
    let mut found = 0;
    let similarities = [0.6, 0.75, 0.95].into_iter().cycle();
    for (query, phrase_similarity) in phrases("N", QUERIES).into_iter().zip(similarities) {
        let parsed = parse(query);
        let vector = QueryVector::of(&embed(Text::Query(query))).unwrap();
        let profile =
            QueryProfile { phrase_similarity: Some(phrase_similarity), ..QueryProfile::NEUTRAL };
        let plan = Plan {
            dense: Some(DenseQuery { vector, profile }),
            ..Plan::of(&parsed, Visibility::VisibleOnly, 0, FIRST)
        };
        let search = |closely| {
            let judge = |_: &[ProductId]| Ok::<_, Infallible>(Vec::new());
            let effort = Effort { closely, threads: 1 };
            let Ok(found) = search_with(snapshot.segments(), &statistics, &plan, effort, judge);
            found
        };
        let closely = search(true);
        assert_eq!(search(false), closely, "{query}");
        found += closely.total;
    }
    assert!(found > 40, "{found}");
}
