//! Exclusions in a query: "without leather", "not black", "-red".
//!
//! A negation is often part of what *is* wanted ("no show socks", "non stick", "without waking the
//! baby"). The rules then abstain, and the words are searched for. A free-from claim
//! ("nickel-free", "free of nickel") excludes as well, and its words stay in the residual text.
//!
//! - [`rules`] finds exclusions in the tokens of a query; [`tables`], [`free_from`] and [`idioms`]
//!   are its word lists.
//! - [`matching`] decides whether a product's text violates an exclusion.

mod free_from;
mod idioms;
mod matching;
mod rules;
mod tables;
mod translation;

use crate::text::{
    analysis::{joined_terms, singular},
    correction::{Confidence, Correction},
    lexer::{Span, Tokens},
    spelling::unambiguous_correction,
    vocabulary::Vocabulary,
};

pub(super) use rules::parse;

/// Words that no result may mention.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exclusion {
    /// The words as index terms. A product is excluded if it has all of them, in this order.
    pub words: Vec<Box<str>>,
    /// The bytes of the query that state the exclusion. Words excluded together ("leather or
    /// suede") share the negation, which belongs to the span of the first.
    pub span: Span,
    /// Whether it is a free-from claim ("nickel-free"). Its words are then also searched for, and
    /// products that make the claim are ranked before others.
    pub is_claim: bool,
}

impl Exclusion {
    /// For a claim, the one-word form that products may use: `nickelfree`, which is also how the
    /// index has `nickel-free`.
    pub fn claim(&self) -> Option<String> {
        self.is_claim.then(|| format!("{}free", self.words.concat()))
    }

    /// The excluded words as a text.
    pub fn text(&self) -> String {
        joined_terms(&self.words)
    }

    /// Corrects words that the shop does not know, where exactly one correction is plausible.
    pub(in crate::query::parser) fn correct(
        &mut self,
        query: &str,
        vocabulary: &Vocabulary<'_>,
    ) -> Vec<Correction> {
        let start = self.span.start;
        let tokens = Tokens::of(&query[self.span.clone()]);
        let mut corrections = Vec::new();
        for word in &mut self.words {
            let is_it = |at: &usize| *singular(tokens.word(*at)) == **word;
            if let Some(to) = unambiguous_correction(word, vocabulary)
                && let Some(at) = (0..tokens.len()).rev().find(is_it)
            {
                let place = tokens.span(at, at + 1);
                let span = start + place.start..start + place.end;
                corrections.push(Correction {
                    from: query[span.clone()].to_owned(),
                    to: to.clone(),
                    span,
                    confidence: Confidence::High,
                });
                *word = to.into();
            }
        }
        corrections
    }

    /// Applies corrections of the query's residual text to the words of a claim.
    pub(in crate::query::parser) fn apply_corrections(&mut self, corrections: &[Correction]) {
        let is_inside = |span: &Span| self.span.start <= span.start && span.end <= self.span.end;
        for Correction { from, to, span, .. } in corrections {
            let is_it = |word: &&mut Box<str>| *singular(Tokens::of(from).word(0)) == ***word;
            if is_inside(span)
                && !to.contains(' ')
                && let Some(word) = self.words.iter_mut().find(is_it)
            {
                *word = singular(to).into();
            }
        }
    }
}
