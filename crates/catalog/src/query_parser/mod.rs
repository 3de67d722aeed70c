//! What does a query ask for: which price, what not, in which order, and which words are left?
//!
//! [`parse`] is a pure function from text to [`ParsedQuery`]. Rules and tables, no
//! setting and no guess at the language: each reads its own words. Everything that is read
//! keeps the bytes of text it came from, and can be switched off with [`ParseOptions`], so that a
//! caller can undo a wrong reading.
//!
//! Where a phrase may mean something else than a condition, it is left alone: a condition that
//! is missed costs a few results, one that was never said hides what is looked for.

mod amount;
mod claims;
mod constraint;
mod cues;
mod exclusion;
mod interval;
mod lexicon;
mod money;
mod negation;
mod numerals;
mod pricing;
mod range;
mod residual;
mod sorting;
#[cfg(test)]
mod tests;
mod tokens;

use std::ops::Range;

pub use constraint::{Bound, PriceConstraint, PriceKind};
pub use exclusion::Exclusion;
pub use interval::PriceInterval;
pub use range::PriceRange;
pub use sorting::{SortHint, SortOrder};

use crate::{
    analysis::QueryTerms,
    price::Price,
    spelling::{self, Corrected, Correction, SpellingVariant, Vocabulary},
};
pub(crate) use tokens::{Kind, Tokens};

/// A range of bytes of a query; both ends lie between characters.
pub type Span = Range<usize>;

/// Does the shop know this word? Decides cases that are names in one shop and conditions in
/// another. The word is folded as the words of the index are.
pub type TermLookup<'a> = &'a dyn Fn(&str) -> bool;

/// What a query asks for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ParsedQuery {
    /// Conditions on the price, in the order they were said. All of them hold.
    pub constraints: Vec<PriceConstraint>,
    /// What is not wanted, in the order it was said.
    pub exclusions: Vec<Exclusion>,
    /// The order that was asked for, if any.
    pub sort: Option<SortHint>,
    /// Where the words stand that say nothing about products.
    pub stop_words: Vec<Span>,
    /// What is left without conditions, as a person would say it, unless corrected.
    pub sentence: String,
    /// The words left to search for, as written unless corrected. Empty if the query only sets
    /// conditions.
    pub residual: String,
    /// The pieces of the query that the words left stand in; between two of them, the words have
    /// one space.
    kept: Vec<Span>,
    /// What was corrected, in order, each with its place in the query.
    pub corrections: Vec<Correction>,
    /// What else may be meant by words that are left.
    pub variants: Vec<SpellingVariant>,
}

impl ParsedQuery {
    /// Whether the query says anything besides words to search for.
    pub fn has_conditions(&self) -> bool {
        !self.constraints.is_empty() || !self.exclusions.is_empty() || self.sort.is_some()
    }

    /// Whether a product of this price satisfies every condition. A price that cannot be parsed
    /// satisfies none.
    pub fn admits(&self, price: &Price) -> bool {
        let satisfies = |money| self.constraints.iter().all(|one| one.admits(money));
        price.money().map_or(self.constraints.is_empty(), satisfies)
    }

    /// Corrects the words left and the words excluded with those that a shop knows. `query` is
    /// the text that was read.
    pub fn correct(&mut self, query: &str, vocabulary: &Vocabulary<'_>) {
        let Corrected { text, corrections, variants } =
            spelling::correct(&self.residual, vocabulary);
        for mut correction in corrections {
            self.sentence = self.sentence.replacen(&correction.from, &correction.to, 1);
            if let Some(span) = residual::place_in_query(&self.kept, &correction.span) {
                correction.span = span;
                self.corrections.push(correction);
            }
        }
        self.residual = text;
        self.variants = variants;
        for exclusion in &mut self.exclusions {
            if exclusion.is_claim {
                // Its words are among those left, and were corrected with them.
                exclusion.follow(&self.corrections);
            } else {
                self.corrections.extend(exclusion.correct(query, vocabulary));
            }
        }
        self.corrections.sort_by_key(|correction| correction.span.start);
    }

    /// What products are searched for by: the words left, with what else may be meant by them.
    pub fn words(&self) -> QueryTerms {
        let claims = self.exclusions.iter().filter(|exclusion| exclusion.is_claim);
        QueryTerms::of(&self.residual)
            .mark_corrected(&self.corrections)
            .with_variants(&self.variants)
            .with_claims(claims.map(|exclusion| &*exclusion.words))
    }

    /// Whether no text of a product says what is excluded.
    pub fn allows(&self, title: &str, description: &str) -> bool {
        let mut texts = [title, description].into_iter();
        !texts.any(|text| Exclusion::any_matches(&self.exclusions, text))
    }
}

/// What is read in a query. What is switched off is searched for as words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ParseOptions {
    /// Conditions on the price.
    pub price: bool,
    /// What is not wanted.
    pub exclusions: bool,
    /// The order of results.
    pub sort: bool,
    /// Function words and chit-chat, to be set aside.
    pub stop_words: bool,
    /// Words that the shop does not know, to be corrected.
    pub corrections: bool,
}

impl Default for ParseOptions {
    fn default() -> Self {
        Self { price: true, exclusions: true, sort: true, stop_words: true, corrections: true }
    }
}

impl ParseOptions {
    /// Reads nothing: every word is searched for as written.
    pub const NOTHING: Self = Self {
        price: false,
        exclusions: false,
        sort: false,
        stop_words: false,
        corrections: false,
    };

    /// Reads a query. Corrections need more of the shop than whether it knows a word: see
    /// [`ParsedQuery::correct`].
    pub fn parse(&self, text: &str, knows: TermLookup) -> ParsedQuery {
        if *self == Self::NOTHING {
            let kept = Vec::from_iter(Some(0..text.len()));
            let (sentence, residual) = (text.to_owned(), text.to_owned());
            return ParsedQuery { sentence, residual, kept, ..ParsedQuery::default() };
        }
        let tokens = Tokens::of(text);
        let (mut parsed, Marked { mut taken, refused, .. }) = self.conditions(&tokens, knows);
        parsed.sentence = residual::text(text, &residual::kept(&tokens, &taken));
        if self.stop_words {
            let aside = residual::stop_words(&tokens, &taken, &refused);
            parsed.stop_words = residual::spans(&tokens, &aside);
            for (taken, aside) in taken.iter_mut().zip(aside) {
                *taken |= aside;
            }
        }
        parsed.kept = residual::kept(&tokens, &taken);
        parsed.residual = residual::text(text, &parsed.kept);
        parsed
    }

    /// What a query says besides words to search for, and which tokens say it.
    fn conditions(&self, tokens: &Tokens, knows: TermLookup) -> (ParsedQuery, Marked) {
        let mut parsed = ParsedQuery::default();
        let mut marked = Marked::none(tokens.len());
        if self.price {
            let prices = pricing::read(tokens, knows);
            prices.unclear.into_iter().for_each(|said| marked.unclear[said].fill(true));
            for (constraint, said) in prices.conditions {
                marked.taken[said].fill(true);
                parsed.constraints.push(constraint);
            }
        }
        if self.sort {
            let orders = sorting::read(tokens, &marked.taken);
            orders.refused.into_iter().for_each(|said| marked.refused[said].fill(true));
            if let Some((hint, said)) = orders.asked_for {
                marked.taken[said].fill(true);
                parsed.sort = Some(hint);
            }
        }
        if self.exclusions {
            for (exclusion, said) in exclusion::read(tokens, &marked.any(), knows) {
                // The words of a claim are searched for: products that make it come first.
                if !exclusion.is_claim {
                    marked.taken[said].fill(true);
                }
                parsed.exclusions.push(exclusion);
            }
        }
        (parsed, marked)
    }
}

/// Which tokens of a query say something besides words to search for.
struct Marked {
    /// A condition or an order.
    taken: Vec<bool>,
    /// A negated comparison that says nothing certain.
    unclear: Vec<bool>,
    /// An order that is negated.
    refused: Vec<bool>,
}

impl Marked {
    fn none(tokens: usize) -> Self {
        let none = vec![false; tokens];
        Self { taken: none.clone(), unclear: none.clone(), refused: none }
    }

    fn any(&self) -> Vec<bool> {
        let marks = self.taken.iter().zip(&self.unclear).zip(&self.refused);
        marks.map(|((taken, unclear), refused)| *taken || *unclear || *refused).collect()
    }
}

/// Reads a query with everything switched on, for a shop of which nothing is known.
pub fn parse(text: &str) -> ParsedQuery {
    ParseOptions::default().parse(text, &|_| false)
}
