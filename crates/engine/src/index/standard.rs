//! How good must a product be to be relevant, as far as those found so far tell? The better they
//! are, the fewer of the others are worth a look.

use catalog::fusion::{Coverage, Evidence, Fusion, Hope, Weights};

use super::plan::Meant;

/// What is relevant beside what was found.
#[derive(Clone)]
pub(super) struct Standard<'a> {
    weights: &'a Weights,
    meant: &'a Meant,
    /// What could be relevant whatever was found.
    anyway: Hope,
    /// What could be relevant beside it.
    beside: Hope,
    /// The best words found that may be relevant.
    best_words: f32,
    /// What speaks for the best product found.
    best: Option<Evidence>,
}

impl<'a> Standard<'a> {
    /// The standard of a query for which nothing was found yet.
    pub(super) fn new(weights: &'a Weights, meant: &'a Meant) -> Self {
        let anyway = Hope::of_both(weights, meant.manner);
        Self { weights, meant, anyway, beside: anyway, best_words: 0.0, best: None }
    }

    /// What could be relevant whatever was found.
    pub(super) fn anyway(&self) -> &Hope {
        &self.anyway
    }

    /// How far products cover the query at least.
    pub(super) fn coverage(&self) -> Coverage {
        Coverage { best_words: self.best_words }
    }

    /// Whether a product still matters whose words match so well and that is no nearer than so:
    /// it could be relevant, or cover the query better than those before.
    #[inline(always)]
    pub(super) fn is_left(&self, words: f32, similarity: f32) -> bool {
        self.beside.is_left(words, similarity)
            | ((words > self.best_words) & self.anyway.is_left(words, similarity))
    }

    /// Whether a product covers the query better than those before and could be relevant by its
    /// words alone.
    pub(super) fn would_be_raised(&self, words: f32) -> bool {
        words > self.best_words && self.anyway.is_left(words, 0.0)
    }

    /// The formula if nothing better comes.
    pub(super) fn fusion(&self) -> Fusion {
        Fusion::of_both(self.weights, self.meant.manner, self.coverage())
    }

    /// Takes a product into account that will be found if it is relevant, whose title is not the
    /// query, and that was looked at closely.
    pub(super) fn raise(&mut self, found: Evidence) {
        if found.words > self.best_words
            && self.anyway.is_left(found.words, found.worth_of_meaning())
        {
            self.best_words = found.words;
        }
        let fusion = self.fusion();
        if self.best.is_none_or(|best| fusion.score(found) > fusion.score(best)) {
            self.best = Some(found);
        }
        self.beside = Hope::beside(self.weights, self.meant.manner, self.coverage(), self.best);
    }

    /// Takes into account what another one did.
    pub(super) fn join(&mut self, other: &Self) {
        self.best_words = self.best_words.max(other.best_words);
        if let Some(best) = other.best {
            self.raise(best);
        }
    }
}
