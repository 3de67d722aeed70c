//! The second stage: rescores the best candidates of the first with all evidence.
//!
//! With it, the cut-off of the first stage is lower. The candidates are [`RERANKED`] products: those
//! nearest to the query by the vector of the transformer
//! ([`NEAREST`](crate::rerank_query::NEAREST)), whatever their score, and the best products that pass the
//! cut-off, of which those come first that agree with every attribute of the query and are close
//! to its category ([`FitQuery`](crate::first_stage::FitQuery)). If the query names its category,
//! the best others of that kind are candidates too, whatever their score: as many as there is room for,
//! and at least [`RESERVED`] unless all candidates are of that kind. Candidates are relevant if their score without
//! preference reaches a fraction of the best such score, or if they are preferred, and come before all
//! others, ordered by the score of the second stage.
//!
//! The *rest*, the products beyond the candidates, are ordered by the score of the first stage. They
//! are relevant if they reach its usual cut-off, and if the candidates just before them are: of the
//! [`EDGE`] last candidates that pass the cut-off, at least half. If no product reaches
//! the usual absolute cut-off of the first stage, nor the one of the similarity by the vector of the
//! transformer, nothing is relevant, except what the query identifies by its key or its whole title,
//! which always is.
//!
//! All of this depends on the query and on the products alone, not on the page, so totals are exact
//! and pages are stable.

use std::cmp::Ordering;

use catalog::ranking::{
    explanation::RerankPart,
    reranking::{Evidence, QueryEvidence, Reranker},
    tuning::Tuning,
};

use super::evidence::{Considered, EvidenceReader};
use crate::{
    effort::Effort,
    first_stage::Candidate,
    plan::DenseQuery,
    rerank_query::RERANKED,
    segment::{DocId, LiveSegment},
};

/// Number of candidates that fit and do not pass the cut-off, where what passes it would take all places.
pub(crate) const RESERVED: usize = 20;
/// Number of candidates that decide about the rest.
const EDGE: usize = 20;

/// Added to the score of candidates of the second stage. Scores are below this.
const RERANKED_BOOST: f32 = 8.0;
/// Added to the score of a title that equals the query.
const EXACT_TITLE_BOOST: f32 = 4.0;

/// A result of the first stage.
#[derive(Clone, Copy)]
pub(crate) struct Ranked {
    pub(crate) candidate: Candidate,
    /// The score that orders it.
    pub(crate) score: f32,
}

impl Ranked {
    /// Its segment and document number.
    fn place(&self) -> (u32, DocId) {
        (self.candidate.segment, self.candidate.doc)
    }
}

/// The results of a search, in the order of the candidates, and how they were rescored.
pub(crate) struct SecondStage<'a> {
    pub(crate) results: Vec<Ranked>,
    reranker: Option<Reranker<'a>>,
    query: QueryEvidence,
    /// The evidence about each candidate, ascending by segment and document.
    evidence: Vec<((u32, DocId), Evidence)>,
}

/// What is relevant by the first stage alone.
#[derive(Clone, Copy)]
pub(crate) struct FirstStageCutoff {
    /// The least score of the best product.
    pub(crate) any: f32,
    /// The least similarity of a product by the vector of the transformer, if no score reaches `any`.
    pub(crate) any_deep: f32,
    /// The least score of a candidate that does not fit the query.
    pub(crate) candidates: f32,
    /// The least score of a product that the second stage does not consider.
    pub(crate) rest: f32,
    /// The best score.
    pub(crate) best: f32,
}

impl<'a> SecondStage<'a> {
    /// Rescores the results of the first stage, which are given with their scores, and drops those
    /// that are not relevant.
    pub(crate) fn run(
        reader: &EvidenceReader<'_>,
        dense: &DenseQuery,
        mut results: Vec<Ranked>,
        first_stage: FirstStageCutoff,
        tuning: &'a Tuning,
        effort: Effort,
    ) -> Self {
        let order = Order { segments: reader.segments, cutoff: first_stage.candidates };
        let chosen = order.best(&results);
        if effort.sketched {
            order.compare_exactly(&mut results, &chosen, dense);
        }
        let considered: Vec<Considered> =
            chosen.iter().map(|at| Considered::of(&results[*at].candidate)).collect();
        let evidence = reader.read(&considered, effort.threads);
        let of_query = reader.query_evidence(&considered, &evidence, dense.profile, tuning);
        let reranker = Reranker::new(&tuning.rerank, &of_query);
        let certain: Vec<bool> =
            chosen.iter().map(|at| results[*at].candidate.is_certain()).collect();
        // What is certain says nothing about the others.
        let is_near = |(one, certain): (&Evidence, &bool)| {
            !certain && one.deep_similarity >= first_stage.any_deep
        };
        let any_is_relevant = first_stage.best >= first_stage.any
            || reader.deep.is_some() && evidence.iter().zip(&certain).any(is_near);
        let relevant = reranker.are_relevant(&evidence, &certain);
        let keeps_rest = order.keeps_rest(&results, &chosen, &relevant);
        let is_rest = |one: &Ranked| any_is_relevant && keeps_rest && one.score >= first_stage.rest;
        let kept = results.iter().map(|one| is_rest(one) || one.candidate.is_certain());
        let mut is_kept: Vec<bool> = kept.collect();
        for ((at, evidence), is_relevant) in chosen.iter().zip(&evidence).zip(relevant) {
            let result = &mut results[*at];
            let exact = if result.candidate.is_exact_title { EXACT_TITLE_BOOST } else { 0.0 };
            result.score = reranker.score(evidence) + RERANKED_BOOST + exact;
            is_kept[*at] = result.candidate.is_certain() || any_is_relevant && is_relevant;
        }
        let places = chosen.iter().map(|at| results[*at].place());
        let evidence = places.zip(evidence).collect();
        let mut kept = is_kept.into_iter();
        results.retain(|_| kept.next().unwrap_or(true));
        Self { results, reranker: Some(reranker), query: of_query, evidence }
    }

    /// The results as the first stage ranks them.
    pub(crate) fn without(results: Vec<Ranked>) -> Self {
        let (query, evidence) = Default::default();
        Self { results, reranker: None, query, evidence }
    }

    /// The parts of a score; `None` for a product that the second stage did not consider.
    pub(crate) fn explain(&self, ranked: &Ranked) -> Option<RerankPart> {
        let reranker = self.reranker.as_ref()?;
        let at = self.evidence.binary_search_by_key(&ranked.place(), |(place, _)| *place).ok()?;
        let evidence = self.evidence[at].1;
        let contributions = reranker.contributions(&evidence);
        let semantic_weight = reranker.semantic_weight();
        Some(RerankPart { query: self.query, evidence, contributions, semantic_weight })
    }
}

/// The order in which results become candidates.
struct Order<'a> {
    segments: &'a [LiveSegment],
    /// That of the first stage.
    cutoff: f32,
}

impl Order<'_> {
    /// The nearest by the vector of the transformer, then what passes the cut-off, and of that what fits
    /// first; then the best score, then the smaller id.
    fn compare(&self, results: &[Ranked], one: usize, other: usize) -> Ordering {
        let rank = |at: usize| {
            let Candidate { is_near, fits, .. } = results[at].candidate;
            let passes = results[at].score >= self.cutoff;
            (is_near, passes, passes && fits)
        };
        let id = |at: usize| results[at].candidate.product(self.segments);
        rank(other)
            .cmp(&rank(one))
            .then_with(|| results[other].score.total_cmp(&results[one].score))
            .then_with(|| id(one).cmp(&id(other)))
    }

    /// The places of the candidates, ascending.
    fn best(&self, results: &[Ranked]) -> Vec<usize> {
        let mut places: Vec<usize> = (0..results.len()).collect();
        if places.len() > RERANKED {
            let in_order = |one: &usize, other: &usize| self.compare(results, *one, *other);
            let fits = |at: &usize| results[*at].candidate.fits;
            places.select_nth_unstable_by(RERANKED, in_order);
            let mut fitting = places.split_off(RERANKED);
            fitting.retain(fits);
            fitting.sort_unstable_by(in_order);
            let others = places.iter().filter(|at| !fits(at)).count();
            fitting.truncate(RESERVED.min(others));
            let kept = RERANKED - fitting.len();
            if kept < RERANKED {
                places.select_nth_unstable_by(kept, in_order);
                places.truncate(kept);
            }
            places.extend(fitting);
            places.sort_unstable();
        }
        places
    }

    /// Replaces the estimated cosines of the candidates by exact ones; their order stays.
    fn compare_exactly(&self, results: &mut [Ranked], chosen: &[usize], dense: &DenseQuery) {
        for at in chosen {
            let Candidate { segment, doc, similarity, .. } = &mut results[*at].candidate;
            let vectors = self.segments[*segment as usize].vectors();
            vectors.cosines(&dense.vector, std::iter::once((usize::from(*doc), similarity)));
        }
    }

    /// Whether products beyond the candidates may be relevant.
    fn keeps_rest(&self, results: &[Ranked], chosen: &[usize], relevant: &[bool]) -> bool {
        if chosen.len() == results.len() {
            return false;
        }
        let passes = |at: &usize| results[*at].score >= self.cutoff;
        let mut edge: Vec<_> = chosen.iter().zip(relevant).filter(|(at, _)| passes(at)).collect();
        if edge.len() > EDGE {
            edge.select_nth_unstable_by(EDGE, |(one, _), (other, _)| {
                self.compare(results, **other, **one)
            });
            edge.truncate(EDGE);
        }
        2 * edge.iter().filter(|(_, is_relevant)| **is_relevant).count() >= edge.len()
    }
}

impl Considered {
    fn of(candidate: &Candidate) -> Self {
        Self {
            segment: candidate.segment as usize,
            doc: candidate.doc,
            lexical: candidate.lexical,
            similarity: candidate.signals().similarity,
        }
    }
}
