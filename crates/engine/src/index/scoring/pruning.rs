//! The pruning threshold: what a product has to score to be relevant beside those found so far.
//! The argument for its correctness is in [`super`].

use catalog::fusion::{Coverage, Extremes, Fusion, FusionParams, ScoreBounds, Signals};
use fearless_simd::{Simd, SimdBase, SimdMask, f32x16};

use super::second_stage::RERANKED;
use crate::index::plan::DenseQuery;

/// [`Extremes`] of sixteen numbers.
struct Lanes;

impl<S: Simd> Extremes<f32x16<S>> for Lanes {
    #[inline(always)]
    fn min(one: f32x16<S>, other: f32x16<S>) -> f32x16<S> {
        one.min(other)
    }

    #[inline(always)]
    fn max(one: f32x16<S>, other: f32x16<S>) -> f32x16<S> {
        one.max(other)
    }
}

/// The threshold of one scan. It only rises.
#[derive(Clone)]
pub(super) struct ScoreThreshold<'a> {
    params: &'a FusionParams,
    /// With the cut-offs of products that the second stage does not consider; `None` if it may
    /// consider any product, or if there is none.
    usual: Option<&'a FusionParams>,
    dense: &'a DenseQuery,
    /// The bounds of the absolute cut-off, for any coverage and best score.
    absolute_cutoff: ScoreBounds,
    /// The bounds of all cut-offs, given what was found so far.
    cutoff: ScoreBounds,
    /// A lower bound of the coverage.
    best_lexical: f32,
    /// The product with the best score so far.
    best: Option<Signals>,
    /// The best products so far, at most [`RERANKED`], with exact signals.
    shortlist: Vec<Signals>,
}

impl<'a> ScoreThreshold<'a> {
    /// The threshold before any product was found. If there is a second stage that considers the
    /// best products alone, the others have to reach the cut-offs of `usual`.
    pub(super) fn new(
        params: &'a FusionParams,
        usual: Option<&'a FusionParams>,
        dense: &'a DenseQuery,
    ) -> Self {
        let absolute_cutoff = ScoreBounds::absolute(params, dense.profile);
        let (cutoff, best_lexical, best) = (absolute_cutoff, 0.0, None);
        let shortlist = Vec::new();
        Self { params, usual, dense, absolute_cutoff, cutoff, best_lexical, best, shortlist }
    }

    /// The bounds of the absolute cut-off, for any coverage and best score.
    pub(super) fn absolute_cutoff(&self) -> &ScoreBounds {
        &self.absolute_cutoff
    }

    /// The parameters with the cut-offs of products that the second stage does not consider.
    pub(super) fn usual(&self) -> Option<&'a FusionParams> {
        self.usual
    }

    /// A lower bound of the coverage.
    pub(super) fn coverage(&self) -> Coverage {
        Coverage { best_lexical: self.best_lexical }
    }

    /// Whether a product with this lexical match and a similarity of at most `similarity` has to
    /// be kept: it may be relevant, or define the coverage.
    pub(super) fn may_pass(&self, lexical: f32, similarity: f32) -> bool {
        self.cutoff.may_pass(lexical, similarity)
            || lexical > self.best_lexical && self.absolute_cutoff.may_pass(lexical, similarity)
    }

    /// [`Self::may_pass`] of sixteen products, a bit each.
    #[inline(always)]
    pub(super) fn may_pass_each<S: Simd>(&self, lexical: f32x16<S>, similarity: f32x16<S>) -> u64 {
        let dense = similarity.max(0.0);
        let passing = self.cutoff.margin::<_, Lanes>(lexical, dense).simd_ge(0.0).to_bitmask();
        let raising = lexical.simd_gt(self.best_lexical).to_bitmask() & !passing;
        if raising == 0 {
            return passing;
        }
        let absolute = self.absolute_cutoff.absolute_margin::<_, Lanes>(lexical, dense);
        passing | raising & absolute.simd_ge(0.0).to_bitmask()
    }

    /// Whether a product with this lexical match raises the coverage, whatever its similarity.
    pub(super) fn would_raise_coverage(&self, lexical: f32) -> bool {
        lexical > self.best_lexical && self.absolute_cutoff.may_pass(lexical, 0.0)
    }

    /// The formula with the coverage so far.
    pub(super) fn fusion(&self) -> Fusion {
        Fusion::hybrid(self.params, self.dense.profile, self.coverage())
    }

    /// Raises the threshold by a product. Preconditions: it is eligible, its signals are exact,
    /// and its title does not equal the query.
    pub(super) fn raise(&mut self, found: Signals) {
        if found.lexical > self.best_lexical
            && self.absolute_cutoff.may_pass(found.lexical, found.dense_score())
        {
            self.best_lexical = found.lexical;
        }
        let fusion = self.fusion();
        if self.best.is_none_or(|best| fusion.score(found) > fusion.score(best)) {
            self.best = Some(found);
        }
        self.update();
    }

    /// Raises the threshold by products that may be among the best. Preconditions: they are eligible,
    /// their signals are exact, and none was given before.
    pub(super) fn shortlist(&mut self, found: impl Iterator<Item = Signals>) {
        self.shortlist.extend(found);
        if self.shortlist.len() > RERANKED {
            let fusion = self.fusion();
            let score = |signals: &Signals| fusion.score(*signals);
            self.shortlist.select_nth_unstable_by(RERANKED - 1, |one, other| {
                score(other).total_cmp(&score(one))
            });
            self.shortlist.truncate(RERANKED);
        }
        self.update();
    }

    /// The worst score of a full shortlist by a formula; 0 if it is not full.
    pub(super) fn worst_shortlisted(&self, fusion: &Fusion) -> f32 {
        if self.shortlist.len() < RERANKED {
            return 0.0;
        }
        self.shortlist.iter().map(|one| fusion.score(*one)).fold(f32::INFINITY, f32::min)
    }

    /// Computes the bounds anew from what was found.
    fn update(&mut self) {
        let (profile, best) = (self.dense.profile, self.best);
        self.cutoff = ScoreBounds::relative_to(self.params, profile, self.coverage(), best);
        if let Some(usual) = self.usual {
            let is_full = self.shortlist.len() == RERANKED;
            let shortlist = if is_full { self.shortlist.as_slice() } else { &[] };
            self.cutoff = self.cutoff.with_second_stage(usual, profile, best, shortlist);
        }
    }

    /// Raises the threshold by what another thread found.
    pub(super) fn merge(&mut self, other: &Self) {
        self.best_lexical = self.best_lexical.max(other.best_lexical);
        if let Some(best) = other.best {
            self.raise(best);
        }
    }
}
