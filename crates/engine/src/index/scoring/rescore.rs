//! Rescoring: from estimated candidates to the final formula and exact similarities (phase 6 of
//! [`super`]).

use catalog::fusion::{Coverage, Fusion, FusionParams};

use super::{candidate::Candidate, pruning::ScoreThreshold, second_stage::RERANKED};
use crate::index::{plan::DenseQuery, reranking::EvidenceReader, segment::LiveSegment};

/// The last step before exact scores.
pub(super) struct Rescoring<'s> {
    pub(super) segments: &'s [LiveSegment],
    pub(super) params: &'s FusionParams,
    pub(super) dense: &'s DenseQuery,
    pub(super) threshold: &'s ScoreThreshold<'s>,
    /// Where a second stage considers the best products alone.
    pub(super) shortlist: Option<Shortlist<'s>>,
}

/// What products need that the second stage does not consider.
pub(super) struct Shortlist<'s> {
    /// With their cut-offs.
    pub(super) usual: &'s FusionParams,
    /// Tells which products the second stage considers whatever their score.
    pub(super) reader: &'s EvidenceReader<'s>,
}

impl Rescoring<'_> {
    /// Computes the formula of a query, drops candidates that are not relevant, and computes the exact
    /// similarities of those that remain.
    pub(super) fn run(&self, candidates: &mut Vec<Candidate>) -> Fusion {
        let Self { segments, params, dense, threshold, .. } = *self;
        let coverage = coverage(segments, dense, threshold, candidates);
        let fusion = Fusion::hybrid(params, dense.profile, coverage);
        let best = best_score_at_least(segments, dense, &fusion, candidates);
        let cutoff = fusion.cutoff().at(best);
        retain_from(cutoff, &fusion, candidates);
        if let Some(shortlist) = &self.shortlist {
            let usual = fusion.cutoff_by(shortlist.usual, dense.profile).at(best);
            shortlist.apply(usual, &fusion, candidates);
        }
        rescore_exact(segments, dense, candidates.iter_mut());
        fusion
    }
}

/// Drops candidates that cannot reach a score.
fn retain_from(cutoff: f32, fusion: &Fusion, candidates: &mut Vec<Candidate>) {
    candidates.retain(|candidate| {
        candidate.is_certain() || fusion.score(candidate.upper_bound()) >= cutoff
    });
}

impl Shortlist<'_> {
    /// Drops candidates that cannot reach the cut-off, are worse than [`RERANKED`] others, and do not
    /// fit the query.
    fn apply(&self, cutoff: f32, fusion: &Fusion, candidates: &mut Vec<Candidate>) {
        if candidates.len() <= RERANKED {
            return;
        }
        let score = |candidate: &Candidate| fusion.score(candidate.lower_bound());
        let mut scores: Vec<f32> = candidates.iter().map(score).collect();
        let (_, worst, _) =
            scores.select_nth_unstable_by(RERANKED - 1, |one, other| other.total_cmp(one));
        let cutoff = cutoff.min(*worst);
        if !self.reader.query.has_fitting_products() {
            return retain_from(cutoff, fusion, candidates);
        }
        let is_below =
            |one: &&Candidate| !one.is_certain() && fusion.score(one.upper_bound()) < cutoff;
        let place = |one: &Candidate| (one.segment as usize, one.doc);
        let fits = self.reader.fits(candidates.iter().filter(is_below).map(place));
        let mut fits = fits.into_iter();
        candidates.retain(|one| !is_below(&one) || fits.next().unwrap_or(true));
    }
}

/// Replaces estimated similarities by exact ones. Candidates are in order of segment.
pub(super) fn rescore_exact<'a>(
    segments: &[LiveSegment],
    dense: &DenseQuery,
    candidates: impl Iterator<Item = &'a mut Candidate>,
) {
    let mut estimated = candidates.filter(|candidate| candidate.is_estimated()).peekable();
    while let Some(segment) = estimated.peek().map(|candidate| candidate.segment) {
        let of_segment = std::iter::from_fn(|| estimated.next_if(|next| next.segment == segment));
        let products =
            of_segment.map(|candidate| (usize::from(candidate.doc), candidate.exact_similarity()));
        segments[segment as usize].vectors().cosines(&dense.vector, products);
    }
}

/// The coverage. Only candidates that exceed the best lexical match so far need an exact
/// similarity, and of these only those that do not reach the absolute cut-off without one.
fn coverage(
    segments: &[LiveSegment],
    dense: &DenseQuery,
    threshold: &ScoreThreshold<'_>,
    candidates: &mut [Candidate],
) -> Coverage {
    let Coverage { mut best_lexical } = threshold.coverage();
    let bounds = threshold.absolute_cutoff();
    for candidate in candidates {
        let lexical = candidate.lexical;
        if lexical <= best_lexical {
            continue;
        }
        if !bounds.may_pass(lexical, 0.0) && !candidate.is_exact_title {
            rescore_exact(segments, dense, std::iter::once(&mut *candidate));
            if !bounds.may_pass(lexical, candidate.signals().dense_score()) {
                continue;
            }
        }
        best_lexical = lexical;
    }
    Coverage { best_lexical }
}

/// A lower bound of the best score: the greater of the exact scores of two candidates, the one
/// with the best lower bound and the one with the best estimate. A title that equals the query
/// does not count.
fn best_score_at_least(
    segments: &[LiveSegment],
    dense: &DenseQuery,
    fusion: &Fusion,
    candidates: &mut [Candidate],
) -> f32 {
    let (mut by_lower_bound, mut by_estimate) = ((0.0, None), (0.0, None));
    for (at, candidate) in candidates.iter().enumerate().filter(|(_, one)| !one.is_exact_title) {
        let keep_better = |kept: &mut (f32, Option<usize>), signals| {
            let score = fusion.score(signals);
            if score > kept.0 {
                *kept = (score, Some(at));
            }
        };
        keep_better(&mut by_lower_bound, candidate.lower_bound());
        keep_better(&mut by_estimate, candidate.signals());
    }
    let exact = [by_lower_bound.1, by_estimate.1].into_iter().flatten().map(|at| {
        rescore_exact(segments, dense, std::iter::once(&mut candidates[at]));
        fusion.score(candidates[at].signals())
    });
    exact.fold(0.0, f32::max)
}
