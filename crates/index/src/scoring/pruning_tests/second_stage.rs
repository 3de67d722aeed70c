//! The second stage on random catalogs: its order is that of its formula, and neither segments nor
//! pages make a difference.

use std::cmp::Ordering;

use catalog::{
    inference::attributes::{agreement, infer_product, infer_query},
    product::{access::Visibility, attributes::Attributes, price::Price},
    query::parser::{ParsedQuery, parse},
    ranking::{
        explanation::Explanation,
        fusion::Cutoff,
        hits::Hit,
        reranking::{RERANK_PARAMS, RelativeCutoff, Reranker},
    },
};
use embed::inference::{category_model, taxonomy};
use proptest::prelude::*;

use super::{
    Matches,
    catalogs::{Catalog, plan},
    random::Random,
    search,
};
use crate::{
    Plan, QueryKind, QueryVector, RerankQuery, Snapshot,
    effort::Effort,
    head_term,
    rerank_query::{NEAREST, RERANKED},
    second_stage::RESERVED,
};

const DIMS: usize = 128;
const EFFORT: Effort = Effort { sketched: true, shortlisted: false, threads: 1 };
const SHORTLISTED: Effort = Effort { shortlisted: true, ..EFFORT };
const ALL: usize = 10_000;
const NO_CUTOFF: RelativeCutoff = RelativeCutoff { literal: 0.0, semantic: 0.0, foreign: 0.0 };
/// A query that names no category, to several of which some products are close.
const SIMILAR: &str = "clothes for work";
/// A query that names the category of some products.
const NAMED: &str = "shoes";

/// `kind` is what the query asks for, so that products with its attributes may fit.
fn with_second_stage<'a>(plan: Plan<'a>, parsed: &ParsedQuery, kind: &str) -> Plan<'a> {
    let QueryKind::Terms(terms) = &plan.kind else { panic!("not a query by terms") };
    let rerank = RerankQuery {
        vector: plan.dense.as_ref().map(|dense| dense.vector.clone()),
        things: Vec::new(),
        term_vectors: vec![None; terms.terms().len()],
        head: head_term(&parsed.sentence, terms),
        attributes: infer_query(&parsed.sentence),
        categories: category_model().infer_query(kind),
        kind: None,
        word_vectors: None,
    };
    Plan { rerank: Some(rerank), limit: ALL, ..plan }
}

/// The order of results that were all rescored.
fn by_score(found: &Matches, one: &Hit, other: &Hit) -> Ordering {
    let score = |hit: &Hit| {
        let part = found.explanations[&hit.product].rerank.expect("it was rescored");
        Reranker::new(&RERANK_PARAMS, &part.query).score(&part.evidence)
    };
    score(other).total_cmp(&score(one)).then_with(|| one.product.cmp(&other.product))
}

fn check(
    catalog: &Catalog,
    snapshots: [&Snapshot; 2],
    parsed: &ParsedQuery,
    plan: &Plan<'_>,
) -> usize {
    let of = |effort| snapshots.map(|snapshot| search(catalog, snapshot, plan, parsed, effort));
    let mut found = Matches::default();
    for sketched in [false, true] {
        let all = |effort| Effort { sketched, ..effort };
        let [one, other] = of(all(EFFORT));
        let threaded = Effort { threads: 3, ..all(SHORTLISTED) };
        for other in of(all(SHORTLISTED)).iter().chain(&of(threaded)).chain([&other]) {
            assert_eq!(one.hits, other.hits);
            assert_eq!((one.total, one.hits.len()), (other.total, one.total));
        }
        found = one;
    }

    let is_rescored = |hit: &Hit| found.explanations[&hit.product].rerank.is_some();
    let rescored = found.hits.iter().take_while(|hit| is_rescored(hit)).count();
    assert!(found.hits[rescored..].iter().all(|hit| !is_rescored(hit)));
    assert!(rescored <= RERANKED);
    let exact = |hit: &&Hit| is_exact_title(&found.explanations[&hit.product]);
    let exact = found.hits[..rescored].iter().take_while(exact).count();
    let in_order = &found.hits[exact..rescored];
    assert!(in_order.is_sorted_by(|one, other| by_score(&found, one, other).is_lt()));
    for hit in &found.hits[..rescored] {
        let explanation = &found.explanations[&hit.product];
        assert_eq!(explanation.sum(), explanation.score);
    }

    const PAGE: usize = 60;
    let page = |offset| {
        let plan = Plan { offset, limit: PAGE, ..plan.clone() };
        search(catalog, snapshots[0], &plan, parsed, EFFORT)
    };
    let paged: Vec<Hit> = (0..found.total).step_by(PAGE).flat_map(|at| page(at).hits).collect();
    assert_eq!(paged, found.hits);
    found.total
}

fn is_exact_title(explanation: &Explanation) -> bool {
    explanation.lexical.bonuses.iter().any(|bonus| bonus.name == "exact_title")
}

/// Returns how many products the queries found.
fn check_queries(seed: u64, count: u64, groups: [usize; 2], queries: u64) -> usize {
    let mut random = Random(seed);
    let catalog = random.catalog(count, DIMS);
    let numbers: Vec<u64> = catalog.reference.0.keys().copied().collect();
    let snapshots = groups.map(|group| catalog.index(&numbers, group).snapshot());
    let snapshots = [&*snapshots[0], &*snapshots[1]];
    let mut found = 0;
    for _ in 0..queries {
        let (_, vector) = random.query(DIMS);
        let words = 1 + random.below(3);
        let attribute = ["", "wool "][random.below(2) as usize];
        let kind = [SIMILAR, NAMED][random.below(2) as usize];
        let parsed = parse(&format!("{attribute}{}", random.words(words).join(" ")));
        let mut plan = plan(&parsed, &vector, random.profile(), Visibility::VisibleOnly);
        if let Some(dense) = plan.dense.as_mut().filter(|_| random.below(4) > 0) {
            dense.deep = QueryVector::of(&random.deep_query(DIMS));
        }
        found += check(&catalog, snapshots, &parsed, &with_second_stage(plan, &parsed, kind));
    }
    found
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn neither_segments_nor_pages_make_a_difference(
        seed in any::<u64>(),
        count in 1_u64..700,
        group in 20_usize..300,
    ) {
        check_queries(seed, count, [group, 1000], 3);
    }
}

/// The property test is not vacuous: there are results, and some beyond the candidates.
#[test]
fn products_beyond_the_candidates_follow() {
    let found = check_queries(5, 2_000, [700, 4_000], 12);
    assert!(found > 12 * RERANKED / 2, "{found}");
}

/// More products than raise the threshold first have the best lexical match.
#[test]
fn products_with_equal_titles_are_found_whatever_raises_the_threshold() {
    let mut random = Random(3);
    let mut catalog = Catalog::default();
    let price = Price::parse("$20").unwrap();
    for number in 1..=2_000 {
        let cosine = 0.2 + 0.75 * random.unit();
        let vector = random.near_topic(0, cosine, DIMS).stored();
        catalog.add(number, false, ("lamp shade", ""), &price, Some(vector));
    }
    let numbers: Vec<u64> = (1..=2_000).collect();
    let snapshots = [2_000, 300].map(|group| catalog.index(&numbers, group).snapshot());
    let (_, vector) = random.query(DIMS);
    let parsed = parse("lamp");
    for _ in 0..4 {
        let plan = plan(&parsed, &vector, random.profile(), Visibility::VisibleOnly);
        let plan = with_second_stage(plan, &parsed, SIMILAR);
        let found = check(&catalog, [&snapshots[0], &snapshots[1]], &parsed, &plan);
        assert!(found > RERANKED, "{found}");
    }
}

/// Whether it is among the candidates or not, and however unlike the query.
#[test]
fn the_product_with_the_key_comes_first() {
    let mut random = Random(7);
    let catalog = random.catalog(2_000, DIMS);
    let products = catalog.reference.0.iter().filter(|(_, product)| !product.hidden);
    let keys: Vec<(u64, &str)> =
        products.filter_map(|(number, product)| Some((*number, product.key.as_deref()?))).collect();
    let numbers: Vec<u64> = catalog.reference.0.keys().copied().collect();
    let snapshot = catalog.index(&numbers, 700).snapshot();
    let (_, vector) = random.query(DIMS);
    let parsed = parse(&random.words(2).join(" "));
    let plan = plan(&parsed, &vector, random.profile(), Visibility::VisibleOnly);
    let plan = Plan { limit: 1, ..with_second_stage(plan, &parsed, SIMILAR) };
    for (number, key) in keys.iter().take(200) {
        let plan = Plan { key: Some(key), ..plan.clone() };
        let found = search(&catalog, &snapshot, &plan, &parsed, EFFORT);
        assert_eq!(found.hits[0].product.get(), *number, "{key}");
    }
}

/// Products that agree with every attribute and are close to the category are candidates, however
/// low the first stage ranks them.
#[test]
fn what_fits_the_attributes_and_the_category_is_a_candidate() {
    let mut random = Random(11);
    let catalog = random.catalog(3_000, DIMS);
    let numbers: Vec<u64> = catalog.reference.0.keys().copied().collect();
    let snapshot = catalog.index(&numbers, 1_000).snapshot();
    let (_, vector) = random.query(DIMS);
    let parsed = parse("wool lamp");
    let plan = plan(&parsed, &vector, random.profile(), Visibility::VisibleOnly);
    let mut plan = with_second_stage(plan, &parsed, SIMILAR);
    // Nothing is cut off.
    let nothing = Cutoff { absolute: 0.0, relative: 0.0 };
    let fusion = &mut plan.tuning.fusion;
    (fusion.lexical_cutoff, fusion.dense_cutoff) = (nothing, nothing);
    (fusion.candidate_lexical_cutoff, fusion.candidate_dense_cutoff) = (nothing, nothing);
    plan.tuning.rerank.cutoff = NO_CUTOFF;
    let rerank = plan.rerank.as_ref().expect("there is a second stage");
    let (attributes, categories) = (rerank.attributes.clone(), rerank.categories.clone());
    assert_eq!(attributes.len(), 1);

    let found = search(&catalog, &snapshot, &plan, &parsed, EFFORT);
    assert_eq!(search(&catalog, &snapshot, &plan, &parsed, SHORTLISTED), found);
    let fits = |hit: &&Hit| {
        let product = &catalog.reference.0[&hit.product.get()].inferred;
        let agrees = |one| agreement(one, &product.attributes, false) >= 0.4;
        let likely = |category| categories.agreement(taxonomy(), category) >= 0.25;
        attributes.iter().all(agrees) && product.likely_category.is_some_and(likely)
    };
    let fitting: Vec<_> = found.hits.iter().filter(fits).collect();
    let counts = (fitting.len(), found.total);
    assert!(counts.0 > 5 && counts.0 < RERANKED && counts.1 > RERANKED, "{counts:?}");
    let is_rescored = |hit: &&Hit| found.explanations[&hit.product].rerank.is_some();
    assert!(fitting.iter().all(is_rescored));
    let unfit = found.hits.iter().filter(|hit| !is_rescored(hit));
    assert!(unfit.count() > 0, "not every result is a candidate");
}

/// The nearest products by the vector of the transformer are candidates, however low the first stage
/// ranks them, unless a condition excludes them.
#[test]
fn what_is_nearest_by_the_transformer_is_a_candidate_whatever_its_score() {
    let mut random = Random(17);
    let mut catalog = Catalog::default();
    let count = 20 * RERANKED as u64;
    for number in 1..=count {
        // One in fifty has no word of the query, and an instant vector unlike it.
        let near = number % 50 == 0;
        let (title, cosine) = if near { ("zephyr", -0.5) } else { ("lamp shade", 0.9) };
        let price = Price::parse(if number % 100 == 0 { "$90" } else { "$20" }).unwrap();
        let vector = random.near_topic(0, cosine, DIMS).stored();
        catalog.add(number, false, (title, ""), &price, Some(vector));
        let cosine = if near { 0.9 } else { 0.3 };
        catalog.encode_deep(number, random.near_topic(9, cosine, DIMS).stored());
    }
    let numbers: Vec<u64> = (1..=count).collect();
    let groups = [count as usize, count as usize * 2 / 5];
    let snapshots = groups.map(|group| catalog.index(&numbers, group).snapshot());
    let vector = random.near_topic(0, 0.95, DIMS);
    for (query, expected) in [("lamp", NEAREST), ("lamp under $50", NEAREST * 4 / 5)] {
        let parsed = parse(query);
        let mut plan = plan(&parsed, &vector, random.profile(), Visibility::VisibleOnly);
        plan.tuning.rerank.cutoff = NO_CUTOFF;
        let mut plan = with_second_stage(plan, &parsed, SIMILAR);
        let near = |plan: &Plan<'_>| {
            check(&catalog, [&snapshots[0], &snapshots[1]], &parsed, plan);
            let found = search(&catalog, &snapshots[0], plan, &parsed, SHORTLISTED);
            found.hits.iter().filter(|hit| hit.product.get() % 50 == 0).count()
        };
        assert_eq!(near(&plan), 0, "{query}");
        let dense = plan.dense.as_mut().unwrap();
        dense.deep = QueryVector::of(&random.near_topic(9, 0.95, DIMS));
        assert_eq!(near(&plan), expected, "{query}");
    }
}

/// Below the cut-off of the first stage, only if the query names the category. Where others would take
/// all places, some are reserved.
#[test]
fn what_fits_a_named_category_is_a_candidate_whatever_its_score() {
    for (products, expected) in [(100, 5), (20 * (RERANKED as u64), RESERVED)] {
        let mut random = Random(13);
        let mut catalog = Catalog::default();
        let price = Price::parse("$20").unwrap();
        for number in 1..=products {
            // One in twenty is unlike the query.
            let fits = number % 20 == 0;
            let (title, cosine) = if fits { ("wool zephyr", -0.5) } else { ("lamp", 0.9) };
            let vector = random.near_topic(0, cosine, DIMS).stored();
            catalog.add(number, false, (title, ""), &price, Some(vector));
            if fits {
                let inferred = &mut catalog.reference.0.get_mut(&number).unwrap().inferred;
                inferred.attributes = infer_product(title, "", Attributes::none());
                // Either is enough.
                let category = taxonomy().with_id("aa-8");
                match number % 40 == 0 {
                    true => inferred.likely_category = category,
                    false => inferred.named_category = category,
                }
            }
        }
        let numbers: Vec<u64> = (1..=products).collect();
        let groups = [products as usize, products as usize * 2 / 5];
        let snapshots = groups.map(|group| catalog.index(&numbers, group).snapshot());
        let parsed = parse("wool lamp");
        let vector = random.near_topic(0, 0.95, DIMS);
        let mut plan = plan(&parsed, &vector, random.profile(), Visibility::VisibleOnly);
        // The second stage shows all that it considers.
        plan.tuning.rerank.cutoff = NO_CUTOFF;
        let fitting = |kind| {
            let plan = with_second_stage(plan.clone(), &parsed, kind);
            check(&catalog, [&snapshots[0], &snapshots[1]], &parsed, &plan);
            let found = search(&catalog, &snapshots[0], &plan, &parsed, SHORTLISTED);
            let rescored = |hit: &&Hit| found.explanations[&hit.product].rerank.is_some();
            let rescored = found.hits.iter().filter(rescored);
            rescored.filter(|hit| hit.product.get() % 20 == 0).count()
        };
        assert_eq!((fitting(NAMED), fitting(SIMILAR)), (expected, 0));
    }
}
