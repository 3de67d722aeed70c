//! The second stage of ranking: the score of a product from all evidence about it.
//!
//! The first stage ([`crate::ranking::fusion`]) considers every product and selects candidates. This one
//! compares words by meaning, knows the names of things, and reads attributes, which is too
//! expensive for every product. All evidence is added up linearly. One weight depends on the query:
//! how much its meaning counts beside its words ([`QueryEvidence::semantic_weight`]).

mod params;

use crate::product::inferred::Attribute;

pub use self::params::{
    AttributeWeights, DeepParams, PreferenceParams, RERANK_PARAMS, RelativeCutoff, RerankParams,
    SemanticWeight,
};

/// From this many products of the right kind with every attribute on, others that contradict an
/// attribute are not shown.
const ENOUGH: usize = 3;

/// A product that is less near to the kind than this, relative to the nearest, is another thing.
const MAY_BE_OF_KIND: f32 = 0.5;

/// What is known about a query and its candidates as a whole.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct QueryEvidence {
    /// The share of words that say nothing about products.
    pub function_word_ratio: f32,
    /// The cosine with the nearest phrase that shoppers are known to use; without a phrase
    /// index, what the fusion assumes.
    pub phrase_similarity: f32,
    /// How similar the best lexical matches are to the query, relative to the most similar
    /// products: 1 where words and meaning agree.
    pub agreement: f32,
    /// The share of the query's information that the title of the best lexical match contains.
    pub title_coverage: f32,
    /// Whether it is in another language than English.
    pub is_foreign: bool,
    /// Whether no candidate agrees with the attributes asked for ([`none_agrees`]).
    pub none_agrees: bool,
}

impl QueryEvidence {
    /// How much the meaning of the query counts beside its words.
    pub fn semantic_weight(&self, params: &SemanticWeight) -> f32 {
        let sum = params.bias
            + params.function_words * self.function_word_ratio
            + params.phrase_similarity * (self.phrase_similarity - 0.85)
            + params.agreement * (self.agreement - 0.8)
            + params.title_coverage * (self.title_coverage - 0.7);
        sum.exp().min(params.max)
    }
}

/// The evidence for one product.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Evidence {
    /// The lexical match, from 0 to 1.
    pub lexical: f32,
    /// The cosine with the query's own vector.
    pub similarity: f32,
    /// The cosine by the vectors of the transformer, its estimate where the product has none, and
    /// `similarity` where the query has none.
    pub deep_similarity: f32,
    /// The cosine with the query's vector after interpolation toward known phrases.
    pub phrase_similarity: f32,
    /// The share of the query's information that the product's words cover, by meaning where not
    /// literally.
    pub soft_coverage: f32,
    /// The share of the query's information that the merchant's attributes and the key state.
    pub attribute_coverage: f32,
    /// Whether the title says a name of what the query asks for, from 0 to 1.
    pub names: f32,
    /// How likely the query means the product's category, from 0 to 1.
    pub category: f32,
    /// The greatest cosine of the query's head word with a word of the title.
    pub head: f32,
    /// Agreement with each attribute that the query asks for, from -1 to 1.
    pub attributes: AttributeEvidence,
    /// How well the product fits what the query asks for without its attributes; `None` if the query
    /// asks for no attribute, or for more than a thing with attributes.
    pub kind: Option<KindEvidence>,
}

impl Evidence {
    /// Whether the product is of the right kind and agrees with every attribute.
    fn is_preferred(&self, params: &PreferenceParams) -> bool {
        self.is_of_kind() && self.agrees(params)
    }

    fn agrees(&self, params: &PreferenceParams) -> bool {
        self.kind.is_some_and(|kind| kind.agreement >= params.min_agreement)
    }

    fn is_of_kind(&self) -> bool {
        self.kind.is_some_and(|kind| kind.is_of_kind(self.category))
    }

    /// Whether the product is preferred where none of the right kind agrees with every attribute: it is of
    /// that kind, by its category if the kind names one, or it agrees and may be of the kind.
    fn is_preferred_instead(&self, params: &PreferenceParams) -> bool {
        let Some(kind) = self.kind else { return false };
        let is_in_category = kind.category.is_none() || kind.is_in_category();
        self.is_of_kind() && is_in_category
            || self.agrees(params) && kind.nearness >= MAY_BE_OF_KIND
    }
}

/// Whether a query asks for a thing with attributes, and no candidate of that kind agrees with all of them.
/// Then things of that kind come first, whatever their attributes: where no armchair is purple, a brown one
/// is nearer to what a shopper asks for than a purple kneeling pad.
pub fn none_agrees(candidates: &[Evidence], params: &PreferenceParams) -> bool {
    candidates.iter().any(|one| one.kind.is_some())
        && !candidates.iter().any(|one| one.is_preferred(params))
}

/// How well a product fits what a query asks for without its attributes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct KindEvidence {
    /// The cosine with the kind, relative to the nearest products.
    pub nearness: f32,
    /// Whether the title says a name of the kind, best in head position, from 0 to 1.
    pub named: f32,
    /// Whether the title says the query's own words for it, likewise.
    pub own_words: f32,
    /// Whether the title says a name of a category below that of the kind, likewise.
    pub subcategory: f32,
    /// The least agreement with an attribute that is asked for.
    pub agreement: f32,
    /// How likely the product's category is what the kind names, relative to the likeliest one, from 0
    /// to 1; `None` if the kind is no known name.
    pub category: Option<f32>,
}

impl KindEvidence {
    /// Whether the product is of the kind, whatever its attributes. `category` is how likely the query
    /// means its category.
    fn is_of_kind(&self, category: f32) -> bool {
        let Self { nearness, named, own_words, subcategory, .. } = *self;
        let is_in_category = match self.category {
            // Where the category is known, others are of the kind only if they are as near.
            Some(_) => {
                self.is_in_category() && nearness >= 0.2 || category >= 0.5 && nearness >= 0.8
            }
            None => category >= 0.5 && nearness >= 0.3,
        };
        nearness >= 0.9 && (named >= 0.1 || own_words >= 0.5)
            || nearness >= 0.6 && (named >= 0.4 || own_words >= 0.9)
            || nearness >= 0.3 && subcategory >= 0.5
            || is_in_category
    }

    /// Whether the product's category is what the kind names.
    fn is_in_category(&self) -> bool {
        self.category.is_some_and(|category| category >= 0.4)
    }
}

/// Agreement with each attribute that a query asks for, from -1 (contradicts) to 1 (states it); 0 if
/// it is not asked for or unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AttributeEvidence {
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
    /// Negative for a product for pets or children where the query names no audience.
    pub unasked_audience: f32,
}

impl AttributeEvidence {
    /// Whether the title or the merchant states another value than the query asks for.
    fn has_contradiction(&self) -> bool {
        let Self { color, material, pattern, audience, size, unasked_audience: _ } = *self;
        [color, material, pattern, audience, size].contains(&-1.0)
    }

    /// The agreement with one attribute.
    pub fn get_mut(&mut self, attribute: Attribute) -> &mut f32 {
        match attribute {
            Attribute::Color => &mut self.color,
            Attribute::Material => &mut self.material,
            Attribute::Pattern => &mut self.pattern,
            Attribute::Audience => &mut self.audience,
            Attribute::Size => &mut self.size,
        }
    }
}

/// The share of a query's meaning beside its words, from 0 to 1.
fn semantic_share(semantic_weight: f32) -> f32 {
    semantic_weight / (1.0 + semantic_weight)
}

/// The formula for one query.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reranker<'a> {
    params: &'a RerankParams,
    semantic_weight: f32,
    scale: f32,
    /// The weight of the similarity by the vectors of the transformer, of all other evidence 1.
    deep_weight: f32,
    is_foreign: bool,
    none_agrees: bool,
}

/// What each part of the evidence adds to a score.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Contributions {
    /// The lexical match.
    pub lexical: f32,
    /// The cosines with the query's own vector and with its interpolation.
    pub similarity: f32,
    /// The cosine by the vectors of the transformer.
    pub deep_similarity: f32,
    /// Soft coverage.
    pub soft_coverage: f32,
    /// Names of things.
    pub names: f32,
    /// The category.
    pub category: f32,
    /// Attributes; negative for contradictions.
    pub attributes: f32,
    /// Being of the right kind with every attribute, and terms that the merchant's attributes state.
    pub preference: f32,
}

impl Contributions {
    /// The score.
    pub fn sum(&self) -> f32 {
        self.without_preference() + self.preference
    }

    /// The score without preference: however much a product is preferred, it says nothing about how
    /// relevant the others are.
    pub fn without_preference(&self) -> f32 {
        let Self { lexical, similarity, deep_similarity, soft_coverage, .. } = self;
        let Self { names, category, attributes, .. } = self;
        lexical + similarity + deep_similarity + soft_coverage + names + category + attributes
    }
}

impl<'a> Reranker<'a> {
    /// The formula for a query.
    pub fn new(params: &'a RerankParams, query: &QueryEvidence) -> Self {
        let semantic_weight = query.semantic_weight(&params.semantic_weight);
        let most = 1.0
            + params.soft_coverage
            + params.similarity
            + params.names
            + semantic_weight * (1.0 + params.semantic_soft_coverage + params.semantic_names)
            + (1.0 + semantic_weight) * params.attributes.color;
        let QueryEvidence { is_foreign, none_agrees, .. } = *query;
        let deep_weight = params.deep.weight(semantic_share(semantic_weight));
        let scale = (most * (1.0 + deep_weight)).recip();
        Self { params, semantic_weight, scale, deep_weight, is_foreign, none_agrees }
    }

    /// How much the meaning of the query counts beside its words.
    pub fn semantic_weight(&self) -> f32 {
        self.semantic_weight
    }

    /// The score that orders a product: about 1 for one that everything speaks for. Rounded, so that
    /// a boost adds to it exactly.
    pub fn score(&self, evidence: &Evidence) -> f32 {
        const STEPS: f32 = 65_536.0;
        (self.contributions(evidence).sum() * STEPS).round() / STEPS
    }

    /// Which candidates are relevant. One that is `certain`, since its title or its key is the query,
    /// always is, and says nothing about how good the others could be. One of the right kind that
    /// agrees with every attribute is, too, and if there are enough of them, none that contradicts one.
    /// Where none agrees, all of the right kind are.
    pub fn are_relevant(&self, evidence: &[Evidence], certain: &[bool]) -> Vec<bool> {
        let score = |evidence: &Evidence| self.contributions(evidence).without_preference();
        let scores: Vec<f32> = evidence.iter().map(score).collect();
        let others = scores.iter().zip(certain).filter(|(_, certain)| !**certain);
        let best = others.map(|(score, _)| *score).fold(0.0, f32::max);
        let cutoff = self.relative_cutoff() * best;
        let preferred: Vec<bool> = evidence.iter().map(|one| self.is_preferred(one)).collect();
        let preferred_count = preferred.iter().filter(|one| **one).count();
        let has_enough = preferred_count >= ENOUGH && !self.none_agrees;
        let is_relevant = |at: usize| {
            let contradicts = || has_enough && evidence[at].attributes.has_contradiction();
            certain[at] || preferred[at] || scores[at] >= cutoff && !contradicts()
        };
        (0..evidence.len()).map(is_relevant).collect()
    }

    /// Whether a product is of the right kind and agrees with every attribute, or comes next where none does.
    fn is_preferred(&self, evidence: &Evidence) -> bool {
        match self.none_agrees {
            false => evidence.is_preferred(&self.params.preference),
            true => evidence.is_preferred_instead(&self.params.preference),
        }
    }

    /// The parts of a product's score.
    pub fn contributions(&self, evidence: &Evidence) -> Contributions {
        let (params, meaning, scale) = (self.params, self.semantic_weight, self.scale);
        let phrase_similarity = evidence.phrase_similarity.max(0.0);
        let soft_coverage = params.soft_coverage + meaning * params.semantic_soft_coverage;
        let names = params.names + meaning * params.semantic_names;
        // A share of the whole score, however much the meaning of the query counts.
        let deep = self.deep_weight / (1.0 + self.deep_weight);
        // What a shopper asks for as a condition counts as much beside all that tells the kind.
        let condition = scale * (1.0 + meaning) * (1.0 + self.deep_weight);
        Contributions {
            lexical: scale * evidence.lexical,
            similarity: scale
                * (params.similarity * evidence.similarity + meaning * phrase_similarity),
            deep_similarity: deep * evidence.deep_similarity.max(0.0),
            soft_coverage: scale * soft_coverage * evidence.soft_coverage,
            names: scale * names * evidence.names,
            category: scale * (1.0 + meaning) * params.category * evidence.category,
            attributes: condition * self.attributes(evidence),
            preference: condition * self.preference(evidence),
        }
    }

    /// Products of the right kind that agree with every attribute come first, the best fit before
    /// others; so do those whose merchant states terms of the query as attributes.
    fn preference(&self, evidence: &Evidence) -> f32 {
        let params = &self.params.preference;
        let of_kind = match evidence.kind {
            Some(kind) if self.is_preferred(evidence) => {
                let fit = kind.nearness + kind.named + 0.5 * kind.own_words;
                let category = if kind.is_in_category() { params.category } else { 0.0 };
                params.base + category + params.kind * fit
            }
            _ => 0.0,
        };
        of_kind + params.stated * evidence.attribute_coverage
    }

    /// The fraction of the best score without preference below which a product is not relevant. The
    /// more the meaning of a query counts, the higher: similarities are never near 0.
    pub fn relative_cutoff(&self) -> f32 {
        let share = semantic_share(self.semantic_weight);
        let RelativeCutoff { literal, semantic, foreign } = self.params.cutoff;
        let semantic = if self.is_foreign { foreign } else { semantic };
        literal + share * (semantic - literal)
    }

    /// Agreement counts as far as the product is the thing that was asked for; contradiction counts
    /// whatever it is.
    fn attributes(&self, evidence: &Evidence) -> f32 {
        let (weights, found) = (&self.params.attributes, &evidence.attributes);
        let sum = weights.color * found.color
            + weights.material * found.material
            + weights.pattern * found.pattern
            + weights.size * found.size
            + weights.audience * found.audience;
        let is_the_thing = evidence.head.max(1.4 * evidence.similarity).clamp(0.0, 1.0);
        let asked = if sum > 0.0 { sum * is_the_thing } else { sum * weights.contradiction };
        asked + weights.unasked_audience * found.unasked_audience
    }
}

#[cfg(test)]
mod tests;
