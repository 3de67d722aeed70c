//! The pruned search, compared with the formula applied to every product ([`reference`]), on real
//! phrases and on random catalogs.
//!
//! A search without sketches equals the reference exactly, and one with sketches equals the reference
//! with estimated cosines exactly, which the cells of products limit.

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
    query::parser::{Exclusion, ParsedQuery},
};

use self::catalogs::Catalog;
use super::{Matches, search_with};
use crate::{
    Snapshot,
    effort::Effort,
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
fn expected(catalog: &Catalog, plan: &Plan<'_>, parsed: &ParsedQuery, sketched: bool) -> Found {
    let QueryKind::Terms(words) = &plan.kind else { panic!("not a query by terms") };
    let dense = plan.dense.as_ref();
    catalog.reference.search(&Query {
        words,
        dense: dense.map(|dense| (&dense.vector, dense.profile)),
        sketched,
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

/// Compares searches without and with sketches with the reference. Returns how many products are
/// relevant.
fn check(
    catalog: &Catalog,
    snapshot: &Snapshot,
    plan: &Plan<'_>,
    parsed: &ParsedQuery,
    threads: usize,
) -> usize {
    let mut relevant = 0;
    for sketched in [false, true] {
        let expected = expected(catalog, plan, parsed, sketched);
        for threads in [1, threads] {
            let effort = Effort { sketched, shortlisted: true, threads };
            let found = search(catalog, snapshot, plan, parsed, effort);
            let context = format!("{:?} {:?}, {effort:?}", parsed.sentence, plan.visibility);
            assert_found(&found, &expected, plan, &context);
        }
        relevant = expected.hits.len();
    }
    relevant
}
