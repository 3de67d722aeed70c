//! Runs a plan: matches, filters, scores, counts and keeps the first products.

use std::collections::{HashMap, HashSet};

use catalog::{
    analysis::QueryTerms,
    explanation::Explanation,
    fusion::{Fusion, Signals},
    product::ProductId,
    ranking::Hit,
};

use super::{
    candidate::Candidate,
    candidate_scan::CandidateScan,
    pruning::ScoreThreshold,
    rescore::{rescore, rescore_exact},
    top_hits::TopHits,
};
use crate::index::{
    bits::{BLOCK, ones},
    filter::{Filter, FilteredSegment, NegationMatches},
    lexical::{LexicalQuery, Statistics},
    plan::{DenseQuery, Plan, QueryKind},
    segment::LiveSegment,
};

/// Shops of fewer products are searched without sketches. Measured with `bench-scan`: sketches are
/// faster from about 500 products on, but by 20 µs at most up to here, and exact cosines have no
/// error budget.
pub(super) const SKETCHED_FROM: usize = 2_000;

/// Shops of fewer products are searched by one thread. Measured with `bench-scan --threads 2`:
/// 50,000 products gain nothing, 100,000 a quarter and 200,000 a fifth.
const THREADED_FROM: usize = 80_000;

/// The most texts that are read for one search. Reading and tokenising one takes about 40 µs, so
/// all of them take less than 50 ms. Products whose texts are not read are left out, so that no
/// result violates a condition, and the result says that the total may be too small.
pub(in crate::index) const MAX_VERIFIED: usize = 1_000;

/// Added to the score of products that make a claim that the query asks for. Scores are at most 1,
/// so these products come first.
pub(in crate::index) const CLAIM_BOOST: f32 = 2.0;

/// A page of results.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Matches {
    /// Number of products that match, on this page or not.
    pub total: usize,
    /// Number of products that may match and were left out because [`MAX_VERIFIED`] texts had
    /// been read.
    pub unverified: usize,
    /// Whether the deadline passed; everything else is empty then.
    pub timed_out: bool,
    /// The products of the page, in order.
    pub hits: Vec<Hit>,
    /// The parts of each score, if the plan asks for them; empty where nothing was scored.
    pub explanations: HashMap<ProductId, Explanation>,
}

impl Matches {
    fn timed_out() -> Self {
        Self { timed_out: true, ..Self::default() }
    }
}

/// How a search is executed. The result is the same within the error budget of the sketches.
#[derive(Clone, Copy, Debug)]
pub(in crate::index) struct Effort {
    /// Whether cosines are computed without sketches.
    pub(in crate::index) exact: bool,
    /// Number of threads that share the segments.
    pub(in crate::index) threads: usize,
}

impl Effort {
    /// What searches use.
    pub(super) fn of(segments: &[LiveSegment], plan: &Plan<'_>) -> Self {
        let products: usize = segments.iter().map(|live| live.visible_count(plan.visibility)).sum();
        let threads = if products < THREADED_FROM { 1 } else { plan.threads };
        Self { exact: products < SKETCHED_FROM, threads }
    }
}

/// The products that satisfy a plan, in its order and from its offset. `verify` is called at most
/// once, with products that may violate an exclusion, and returns those whose texts do.
pub(in crate::index) fn search<E>(
    segments: &[LiveSegment],
    statistics: &Statistics<'_>,
    plan: &Plan<'_>,
    verify: impl FnOnce(&[ProductId]) -> Result<Vec<ProductId>, E>,
) -> Result<Matches, E> {
    search_with(segments, statistics, plan, Effort::of(segments, plan), verify)
}

/// As [`search`], with a given effort.
pub(in crate::index) fn search_with<E>(
    segments: &[LiveSegment],
    statistics: &Statistics<'_>,
    plan: &Plan<'_>,
    effort: Effort,
    verify: impl FnOnce(&[ProductId]) -> Result<Vec<ProductId>, E>,
) -> Result<Matches, E> {
    let negations = NegationMatches::of_segments(segments, plan);
    match &plan.kind {
        QueryKind::MatchAll => match_all(segments, plan, negations, verify),
        QueryKind::Terms(terms) => {
            let params = &plan.tuning.ranking;
            let lexical = LexicalQuery::new(segments, statistics, params, terms);
            let negations = &*negations;
            RelevanceSearch { segments, plan, terms, lexical, negations, effort }.run(verify)
        }
    }
}

/// All products that pass the filters, without a score.
fn match_all<E>(
    segments: &[LiveSegment],
    plan: &Plan<'_>,
    mut negations: Vec<NegationMatches>,
    verify: impl FnOnce(&[ProductId]) -> Result<Vec<ProductId>, E>,
) -> Result<Matches, E> {
    let unverified = verify_first(segments, plan, &mut negations, verify)?;
    let filter = Filter::of(plan);
    let mut top = TopHits::of(plan);
    let mut total = 0;
    // From the newest product: that is the usual order, in which later offers rarely change the
    // heap.
    for segment in FilteredSegment::zip(segments, &negations).rev() {
        if plan.is_timed_out() {
            return Ok(Matches::timed_out());
        }
        let len = segment.live.segment.len();
        for block in (0..len.div_ceil(BLOCK)).rev() {
            let existing = u64::MAX >> (BLOCK - BLOCK.min(len - block * BLOCK));
            let passing = filter.passing(segment, block, existing);
            total += passing.count_ones() as usize;
            ones(passing).for_each(|at| top.offer(segment.live, block * BLOCK + at, 0.0));
        }
    }
    let hits = top.into_page(plan.offset);
    Ok(Matches { total, unverified, hits, ..Matches::default() })
}

/// Decides which products match an exclusion where postings cannot, by the texts of the first
/// [`MAX_VERIFIED`] in the order of the plan, and returns how many remain undecided.
fn verify_first<E>(
    segments: &[LiveSegment],
    plan: &Plan<'_>,
    negations: &mut [NegationMatches],
    verify: impl FnOnce(&[ProductId]) -> Result<Vec<ProductId>, E>,
) -> Result<usize, E> {
    let mut first = TopHits::of(&Plan { offset: 0, limit: MAX_VERIFIED, ..plan.clone() });
    let mut undecided = 0;
    for (live, negation) in segments.iter().zip(&mut *negations) {
        for doc in negation.maybe_matches.iter() {
            undecided += 1;
            first.offer(live, doc, 0.0);
        }
        // Excluded until its texts allow it.
        negation.matches.union(&negation.maybe_matches);
    }
    let to_verify: Vec<ProductId> = first.into_page(0).iter().map(|hit| hit.product).collect();
    if to_verify.is_empty() {
        return Ok(0);
    }
    let rejected: HashSet<ProductId> = verify(&to_verify)?.into_iter().collect();
    for id in to_verify.iter().filter(|id| !rejected.contains(*id)) {
        let mut pairs = segments.iter().zip(&mut *negations);
        let found = pairs.find_map(|(live, negation)| Some((negation, live.find(*id)?)));
        if let Some((negation, doc)) = found {
            negation.matches.assign(doc, false);
        }
    }
    Ok(undecided - to_verify.len())
}

/// A search by terms, and by a vector if the plan has one.
struct RelevanceSearch<'a> {
    segments: &'a [LiveSegment],
    plan: &'a Plan<'a>,
    terms: &'a QueryTerms,
    lexical: LexicalQuery<'a>,
    /// For each segment; empty without exclusions.
    negations: &'a [NegationMatches],
    effort: Effort,
}

impl RelevanceSearch<'_> {
    fn run<E>(
        &self,
        verify: impl FnOnce(&[ProductId]) -> Result<Vec<ProductId>, E>,
    ) -> Result<Matches, E> {
        let (plan, params) = (self.plan, &self.plan.tuning.fusion);
        let dense = plan.dense.as_ref();
        let mut threshold = dense.map(|dense| ScoreThreshold::new(params, dense));
        let scan = CandidateScan {
            lexical: &self.lexical,
            dense,
            exact: self.effort.exact,
            title_fingerprint: plan.title_fingerprint,
            filter: Filter::of(plan),
            is_final: self.negations.iter().all(|negation| negation.maybe_matches.is_empty()),
        };
        let segments: Vec<_> = FilteredSegment::zip(self.segments, self.negations).collect();
        let mut candidates = scan.run(0, &segments, threshold.as_mut(), self.effort.threads);
        let dense = dense.zip(threshold.as_ref());
        if plan.is_timed_out() {
            return Ok(Matches::timed_out());
        }
        let unverified = match scan.is_final {
            true => 0,
            false => self.verify_candidates(dense, &mut candidates, verify)?,
        };
        let fusion = match dense {
            None => Fusion::lexical_only(params),
            Some((dense, threshold)) => {
                rescore(self.segments, params, dense, threshold, &mut candidates)
            }
        };
        Ok(Matches { unverified, ..self.rank(&fusion, &candidates) })
    }

    /// Applies the cut-off to exact scores, counts, and keeps the page.
    fn rank(&self, fusion: &Fusion, candidates: &[Candidate]) -> Matches {
        let scores: Vec<f32> =
            candidates.iter().map(|candidate| fusion.score(candidate.signals())).collect();
        // A title that equals the query says nothing about how good the others could be.
        let others = candidates.iter().zip(&scores).filter(|(one, _)| !one.is_exact_title);
        let best = others.map(|(_, score)| *score).fold(0.0, f32::max);
        let cutoff = fusion.cutoff().at(best);
        let mut top = TopHits::of(self.plan);
        let mut total = 0;
        for (candidate, score) in candidates.iter().zip(&scores) {
            if *score >= cutoff {
                total += 1;
                let live = &self.segments[candidate.segment as usize];
                let boost = if self.makes_claim(candidate) { CLAIM_BOOST } else { 0.0 };
                top.offer(live, usize::from(candidate.doc), score + boost);
            }
        }
        let hits = top.into_page(self.plan.offset);
        let explanations = match self.plan.explain {
            true => self.explain(fusion, candidates, &hits),
            false => HashMap::new(),
        };
        Matches { total, hits, explanations, ..Matches::default() }
    }

    /// The parts of the scores of a page.
    fn explain(
        &self,
        fusion: &Fusion,
        candidates: &[Candidate],
        hits: &[Hit],
    ) -> HashMap<ProductId, Explanation> {
        let on_page: HashSet<ProductId> = hits.iter().map(|hit| hit.product).collect();
        let shown = candidates.iter().filter_map(|candidate| {
            let id = candidate.product(self.segments);
            on_page.contains(&id).then_some((id, candidate))
        });
        let explained = shown.map(|(id, candidate)| {
            let (segment, doc) = (candidate.segment as usize, candidate.doc);
            let terms = self.lexical.explain(self.terms, segment, doc);
            let bigram_bonus = match candidate.lexical > 0.0 {
                true => self.lexical.bigram_bonus(segment, usize::from(doc)),
                false => 0.0,
            };
            let claims = self.makes_claim(candidate);
            let explanation = fusion.explain(candidate.signals(), terms, bigram_bonus);
            (id, Explanation { claims, ..explanation })
        });
        explained.collect()
    }

    /// Whether a product claims to be free of what the query excludes.
    fn makes_claim(&self, candidate: &Candidate) -> bool {
        let negation = self.negations.get(candidate.segment as usize);
        negation.is_some_and(|negation| negation.claims.get(usize::from(candidate.doc)))
    }

    /// Whether only the texts of a product tell if it matches an exclusion.
    fn is_undecided(&self, candidate: &Candidate) -> bool {
        let negation = self.negations.get(candidate.segment as usize);
        negation.is_some_and(|negation| negation.maybe_matches.get(usize::from(candidate.doc)))
    }

    /// Removes undecided candidates whose texts match an exclusion, and returns how many were
    /// removed without reading their texts. Only candidates that may be relevant by their exact
    /// similarity are verified, the best first.
    fn verify_candidates<E>(
        &self,
        dense: Option<(&DenseQuery, &ScoreThreshold<'_>)>,
        candidates: &mut Vec<Candidate>,
        verify: impl FnOnce(&[ProductId]) -> Result<Vec<ProductId>, E>,
    ) -> Result<usize, E> {
        if let Some((dense, threshold)) = dense {
            let bounds = threshold.absolute_cutoff();
            let undecided = candidates.iter_mut().filter(|one| self.is_undecided(one));
            rescore_exact(self.segments, dense, undecided);
            candidates.retain(|one| {
                !self.is_undecided(one)
                    || one.is_exact_title
                    || bounds.may_pass(one.lexical, one.signals().dense_score())
            });
        }
        let fusion = dense.map(|(_, threshold)| threshold.fusion());
        let score = |candidate: &Candidate| match (&fusion, candidate.signals()) {
            (_, Signals { is_exact_title: true, .. }) => f32::INFINITY,
            (Some(fusion), signals) => fusion.score(signals),
            (None, signals) => signals.lexical,
        };
        let undecided = candidates.iter().filter(|one| self.is_undecided(one));
        let mut undecided: Vec<(f32, ProductId)> =
            undecided.map(|one| (score(one), one.product(self.segments))).collect();
        let unverified = undecided.len().saturating_sub(MAX_VERIFIED);
        if unverified > 0 {
            undecided.sort_unstable_by(|(one, id), (other, other_id)| {
                other.total_cmp(one).then_with(|| id.cmp(other_id))
            });
            undecided.truncate(MAX_VERIFIED);
        }
        let to_verify: Vec<ProductId> = undecided.into_iter().map(|(_, id)| id).collect();
        if to_verify.is_empty() {
            return Ok(0);
        }
        let rejected: HashSet<ProductId> = verify(&to_verify)?.into_iter().collect();
        let allowed: HashSet<ProductId> =
            to_verify.into_iter().filter(|id| !rejected.contains(id)).collect();
        candidates
            .retain(|one| !self.is_undecided(one) || allowed.contains(&one.product(self.segments)));
        Ok(unverified)
    }
}
