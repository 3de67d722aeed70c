//! Why does a product stand where it stands? The parts of its score.
//!
//! They are taken from the same functions that made the score, for the products of a page alone:
//! [`Explanation::sum`] is the score that ordered them.

/// The parts of a product's score.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// The score that ordered the product.
    pub score: f32,
    /// What its words give.
    pub words: WordsPart,
    /// What its meaning gives; `None` where meaning took no part, or the product is too far away.
    pub meaning: Option<MeaningPart>,
    /// Whether it claims to be free of what was asked for so ("nickel-free"). Such products come
    /// before all others, in the order of their scores.
    pub claims: bool,
}

/// What words give.
#[derive(Clone, Debug, PartialEq)]
pub struct WordsPart {
    /// How well the words match, from 0 to 1: the sum of terms and bonuses.
    pub matched: f32,
    /// What that is worth, from 0 to 1.
    pub score: f32,
    /// How much of the whole score they decide.
    pub weight: f32,
    /// What was asked for, as far as the product says it.
    pub terms: Vec<TermPart>,
    /// What the product has beyond single words.
    pub bonuses: Vec<Bonus>,
}

/// Something asked for that the product says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TermPart {
    /// What was asked for, as the index has it.
    pub term: String,
    /// The way in which the product says it.
    pub found_as: String,
    /// How often its title does.
    pub title: u32,
    /// How often its description does.
    pub description: u32,
    /// What that gives.
    pub score: f32,
}

/// Something that speaks for a product beyond single words.
#[derive(Clone, Debug, PartialEq)]
pub struct Bonus {
    /// What it is.
    pub name: &'static str,
    /// What that gives.
    pub score: f32,
}

/// What meaning gives.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeaningPart {
    /// The cosine between query and product.
    pub similarity: f32,
    /// How much that says, from 0 to 1.
    pub score: f32,
    /// How much of the whole score it decides.
    pub weight: f32,
}

impl Explanation {
    /// What the parts make together.
    pub fn sum(&self) -> f32 {
        let meaning = self.meaning.map_or(0.0, |part| part.score * part.weight);
        self.words.score * self.words.weight + meaning
    }
}

impl WordsPart {
    /// What terms and bonuses make together.
    pub fn sum(&self) -> f32 {
        let terms: f32 = self.terms.iter().map(|term| term.score).sum();
        terms + self.bonuses.iter().map(|bonus| bonus.score).sum::<f32>()
    }
}
