//! The explanation of a product's score in the response to a search.

use catalog::explanation::{Bonus, DensePart, Explanation, LexicalPart, TermPart};
use serde::Serialize;
use utoipa::ToSchema;

/// The parts of a product's score: `words.score` times its weight plus `meaning.score` times its
/// weight is `score`.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Explanation)]
pub struct ExplanationBody {
    /// How relevant the product is, from 0 to 1.
    score: f32,
    /// What its words give.
    words: ExplainedWords,
    /// What its meaning gives; `null` where meaning took no part or the product is too far away.
    #[schema(required)]
    meaning: Option<ExplainedMeaning>,
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

impl From<&Explanation> for ExplanationBody {
    fn from(explanation: &Explanation) -> Self {
        let Explanation { score, lexical, dense, claims, key } = explanation;
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
            claims: *claims,
            key: *key,
        }
    }
}
