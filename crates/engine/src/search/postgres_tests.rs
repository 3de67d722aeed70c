//! Tests of search inside PostgreSQL beyond the conformance suite: few candidates, backfill and
//! word statistics.

use std::{collections::BTreeMap, sync::Arc};

use catalog::{
    product::{Draft, Patch, Product, ShopId},
    query::filter::ProductFilter,
    ranking::facets::FacetField,
};
use store::postgres_search::{CandidateLimits, PostgresSearch};

use super::{
    SearchRequest,
    conformance::{
        catalog::{QUERIES, draft, drafts},
        compare_with_reference, pages_partition_the_results,
        requests::{filtered_requests, filters, statements, within},
        shop::{Database, NOW, TestShop, request, shop_id, viewer},
    },
};
use crate::replication::{EvictionReason, ShopRegistry};

#[test]
fn few_candidates_break_no_condition_and_score_as_in_memory() {
    let limits = CandidateLimits {
        rank_all_up_to: 5,
        candidates: 20,
        max_scored: 60,
        ..CandidateLimits::new(0)
    };
    let mut shop = TestShop::postgres(limits);
    shop.create(drafts(&mut fastrand::Rng::with_seed(11), 400));
    let reference = shop.reference();
    let mut inexact = 0;
    let requests = QUERIES.into_iter().map(|query| request(query, 10)).chain(filtered_requests());
    for mut request in requests {
        let pass = viewer(false);
        let found = shop.search(&pass, &request).unwrap();
        for product in &found.products {
            assert!(!product.hidden && found.parsed.admits(&product.price), "{request:?}");
            let texts = (product.title.as_str(), product.description.as_str());
            assert!(found.parsed.allows(texts.0, texts.1, ""), "{request:?}");
            assert!(statements(product).all(|text| found.parsed.allows("", text, "")));
            assert!(request.filter.matches(
                product.price.money(),
                &product.attributes,
                &product.inferred
            ));
        }
        request.limit = usize::MAX / 2;
        let expected = shop.search_in(&*reference, &pass, &request).unwrap();
        assert!(found.total <= expected.total || !found.is_total_exact, "{request:?}");
        assert!(!found.is_total_exact || found.total == expected.total, "{request:?}");
        assert!(!found.is_total_exact || found.facets == expected.facets, "{request:?}");
        assert_eq!(found.products.is_empty(), expected.products.is_empty(), "{request:?}");
        inexact += usize::from(!found.is_total_exact);
        for (id, explanation) in &found.explanations {
            let Some(same) = expected.explanations.get(id) else { continue };
            assert_eq!(explanation.lexical, same.lexical, "{request:?}");
            assert_eq!(explanation.dense.is_some(), same.dense.is_some(), "{request:?}");
        }
    }
    assert!(inexact > 10, "{inexact}");
}

#[test]
fn facets_of_many_products_are_marked_as_inexact() {
    let limits = CandidateLimits { max_counted: 40, ..CandidateLimits::new(0) };
    let mut shop = TestShop::postgres(limits);
    let created = shop.create(drafts(&mut fastrand::Rng::with_seed(53), 100));
    let search = |filter: &ProductFilter| {
        let request = filtered_requests().remove(0);
        let request = SearchRequest { filter: filter.clone(), ..request };
        shop.search(&viewer(true), &request).unwrap()
    };
    for filter in filters() {
        let found = search(&filter);
        let matches = |filter: &ProductFilter| {
            let is_match = |product: &&Product| {
                filter.matches(product.price.money(), &product.attributes, &product.inferred)
            };
            created.iter().filter(is_match).count()
        };
        assert_eq!(found.total, matches(&filter), "{filter:?}");
        let fields = found.facets.0.iter().map(|(field, _)| field.name());
        let most = fields.map(|field| matches(&filter.without(field))).max().unwrap();
        assert_eq!(found.is_total_exact, most <= 40, "{filter:?}");
    }
}

#[test]
fn pages_of_few_candidates_partition_the_results() {
    let limits = CandidateLimits { rank_all_up_to: 5, candidates: 40, ..CandidateLimits::new(0) };
    pages_partition_the_results(TestShop::postgres(limits));
}

/// Starts the maintenance of a database.
fn start(
    database: &Database,
    shop: &TestShop,
    shops: &Arc<ShopRegistry>,
    limits: CandidateLimits,
) -> PostgresSearch {
    let (readers, shops) = (Arc::clone(&database.readers), Arc::clone(shops));
    let evict = move |shop: ShopId| shops.evict(shop, EvictionReason::SearchedInDatabase);
    let postgres = database.postgres.clone();
    PostgresSearch::start(postgres, readers, Some(&*shop.embedder), limits, evict).unwrap()
}

#[test]
fn a_growing_shop_gets_rows_and_indexes_and_loses_them_when_it_shrinks() {
    let limits = CandidateLimits { index_from: 20, ..CandidateLimits::new(50) };
    let database = Database::new(50);
    let mut shop = database.shop(limits);
    let mut rng = fastrand::Rng::with_seed(19);
    let mut created = shop.create(drafts(&mut rng, 30));
    let model = shop.embedder.model().clone();
    let shops = Arc::new(ShopRegistry::new(shop.readers.clone(), Some(model), usize::MAX));
    assert!(!start(&database, &shop, &shops, limits).may_hold(shop_id()), "it is small");
    created.extend(shop.create(drafts(&mut rng, 570)));
    shops.index(shop_id()).unwrap();
    // Of another model.
    let other = "CREATE INDEX search_lists_of_1_0badcafe_8 ON vectors (version) WHERE shop_id = 1";
    database.psql(other);
    let large = start(&database, &shop, &shops, limits);
    testkit::until("the shop is in the database", || large.may_hold(shop_id()));
    assert!(large.holds(shop_id(), 600).unwrap());
    assert!(shops.in_memory(shop_id()).is_none());
    let indexes = "SELECT count(*) FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
                   WHERE c.relname LIKE 'search\\_%\\_of\\_1%' AND i.indisvalid";
    assert_eq!(database.psql(indexes), "4");
    drop(large);
    compare_with_reference(&shop);
    let candidates = CandidateLimits { rank_all_up_to: 0, candidates: 10_000, ..limits };
    shop.source = database.source(&*shop.embedder, candidates);
    compare_with_reference(&shop);
    let counted = word_statistics(&database);
    assert!(counted.len() > 20, "{counted:?}");

    shop.delete(&created[10..]);
    let large = start(&database, &shop, &shops, limits);
    testkit::until("the shop is in memory", || database.psql(indexes) == "0");
    assert!(!large.may_hold(shop_id()));
    assert_eq!(database.psql("SELECT count(*) FROM search_rows"), "0");
    assert_eq!(database.psql("SELECT count(*) FROM search_words"), "0");
}

/// Document frequencies, of all and of hidden products, and the sums of field lengths.
fn word_statistics(database: &Database) -> BTreeMap<String, String> {
    let counted = database.psql(
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
fn incremental_word_statistics_equal_those_of_a_backfill() {
    let database = Database::new(0);
    let mut shop = database.shop(CandidateLimits::new(0));
    let mut rng = fastrand::Rng::with_seed(23);
    let mut created = shop.create(drafts(&mut rng, 60));
    for _ in 0..20 {
        let at = rng.usize(..created.len());
        let other = draft(&mut rng);
        match rng.usize(..3) {
            0 => {
                let gone = created.swap_remove(at);
                shop.delete(&[gone]);
            }
            1 => created.extend(shop.create(vec![other])),
            _ => {
                let Draft { title, hidden, attributes, .. } = other;
                let (title, hidden, attributes) = (Some(title), Some(hidden), Some(attributes));
                let patch = Patch { title, hidden, attributes, ..Patch::default() };
                let before = created[at].clone();
                created[at] =
                    shop.write(|transaction| transaction.update(before, patch, NOW).unwrap());
            }
        }
    }
    let incremental = word_statistics(&database);
    let was_hidden = created[0].hidden;
    let mut backfill = database.postgres.backfill().unwrap();
    backfill.remove(shop_id()).unwrap();
    while !backfill.fill(shop_id(), 7).unwrap() {
        // A write between two batches.
        let before = created[0].clone();
        let patch = Patch { hidden: Some(!before.hidden), ..Patch::default() };
        created[0] = shop.write(|transaction| transaction.update(before, patch, NOW).unwrap());
    }
    let patch = Patch { hidden: Some(was_hidden), ..Patch::default() };
    shop.write(|transaction| drop(transaction.update(created[0].clone(), patch, NOW).unwrap()));
    backfill.finish(shop_id()).unwrap();
    assert_eq!(word_statistics(&database), incremental);
    compare_with_reference(&shop);
}

/// Rows of another version of the inference are made again while the shop is searched with them.
#[test]
fn rows_of_earlier_versions_are_made_again() {
    let database = Database::new(0);
    let mut shop = database.shop(CandidateLimits::new(0));
    let mut drafts = drafts(&mut fastrand::Rng::with_seed(59), 60);
    for draft in &mut drafts {
        (draft.attributes, draft.key) = Default::default();
    }
    let created = shop.create(drafts);
    let rows =
        || database.psql("SELECT md5(string_agg(s::text, '' ORDER BY s)) FROM search_rows s");
    let before = rows();
    database.psql(
        "UPDATE search_rows SET labels = '', attributes = '{}';
         UPDATE products SET inferred = '\\x00010203';
         UPDATE shops SET search_inference = 1",
    );
    let all = || SearchRequest::all(catalog::query::sort::Sort::Newest, 100);
    let furniture = ProductFilter { all: vec![within(&["Furniture"])], none: vec![] };
    let furniture = SearchRequest { filter: furniture, ..all() };
    let search = |request: &SearchRequest| shop.search(&viewer(true), request).unwrap();
    assert!(search(&all()).is_total_exact);
    let found = search(&furniture);
    assert_eq!((found.total, found.is_total_exact), (0, false));
    let counted = SearchRequest { facets: vec![FacetField::Category], ..all() };
    assert!(!search(&counted).is_total_exact);

    let mut backfill = database.postgres.backfill().unwrap();
    let mut batches = 0;
    while !backfill.remake(shop_id(), 7).unwrap() {
        batches += 1;
        assert!(!search(&furniture).is_total_exact);
    }
    assert!(batches >= 60 / 7 && backfill.remake(shop_id(), 7).unwrap());
    assert_eq!(rows(), before);
    let found = search(&furniture);
    assert!(found.is_total_exact && (5..55).contains(&found.total), "{}", found.total);
    assert!(search(&counted).is_total_exact);
    let read = search(&all());
    let inferred = |product: &Product| (product.id, product.inferred);
    let mut read: Vec<_> = read.products.iter().map(inferred).collect();
    read.reverse();
    assert_eq!(read, created.iter().map(inferred).collect::<Vec<_>>(), "read from the texts");
}
