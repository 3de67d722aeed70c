//! The pruning threshold: what a product has to score to be relevant beside those found so far.
//! The argument for its correctness is in [`super`].

use catalog::fusion::{Coverage, Fusion, FusionParams, ScoreBounds, Signals};

use crate::index::plan::DenseQuery;

/// The threshold of one scan. It only rises.
#[derive(Clone)]
pub(super) struct ScoreThreshold<'a> {
    params: &'a FusionParams,
    dense: &'a DenseQuery,
    /// The bounds of the absolute cut-off, for any coverage and best score.
    absolute_cutoff: ScoreBounds,
    /// The bounds of both cut-offs, given the coverage and the best product so far.
    relative_cutoff: ScoreBounds,
    /// A lower bound of the coverage.
    best_lexical: f32,
    /// The product with the best score so far.
    best: Option<Signals>,
}

impl<'a> ScoreThreshold<'a> {
    /// The threshold before any product was found.
    pub(super) fn new(params: &'a FusionParams, dense: &'a DenseQuery) -> Self {
        let absolute_cutoff = ScoreBounds::absolute(params, dense.profile);
        let relative_cutoff = absolute_cutoff;
        Self { params, dense, absolute_cutoff, relative_cutoff, best_lexical: 0.0, best: None }
    }

    /// The bounds of the absolute cut-off, for any coverage and best score.
    pub(super) fn absolute_cutoff(&self) -> &ScoreBounds {
        &self.absolute_cutoff
    }

    /// A lower bound of the coverage.
    pub(super) fn coverage(&self) -> Coverage {
        Coverage { best_lexical: self.best_lexical }
    }

    /// Whether a product with this lexical match and a similarity of at most `similarity` has to
    /// be kept: it may be relevant, or define the coverage.
    #[inline(always)]
    pub(super) fn may_pass(&self, lexical: f32, similarity: f32) -> bool {
        self.relative_cutoff.may_pass(lexical, similarity)
            | ((lexical > self.best_lexical) & self.absolute_cutoff.may_pass(lexical, similarity))
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
        let (profile, coverage) = (self.dense.profile, self.coverage());
        self.relative_cutoff = ScoreBounds::relative_to(self.params, profile, coverage, self.best);
    }

    /// Raises the threshold by what another thread found.
    pub(super) fn merge(&mut self, other: &Self) {
        self.best_lexical = self.best_lexical.max(other.best_lexical);
        if let Some(best) = other.best {
            self.raise(best);
        }
    }
}
