//! A phrase of the rules, and where it counts.

use crate::text::{language::Language, lexer::Tokens};

/// A phrase with its meaning in one language.
#[derive(Clone, Copy, Debug)]
pub(in crate::query::parser) struct Rule {
    pub(in crate::query::parser) language: Language,
    pub(in crate::query::parser) section: &'static str,
    pub(in crate::query::parser) meaning: &'static str,
    /// As written in the file, without its mark.
    pub(in crate::query::parser) phrase: &'static str,
    pub(in crate::query::parser) mark: Mark,
}

/// Restricts where a phrase counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::query::parser) enum Mark {
    /// Everywhere.
    None,
    /// `!`: only where it is written with these accents.
    AsWritten,
    /// `?`: only in a query that is probably in this language.
    NeedsContext,
}

/// The folded tokens of a phrase.
pub(in crate::query::parser) fn folded(phrase: &str) -> Vec<Box<str>> {
    let tokens = Tokens::of(phrase);
    (0..tokens.len()).map(|at| tokens.word(at).into()).collect()
}
