//! Parameters of the fusion formula: the lexical weight, the cut-offs and the interpolation.

use super::QueryProfile;

/// A logistic regression: how literally a query is to be taken, from 0 to 1. Times
/// [`FusionParams::max_lexical_weight`] it is the weight of the lexical score.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LexicalWeight {
    /// Intercept.
    pub bias: f32,
    /// Coefficient of [`QueryProfile::function_word_ratio`].
    pub function_words: f32,
    /// Coefficient of [`QueryProfile::phrase_similarity`].
    pub phrase_similarity: f32,
    /// Value of [`QueryProfile::phrase_similarity`] where it is `None`.
    pub default_phrase_similarity: f32,
    /// Coefficient of [`super::Coverage::best_lexical`]; not negative, so the weight grows with
    /// the coverage. [`super::ScoreBounds`] relies on that.
    pub coverage: f32,
}

impl LexicalWeight {
    /// The query's similarity to a known phrase, or what is assumed without a phrase index.
    pub fn phrase_similarity_of(&self, profile: QueryProfile) -> f32 {
        profile.phrase_similarity.unwrap_or(self.default_phrase_similarity)
    }

    pub(super) fn of(&self, profile: QueryProfile, best_lexical: f32) -> f32 {
        let phrase_similarity = self.phrase_similarity_of(profile);
        let sum = self.bias
            + self.function_words * profile.function_word_ratio
            + self.phrase_similarity * phrase_similarity
            + self.coverage * best_lexical;
        (1.0 + (-sum).exp()).recip()
    }
}

/// The lowest score that is relevant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cutoff {
    /// As a score.
    pub absolute: f32,
    /// As a fraction of the best score of the result.
    pub relative: f32,
}

impl Cutoff {
    /// The lowest relevant score where `best` is the best score. Always above 0.
    pub fn at(&self, best: f32) -> f32 {
        self.absolute.max(self.relative * best).max(f32::MIN_POSITIVE)
    }

    /// Linear interpolation: `share` of this cut-off and the rest of another.
    pub(super) fn mixed(self, share: f32, other: Self) -> Self {
        let mix = |this: f32, other: f32| share * this + (1.0 - share) * other;
        Self {
            absolute: mix(self.absolute, other.absolute),
            relative: mix(self.relative, other.relative),
        }
    }
}

/// All parameters of the fusion formula.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FusionParams {
    /// How literally a query is to be taken.
    pub lexical_weight: LexicalWeight,
    /// The weight of the lexical score in a query that is taken entirely literally, from 0 to 1;
    /// the dense score has the rest.
    pub max_lexical_weight: f32,
    /// How far the vector of a query that is not taken literally at all is moved toward the target
    /// of the phrases that it resembles.
    pub interpolation: f32,
    /// How much less the deep vector is moved, which was trained on the phrases.
    pub deep_interpolation: f32,
    /// The cut-off where the lexical score has all the weight.
    pub lexical_cutoff: Cutoff,
    /// The cut-off where the dense score has all the weight.
    pub dense_cutoff: Cutoff,
    /// The absolute cut-off of the similarity by the vectors of the transformer.
    pub deep_cutoff: f32,
    /// The cut-offs of candidates for the second stage, as `lexical_cutoff` and `dense_cutoff`: lower,
    /// because the second stage knows more about a product.
    pub candidate_lexical_cutoff: Cutoff,
    /// See `candidate_lexical_cutoff`.
    pub candidate_dense_cutoff: Cutoff,
    /// The cut-off of a search without vectors: any matching term is enough.
    pub lexical_only_cutoff: Cutoff,
    /// Below this [`QueryProfile::recognised_ratio`] a query may be gibberish.
    pub min_recognised: f32,
    /// The absolute dense cut-off of a query that may be gibberish.
    pub unrecognised_cutoff: f32,
    /// Products with at least this cosine are similar to each other.
    pub min_similarity: f32,
    /// What differs for queries in other languages than English.
    pub foreign: ForeignParams,
}

/// Parameters of queries in other languages: all their similarities are lower.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ForeignParams {
    /// Added to [`QueryProfile::phrase_similarity`].
    pub phrase_similarity: f32,
    /// Instead of [`FusionParams::interpolation`], however literally the query is taken.
    pub interpolation: f32,
    /// The absolute dense cut-off.
    pub cutoff: f32,
}

/// The parameters in force, chosen on judged queries: see `docs/relevance.md`.
pub const FUSION_PARAMS: FusionParams = FusionParams {
    lexical_weight: LexicalWeight {
        bias: 8.4,
        function_words: -7.0,
        phrase_similarity: -11.8,
        default_phrase_similarity: 0.76,
        coverage: 3.0,
    },
    max_lexical_weight: 0.99,
    interpolation: 1.45,
    deep_interpolation: 0.5,
    lexical_cutoff: Cutoff { absolute: 0.004, relative: 0.3 },
    dense_cutoff: Cutoff { absolute: 0.42, relative: 0.68 },
    deep_cutoff: 0.42,
    candidate_lexical_cutoff: Cutoff { absolute: 0.002, relative: 0.12 },
    candidate_dense_cutoff: Cutoff { absolute: 0.3, relative: 0.5 },
    lexical_only_cutoff: Cutoff { absolute: 0.0, relative: 0.0 },
    min_recognised: 0.5,
    unrecognised_cutoff: 0.55,
    min_similarity: 0.5,
    foreign: ForeignParams { phrase_similarity: 0.2, interpolation: 0.5, cutoff: 0.38 },
};

impl FusionParams {
    /// The parameters with the cut-offs of candidates for the second stage.
    pub fn for_candidates(&self) -> Self {
        Self {
            lexical_cutoff: self.candidate_lexical_cutoff,
            dense_cutoff: self.candidate_dense_cutoff,
            ..*self
        }
    }

    /// How far the vector of a query is moved toward the target of the phrases that it resembles.
    pub fn interpolation(&self, profile: QueryProfile) -> f32 {
        match profile.is_foreign {
            true => self.foreign.interpolation,
            false => self.interpolation * (1.0 - self.lexical_weight.of(profile, 0.0)),
        }
    }

    /// The least similarity by the vectors of the transformer that makes a product relevant where no score
    /// reaches the absolute cut-off.
    pub fn deep_cutoff(&self, profile: QueryProfile) -> f32 {
        match profile.recognised_ratio >= self.min_recognised {
            true => self.deep_cutoff,
            false => self.unrecognised_cutoff,
        }
    }

    /// The dense cut-off for a query.
    pub(super) fn dense_cutoff(&self, profile: QueryProfile) -> Cutoff {
        let Cutoff { absolute, .. } = self.dense_cutoff;
        let absolute = match profile.recognised_ratio >= self.min_recognised {
            true if profile.is_foreign => absolute.min(self.foreign.cutoff),
            true => absolute,
            false => self.unrecognised_cutoff,
        };
        Cutoff { absolute, ..self.dense_cutoff }
    }
}
