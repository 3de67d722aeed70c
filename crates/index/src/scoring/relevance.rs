//! Searches by words, and by a vector if there is one: scan, rescore, cut off, count, rank.

use std::collections::{HashMap, HashSet};

use catalog::{
    product::ProductId,
    ranking::{
        explanation::Explanation,
        fusion::{Coverage, Fusion, Signals},
        hits::Hit,
    },
    text::analysis::QueryTerms,
};

use super::{
    facet_counts::FacetCounts,
    run::Found,
    top_hits::TopHits,
    verification::{Verified, Verifier},
};
use crate::{
    effort::Effort,
    filter::{Conditions, Filter, FilteredSegment, NegationMatches},
    first_stage::{Candidate, CandidateScan, FitQuery, ScoreThreshold},
    lexical::LexicalQuery,
    plan::Plan,
    rerank_query::RerankQuery,
    second_stage::{EvidenceReader, FirstStageCutoff, Ranked, SecondStage},
    segment::{DocId, LiveSegment},
};

/// Added to the score of products that make a claim that the query asks for: they come first.
pub(crate) const CLAIM_BOOST: f32 = 16.0;

/// Added to the score of the product whose key is the query: it comes before all others.
pub(crate) const KEY_BOOST: f32 = 32.0;

/// A search by terms, and by a vector if the plan has one.
pub(super) struct RelevanceSearch<'a, 'n> {
    pub(super) segments: &'a [LiveSegment],
    pub(super) plan: &'a Plan<'a>,
    pub(super) conditions: &'a Conditions<'a>,
    pub(super) terms: &'a QueryTerms,
    pub(super) lexical: &'a LexicalQuery<'a>,
    /// For each segment; empty without exclusions.
    pub(super) negations: &'n [NegationMatches],
    pub(super) effort: Effort,
    /// The visible product whose key is the query: its segment and document number.
    pub(super) key: Option<(usize, usize)>,
}

impl<'a> RelevanceSearch<'a, '_> {
    pub(super) fn run<E, V>(
        &self,
        facets: FacetCounts<'a>,
        verifier: &mut Verifier<'_, V>,
    ) -> Result<Found<'a>, E>
    where
        V: FnMut(&[ProductId]) -> Result<Vec<ProductId>, E>,
    {
        let plan = self.plan;
        let usual = &plan.tuning.fusion;
        let has_second_stage = plan.rerank.is_some();
        let params = if has_second_stage { &usual.for_candidates() } else { usual };
        let shortlisted = (has_second_stage && self.effort.shortlisted).then_some(usual);
        let fitting = plan.rerank.as_ref().and_then(FitQuery::of);
        let is_named = fitting.as_ref().is_some_and(|fitting| fitting.is_named);
        let dense = plan.dense.as_ref();
        let mut threshold =
            dense.map(|dense| ScoreThreshold::new(params, shortlisted, dense, is_named));
        let scan = CandidateScan {
            lexical: self.lexical,
            dense,
            sketched: self.effort.sketched,
            title_fingerprint: plan.title_fingerprint,
            key: self.key,
            filter: Filter::of(plan, self.conditions),
            fitting: fitting.as_ref(),
            deep: dense.filter(|_| has_second_stage).and_then(|dense| dense.deep.as_ref()),
            is_final: self.negations.iter().all(|negation| negation.maybe_matches.is_empty()),
        };
        let segments = FilteredSegment::zip(self.segments, self.conditions, self.negations);
        let segments: Vec<_> = segments.collect();
        let mut candidates = scan.run(&segments, threshold.as_mut(), self.effort.threads);
        if plan.is_timed_out() {
            return Ok(Found::timed_out(facets));
        }
        let unverified = match scan.is_final {
            true => 0,
            false => self.verify_candidates(threshold.as_ref(), &mut candidates, verifier)?,
        };
        let fusion = match dense.zip(threshold.as_ref()) {
            None => Fusion::lexical_only(params),
            Some((dense, threshold)) => {
                Fusion::hybrid(params, dense.profile, coverage(threshold, &candidates))
            }
        };
        Ok(Found { unverified, ..self.rank(&fusion, &candidates, facets) })
    }

    fn evidence_reader(&self, query: &'a RerankQuery) -> EvidenceReader<'a> {
        let Self { segments, plan, lexical, terms, .. } = *self;
        let deep = plan.dense.as_ref().and_then(|dense| dense.deep.as_ref());
        EvidenceReader { segments, query, deep, lexical, terms, params: &plan.tuning.rerank }
    }

    /// Applies the cut-off to exact scores, counts, and keeps the page.
    fn rank(
        &self,
        fusion: &Fusion,
        candidates: &[Candidate],
        mut facets: FacetCounts<'a>,
    ) -> Found<'a> {
        let scores: Vec<f32> =
            candidates.iter().map(|candidate| fusion.score(candidate.signals())).collect();
        // A title that equals the query says nothing about how good the others could be.
        let others = candidates.iter().zip(&scores).filter(|(one, _)| !one.is_exact_title);
        let best = others.map(|(_, score)| *score).fold(0.0, f32::max);
        let cutoff = fusion.cutoff().at(best);
        let rerank = self.plan.rerank.as_ref().filter(|_| self.plan.dense.is_some());
        let is_named = rerank.is_some_and(|query| query.categories.is_named());
        let scored = candidates.iter().zip(scores);
        let is_considered = |one: &Candidate| one.is_near || is_named && one.fits;
        let results =
            scored.filter(|(one, score)| *score >= cutoff || one.is_key || is_considered(one));
        let results = results.map(|(one, score)| Ranked { candidate: *one, score });
        let second_stage = match (&self.plan.rerank, &self.plan.dense) {
            (Some(query), Some(dense)) => {
                let usual = fusion.cutoff_by(&self.plan.tuning.fusion, dense.profile);
                let (any, rest) = (usual.absolute, usual.at(best));
                let any_deep = self.plan.tuning.fusion.deep_cutoff(dense.profile);
                let alone = FirstStageCutoff { any, any_deep, candidates: cutoff, rest, best };
                let (reader, results) = (self.evidence_reader(query), results.collect());
                let (tuning, effort) = (&self.plan.tuning, self.effort);
                SecondStage::run(&reader, dense, results, alone, tuning, effort)
            }
            _ => SecondStage::without(results.collect()),
        };
        let mut top = TopHits::of(self.plan);
        let mut total = 0;
        let mut docs: Vec<DocId> = Vec::new();
        let mut results = second_stage.results.iter().peekable();
        while let Some(number) = results.peek().map(|one| one.candidate.segment) {
            let live = &self.segments[number as usize];
            docs.clear();
            while let Some(result) = results.next_if(|one| one.candidate.segment == number) {
                let candidate = &result.candidate;
                top.offer(live, usize::from(candidate.doc), result.score + self.boost(candidate));
                docs.push(candidate.doc);
            }
            total += docs.len();
            facets.add(live, &docs);
        }
        let hits = top.into_page(self.plan.offset);
        let explanations = match self.plan.explain {
            true => self.explain(fusion, &second_stage, &hits),
            false => HashMap::new(),
        };
        Found { total, unverified: 0, timed_out: false, hits, explanations, facets }
    }

    /// What puts a product before those with a better score.
    fn boost(&self, candidate: &Candidate) -> f32 {
        let claim = if self.makes_claim(candidate) { CLAIM_BOOST } else { 0.0 };
        let key = if candidate.is_key { KEY_BOOST } else { 0.0 };
        claim + key
    }

    /// The parts of the scores of a page.
    fn explain(
        &self,
        fusion: &Fusion,
        second_stage: &SecondStage<'_>,
        hits: &[Hit],
    ) -> HashMap<ProductId, Explanation> {
        let on_page: HashSet<ProductId> = hits.iter().map(|hit| hit.product).collect();
        let shown = second_stage.results.iter().filter_map(|ranked| {
            let id = ranked.candidate.product(self.segments);
            on_page.contains(&id).then_some((id, ranked))
        });
        let explained = shown.map(|(id, ranked)| {
            let candidate = &ranked.candidate;
            let (segment, doc) = (candidate.segment as usize, candidate.doc);
            let terms = self.lexical.explain(self.terms, segment, doc);
            let bigram_bonus = match candidate.lexical > 0.0 {
                true => self.lexical.bigram_bonus(segment, doc),
                false => 0.0,
            };
            let claims = self.makes_claim(candidate);
            let explanation = fusion.explain(candidate.signals(), terms, bigram_bonus);
            let rerank = second_stage.explain(ranked);
            let score = rerank.map_or(explanation.score, |part| part.contributions.sum());
            (id, Explanation { score, claims, key: candidate.is_key, rerank, ..explanation })
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
    /// removed without reading their texts, the best first.
    fn verify_candidates<E, V>(
        &self,
        threshold: Option<&ScoreThreshold<'_>>,
        candidates: &mut Vec<Candidate>,
        verifier: &mut Verifier<'_, V>,
    ) -> Result<usize, E>
    where
        V: FnMut(&[ProductId]) -> Result<Vec<ProductId>, E>,
    {
        let fusion = threshold.map(ScoreThreshold::fusion);
        let score = |candidate: &Candidate| match (&fusion, candidate.signals()) {
            _ if candidate.is_key => f32::INFINITY,
            (_, Signals { is_exact_title: true, .. }) => f32::INFINITY,
            (Some(fusion), signals) => fusion.score(signals),
            (None, signals) => signals.lexical,
        };
        let undecided = candidates.iter().filter(|one| self.is_undecided(one));
        let mut undecided: Vec<(f32, ProductId)> =
            undecided.map(|one| (score(one), one.product(self.segments))).collect();
        if undecided.len() > verifier.budget() {
            undecided.sort_unstable_by(|(one, id), (other, other_id)| {
                other.total_cmp(one).then_with(|| id.cmp(other_id))
            });
        }
        let undecided: Vec<ProductId> = undecided.into_iter().map(|(_, id)| id).collect();
        let Verified { allowed, unverified } = verifier.decide(&undecided)?;
        candidates
            .retain(|one| !self.is_undecided(one) || allowed.contains(&one.product(self.segments)));
        Ok(unverified)
    }
}

/// The coverage: that of the threshold, or of a candidate that exceeds it.
fn coverage(threshold: &ScoreThreshold<'_>, candidates: &[Candidate]) -> Coverage {
    let bounds = threshold.absolute_cutoff();
    let reaches = |one: &&Candidate| {
        one.is_exact_title || bounds.may_pass(one.lexical, one.signals().dense_score())
    };
    let best_lexical = candidates.iter().filter(reaches).map(|one| one.lexical);
    Coverage { best_lexical: best_lexical.fold(threshold.coverage().best_lexical, f32::max) }
}
