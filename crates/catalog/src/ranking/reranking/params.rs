//! Parameters of the second stage.

/// The parameters of [`super::QueryEvidence::semantic_weight`], the logarithm of which is linear in
/// the evidence.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SemanticWeight {
    /// Intercept.
    pub bias: f32,
    /// Coefficient of the share of function words: sentences are to be taken by their meaning.
    pub function_words: f32,
    /// Coefficient of the similarity to a known phrase.
    pub phrase_similarity: f32,
    /// Coefficient of the agreement of words and meaning.
    pub agreement: f32,
    /// Coefficient of the title coverage: where titles say every word, words decide.
    pub title_coverage: f32,
    /// The greatest weight.
    pub max: f32,
}

/// What agreement with an attribute adds to a score.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AttributeWeights {
    /// Colour.
    pub color: f32,
    /// Material.
    pub material: f32,
    /// Pattern.
    pub pattern: f32,
    /// Audience.
    pub audience: f32,
    /// Size.
    pub size: f32,
    /// A product for pets or children where the query names no audience.
    pub unasked_audience: f32,
    /// How much more contradiction counts than agreement.
    pub contradiction: f32,
}

/// The fractions of the best score below which a product is not relevant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RelativeCutoff {
    /// Where the meaning of the query counts nothing beside its words.
    pub literal: f32,
    /// Where it counts everything.
    pub semantic: f32,
    /// Instead of `semantic` for a query in another language than English: its similarities are less
    /// exact.
    pub foreign: f32,
}

/// How products are preferred that have every attribute asked for and are of the right kind.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PreferenceParams {
    /// What all of them get.
    pub base: f32,
    /// What the fit of their kind adds.
    pub kind: f32,
    /// What those get whose category is what the kind names.
    pub category: f32,
    /// The least agreement with each attribute.
    pub min_agreement: f32,
    /// Terms that the merchant's attributes or the key state: a product of a brand comes before one
    /// whose title mentions it. No judged catalog tells the number; the test of merchant data does.
    pub stated: f32,
}

/// What the similarity by the vectors of the transformer counts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DeepParams {
    /// Its weight where the meaning of the query counts nothing beside its words; all other evidence
    /// together has a weight of 1.
    pub literal: f32,
    /// Its weight where it counts everything.
    pub semantic: f32,
    /// Where it is unknown, the similarity by the instant vectors times this, plus `intercept`: what it is
    /// on average.
    pub slope: f32,
    /// See `slope`.
    pub intercept: f32,
}

impl DeepParams {
    /// The expected similarity of a product by the similarity of its instant vector.
    pub fn estimate(&self, instant: f32) -> f32 {
        self.slope * instant + self.intercept
    }

    /// The weight for a query whose meaning has this share beside its words.
    pub(super) fn weight(&self, semantic_share: f32) -> f32 {
        self.literal + semantic_share * (self.semantic - self.literal)
    }
}

/// All parameters of the second stage.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RerankParams {
    /// How much the meaning of a query counts beside its words.
    pub semantic_weight: SemanticWeight,
    /// The weight of soft coverage.
    pub soft_coverage: f32,
    /// The weight of the cosine with the query's own vector.
    pub similarity: f32,
    /// The similarity by the vectors of the transformer.
    pub deep: DeepParams,
    /// The weight of names of things.
    pub names: f32,
    /// The weight of soft coverage, times the semantic weight.
    pub semantic_soft_coverage: f32,
    /// The weight of names of things, times the semantic weight.
    pub semantic_names: f32,
    /// The weights of attributes.
    pub attributes: AttributeWeights,
    /// The preference for the right kind with every attribute.
    pub preference: PreferenceParams,
    /// The weight of the category.
    pub category: f32,
    /// What is not relevant.
    pub cutoff: RelativeCutoff,
}

/// The parameters in force: see `docs/relevance.md`.
pub const RERANK_PARAMS: RerankParams = RerankParams {
    semantic_weight: SemanticWeight {
        bias: -0.25,
        function_words: 10.0,
        phrase_similarity: 15.0,
        agreement: -0.6,
        title_coverage: -6.0,
        max: 8.0,
    },
    soft_coverage: 0.79,
    similarity: 0.31,
    deep: DeepParams { literal: 0.3, semantic: 1.0, slope: 0.75, intercept: 0.1 },
    names: 0.03,
    semantic_soft_coverage: 0.21,
    semantic_names: 0.15,
    attributes: AttributeWeights {
        color: 0.16,
        material: 0.14,
        pattern: 0.14,
        audience: 0.16,
        size: 0.09,
        unasked_audience: 0.09,
        contradiction: 4.0,
    },
    preference: PreferenceParams {
        base: 0.2,
        kind: 0.2,
        category: 0.3,
        min_agreement: 0.4,
        stated: 1.5,
    },
    category: 0.1,
    cutoff: RelativeCutoff { literal: 0.5, semantic: 0.71, foreign: 0.66 },
};
