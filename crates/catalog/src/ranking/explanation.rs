//! The parts of a product's score.
//!
//! The functions that compute the score also produce the parts, for the products of one page:
//! [`Explanation::sum`] is the score that ordered them.

use crate::ranking::reranking::{Contributions, Evidence, QueryEvidence};

/// The parts of a product's score.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// The score that ordered the product.
    pub score: f32,
    /// The lexical part.
    pub lexical: LexicalPart,
    /// The dense part; `None` where the query or the product has no vector.
    pub dense: Option<DensePart>,
    /// The second stage; `None` for a product that it did not consider. Its sum is the score then.
    pub rerank: Option<RerankPart>,
    /// Whether the product claims to be free of what the query excludes ("nickel-free"). Such
    /// products come before all others, in the order of their scores.
    pub claims: bool,
    /// Whether the query is the product's key. That product comes before all others.
    pub key: bool,
}

/// The second stage of a score.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RerankPart {
    /// What is known about the query and its candidates as a whole.
    pub query: QueryEvidence,
    /// The evidence about the product.
    pub evidence: Evidence,
    /// What it adds to the score.
    pub contributions: Contributions,
    /// How much the meaning of the query counts beside its words.
    pub semantic_weight: f32,
}

/// The lexical part of a score.
#[derive(Clone, Debug, PartialEq)]
pub struct LexicalPart {
    /// How well the words match, from 0 to 1: the sum of terms and bonuses.
    pub matched: f32,
    /// The lexical score, from 0 to 1.
    pub score: f32,
    /// The weight of the lexical score in the whole score, from 0 to 1.
    pub weight: f32,
    /// The query's terms that the product contains.
    pub terms: Vec<TermPart>,
    /// Additions beyond single terms.
    pub bonuses: Vec<Bonus>,
}

/// A term of the query that the product contains.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TermPart {
    /// The term as the query has it, normalised.
    pub term: String,
    /// The variant that the product contains.
    pub found_as: String,
    /// Term frequency in the title.
    pub title: u32,
    /// Term frequency in the description.
    pub description: u32,
    /// Whether the key or an attribute has the term.
    pub attribute: bool,
    /// What the term adds to [`LexicalPart::matched`].
    pub score: f32,
}

/// An addition to the lexical match beyond single terms.
#[derive(Clone, Debug, PartialEq)]
pub struct Bonus {
    /// `phrase` or `exact_title`.
    pub name: &'static str,
    /// What it adds to [`LexicalPart::matched`].
    pub score: f32,
}

/// The dense part of a score.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DensePart {
    /// The cosine between query and product, from -1 to 1.
    pub similarity: f32,
    /// The dense score, from 0 to 1.
    pub score: f32,
    /// The weight of the dense score in the whole score, from 0 to 1.
    pub weight: f32,
}

impl Explanation {
    /// The sum of the parts.
    pub fn sum(&self) -> f32 {
        if let Some(part) = &self.rerank {
            return part.contributions.sum();
        }
        let dense = self.dense.map_or(0.0, |part| part.score * part.weight);
        self.lexical.score * self.lexical.weight + dense
    }
}

impl LexicalPart {
    /// The sum of terms and bonuses.
    pub fn sum(&self) -> f32 {
        let terms: f32 = self.terms.iter().map(|term| term.score).sum();
        terms + self.bonuses.iter().map(|bonus| bonus.score).sum::<f32>()
    }
}
