//! The tokens of a query, and what they say about its language.

use std::{collections::HashSet, ops::Deref, sync::LazyLock};

use super::{
    languages::{LanguageScores, LanguageSet, rules},
    segmentation,
};
use crate::text::{
    language::Language,
    lexer::{TokenKind, Tokens},
};

static TRADITIONAL: LazyLock<HashSet<char>> = LazyLock::new(|| {
    let letters = rules("letter").iter().filter(|rule| rule.meaning == "traditional");
    letters.flat_map(|rule| rule.phrase.chars()).collect()
});

/// The tokens of a query. Text without spaces is split where a phrase of a rule begins or ends.
pub(super) struct QueryTokens<'t> {
    tokens: Tokens<'t>,
    /// The languages other than English that the query may be in.
    foreign: LanguageSet,
    /// Whether nothing but an amount in euros tells the language.
    has_only_euros: bool,
}

impl<'t> QueryTokens<'t> {
    pub(super) fn of(text: &'t str) -> Self {
        let tokens = Tokens::with_cuts(text, &segmentation::cuts(text));
        let scores = LanguageScores::of(&tokens, |_| true);
        let (foreign, says_nothing) = (scores.foreign(), scores.says_nothing());
        let has_only_euros = says_nothing && has_euros(&tokens);
        Self { tokens, foreign, has_only_euros }
    }

    /// Whether words that are common in other languages count as words of this one.
    pub(super) fn may_be_in(&self, language: Language) -> bool {
        self.foreign.contains(language)
    }

    /// Like [`Self::may_be_in`], for words next to an amount.
    pub(super) fn may_state_price_in(&self, language: Language) -> bool {
        self.has_only_euros || self.may_be_in(language)
    }

    /// Whether the query is in traditional Chinese characters.
    pub(super) fn is_traditional(&self) -> bool {
        self.tokens.text().contains(|c| TRADITIONAL.contains(&c))
    }

    /// The language of the query. `taken` marks the tokens of conditions.
    pub(super) fn language(&self, taken: &[bool]) -> Option<Language> {
        LanguageScores::of(&self.tokens, |at| taken[at]).only()
    }
}

impl<'t> Deref for QueryTokens<'t> {
    type Target = Tokens<'t>;

    fn deref(&self) -> &Self::Target {
        &self.tokens
    }
}

/// Whether a query has an amount with the sign of the euro: then a word that is common in English
/// ("do 500 €") is probably not English.
fn has_euros(tokens: &Tokens) -> bool {
    let is_number = |at: usize| tokens.is(at, TokenKind::Digits);
    let is_amount = |at: usize| is_number(at + 1) || at > 0 && is_number(at - 1);
    (0..tokens.len()).any(|at| tokens.word(at) == "€" && is_amount(at))
}
