//! The pruning threshold: what a product has to score to be relevant beside those found so far.
//! The argument for its correctness is in [`crate::scoring`].

use catalog::ranking::fusion::{Coverage, Extremes, Fusion, FusionParams, ScoreBounds, Signals};
use fearless_simd::{Simd, SimdBase, SimdMask, f32x16};

use super::candidate::Candidate;
use crate::{plan::DenseQuery, rerank_query::RERANKED};

/// How many products of a further segment raise a threshold before the others.
const REPLACING: usize = RERANKED / 8;

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
pub(crate) struct ScoreThreshold<'a> {
    params: &'a FusionParams,
    /// With the cut-offs of products that the second stage does not consider; `None` if it may
    /// consider any product, or if there is none.
    usual: Option<&'a FusionParams>,
    dense: &'a DenseQuery,
    /// Whether products that fit the query need not reach any cut-off.
    considers_fitting: bool,
    /// The bounds of the absolute cut-off, for any coverage and best score.
    absolute_cutoff: ScoreBounds,
    /// A lower bound of the coverage.
    best_lexical: f32,
    /// The product with the best score so far.
    best: Option<Signals>,
    /// Of all products.
    all: Shortlist,
    /// Of those that fit the query, which the second stage considers whatever their score.
    fitting: Shortlist,
}

/// The best products so far, and what another has to score.
#[derive(Clone)]
struct Shortlist {
    /// At most [`RERANKED`], with final signals.
    best: Vec<Signals>,
    /// The bounds of all cut-offs, given what was found so far.
    cutoff: ScoreBounds,
    /// [`ScoreBounds::least_dense_score`] of these.
    least_dense_score: f32,
}

impl<'a> ScoreThreshold<'a> {
    /// The threshold before any product was found. If there is a second stage that considers the
    /// best products alone, the others have to reach the cut-offs of `usual`. `considers_fitting`: those
    /// that fit the query need not reach any.
    pub(crate) fn new(
        params: &'a FusionParams,
        usual: Option<&'a FusionParams>,
        dense: &'a DenseQuery,
        considers_fitting: bool,
    ) -> Self {
        let absolute_cutoff = ScoreBounds::absolute(params, dense.profile);
        let (best_lexical, best) = (0.0, None);
        let all = Shortlist {
            best: Vec::new(),
            cutoff: absolute_cutoff,
            least_dense_score: absolute_cutoff.least_dense_score(),
        };
        let fitting = all.clone();
        let mut threshold = Self {
            params,
            usual,
            dense,
            considers_fitting,
            absolute_cutoff,
            best_lexical,
            best,
            all,
            fitting,
        };
        threshold.update();
        threshold
    }

    /// The bounds of the absolute cut-off, for any coverage and best score.
    pub(crate) fn absolute_cutoff(&self) -> &ScoreBounds {
        &self.absolute_cutoff
    }

    /// A lower bound of the coverage.
    pub(crate) fn coverage(&self) -> Coverage {
        Coverage { best_lexical: self.best_lexical }
    }

    fn cutoff(&self, fits: bool) -> &ScoreBounds {
        if fits { &self.fitting.cutoff } else { &self.all.cutoff }
    }

    /// Whether a product with this lexical match and a similarity of at most `similarity` has to
    /// be kept: it may be relevant, be considered by the second stage, or define the coverage.
    pub(super) fn may_pass(&self, lexical: f32, similarity: f32, fits: bool) -> bool {
        self.cutoff(fits).may_pass(lexical, similarity)
            || lexical > self.best_lexical && self.absolute_cutoff.may_pass(lexical, similarity)
    }

    /// A lower bound of the dense score with which a product without a lexical match may pass.
    pub(super) fn least_dense_score(&self) -> f32 {
        self.all.least_dense_score
    }

    /// [`Self::may_pass`] of sixteen products, a bit each.
    #[inline(always)]
    pub(super) fn may_pass_each<S: Simd>(
        &self,
        lexical: f32x16<S>,
        similarity: f32x16<S>,
        fits: bool,
    ) -> u64 {
        let dense = similarity.max(0.0);
        let margin = self.cutoff(fits).margin::<_, Lanes>(lexical, dense);
        let passing = margin.simd_ge(0.0).to_bitmask();
        let raising = lexical.simd_gt(self.best_lexical).to_bitmask() & !passing;
        if raising == 0 {
            return passing;
        }
        let absolute = self.absolute_cutoff.absolute_margin::<_, Lanes>(lexical, dense);
        passing | raising & absolute.simd_ge(0.0).to_bitmask()
    }

    /// How many products with a good lexical match it takes to raise the threshold well: a full
    /// shortlist, or a few that replace others of it.
    pub(super) fn wanted(&self) -> usize {
        if self.all.full().is_empty() { RERANKED } else { REPLACING }
    }

    /// The formula with the coverage so far.
    pub(crate) fn fusion(&self) -> Fusion {
        Fusion::hybrid(self.params, self.dense.profile, self.coverage())
    }

    /// Raises the threshold by products. Preconditions: they are eligible, their signals are final, and
    /// none was given before.
    pub(super) fn raise<'c>(&mut self, found: impl Iterator<Item = &'c Candidate> + Clone) {
        for one in found.clone() {
            if one.lexical > self.best_lexical
                && self.absolute_cutoff.may_pass(one.lexical, one.signals().dense_score())
            {
                self.best_lexical = one.lexical;
            }
        }
        let fusion = self.fusion();
        let [all, fitting] = [&self.all, &self.fitting].map(|shortlist| shortlist.worst(&fusion));
        let mut best = self.best.map(|best| fusion.score(best));
        for one in found {
            let signals = one.signals();
            let score = fusion.score(signals);
            // A title that equals the query says nothing about how good the others could be.
            if !one.is_exact_title && best.is_none_or(|best| score > best) {
                (self.best, best) = (Some(signals), Some(score));
            }
            if self.usual.is_some() && score > all {
                self.all.best.push(signals);
            }
            if self.usual.is_some() && one.fits && score > fitting {
                self.fitting.best.push(signals);
            }
        }
        self.all.truncate(&fusion);
        self.fitting.truncate(&fusion);
        self.update();
    }

    /// Computes the bounds anew from what was found.
    fn update(&mut self) {
        let (profile, best) = (self.dense.profile, self.best);
        let cutoff = ScoreBounds::relative_to(self.params, profile, self.coverage(), best);
        let of_fitting = if self.considers_fitting { cutoff.without_cutoff() } else { cutoff };
        let each = [(&mut self.all, cutoff), (&mut self.fitting, of_fitting)];
        for (shortlist, cutoff) in each {
            shortlist.cutoff = match self.usual {
                Some(usual) => cutoff.with_second_stage(usual, profile, best, shortlist.full()),
                None => cutoff,
            };
            shortlist.least_dense_score = shortlist.cutoff.least_dense_score();
        }
    }

    /// Raises the threshold by what another thread found.
    pub(super) fn merge(&mut self, other: &Self) {
        self.best_lexical = self.best_lexical.max(other.best_lexical);
        let fusion = self.fusion();
        let score = |best: &Signals| fusion.score(*best);
        let either = self.best.into_iter().chain(other.best);
        self.best = either.max_by(|one, other| score(one).total_cmp(&score(other)));
        self.update();
    }
}

impl Shortlist {
    /// Keeps the best [`RERANKED`] products.
    fn truncate(&mut self, fusion: &Fusion) {
        if self.best.len() > RERANKED {
            let score = |signals: &Signals| fusion.score(*signals);
            self.best.select_nth_unstable_by(RERANKED - 1, |one, other| {
                score(other).total_cmp(&score(one))
            });
            self.best.truncate(RERANKED);
        }
    }

    /// The products, if they are as many as the second stage considers; otherwise none.
    fn full(&self) -> &[Signals] {
        if self.best.len() == RERANKED { &self.best } else { &[] }
    }

    /// The worst score of a full shortlist by a formula; 0 if it is not full.
    fn worst(&self, fusion: &Fusion) -> f32 {
        self.full().iter().map(|one| fusion.score(*one)).reduce(f32::min).unwrap_or(0.0)
    }
}
