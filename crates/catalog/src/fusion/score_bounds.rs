//! Upper bounds of scores, for pruning before the weights of the formula are known.
//!
//! The lexical weight `w` depends on the coverage, the best lexical match of the shop, which is
//! known only after the last product. While a scan runs, the coverage lies between the best
//! found so far and 1, so `w` lies in an interval (it grows with the coverage). For one product
//! with lexical score `l` and dense score `d`, the score `w·l + (1-w)·d` is linear in `w`. So is
//! the absolute cut-off, and so is the lower bound of the relative cut-off used here. The
//! difference of linear functions is linear: if it is negative at both ends of the interval, it
//! is negative in between, and the product is below the cut-off whatever the coverage turns out
//! to be.

use super::{Coverage, Fusion, FusionParams, QueryProfile, Signals};

/// Subtracted from each threshold, relative to it: more than the rounding of `f32` in the formula.
const ROUNDING: f32 = 1e-5;

/// What a product has to score to be relevant, at both ends of the possible lexical weights.
/// Checked for every product of a scan.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScoreBounds([Bound; 2]);

/// The formula and its thresholds at one end of the interval of lexical weights.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Bound {
    lexical_weight: f32,
    dense_weight: f32,
    /// The absolute cut-off.
    absolute: f32,
    /// A lower bound of the relative cut-off; 0 without a reference product.
    relative: f32,
}

impl ScoreBounds {
    /// The bounds of the absolute cut-off, which hold whatever the shop contains.
    pub fn absolute(params: &FusionParams, profile: QueryProfile) -> Self {
        Self::relative_to(params, profile, Coverage { best_lexical: 0.0 }, None)
    }

    /// The bounds of both cut-offs in a shop with at least this coverage, and with a product that
    /// has the signals `best`. Preconditions: that product passes the filter of the search, its
    /// signals are exact, and its title is not the query (such a title does not count as the
    /// best score).
    pub fn relative_to(
        params: &FusionParams,
        profile: QueryProfile,
        at_least: Coverage,
        best: Option<Signals>,
    ) -> Self {
        let ends = [at_least, Coverage { best_lexical: 1.0 }]
            .map(|coverage| Fusion::hybrid(params, profile, coverage));
        // The relative cut-off is `relative(w) · score(w)`, a product of two linear functions.
        // With the smaller `relative` of both ends it becomes linear, and smaller or equal.
        let relative = ends.iter().map(|end| end.cutoff.relative).fold(f32::INFINITY, f32::min);
        Self(ends.map(|fusion| {
            let lexical_weight = fusion.lexical_weight();
            let best_score = best.map_or(0.0, |signals| fusion.score(signals));
            Bound {
                lexical_weight,
                dense_weight: 1.0 - lexical_weight,
                absolute: fusion.cutoff.at(0.0) * (1.0 - ROUNDING),
                relative: relative * best_score * (1.0 - ROUNDING),
            }
        }))
    }

    /// Whether a product with this lexical match and a similarity of at most `similarity` may
    /// pass the cut-offs. Not for a product whose title is the query: that one always passes.
    #[inline(always)]
    pub fn may_pass(&self, lexical: f32, similarity: f32) -> bool {
        let (lexical, dense) = (lexical * lexical, similarity.max(0.0));
        let score = |end: &Bound| end.lexical_weight * lexical + end.dense_weight * dense;
        let [low, high] = &self.0;
        let (at_low, at_high) = (score(low), score(high));
        ((at_low >= low.absolute) | (at_high >= high.absolute))
            & ((at_low >= low.relative) | (at_high >= high.relative))
    }
}
