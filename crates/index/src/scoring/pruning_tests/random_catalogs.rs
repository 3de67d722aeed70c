//! Random catalogs: many products close to the cut-offs, in segments with deletions, with hidden
//! products, products without vectors, attributes, keys, filters and exclusions.

use std::convert::Infallible;

use catalog::{
    product::{ProductId, access::Visibility, change::Seq},
    query::parser::parse,
};
use proptest::prelude::*;

use super::{
    assert_found,
    catalogs::{Catalog, plan},
    check, expected,
    random::Random,
};
use crate::{
    IndexChange, Plan, ShopIndex,
    effort::{Effort, SKETCHED_FROM},
    reference::id,
};

/// The products in segments of `group`, with history: every ninth product is written twice, and every
/// tenth is deleted, also from the catalog.
fn index_with_history(catalog: &mut Catalog, group: usize) -> ShopIndex {
    let numbers: Vec<u64> = catalog.reference.0.keys().copied().collect();
    let early: Vec<u64> = numbers.iter().copied().filter(|number| number % 9 == 0).collect();
    let index = catalog.index(&early, group);
    for group in numbers.chunks(group) {
        let changes: Vec<_> =
            group.iter().map(|number| IndexChange::Upsert(catalog.entry(*number))).collect();
        index.apply(&changes, Seq(1));
    }
    let deleted: Vec<u64> = numbers.into_iter().filter(|number| number % 10 == 0).collect();
    let changes: Vec<_> = deleted.iter().map(|number| IndexChange::Delete(id(*number))).collect();
    index.apply(&changes, Seq(1));
    deleted.iter().for_each(|number| drop(catalog.reference.0.remove(number)));
    index
}

/// Compares queries with the reference. Returns how many products were relevant.
fn check_queries(
    seed: u64,
    (count, dims): (u64, usize),
    group: usize,
    threads: usize,
    queries: usize,
) -> usize {
    let mut random = Random(seed);
    let mut catalog = random.catalog(count, dims);
    let snapshot = index_with_history(&mut catalog, group).snapshot();
    let mut relevant = 0;
    for number in 0..queries {
        let (query, vector) = random.query(dims);
        let parsed = parse(&query);
        let visibility = [Visibility::VisibleOnly, Visibility::All][number % 2];
        let plan = plan(&parsed, &vector, random.profile(), visibility);
        let filter = random.filter();
        let plan = Plan { offset: number % 3 * 5, key: Some(&query), filter: &filter, ..plan };
        relevant += check(&catalog, &snapshot, &plan, &parsed, threads);
    }
    relevant
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn pruned_searches_match_the_reference(
        seed in any::<u64>(),
        count in 1_u64..600,
        dims in prop::sample::select(vec![16_usize, 64, 128, 256]),
        group in 30_usize..300,
        threads in 1_usize..4,
    ) {
        check_queries(seed, (count, dims), group, threads, 6);
    }
}

#[test]
fn an_exclusion_of_two_words_needs_verification() {
    let parsed = parse("lamp without leather soles");
    assert_eq!(parsed.exclusions.iter().map(|one| one.words.len()).collect::<Vec<_>>(), [2]);
}

/// The property test is not vacuous: searches find something.
#[test]
fn searches_of_random_catalogs_find_products() {
    const QUERIES: usize = 40;
    let relevant: usize =
        (1..=3).map(|seed| check_queries(seed, (500, 256), 170, 2, QUERIES)).sum();
    assert!(relevant > 10 * QUERIES, "{relevant}");
}

/// The default path of searches and of similar products in a shop that is large enough for sketches.
#[test]
fn default_searches_match_the_reference() {
    const QUERIES: usize = 60;
    let (count, dims) = (SKETCHED_FROM as u64 * 4 / 3, 256);
    let mut random = Random(7);
    let mut catalog = random.catalog(count, dims);
    let snapshot = index_with_history(&mut catalog, 700).snapshot();
    assert!(snapshot.segment_count() > 2, "{}", snapshot.segment_count());
    let mut relevant = 0;
    for _ in 0..QUERIES {
        let (query, vector) = random.query(dims);
        let parsed = parse(&query);
        let plan = plan(&parsed, &vector, random.profile(), Visibility::VisibleOnly);
        let effort = Effort::of(snapshot.visible_count(), &plan);
        assert!(effort.sketched);
        let expected = expected(&catalog, &plan, &parsed, true);
        let verify = |ids: &[ProductId]| Ok::<_, Infallible>(catalog.rejected(ids, &parsed));
        let Ok(found) = snapshot.search(&plan, verify);
        assert_found(&found, &expected, &plan, &query);
        relevant += expected.hits.len();
    }
    assert!(relevant > QUERIES, "{relevant}");
    check_similar(&catalog, &snapshot);
}

/// Similar products are those of the reference, but for a few that exceed their error bound.
fn check_similar(catalog: &Catalog, snapshot: &crate::Snapshot) {
    let (mut found_count, mut expected_count) = (0, 0);
    for number in (1..50).filter(|number| number % 10 > 0) {
        let expected = catalog.reference.similar(number, Visibility::All);
        let found = snapshot.similar(id(number), Visibility::All, usize::MAX);
        assert!(found.iter().all(|hit| expected.contains(hit)), "{number}");
        found_count += found.len();
        expected_count += expected.len();
    }
    let lost = expected_count - found_count;
    assert!(lost * 200 <= expected_count, "{lost} of {expected_count} lost");
}
