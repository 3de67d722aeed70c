//! Runs a plan: filters, matches, scores, counts and keeps the first products.
//!
//! A facet counts the results of the same search without its own conditions. Where the filter has
//! some, the selection runs once more without them; all runs share the postings of the query.

use std::collections::HashMap;

use catalog::{
    product::ProductId,
    ranking::{
        explanation::Explanation,
        facets::{FacetField, Facets},
        hits::Hit,
    },
};

use super::{
    facet_counts::FacetCounts,
    match_all::match_all,
    relevance::RelevanceSearch,
    run::{Found, Run},
    verification::Verifier,
};
use crate::{
    effort::Effort,
    filter::{CompiledFilter, Conditions, NegationMatches},
    lexical::{LexicalQuery, Statistics},
    plan::{Plan, QueryKind},
    segment::LiveSegment,
};

/// A page of results.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Matches {
    /// Number of products that match, on this page or not.
    pub total: usize,
    /// Number of products that may match, or count for a facet, and were left out because
    /// [`super::verification::MAX_VERIFIED`] texts had been read.
    pub unverified: usize,
    /// Whether the deadline passed; everything else is empty then.
    pub timed_out: bool,
    /// The products of the page, in order.
    pub hits: Vec<Hit>,
    /// The parts of each score, if the plan asks for them; empty where nothing was scored.
    pub explanations: HashMap<ProductId, Explanation>,
    /// The facets of the plan.
    pub facets: Facets,
}

/// The products that satisfy a plan, in its order and from its offset. `verify` is called with
/// products that may violate an exclusion, and returns those whose texts do: once, and once more for
/// each facet with conditions of its own.
pub(crate) fn search<E>(
    segments: &[LiveSegment],
    statistics: &Statistics<'_>,
    plan: &Plan<'_>,
    verify: impl FnMut(&[ProductId]) -> Result<Vec<ProductId>, E>,
) -> Result<Matches, E> {
    search_with(segments, statistics, plan, None, verify)
}

/// As [`search`], with a given effort.
pub(crate) fn search_with<E>(
    segments: &[LiveSegment],
    statistics: &Statistics<'_>,
    plan: &Plan<'_>,
    effort: Option<Effort>,
    verify: impl FnMut(&[ProductId]) -> Result<Vec<ProductId>, E>,
) -> Result<Matches, E> {
    let filter = CompiledFilter::of(segments, plan);
    let words = match &plan.kind {
        QueryKind::MatchAll => None,
        QueryKind::Terms(terms) => {
            let params = &plan.tuning.ranking;
            Some((terms, LexicalQuery::new(segments, statistics, params, terms)))
        }
    };
    let mut verifier = Verifier::new(segments, plan.exclusions, verify);
    let (own, shared): (Vec<_>, Vec<_>) =
        plan.facets.iter().partition(|field| plan.filter.has_conditions_on(field.name()));
    let all = filter.without(segments, None);
    let without_own: Vec<Conditions<'_>> =
        own.iter().map(|field| filter.without(segments, Some(field.name()))).collect();
    let counting = plan.counting();
    let run = |plan, conditions| Run { segments, plan, conditions, words: words.as_ref(), effort };

    let found = run(plan, &all).find(&shared, &mut verifier)?;
    let Found { total, mut unverified, mut timed_out, hits, explanations, .. } = found;
    let mut facets: Vec<_> =
        shared.into_iter().zip(found.facets.finish(plan.facet_limit)).collect();
    for (field, conditions) in own.into_iter().zip(&without_own) {
        if timed_out {
            break;
        }
        let found = run(&counting, conditions).find(&[field], &mut verifier)?;
        unverified += found.unverified;
        timed_out = found.timed_out;
        facets.extend(std::iter::once(field).zip(found.facets.finish(plan.facet_limit)));
    }
    if timed_out {
        return Ok(Matches { timed_out, ..Matches::default() });
    }
    facets.sort_by_key(|(field, _)| plan.facets.iter().position(|one| one == *field));
    let facets = Facets(facets.into_iter().map(|(field, facet)| (field.clone(), facet)).collect());
    Ok(Matches { total, unverified, timed_out, hits, explanations, facets })
}

impl<'a> Run<'a> {
    /// The products that satisfy the conditions, and the counts of some facets.
    fn find<E, V>(
        &self,
        facets: &[&'a FacetField],
        verifier: &mut Verifier<'_, V>,
    ) -> Result<Found<'a>, E>
    where
        V: FnMut(&[ProductId]) -> Result<Vec<ProductId>, E>,
    {
        let Self { segments, plan, conditions, words, effort } = *self;
        let facets = FacetCounts::new(facets.iter().copied(), plan.filter);
        let negations = NegationMatches::of_segments(segments, plan, conditions);
        let Some((terms, lexical)) = words else {
            return match_all(self, negations, facets, verifier);
        };
        let effort =
            effort.unwrap_or_else(|| Effort::of(conditions.eligible_count(segments, plan), plan));
        let key = plan.key.and_then(|key| {
            let mut each = segments.iter().enumerate();
            each.find_map(|(at, live)| Some((at, live.find_key(key, plan.visibility)?)))
        });
        let negations = &*negations;
        RelevanceSearch { segments, plan, conditions, terms, lexical, negations, effort, key }
            .run(facets, verifier)
    }
}
