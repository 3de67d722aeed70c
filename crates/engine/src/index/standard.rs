//! How good must a product be to be relevant, as far as those found so far tell? The better they
//! are, the fewer of the others are worth a look.

use catalog::fusion::{Coverage, Fusion, FusionParams, ScoreBounds, Signals};

use super::plan::DenseQuery;

/// What is relevant beside what was found.
#[derive(Clone)]
pub(super) struct Standard<'a> {
    weights: &'a FusionParams,
    meant: &'a DenseQuery,
    /// What could be relevant whatever was found.
    anyway: ScoreBounds,
    /// What could be relevant beside it.
    beside: ScoreBounds,
    /// The best words found that may be relevant.
    best_lexical: f32,
    /// What speaks for the best product found.
    best: Option<Signals>,
}

impl<'a> Standard<'a> {
    /// The standard of a query for which nothing was found yet.
    pub(super) fn new(weights: &'a FusionParams, meant: &'a DenseQuery) -> Self {
        let anyway = ScoreBounds::absolute(weights, meant.profile);
        Self { weights, meant, anyway, beside: anyway, best_lexical: 0.0, best: None }
    }

    /// What could be relevant whatever was found.
    pub(super) fn anyway(&self) -> &ScoreBounds {
        &self.anyway
    }

    /// How far products cover the query at least.
    pub(super) fn coverage(&self) -> Coverage {
        Coverage { best_lexical: self.best_lexical }
    }

    /// Whether a product still matters whose words match so well and that is no nearer than so:
    /// it could be relevant, or cover the query better than those before.
    #[inline(always)]
    pub(super) fn may_pass(&self, words: f32, similarity: f32) -> bool {
        self.beside.may_pass(words, similarity)
            | ((words > self.best_lexical) & self.anyway.may_pass(words, similarity))
    }

    /// Whether a product covers the query better than those before and could be relevant by its
    /// words alone.
    pub(super) fn would_be_raised(&self, words: f32) -> bool {
        words > self.best_lexical && self.anyway.may_pass(words, 0.0)
    }

    /// The formula if nothing better comes.
    pub(super) fn fusion(&self) -> Fusion {
        Fusion::hybrid(self.weights, self.meant.profile, self.coverage())
    }

    /// Takes a product into account that will be found if it is relevant, whose title is not the
    /// query, and that was looked at closely.
    pub(super) fn raise(&mut self, found: Signals) {
        if found.lexical > self.best_lexical
            && self.anyway.may_pass(found.lexical, found.dense_score())
        {
            self.best_lexical = found.lexical;
        }
        let fusion = self.fusion();
        if self.best.is_none_or(|best| fusion.score(found) > fusion.score(best)) {
            self.best = Some(found);
        }
        self.beside =
            ScoreBounds::relative_to(self.weights, self.meant.profile, self.coverage(), self.best);
    }

    /// Takes into account what another one did.
    pub(super) fn join(&mut self, other: &Self) {
        self.best_lexical = self.best_lexical.max(other.best_lexical);
        if let Some(best) = other.best {
            self.raise(best);
        }
    }
}
