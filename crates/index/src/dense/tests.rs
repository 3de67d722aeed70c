//! Recall and error of the sketches on real vectors: phrases that the built-in model was trained
//! with, compared with a scan of the unquantised vectors.

use embed::{BuiltIn, Embedder, ModelFiles, Text, Vector};

use super::{QueryVector, Vectors};
use crate::bits::{BLOCK, ones};

const PHRASES: &str = include_str!("../../../../training/data/shopper-phrases.tsv");
const TITLES: usize = 1500;
const QUERIES: usize = 100;
/// The nearest products that are looked for…
const TOP: usize = 10;
/// … among this many with the best estimates.
const CANDIDATES: usize = 200;

/// `count` phrases of a kind, evenly from the whole file.
pub(crate) fn phrases(kind: &str, count: usize) -> Vec<&'static str> {
    let of_kind = |line: &'static str| {
        let mut fields = line.split('\t').skip(1);
        let is_kind = fields.next() == Some(kind);
        fields.next().filter(|_| is_kind)
    };
    let all: Vec<_> = PHRASES.lines().filter_map(of_kind).collect();
    all.iter().step_by(all.len() / count).take(count).copied().collect()
}

/// The first stage selects candidates by estimated cosines: the best by the unquantised vectors are
/// among them.
#[test]
fn the_nearest_are_among_the_best_by_estimate() {
    let model = BuiltIn::new(ModelFiles::embedded(), 1).unwrap();
    let embed = |text| model.instant(text).unwrap().vector;
    let product = |title| embed(Text::Product { title, description: "" });
    let products: Vec<Vector> = phrases("T", TITLES).into_iter().map(product).collect();
    let stored: Vec<_> = products.iter().map(Vector::stored).collect();
    let vectors = Vectors::of(stored.iter().map(|vector| Some(vector.numbers())));
    let mut kept = 0;
    for query in phrases("N", QUERIES) {
        let query = embed(Text::Query(query));
        let prepared = QueryVector::of(&query).unwrap().limited();
        let mut exact: Vec<_> = products.iter().map(|product| query.cosine(product)).collect();
        exact.sort_by(|one, other| other.total_cmp(one));
        let least = exact[TOP - 1];
        let blocks = 0..TITLES.div_ceil(BLOCK);
        let mut estimates: Vec<(f32, usize)> = blocks
            .flat_map(|block| {
                let similarities = vectors.similarities(block, &prepared, true);
                let estimate = |at| (similarities.cosines[at], block * BLOCK + at);
                ones(similarities.known).map(estimate).collect::<Vec<_>>()
            })
            .collect();
        estimates.sort_by(|one, other| other.0.total_cmp(&one.0));
        let candidates = estimates.iter().take(CANDIDATES);
        kept += candidates.filter(|(_, at)| query.cosine(&products[*at]) >= least).count();
    }
    let recall = kept as f64 / (QUERIES * TOP) as f64;
    assert!(recall >= 0.99, "{recall} of the first {TOP}");
}

/// The cosine exceeds the estimate by more than the error bound for about one product in 700, and by
/// more than twice the error bound for none.
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
            let estimate = vectors.similarities(block, &query, true);
            let exact = vectors.similarities(block, &query, false);
            for at in ones(exact.known) {
                let excess = exact.cosines[at] - estimate.cosines[at];
                let bound = vectors.error_bound(block * BLOCK + at, &query);
                assert!(excess <= 2.0 * bound, "{excess}");
                exceeding += usize::from(excess > bound);
                all += 1;
            }
        }
    }
    assert!(exceeding * 500 < all, "{exceeding} of {all}");
}
