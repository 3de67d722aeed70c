//! The conformance suite of search sources: the same cases on each of them.
//!
//! A new source implements [`shop::OpenSource`] and is added to [`on_every_source`].

pub(super) mod catalog;
pub(super) mod shop;

use std::time::Duration;

use ::catalog::{
    access::{Caller, Role},
    change::Seq,
    product::{Draft, Patch, Product, ProductId},
};

use self::{
    catalog::{QUERIES, draft, drafts, product},
    shop::{NOW, TestShop, request, shop_id, shopper, similar_in, viewer},
};
use super::{SearchRequest, SearchResults, SimilarRequest};
use crate::store::{StoreErrorKind, postgres_search::CandidateLimits};

macro_rules! on_every_source {
    ($($case:ident),+ $(,)?) => {
        mod memory {
            $(#[test]
            fn $case() {
                super::$case(super::TestShop::memory());
            })+
        }

        /// All products that satisfy the conditions are scored.
        mod postgres_scoring_all {
            $(#[test]
            fn $case() {
                super::$case(super::TestShop::postgres(super::CandidateLimits::new(0)));
            })+
        }

        /// Only candidates are scored, but all products can be candidates.
        mod postgres_scoring_candidates {
            $(#[test]
            fn $case() {
                super::$case(super::TestShop::postgres(super::candidates_only()));
            })+
        }
    };
}

on_every_source!(
    a_search_without_time_fails,
    conditions_are_exact,
    corrections_use_visible_words,
    hidden_products_make_no_difference,
    pages_partition_the_results,
    results_are_those_of_a_freshly_loaded_index,
    similar_products_are_those_of_a_freshly_loaded_index,
    the_sequence_number_is_that_of_the_last_change,
);

fn candidates_only() -> CandidateLimits {
    CandidateLimits { rank_all_up_to: 0, candidates: 10_000, ..CandidateLimits::new(0) }
}

/// The results of a search, but for the sequence number.
#[derive(Debug, PartialEq)]
pub(super) struct Observed {
    products: Vec<Product>,
    explanations: Vec<String>,
    total: usize,
    is_total_exact: bool,
    parsed: String,
    encoder: String,
}

impl Observed {
    pub(super) fn of(found: SearchResults) -> Self {
        let explained = |product: &Product| format!("{:?}", found.explanations.get(&product.id));
        Self {
            explanations: found.products.iter().map(explained).collect(),
            products: found.products,
            total: found.total,
            is_total_exact: found.is_total_exact,
            parsed: format!("{:?}", found.parsed),
            encoder: format!("{:?}", found.encoder),
        }
    }
}

/// Compares all queries with the reference. Whether totals are exact may differ.
pub(super) fn compare_with_reference(shop: &TestShop) {
    let reference = shop.reference();
    for query in QUERIES {
        for include_hidden in [false, true] {
            let (pass, request) = (viewer(include_hidden), request(query, 50));
            let found = shop.search(&pass, &request).unwrap();
            let expected = shop.search_in(&*reference, &pass, &request).unwrap();
            assert_eq!(found.seq, expected.seq, "{query}");
            let is_total_exact = found.is_total_exact;
            let expected = Observed { is_total_exact, ..Observed::of(expected) };
            assert_eq!(Observed::of(found), expected, "{query}");
        }
    }
}

fn results_are_those_of_a_freshly_loaded_index(mut shop: TestShop) {
    let mut rng = fastrand::Rng::with_seed(7);
    let created = shop.create(drafts(&mut rng, 300));
    compare_with_reference(&shop);
    shop.write(|transaction| {
        for product in &created {
            match rng.usize(..6) {
                0 => transaction.delete(product).unwrap(),
                1 => {
                    let Draft { title, price, hidden, .. } = draft(&mut rng);
                    let (title, price, hidden) = (Some(title), Some(price), Some(hidden));
                    let patch = Patch { title, price, hidden, ..Patch::default() };
                    drop(transaction.update(product.clone(), patch, NOW).unwrap());
                }
                _ => {}
            }
        }
    });
    compare_with_reference(&shop);
}

fn similar_products_are_those_of_a_freshly_loaded_index(mut shop: TestShop) {
    let created = shop.create(drafts(&mut fastrand::Rng::with_seed(17), 120));
    let reference = shop.reference();
    let unknown = ProductId::new(9999).unwrap();
    for product in created.iter().map(|product| product.id).chain([unknown]) {
        for (role, include_hidden) in [(Role::Shopper, false), (Role::Viewer, true)] {
            let pass = Caller::new(shop_id(), role).may_read();
            let request = SimilarRequest { product, limit: 7, include_hidden };
            let expected = similar_in(&*reference, &pass, &request);
            assert_eq!(shop.similar(&pass, &request), expected, "{product}");
        }
    }
}

pub(super) fn pages_partition_the_results(mut shop: TestShop) {
    shop.create(drafts(&mut fastrand::Rng::with_seed(13), 300));
    for query in ["red lamp", "cheapest lamp", "over $1 without leather"] {
        let page = |offset, limit| {
            let request = SearchRequest { offset, ..request(query, limit) };
            let found = shop.search(&viewer(false), &request).unwrap();
            found.products.iter().map(|product| product.id.get()).collect::<Vec<_>>()
        };
        let whole = page(0, 30);
        assert!(!whole.is_empty(), "{query}");
        let parts: Vec<_> = (0..6).flat_map(|number| page(number * 5, 5)).collect();
        assert_eq!(parts, whole, "{query}");
    }
}

/// What a shopper gets is what it would get if the hidden products were deleted.
fn hidden_products_make_no_difference(mut shop: TestShop) {
    let created = shop.create(drafts(&mut fastrand::Rng::with_seed(31), 150));
    let observe = |shop: &TestShop| {
        let search = |query| shop.search(&shopper(), &request(query, 50)).unwrap();
        let found: Vec<_> = QUERIES.into_iter().map(|query| Observed::of(search(query))).collect();
        let pass = Caller::new(shop_id(), Role::Shopper).may_read();
        let similar = |product: &Product| {
            let request = SimilarRequest { product: product.id, limit: 20, include_hidden: true };
            shop.similar(&pass, &request)
        };
        (found, created.iter().map(similar).collect::<Vec<_>>())
    };
    let with_hidden = observe(&shop);
    let (hidden, visible): (Vec<_>, Vec<_>) =
        created.iter().cloned().partition(|product| product.hidden);
    assert!(hidden.len() > 5 && visible.len() > 100);
    shop.delete(&hidden);
    assert_eq!(observe(&shop), with_hidden);
}

/// Results of queries with conditions satisfy them. Queries of conditions alone find all products
/// that satisfy them, newest first.
fn conditions_are_exact(mut shop: TestShop) {
    let mut created = shop.create(drafts(&mut fastrand::Rng::with_seed(37), 250));
    created.reverse();
    for include_hidden in [false, true] {
        for query in QUERIES {
            let found = shop.search(&viewer(include_hidden), &request(query, 1000)).unwrap();
            let parsed = &found.parsed;
            let passes = |product: &Product| {
                (include_hidden || !product.hidden)
                    && parsed.admits(&product.price)
                    && parsed.allows(
                        product.title.as_str(),
                        product.description.as_str(),
                        &product.attributes.text(),
                    )
            };
            assert!(found.products.iter().all(passes), "{query}");
            assert_eq!(found.total, found.products.len(), "{query}");
            if parsed.terms().is_empty() && parsed.has_conditions() {
                assert!(found.is_total_exact, "{query}");
                let mut expected: Vec<&Product> =
                    created.iter().filter(|one| passes(one)).collect();
                let mut products: Vec<&Product> = found.products.iter().collect();
                if parsed.sort.is_some() {
                    expected.sort_by_key(|product| product.id);
                    products.sort_by_key(|product| product.id);
                }
                assert_eq!(products, expected, "{query}");
            }
        }
    }
}

fn corrections_use_visible_words(mut shop: TestShop) {
    let mut created = vec![
        product("Red sofa", "Seats two", "$500"),
        product("Desk lamp", "For every desk", "$20"),
        product("Waterproof backpack", "", "$60"),
    ];
    created.push(Draft { hidden: true, ..product("Striped lampshade", "", "$30") });
    shop.create(created);
    let corrections = |query, include_hidden| {
        let found = shop.search(&viewer(include_hidden), &request(query, 10)).unwrap();
        let corrections = found.parsed.corrections;
        corrections.into_iter().map(|one| (one.from, one.to)).collect::<Vec<_>>()
    };
    let correction = |from: &str, to: &str| vec![(from.to_owned(), to.to_owned())];
    assert_eq!(corrections("sofa", false), vec![]);
    assert_eq!(corrections("desk lmap", false), correction("lmap", "lamp"));
    assert_eq!(corrections("waterprof backpack", false), correction("waterprof", "waterproof"));
    assert_eq!(corrections("lampshaed", true), correction("lampshaed", "lampshade"));
    assert_eq!(corrections("lampshaed", false), vec![]);
}

fn the_sequence_number_is_that_of_the_last_change(mut shop: TestShop) {
    let created = shop.create(drafts(&mut fastrand::Rng::with_seed(41), 3));
    let seq = |shop: &TestShop| shop.search(&viewer(true), &request("sofa", 1)).unwrap().seq;
    assert_eq!(seq(&shop), created[2].version);
    shop.delete(&created[..1]);
    assert_eq!(seq(&shop), Seq(created[2].version.0 + 1));
}

fn a_search_without_time_fails(mut shop: TestShop) {
    shop.create(vec![product("lamp", "", "$5")]);
    let search = |time_limit| {
        let request = SearchRequest { time_limit, ..request("lamp", 50) };
        shop.search(&shopper(), &request).map(|found| found.total)
    };
    let failed = search(Some(Duration::ZERO)).map_err(|error| error.kind());
    assert_eq!(failed, Err(StoreErrorKind::SearchTimeout));
    assert_eq!(search(Some(Duration::MAX)).unwrap(), 1);
    assert_eq!(search(None).unwrap(), 1);
}
