//! Which products could be relevant, before it is known how words and meaning are weighed?
//!
//! The weight depends on how far the shop's words cover the query, which is known when every
//! product has been looked at. It lies between that of no coverage and that of full coverage, and
//! what a product scores above the cut-off is a straight line in between: one of the ends tells.

use super::{Coverage, Fusion, Manner, Weights};

/// What could be relevant to one query. Cheap: asked of every product.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hope([End; 2]);

/// The formula at one end.
#[derive(Clone, Copy, Debug, PartialEq)]
struct End {
    words: f32,
    meaning: f32,
    cut: f32,
}

impl Hope {
    /// For a query that is put like this.
    pub fn of_both(weights: &Weights, manner: Manner) -> Self {
        Self([0.0, 1.0].map(|best_words| {
            let fusion = Fusion::of_both(weights, manner, Coverage { best_words });
            let words = fusion.weight_of_words();
            // A hair's breadth less, for what rounding takes.
            let cut = fusion.cut().at(0.0) * (1.0 - 1e-5);
            End { words, meaning: 1.0 - words, cut }
        }))
    }

    /// Whether a product could be relevant whose words match so well and that is no nearer than
    /// so. One whose title is the query always could.
    #[inline(always)]
    pub fn is_left(&self, words: f32, similarity: f32) -> bool {
        let (words, meaning) = (words * words, similarity.max(0.0));
        let is_enough = |end: &End| end.words * words + end.meaning * meaning >= end.cut;
        is_enough(&self.0[0]) | is_enough(&self.0[1])
    }
}
