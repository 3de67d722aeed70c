//! The numbers of the formula: how far is a query taken by the word, and what is too little?

use super::Manner;

/// How literally a query is to be taken, from 0 to 1, by the logistic function of a sum.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Literal {
    /// What there is without anything else.
    pub bias: f32,
    /// Times the share of function words.
    pub function_words: f32,
    /// Times the likeness to a known phrase.
    pub likeness: f32,
    /// The likeness where nobody knows it.
    pub usual_likeness: f32,
    /// Times the best word score.
    pub coverage: f32,
}

impl Literal {
    pub(super) fn of(&self, manner: Manner, coverage: f32) -> f32 {
        let sum = self.bias
            + self.function_words * manner.function_words
            + self.likeness * manner.likeness.unwrap_or(self.usual_likeness)
            + self.coverage * coverage;
        (1.0 + (-sum).exp()).recip()
    }
}

/// What is too little to be relevant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cut {
    /// Below this score nothing is relevant.
    pub absolute: f32,
    /// Below this part of the best score nothing is relevant.
    pub relative: f32,
}

impl Cut {
    /// The least score that is relevant where this is the best one. Always above 0.
    pub fn at(&self, best: f32) -> f32 {
        self.absolute.max(self.relative * best).max(f32::MIN_POSITIVE)
    }

    /// So much of this cut, and the rest of another.
    pub(super) fn mixed(self, share: f32, other: Self) -> Self {
        let mix = |this: f32, other: f32| share * this + (1.0 - share) * other;
        Self {
            absolute: mix(self.absolute, other.absolute),
            relative: mix(self.relative, other.relative),
        }
    }
}

/// The numbers of the formula.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weights {
    /// How literally a query is to be taken.
    pub literal: Literal,
    /// The weight of words in a query that is taken wholly literally; meaning has the rest.
    pub words: f32,
    /// How far a query that is not taken literally at all leans toward what people look for who
    /// say such things.
    pub lean: f32,
    /// The cut-off where only words count.
    pub cut_of_words: Cut,
    /// The cut-off where only meaning counts.
    pub cut_of_meaning: Cut,
    /// The cut-off where meaning takes no part: any word that matches is enough.
    pub words_alone: Cut,
    /// The share of recognised words below which a query may be nonsense.
    pub recognised: f32,
    /// The similarity that is relevant to what may be nonsense.
    pub nonsense: f32,
    /// Products at least this near another one are similar to it.
    pub similar: f32,
}

/// The numbers in force, found by `make tune` on judged queries: see `docs/relevance.md`.
pub const WEIGHTS: Weights = Weights {
    literal: Literal {
        bias: 8.4,
        function_words: -7.0,
        likeness: -11.8,
        usual_likeness: 0.76,
        coverage: 3.0,
    },
    words: 0.99,
    lean: 1.45,
    cut_of_words: Cut { absolute: 0.004, relative: 0.3 },
    cut_of_meaning: Cut { absolute: 0.42, relative: 0.68 },
    words_alone: Cut { absolute: 0.0, relative: 0.0 },
    recognised: 0.5,
    nonsense: 0.55,
    similar: 0.5,
};

impl Weights {
    /// How far a query put like this leans toward what people look for who say such things.
    pub fn lean(&self, manner: Manner) -> f32 {
        self.lean * (1.0 - self.literal.of(manner, 0.0))
    }

    /// The cut-off of meaning for a query put like this.
    pub(super) fn cut_of_meaning(&self, manner: Manner) -> Cut {
        if manner.recognised >= self.recognised {
            return self.cut_of_meaning;
        }
        Cut { absolute: self.nonsense, ..self.cut_of_meaning }
    }
}
