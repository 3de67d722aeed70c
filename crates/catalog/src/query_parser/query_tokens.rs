//! The tokens of a query, and what they say about its language.

use std::ops::Deref;

use super::languages::Language;
use crate::lexer::Tokens;

/// The tokens of a query.
pub(super) struct QueryTokens<'t> {
    tokens: Tokens<'t>,
}

impl<'t> QueryTokens<'t> {
    pub(super) fn of(text: &'t str) -> Self {
        Self { tokens: Tokens::of(text) }
    }

    /// Whether words that are common in other languages count as words of this one.
    pub(super) fn may_be_in(&self, _language: Language) -> bool {
        false
    }
}

impl<'t> Deref for QueryTokens<'t> {
    type Target = Tokens<'t>;

    fn deref(&self) -> &Self::Target {
        &self.tokens
    }
}
