//! The explanation of a product's score in the response to a search.

use catalog::ranking::{
    explanation::{Bonus, DensePart, Explanation, LexicalPart, RerankPart, TermPart},
    reranking::{AttributeEvidence, Evidence},
};
use serde::Serialize;
use utoipa::ToSchema;

/// The parts of a product's score. Where there is a `rerank`, `score` is the sum of its
/// contributions; otherwise `words.score` times its weight plus `meaning.score` times its weight.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Explanation)]
pub struct ExplanationBody {
    /// How relevant the product is: about 1 for one that everything speaks for.
    score: f32,
    /// What its words give.
    words: ExplainedWords,
    /// What its meaning gives; `null` where meaning took no part or the product is too far away.
    #[schema(required)]
    meaning: Option<ExplainedMeaning>,
    /// The second stage of ranking, which orders the best products of the first one, by words and
    /// meaning, with more evidence. Left out for a product that it did not consider.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    rerank: Option<ExplainedRerank>,
    /// `true` for a product that claims to be free of what was asked for so (`nickel-free`): these
    /// come before all others, in the order of their scores. Left out otherwise.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schema(required = false)]
    claims: bool,
    /// `true` for the product whose key is the query: it comes before all others. Left out otherwise.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schema(required = false)]
    key: bool,
}

/// What words give.
#[derive(Debug, Serialize, ToSchema)]
pub struct ExplainedWords {
    /// How well the words match, from 0 to 1: the sum of terms and bonuses.
    matched: f32,
    /// What that is worth, from 0 to 1.
    score: f32,
    /// How much of the whole score they decide, from 0 to 1.
    weight: f32,
    /// What was asked for, as far as the product says it.
    terms: Vec<ExplainedTerm>,
    /// What the product has beyond single words.
    bonuses: Vec<ExplainedBonus>,
}

/// Something asked for that the product says.
#[derive(Debug, Serialize, ToSchema)]
pub struct ExplainedTerm {
    /// What was asked for, as the index has it.
    term: String,
    /// The way in which the product says it.
    #[serde(rename = "as")]
    found_as: String,
    /// How often its title does.
    title: u32,
    /// How often its description does.
    description: u32,
    /// `true` if its key or an attribute does. Left out otherwise.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schema(required = false)]
    attribute: bool,
    /// What that gives.
    score: f32,
}

/// Something that speaks for a product beyond single words.
#[derive(Debug, Serialize, ToSchema)]
pub struct ExplainedBonus {
    /// What it is.
    name: &'static str,
    /// What that gives.
    score: f32,
}

/// What meaning gives.
#[derive(Debug, Serialize, ToSchema)]
pub struct ExplainedMeaning {
    /// The cosine between query and product.
    similarity: f32,
    /// How much that says, from 0 to 1.
    score: f32,
    /// How much of the whole score it decides, from 0 to 1.
    weight: f32,
}

/// The second stage of ranking.
#[derive(Debug, Serialize, ToSchema)]
pub struct ExplainedRerank {
    /// What each part of the evidence adds to the score, which is their sum.
    contributions: ExplainedContributions,
    /// What is known about the product.
    evidence: ExplainedEvidence,
    /// How much the meaning of the query counts beside its words.
    semantic_weight: f32,
}

/// What each part of the evidence adds to a score.
#[derive(Debug, Serialize, ToSchema)]
pub struct ExplainedContributions {
    /// The match of the words.
    lexical: f32,
    /// The similarity of the meaning, by the instant encoder.
    similarity: f32,
    /// The similarity of the meaning, by the transformer.
    deep_similarity: f32,
    /// How much of the query the product's words cover.
    soft_coverage: f32,
    /// Whether the title names the thing.
    names: f32,
    /// The category.
    category: f32,
    /// Attributes that the query asks for; negative for contradictions.
    attributes: f32,
    /// Being of the right kind with every attribute.
    preference: f32,
}

/// What is known about a product and a query.
#[derive(Debug, Serialize, ToSchema)]
pub struct ExplainedEvidence {
    /// The match of the words, from 0 to 1.
    lexical: f32,
    /// The cosine between query and product, by the instant encoder.
    similarity: f32,
    /// The cosine by the transformer, or its estimate where query or product have no such vector.
    deep_similarity: f32,
    /// The first after the query was moved toward known phrases.
    phrase_similarity: f32,
    /// The share of the query that the product's words cover, by meaning where not literally.
    soft_coverage: f32,
    /// Whether the title says a name of what the query asks for, from 0 to 1.
    names: f32,
    /// How close a word of the title is to the thing that the query names: a cosine.
    head: f32,
    /// Agreement with what the query asks for.
    attributes: ExplainedAttributes,
    /// The probability that the query means the product's category; 0 if either is
    /// unknown.
    category: f32,
}

/// Agreement with each attribute that the query asks for, from -1 (contradicts it) to 1 (states it);
/// 0 if it is not asked for or unknown.
#[derive(Debug, Serialize, ToSchema)]
pub struct ExplainedAttributes {
    /// Agreement in color.
    color: f32,
    /// Agreement in material.
    material: f32,
    /// Agreement in pattern.
    pattern: f32,
    /// Agreement about whom it is for.
    audience: f32,
    /// Agreement in size.
    size: f32,
    /// Negative for a product for pets or children where the query names no audience.
    unasked_audience: f32,
}

impl From<&RerankPart> for ExplainedRerank {
    fn from(part: &RerankPart) -> Self {
        let RerankPart { evidence, contributions, semantic_weight, query: _ } = *part;
        Self {
            contributions: ExplainedContributions {
                lexical: contributions.lexical,
                similarity: contributions.similarity,
                deep_similarity: contributions.deep_similarity,
                soft_coverage: contributions.soft_coverage,
                names: contributions.names,
                category: contributions.category,
                attributes: contributions.attributes,
                preference: contributions.preference,
            },
            evidence: evidence.into(),
            semantic_weight,
        }
    }
}

impl From<Evidence> for ExplainedEvidence {
    fn from(evidence: Evidence) -> Self {
        let AttributeEvidence { color, material, pattern, audience, size, unasked_audience } =
            evidence.attributes;
        Self {
            lexical: evidence.lexical,
            similarity: evidence.similarity,
            deep_similarity: evidence.deep_similarity,
            phrase_similarity: evidence.phrase_similarity,
            soft_coverage: evidence.soft_coverage,
            names: evidence.names,
            head: evidence.head,
            attributes: ExplainedAttributes {
                color,
                material,
                pattern,
                audience,
                size,
                unasked_audience,
            },
            category: evidence.category,
        }
    }
}

impl From<&Explanation> for ExplanationBody {
    fn from(explanation: &Explanation) -> Self {
        let Explanation { score, lexical, dense, rerank, claims, key } = explanation;
        let LexicalPart { matched, score: words_score, weight, terms, bonuses } = lexical;
        let term = |part: &TermPart| ExplainedTerm {
            term: part.term.clone(),
            found_as: part.found_as.clone(),
            title: part.title,
            description: part.description,
            attribute: part.attribute,
            score: part.score,
        };
        let bonus = |Bonus { name, score }: &Bonus| ExplainedBonus { name, score: *score };
        let meaning = dense.map(|DensePart { similarity, score, weight }| ExplainedMeaning {
            similarity,
            score,
            weight,
        });
        Self {
            score: *score,
            words: ExplainedWords {
                matched: *matched,
                score: *words_score,
                weight: *weight,
                terms: terms.iter().map(term).collect(),
                bonuses: bonuses.iter().map(bonus).collect(),
            },
            meaning,
            rerank: rerank.as_ref().map(Into::into),
            claims: *claims,
            key: *key,
        }
    }
}
