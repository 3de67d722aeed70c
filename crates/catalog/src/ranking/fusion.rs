//! The relevance formula: one score from the lexical match and the cosine similarity of a product,
//! and the cut-off below which a product is not relevant.
//!
//! Some queries are to be taken literally ("1/2 in galvanized pipe"), others by what they mean
//! ("something to put flowers in"). The lexical weight depends on the [`QueryProfile`] (how many
//! of the query's words are function words, how similar the query is to phrases that shoppers are
//! known to use) and on the [`Coverage`] (how well the shop's own words match the query). No other
//! module contains any part of the formula.

mod params;
mod score_bounds;

use crate::ranking::explanation::{Bonus, DensePart, Explanation, LexicalPart, TermPart};

pub use self::{
    params::{Cutoff, FUSION_PARAMS, ForeignParams, FusionParams, LexicalWeight},
    score_bounds::{Extremes, Number, ScoreBounds, Single},
};

/// The ranking signals of one product.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Signals {
    /// The BM25 score as a fraction of the highest score that the query's terms could reach, from
    /// 0 to 1; 0 for a product without any of them.
    pub lexical: f32,
    /// The cosine between query and product; `None` for a product without a vector.
    pub similarity: Option<f32>,
    /// Whether the title is the query, word by word.
    pub is_exact_title: bool,
}

impl Signals {
    /// The lexical score: quadratic, so that a product with all terms is far ahead of one with
    /// half of them.
    #[inline]
    pub fn lexical_score(self) -> f32 {
        self.lexical * self.lexical
    }

    /// The dense score. A product without a vector is ranked by its lexical score alone.
    #[inline]
    pub fn dense_score(self) -> f32 {
        self.similarity.map_or_else(|| self.lexical_score(), |similarity| similarity.max(0.0))
    }
}

/// Properties of a query that decide how literally it is taken.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QueryProfile {
    /// The share of words that say nothing about products, from 0 to 1.
    pub function_word_ratio: f32,
    /// The cosine with the nearest phrase that shoppers are known to use; `None` without a phrase
    /// index.
    pub phrase_similarity: Option<f32>,
    /// The share of the other words that the shop or the model knows, from 0 to 1.
    pub recognised_ratio: f32,
    /// Whether it is in another language than English, whose vectors are less exact.
    pub is_foreign: bool,
}

impl QueryProfile {
    /// The profile of a query about which nothing is known.
    pub const NEUTRAL: Self = Self {
        function_word_ratio: 0.0,
        phrase_similarity: None,
        recognised_ratio: 1.0,
        is_foreign: false,
    };
}

/// How well the words of the shop's products match a query.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Coverage {
    /// The greatest [`Signals::lexical`] of all products that pass the filter and the absolute
    /// cut-off ([`ScoreBounds::absolute`]).
    pub best_lexical: f32,
}

/// The formula for one query.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fusion {
    /// The weight of the lexical score; `None` where vectors take no part.
    lexical_weight: Option<f32>,
    cutoff: Cutoff,
}

impl Fusion {
    /// For a query without a vector.
    pub fn lexical_only(params: &FusionParams) -> Self {
        Self { lexical_weight: None, cutoff: params.lexical_only_cutoff }
    }

    /// For a query with a vector.
    pub fn hybrid(params: &FusionParams, profile: QueryProfile, coverage: Coverage) -> Self {
        let literalness = params.lexical_weight.of(profile, coverage.best_lexical);
        let weight = params.max_lexical_weight * literalness;
        let cutoff = params.lexical_cutoff.mixed(weight, params.dense_cutoff(profile));
        Self { lexical_weight: Some(weight), cutoff }
    }

    /// The relevance of a product, from 0 to 1.
    #[inline]
    pub fn score(&self, signals: Signals) -> f32 {
        if signals.is_exact_title {
            return 1.0;
        }
        let Some(weight) = self.lexical_weight else { return signals.lexical };
        weight * signals.lexical_score() + (1.0 - weight) * signals.dense_score()
    }

    /// The weight of the lexical score; the dense score has the rest.
    pub fn lexical_weight(&self) -> f32 {
        self.lexical_weight.unwrap_or(1.0)
    }

    /// The parts of [`Self::score`]. `terms` and `bigram_bonus` are the parts of
    /// [`Signals::lexical`].
    pub fn explain(
        &self,
        signals: Signals,
        terms: Vec<TermPart>,
        bigram_bonus: f32,
    ) -> Explanation {
        let (score, weight) = match self.lexical_weight {
            _ if signals.is_exact_title => (1.0, 1.0),
            None => (signals.lexical, 1.0),
            Some(_) if signals.similarity.is_none() => (signals.lexical_score(), 1.0),
            Some(weight) => (signals.lexical_score(), weight),
        };
        let mut matched = signals.lexical;
        let mut bonuses = Vec::new();
        if bigram_bonus > 0.0 {
            bonuses.push(Bonus { name: "phrase", score: bigram_bonus });
        }
        if signals.is_exact_title {
            bonuses.push(Bonus { name: "exact_title", score: 1.0 - matched });
            matched = 1.0;
        }
        let lexical = LexicalPart { matched, score, weight, terms, bonuses };
        let similarity = signals.similarity.filter(|_| self.lexical_weight.is_some());
        let dense = similarity.map(|similarity| {
            let score = signals.dense_score();
            DensePart { similarity, score, weight: 1.0 - weight }
        });
        let score = self.score(signals);
        Explanation { score, lexical, dense, rerank: None, claims: false, key: false }
    }

    /// The lowest relevant score.
    pub fn cutoff(&self) -> Cutoff {
        self.cutoff
    }

    /// The lowest relevant score of a query with a vector by other parameters, with the same lexical
    /// weight.
    pub fn cutoff_by(&self, params: &FusionParams, profile: QueryProfile) -> Cutoff {
        params.lexical_cutoff.mixed(self.lexical_weight(), params.dense_cutoff(profile))
    }
}

#[cfg(test)]
mod tests;
