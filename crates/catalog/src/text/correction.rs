//! Spelling corrections: what was written and what may be meant.

use std::ops::Range;

/// A corrected piece of a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Correction {
    /// As written.
    pub from: String,
    /// As corrected.
    pub to: String,
    /// Its bytes in the original text.
    pub span: Range<usize>,
    /// How sure it is.
    pub confidence: Confidence,
}

/// How sure a correction is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Confidence {
    /// One candidate clearly leads, or nothing but a space was changed.
    High,
    /// Another candidate is nearly as good, or the word may be right as it is.
    Low,
}

/// Another spelling that may be meant.
#[derive(Clone, Debug, PartialEq)]
pub struct SpellingVariant {
    /// The term of the corrected text.
    pub of: Box<str>,
    /// The other term.
    pub word: Box<str>,
    /// Its weight; at most 1, which only a misspelt but known word has.
    pub weight: f32,
}

/// A corrected text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Corrected {
    /// The text with all corrections applied.
    pub text: String,
    /// The corrections, in order.
    pub corrections: Vec<Correction>,
    /// Other spellings of its words.
    pub variants: Vec<SpellingVariant>,
}

impl Corrected {
    /// A text without corrections.
    pub fn unchanged(text: &str) -> Self {
        Self { text: text.to_owned(), ..Self::default() }
    }
}
