//! Searches without words: all products that pass the filters, without a score.

use std::collections::HashMap;

use catalog::product::ProductId;

use super::{
    facet_counts::FacetCounts,
    run::{Found, Run},
    top_hits::TopHits,
    verification::{MAX_VERIFIED, Verified, Verifier},
};
use crate::{
    bits::{BLOCK, ones},
    filter::{Filter, FilteredSegment, NegationMatches},
    plan::Plan,
    segment::{DocId, LiveSegment},
};

/// Runs a search that matches all products.
pub(super) fn match_all<'a, E, V>(
    run: &Run<'a>,
    mut negations: Vec<NegationMatches>,
    mut facets: FacetCounts<'a>,
    verifier: &mut Verifier<'_, V>,
) -> Result<Found<'a>, E>
where
    V: FnMut(&[ProductId]) -> Result<Vec<ProductId>, E>,
{
    let Run { segments, plan, conditions, .. } = run;
    let unverified = verify_first(segments, plan, &mut negations, verifier)?;
    let filter = Filter::of(plan, conditions);
    let mut top = TopHits::of(plan);
    let mut total = 0;
    let mut docs: Vec<DocId> = Vec::new();
    // From the newest product: that is the usual order, in which later offers rarely change the
    // heap.
    let filtered = FilteredSegment::zip(segments, conditions, &negations).rev();
    for (live, segment) in segments.iter().rev().zip(filtered) {
        if plan.is_timed_out() {
            return Ok(Found::timed_out(facets));
        }
        docs.clear();
        let len = live.segment.len();
        for block in (0..len.div_ceil(BLOCK)).rev() {
            let existing = u64::MAX >> (BLOCK - BLOCK.min(len - block * BLOCK));
            let passing = filter.passing(segment, block, existing);
            total += passing.count_ones() as usize;
            for doc in ones(passing).map(|at| block * BLOCK + at) {
                top.offer(live, doc, 0.0);
                if !facets.is_empty() {
                    docs.push(doc as DocId);
                }
            }
        }
        facets.add(live, &docs);
    }
    let hits = top.into_page(plan.offset);
    let explanations = HashMap::new();
    Ok(Found { total, unverified, timed_out: false, hits, explanations, facets })
}

/// Decides which products match an exclusion where postings cannot, by the texts of the first in the
/// order of the plan, and returns how many remain undecided.
fn verify_first<E, V>(
    segments: &[LiveSegment],
    plan: &Plan<'_>,
    negations: &mut [NegationMatches],
    verifier: &mut Verifier<'_, V>,
) -> Result<usize, E>
where
    V: FnMut(&[ProductId]) -> Result<Vec<ProductId>, E>,
{
    let most = Plan { offset: 0, limit: MAX_VERIFIED, ..plan.clone() };
    let mut first = TopHits::of(&most);
    let mut decided: Vec<ProductId> = Vec::new();
    let mut undecided = 0;
    for (live, negation) in segments.iter().zip(&mut *negations) {
        for doc in negation.maybe_matches.iter() {
            let id = live.segment.ids.get(doc);
            match verifier.is_decided(id) {
                true => decided.push(id),
                false => {
                    undecided += 1;
                    first.offer(live, doc, 0.0);
                }
            }
        }
        // Excluded until its texts allow it.
        negation.matches.union(&negation.maybe_matches);
    }
    let first: Vec<ProductId> = first.into_page(0).iter().map(|hit| hit.product).collect();
    decided.extend(&first);
    let Verified { allowed, unverified } = verifier.decide(&decided)?;
    for id in allowed {
        let mut pairs = segments.iter().zip(&mut *negations);
        let found = pairs.find_map(|(live, negation)| Some((negation, live.find(id)?)));
        if let Some((negation, doc)) = found {
            negation.matches.assign(doc, false);
        }
    }
    Ok(undecided - first.len() + unverified)
}
