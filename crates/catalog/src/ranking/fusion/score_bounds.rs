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

//!
//! The second stage considers the best products alone. The others have to reach the *usual* cut-offs,
//! which are higher. So a product may be dropped that reaches neither these nor the worst of enough
//! other products. For a fixed set of products, the least score is a concave function of `w`: it is
//! nowhere below the line between its values at both ends.
//!
//! Comparisons are written as differences that are not negative, combined by minimum and maximum, so
//! that a scan can check many products with one instruction ([`Number`]).

use std::ops::{Add, Mul, Sub};

use super::{Coverage, Fusion, FusionParams, QueryProfile, Signals};

/// Subtracted from each threshold, relative to it: more than the rounding of `f32` in the formula.
const ROUNDING: f32 = 1e-5;

/// What a product has to score to be relevant, at both ends of the possible lexical weights.
/// Checked for every product of a scan.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScoreBounds {
    ends: [Bound; 2],
    /// The coverage for which they hold, at least.
    at_least: Coverage,
}

/// The formula and its thresholds at one end of the interval of lexical weights.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Bound {
    lexical_weight: f32,
    dense_weight: f32,
    cutoff: Thresholds,
    /// The usual cut-off; 0 without a second stage.
    usual_cutoff: Thresholds,
    /// The worst of enough other products; 0 if there are not enough.
    worst: f32,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Thresholds {
    /// The absolute cut-off.
    absolute: f32,
    /// A lower bound of the relative cut-off; 0 without a reference product.
    relative: f32,
}

impl Thresholds {
    const NONE: Self = Self { absolute: 0.0, relative: 0.0 };
}

impl ScoreBounds {
    /// The bounds of the absolute cut-off, which hold whatever the shop contains.
    pub fn absolute(params: &FusionParams, profile: QueryProfile) -> Self {
        Self::relative_to(params, profile, Coverage { best_lexical: 0.0 }, None)
    }

    /// The bounds of both cut-offs in a shop with at least this coverage, and with a product that
    /// has the signals `best`. Preconditions: that product passes the filter of the search, its
    /// signals are final, and its title is not the query (such a title does not count as the
    /// best score).
    pub fn relative_to(
        params: &FusionParams,
        profile: QueryProfile,
        at_least: Coverage,
        best: Option<Signals>,
    ) -> Self {
        let ends = ends(params, profile, at_least);
        let cutoffs = thresholds(&ends, best);
        let bound = |at: usize| {
            let lexical_weight = ends[at].lexical_weight();
            Bound {
                lexical_weight,
                dense_weight: 1.0 - lexical_weight,
                cutoff: cutoffs[at],
                usual_cutoff: Thresholds::NONE,
                worst: 0.0,
            }
        };
        Self { ends: [bound(0), bound(1)], at_least }
    }

    /// These bounds for a search whose second stage considers the best products alone: the others
    /// have to reach the cut-offs of `usual`. `best` is as in [`Self::relative_to`]. `shortlist` are as
    /// many products as the second stage considers, with final signals, or none.
    pub fn with_second_stage(
        mut self,
        usual: &FusionParams,
        profile: QueryProfile,
        best: Option<Signals>,
        shortlist: &[Signals],
    ) -> Self {
        let ends = ends(usual, profile, self.at_least);
        let cutoffs = thresholds(&ends, best);
        for ((bound, fusion), cutoff) in self.ends.iter_mut().zip(&ends).zip(cutoffs) {
            bound.usual_cutoff = cutoff;
            let scores = shortlist.iter().map(|signals| fusion.score(*signals));
            bound.worst = scores.reduce(f32::min).unwrap_or(0.0) * (1.0 - ROUNDING);
        }
        self
    }

    /// These bounds for products that need not reach the cut-off to be considered by the second stage.
    pub fn without_cutoff(mut self) -> Self {
        self.ends.iter_mut().for_each(|bound| bound.cutoff = Thresholds::NONE);
        self
    }

    /// Whether a product with this lexical match and a similarity of at most `similarity` may
    /// pass the cut-offs. Not for a product whose title is the query: that one always passes.
    pub fn may_pass(&self, lexical: f32, similarity: f32) -> bool {
        self.margin::<f32, Single>(lexical, similarity.max(0.0)) >= 0.0
    }

    /// Not negative where a product with this lexical match and at most this dense score may pass.
    // Without closures: they are compiled for the oldest instruction set where they are not inlined.
    #[inline(always)]
    pub fn margin<N: Number, E: Extremes<N>>(&self, lexical: N, dense: N) -> N {
        let [low, high] = &self.ends;
        let lexical = lexical * lexical;
        let at_low = low.score(lexical, dense);
        let at_high = high.score(lexical, dense);
        let cutoff = low.cutoff.margin::<N, E>(&high.cutoff, at_low, at_high);
        let usual = low.usual_cutoff.margin::<N, E>(&high.usual_cutoff, at_low, at_high);
        let shortlist = E::max(at_low - low.worst, at_high - high.worst);
        E::min(cutoff, E::max(usual, shortlist))
    }

    /// A lower bound of the dense score with which a product without a lexical match may pass.
    pub fn least_dense_score(&self) -> f32 {
        let [low, high] = &self.ends;
        // Without a match, the score is the similarity times a weight.
        let quotient = |threshold: f32, end: &Bound| match threshold > 0.0 {
            true => threshold / end.dense_weight,
            false => 0.0,
        };
        let either = |at_low: f32, at_high: f32| quotient(at_low, low).min(quotient(at_high, high));
        let both = |low: &Thresholds, high: &Thresholds| {
            either(low.absolute, high.absolute).max(either(low.relative, high.relative))
        };
        let usual = both(&low.usual_cutoff, &high.usual_cutoff);
        let beside = usual.min(either(low.worst, high.worst));
        both(&low.cutoff, &high.cutoff).max(beside) * (1.0 - ROUNDING)
    }

    /// Not negative where such a product may pass the absolute cut-off.
    #[inline(always)]
    pub fn absolute_margin<N: Number, E: Extremes<N>>(&self, lexical: N, dense: N) -> N {
        let [low, high] = &self.ends;
        let lexical = lexical * lexical;
        E::max(
            low.score(lexical, dense) - low.cutoff.absolute,
            high.score(lexical, dense) - high.cutoff.absolute,
        )
    }
}

impl Bound {
    #[inline(always)]
    fn score<N: Number>(&self, lexical: N, dense: N) -> N {
        lexical * self.lexical_weight + dense * self.dense_weight
    }
}

impl Thresholds {
    /// Not negative where a product with these scores at both ends may reach both thresholds.
    #[inline(always)]
    fn margin<N: Number, E: Extremes<N>>(&self, high: &Self, at_low: N, at_high: N) -> N {
        E::min(
            E::max(at_low - self.absolute, at_high - high.absolute),
            E::max(at_low - self.relative, at_high - high.relative),
        )
    }
}

/// A number, or several of which each is computed alike.
pub trait Number:
    Copy + Add<Output = Self> + Mul<Output = Self> + Mul<f32, Output = Self> + Sub<f32, Output = Self>
{
}

impl<N> Number for N where
    N: Copy + Add<Output = N> + Mul<Output = N> + Mul<f32, Output = N> + Sub<f32, Output = N>
{
}

/// The lesser and the greater of two numbers.
pub trait Extremes<N> {
    /// The lesser.
    fn min(one: N, other: N) -> N;
    /// The greater.
    fn max(one: N, other: N) -> N;
}

/// [`Extremes`] of single numbers.
#[derive(Clone, Copy, Debug)]
pub struct Single;

impl Extremes<f32> for Single {
    fn min(one: f32, other: f32) -> f32 {
        one.min(other)
    }

    fn max(one: f32, other: f32) -> f32 {
        one.max(other)
    }
}

/// The formula at both ends of the possible lexical weights.
fn ends(params: &FusionParams, profile: QueryProfile, at_least: Coverage) -> [Fusion; 2] {
    [at_least, Coverage { best_lexical: 1.0 }]
        .map(|coverage| Fusion::hybrid(params, profile, coverage))
}

/// Both cut-offs at both ends.
fn thresholds(ends: &[Fusion; 2], best: Option<Signals>) -> [Thresholds; 2] {
    // The relative cut-off is `relative(w) · score(w)`, a product of two linear functions. With
    // the smaller `relative` of both ends it becomes linear, and smaller or equal.
    let relative = ends.iter().map(|end| end.cutoff.relative).fold(f32::INFINITY, f32::min);
    ends.map(|fusion| {
        let best_score = best.map_or(0.0, |signals| fusion.score(signals));
        Thresholds {
            absolute: fusion.cutoff.at(0.0) * (1.0 - ROUNDING),
            relative: relative * best_score * (1.0 - ROUNDING),
        }
    })
}
