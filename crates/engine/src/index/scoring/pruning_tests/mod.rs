//! The pruned search, compared with the formula applied to every product ([`reference`]), on real
//! phrases and on random catalogs.
//!
//! Budget: a search without sketches equals the reference exactly. A search with sketches equals it
//! exactly unless the cosine of a *decisive* product exceeds its upper bound; decisive are the
//! relevant products and those that define the coverage. `scoring/mod.rs` says why no other product
//! can make a difference, and how many exceed their bound.

mod catalogs;
mod index_files;
mod random;
mod random_catalogs;
mod real_phrases;
mod second_stage;
mod selections;

use std::convert::Infallible;

use catalog::{
    product::ProductId,
    query_parser::{Exclusion, ParsedQuery},
};

use self::catalogs::Catalog;
use super::{Effort, Matches, search_with};
use crate::index::{
    Snapshot,
    bits::BLOCK,
    lexical::Statistics,
    plan::{Plan, QueryKind},
    reference::{self, Found, Product, Query},
};

/// Runs a plan with a given effort.
fn search(
    catalog: &Catalog,
    snapshot: &Snapshot,
    plan: &Plan<'_>,
    parsed: &ParsedQuery,
    effort: Effort,
) -> Matches {
    let visibility = plan.visibility;
    let statistics =
        Statistics { visibility, corpus: snapshot.corpus(visibility), doc_freqs: None };
    let verify = |ids: &[ProductId]| Ok::<_, Infallible>(catalog.rejected(ids, parsed));
    let Ok(found) = search_with(snapshot.segments(), &statistics, plan, Some(effort), verify);
    found
}

/// What the formula says of every product.
fn expected(catalog: &Catalog, plan: &Plan<'_>, parsed: &ParsedQuery) -> Found {
    let QueryKind::Terms(words) = &plan.kind else { panic!("not a query by terms") };
    let dense = plan.dense.as_ref();
    catalog.reference.search(&Query {
        words,
        dense: dense.map(|dense| (dense.vector.numbers(), dense.profile)),
        title_fingerprint: plan.title_fingerprint,
        key: plan.key,
        visibility: plan.visibility,
        is_eligible: &|product| is_eligible(product, plan, parsed),
        makes_claim: &|product| makes_claim(product, parsed),
    })
}

fn is_eligible(product: &Product, plan: &Plan<'_>, parsed: &ParsedQuery) -> bool {
    let mut ranges = plan.price_ranges.iter();
    ranges.all(|range| product.price.is_some_and(|price| range.admits(price)))
        && plan.filter.matches(product.price, &product.attributes, &product.inferred)
        && parsed.allows(&product.title, &product.description, &product.statements())
}

/// Whether an eligible product claims to be free of something that the query excludes.
fn makes_claim(product: &Product, parsed: &ParsedQuery) -> bool {
    let mut claims = parsed.exclusions.iter().filter(|exclusion| exclusion.is_claim);
    claims.any(|exclusion| {
        exclusion.claim().is_some_and(|claim| product.contains(&claim))
            || exclusion.words.iter().all(|word| product.contains(word))
                && Exclusion::negators().any(|negator| product.contains(negator))
    })
}

/// Asserts that a result is the expected page, total and explanations included.
fn assert_found(found: &Matches, expected: &Found, plan: &Plan<'_>, context: &str) {
    let page = expected.hits.iter().skip(plan.offset).take(plan.limit).copied();
    assert_eq!(found.hits, page.collect::<Vec<_>>(), "{context}");
    assert_eq!(found.total, expected.hits.len(), "{context}");
    if !plan.explain {
        return;
    }
    for hit in &found.hits {
        let explanation = &found.explanations[&hit.product];
        let boost = if explanation.claims { super::CLAIM_BOOST } else { 0.0 };
        let boost = boost + if explanation.key { super::KEY_BOOST } else { 0.0 };
        assert_eq!(explanation.score + boost, hit.score.0, "{context}");
        assert!((explanation.sum() - explanation.score).abs() < 1e-5, "{context} {explanation:?}");
    }
}

/// The decisive products whose cosine exceeds the upper bound of their sketch.
fn exceeding(snapshot: &Snapshot, plan: &Plan<'_>, expected: &Found) -> usize {
    let Some(dense) = &plan.dense else { return 0 };
    let relevant = expected.hits.iter().map(|hit| hit.product);
    let decisive = relevant.chain(expected.covering.iter().copied());
    decisive
        .filter(|id| {
            let segments = snapshot.segments().iter();
            let mut found = segments.filter_map(|live| Some((live.find(*id)?, live)));
            let (doc, live) = found.next().unwrap();
            let (block, at) = (doc / BLOCK, doc % BLOCK);
            let estimate = live.vectors().estimate_of(block, &dense.vector, false);
            let exact = live.vectors().estimate_of(block, &dense.vector, true);
            exact.known >> at & 1 == 1
                && exact.similarities[at] > estimate.similarities[at] + estimate.error_bounds[at]
        })
        .count()
}

/// Compares searches without and with sketches with the reference. Returns whether sketches were
/// within the budget, and how many products are relevant.
fn check(
    catalog: &Catalog,
    snapshot: &Snapshot,
    plan: &Plan<'_>,
    parsed: &ParsedQuery,
    threads: usize,
) -> (bool, usize) {
    let expected = expected(catalog, plan, parsed);
    let context = format!("{:?} {:?}, {threads} threads", parsed.sentence, plan.visibility);
    for threads in [1, threads] {
        let exact = search(catalog, snapshot, plan, parsed, Effort { exact: true, threads });
        assert_found(&exact, &expected, plan, &context);
    }
    let is_within_budget = exceeding(snapshot, plan, &expected) == 0;
    if is_within_budget {
        let effort = Effort { exact: false, threads };
        let pruned = search(catalog, snapshot, plan, parsed, effort);
        assert_found(&pruned, &expected, plan, &context);
    }
    (is_within_budget, expected.hits.len())
}
