//! Which products could be relevant, before it is known how words and meaning are weighed?
//!
//! The weight depends on how far the shop's words cover the query, which is known when every
//! product has been looked at. It lies between that of the coverage found so far and that of full
//! coverage, and what a product scores above a straight line is a straight line in between: one of
//! the ends tells.

use super::{Coverage, Evidence, Fusion, Manner, Weights};

/// What could be relevant to one query. Cheap: asked of every product.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hope([End; 2]);

/// The formula at one end.
#[derive(Clone, Copy, Debug, PartialEq)]
struct End {
    words: f32,
    meaning: f32,
    /// What is too little whatever the others score.
    absolute: f32,
    /// What is too little beside a product that was found.
    relative: f32,
}

impl Hope {
    /// For a query that is put like this, in a shop of which nothing is known.
    pub fn of_both(weights: &Weights, manner: Manner) -> Self {
        Self::beside(weights, manner, Coverage { best_words: 0.0 }, None)
    }

    /// Once it is known that the shop covers the query at least so far, and that it has a product
    /// for which this speaks, and whose title is not the query.
    pub fn beside(
        weights: &Weights,
        manner: Manner,
        at_least: Coverage,
        found: Option<Evidence>,
    ) -> Self {
        let ends = [at_least, Coverage { best_words: 1.0 }]
            .map(|coverage| Fusion::of_both(weights, manner, coverage));
        // What is too little beside a product is no straight line; with the lesser share it is
        // one that lies below.
        let share = ends.iter().map(|end| end.cut.relative).fold(f32::INFINITY, f32::min);
        Self(ends.map(|fusion| {
            let words = fusion.weight_of_words();
            let best = found.map_or(0.0, |evidence| fusion.score(evidence));
            // A hair's breadth less, for what rounding takes.
            let less = 1.0 - 1e-5;
            let (absolute, relative) = (fusion.cut.at(0.0) * less, share * best * less);
            End { words, meaning: 1.0 - words, absolute, relative }
        }))
    }

    /// Whether a product could be relevant whose words match so well and that is no nearer than
    /// so. One whose title is the query always could.
    #[inline(always)]
    pub fn is_left(&self, words: f32, similarity: f32) -> bool {
        let (words, meaning) = (words * words, similarity.max(0.0));
        let score = |end: &End| end.words * words + end.meaning * meaning;
        let [one, other] = &self.0;
        let (at_one, at_other) = (score(one), score(other));
        ((at_one >= one.absolute) | (at_other >= other.absolute))
            & ((at_one >= one.relative) | (at_other >= other.relative))
    }
}
