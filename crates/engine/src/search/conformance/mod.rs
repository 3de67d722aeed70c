//! The conformance suite of search sources: the same cases on each of them.
//!
//! A new source implements [`shop::OpenSource`] and is added to [`on_every_source`].

pub(super) mod catalog;
pub(super) mod requests;
pub(super) mod shop;

use std::time::Duration;

use ::catalog::{
    product::{
        Draft, Patch, Product, ProductId,
        access::{Caller, Role},
        attributes::{AttributeValue, Attributes},
        change::Seq,
        key::Key,
    },
    query::{parser::ParseOptions, sort::Sort},
    ranking::facets::Facets,
};
use store::{StoreErrorKind, postgres_search::CandidateLimits};

use self::{
    catalog::{QUERIES, draft, drafts, product},
    requests::{any_of, filtered_requests, matching, naive_facets},
    shop::{NOW, TestShop, request, shop_id, shopper, similar_in, viewer},
};
use super::{SearchRequest, SearchResults, SimilarRequest};

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
    a_key_returns_its_product_first,
    a_search_without_time_fails,
    an_attribute_decides_an_exclusion,
    conditions_are_exact,
    corrections_use_visible_words,
    filtered_results_are_those_of_a_freshly_loaded_index,
    filters_facets_and_orders_are_exact,
    hidden_products_make_no_difference,
    pages_partition_the_results,
    results_are_those_of_a_freshly_loaded_index,
    similar_products_are_those_of_a_freshly_loaded_index,
    the_sequence_number_is_that_of_the_last_change,
    words_are_found_in_their_other_forms,
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
    facets: Facets,
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
            facets: found.facets,
            parsed: format!("{:?}", found.parsed),
            encoder: format!("{:?}", found.encoder),
        }
    }
}

/// Compares all queries with the reference. Whether totals are exact may differ.
pub(super) fn compare_with_reference(shop: &TestShop) {
    compare(shop, &QUERIES.map(|query| request(query, 50)));
}

/// Compares requests with the reference.
fn compare(shop: &TestShop, requests: &[SearchRequest]) {
    let reference = shop.reference();
    for request in requests {
        for include_hidden in [false, true] {
            let pass = viewer(include_hidden);
            let found = shop.search(&pass, request).unwrap();
            let expected = shop.search_in(&*reference, &pass, request).unwrap();
            assert_eq!(found.seq, expected.seq, "{request:?}");
            let is_total_exact = found.is_total_exact;
            let expected = Observed { is_total_exact, ..Observed::of(expected) };
            assert_eq!(Observed::of(found), expected, "{request:?}");
        }
    }
}

fn filtered_results_are_those_of_a_freshly_loaded_index(mut shop: TestShop) {
    let created = shop.create(drafts(&mut fastrand::Rng::with_seed(43), 200));
    let mut requests = filtered_requests();
    for product in created.iter().take(10) {
        let key = product.key.as_ref().map_or("sku", Key::as_str);
        requests.push(SearchRequest { facets: requests[0].facets.clone(), ..request(key, 20) });
    }
    compare(&shop, &requests);
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
                    let Draft { title, price, hidden, attributes, .. } = draft(&mut rng);
                    let (title, price, hidden) = (Some(title), Some(price), Some(hidden));
                    let attributes = Some(attributes);
                    let patch = Patch { title, price, hidden, attributes, ..Patch::default() };
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
    let filter = || requests::filters()[2].clone();
    for (query, sort) in [
        ("red lamp", None),
        ("red lamp", Some("-weight")),
        ("cheapest lamp", None),
        ("over $1 without leather", None),
        ("over $1 without leather", Some("-price")),
        ("over $1", Some("size")),
    ] {
        let page = |offset, limit| {
            let sort = sort.map(|sort| Sort::parse(sort).unwrap());
            let request = SearchRequest { offset, sort, filter: filter(), ..request(query, limit) };
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
    let keys = created.iter().take(20).filter_map(|product| product.key.as_ref());
    let queries = QUERIES.into_iter().chain(keys.map(Key::as_str));
    let requests: Vec<_> =
        queries.map(|query| request(query, 50)).chain(filtered_requests()).collect();
    let observe = |shop: &TestShop| {
        let search = |request| shop.search(&shopper(), request).unwrap();
        let found: Vec<_> = requests.iter().map(|one| Observed::of(search(one))).collect();
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
                    && parsed.allows(product.title.as_str(), product.description.as_str(), "")
                    && requests::statements(product).all(|text| parsed.allows("", text, ""))
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

/// Filters without a query select what they mean, in order, with the facets of all of it. With a
/// query, they select nothing else.
fn filters_facets_and_orders_are_exact(mut shop: TestShop) {
    let created = shop.create(drafts(&mut fastrand::Rng::with_seed(47), 250));
    for (request, include_hidden) in filtered_requests().into_iter().zip([true, false].repeat(99)) {
        let request = SearchRequest { limit: 1000, ..request };
        let found = shop.search(&viewer(include_hidden), &request).unwrap();
        let filter = &request.filter;
        let matches = |product: &Product| {
            filter.matches(product.price.money(), &product.attributes, &product.inferred)
        };
        assert!(found.products.iter().all(matches), "{request:?}");
        assert_eq!(found.products.len(), found.total, "{request:?}");
        if request.query.is_none() {
            let visible: Vec<_> =
                created.iter().filter(|product| include_hidden || !product.hidden).collect();
            let mut expected = matching(&visible, filter);
            requests::sort(&mut expected, request.sort.as_ref());
            let products: Vec<_> = found.products.iter().collect();
            assert_eq!(products, expected, "{request:?}");
            assert!(found.is_total_exact, "{request:?}");
            assert_eq!(found.facets, naive_facets(&visible, filter, &request), "{request:?}");
        }
    }
}

/// What a query excludes, an attribute or the key may say. Each is a text of its own.
fn an_attribute_decides_an_exclusion(mut shop: TestShop) {
    let with = |material: &[&str], key: &str| {
        let texts = material.iter().map(|text| Box::from(*text)).collect();
        let material = (requests::name("material"), AttributeValue::Texts(texts));
        let key = Some(Key::parse(key).unwrap());
        Draft { attributes: Attributes::new(vec![material]), key, ..product("Lamp", "", "$20") }
    };
    let created = shop.create(vec![
        with(&["wood", "leather"], "1"),
        with(&["leather-free", "steel", "toe caps"], "2"),
        with(&["steel and toe caps"], "3"),
        with(&["toe caps", "steel"], "4"),
        with(&["no steel toe"], "leather 5"),
    ]);
    for (query, allowed) in [
        ("lamp without leather", [1, 2, 3].as_slice()),
        ("without leather", &[1, 2, 3]),
        ("lamp without steel toe", &[0, 1, 3, 4]),
    ] {
        let found = shop.search(&viewer(false), &request(query, 9)).unwrap();
        let mut ids: Vec<_> = found.products.iter().map(|product| product.id).collect();
        ids.sort_unstable();
        assert_eq!(ids, allowed.iter().map(|at| created[*at].id).collect::<Vec<_>>(), "{query}");
    }
}

/// A query that equals a key returns its product first, unless a filter refuses it.
fn a_key_returns_its_product_first(mut shop: TestShop) {
    let with_key = |draft: Draft, key| Draft { key: Some(Key::parse(key).unwrap()), ..draft };
    let lamp = || product("Desk lamp", "For every desk", "$20");
    let created = shop.create(vec![
        lamp(),
        with_key(lamp(), "A-1"),
        with_key(product("A-1", "A-1", "$9"), "a-1"),
        with_key(lamp(), "Desk lamp"),
        with_key(lamp(), "zzz"),
        with_key(Draft { hidden: true, ..lamp() }, "secret"),
    ]);
    let first = |request: SearchRequest| {
        let found = shop.search(&viewer(false), &request).unwrap();
        found.products.first().map(|product| product.id)
    };
    for (query, expected) in [("A-1", 1), ("a-1", 2), (" Desk lamp ", 3), ("zzz", 4)] {
        assert_eq!(first(request(query, 3)), Some(created[expected].id), "{query}");
        let parse_options = ParseOptions::NOTHING;
        let literal = SearchRequest { parse_options, ..request(query, 3) };
        assert_eq!(first(literal), Some(created[expected].id), "{query}");
    }
    let filter = ::catalog::query::filter::ProductFilter {
        all: vec![any_of("color", &["red"])],
        ..Default::default()
    };
    assert_eq!(first(SearchRequest { filter, ..request("zzz", 3) }), None);
    assert_ne!(first(request("secret", 3)), Some(created[5].id));
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

fn words_are_found_in_their_other_forms(mut shop: TestShop) {
    let titles = [
        "Rotes Kleid mit Gürtel und Taschen aus Wolle",
        "Arbeitstisch, eine Arbeit der Werkstatt",
        "Holztische und Tisch aus Holz",
        "Romantischer Roman",
        "Huile d'olive",
        "無垢材ダイニングテーブル",
        "本革靴",
        "靴下",
        "USB케이블 가죽소파 가죽",
        "소파를",
        "Красное платье",
    ];
    let mut drafts: Vec<Draft> = titles.iter().map(|title| product(title, "", "$5")).collect();
    drafts.push(Draft { hidden: true, ..product("Glastisch mit Glas", "", "$5") });
    shop.create(drafts);
    let queries = [
        ("rote Kleider", 1),
        ("Tische", 2),
        ("Gartentisch", 2),
        ("olive", 1),
        ("テーブル", 1),
        ("靴", 2),
        ("靴下", 1),
        ("소파", 2),
        ("красные платья", 1),
        ("Tische ohne Holz", 1),
    ];
    compare(&shop, &queries.map(|(query, _)| request(query, 50)));
    for (query, expected) in queries {
        let found = shop.search(&shopper(), &request(query, 50)).unwrap();
        let words = found.products.iter().map(|product| product.title.as_str());
        let words: Vec<&str> = words.take(expected).collect();
        assert_eq!((words.len(), found.parsed.corrections.len()), (expected, 0), "{query}");
        assert!(!words.contains(&"Romantischer Roman"), "{query}: {words:?}");
    }
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
