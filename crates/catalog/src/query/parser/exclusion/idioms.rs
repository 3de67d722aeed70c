//! Phrases in which a negation is part of what is wanted: "no show socks", "non stick".

use std::sync::LazyLock;

use crate::{
    query::parser::{
        lexicon::{Lexicon, WordSet, phrases, words},
        query_tokens::QueryTokens,
    },
    text::{analysis::singular, lexer::TokenKind},
};

/// Words after "no" in names of things and features.
static NO: LazyLock<WordSet> = LazyLock::new(|| words("idiom", "no"));
/// Words after "non", likewise; most others are qualities.
static NON: LazyLock<WordSet> = LazyLock::new(|| words("idiom", "non"));
/// Whole phrases, including brands.
static WHOLE: LazyLock<Lexicon<()>> = LazyLock::new(|| phrases("idiom", &["phrase"]));
/// Endings of qualities: non-metallic, non-dimmable, non-vented.
static QUALITY_ENDINGS: LazyLock<WordSet> = LazyLock::new(|| words("idiom", "quality ending"));
/// Nouns that end like qualities.
static THING_WORDS: LazyLock<WordSet> = LazyLock::new(|| words("idiom", "thing"));

/// Whether the negation at a token belongs to an idiom.
pub(super) fn begins_idiom(tokens: &QueryTokens, at: usize) -> bool {
    let next = tokens.word(at + 1);
    let is_no = tokens.word(at) == "no";
    WHOLE.is_at(tokens, at)
        || is_no && (NO.contains(next) || tokens.is_hyphen_inside(at + 1))
        || matches!(tokens.word(at), "no" | "non" | "not") && !is_a_word(tokens, at + 1)
}

/// Whether a word follows; "no 5" and "no. 7" are names.
fn is_a_word(tokens: &QueryTokens, at: usize) -> bool {
    tokens.is(at, TokenKind::Word) || tokens.is_hyphen_inside(at)
}

/// Whether "no" and this word name a feature: "no iron", "no tangle".
pub(super) fn is_feature(word: &str) -> bool {
    NO.contains(word) || NO.contains(&singular(word))
}

/// Whether "non" and this word name a quality rather than a material.
pub(super) fn is_quality(word: &str) -> bool {
    NON.contains(word)
        || NON.contains(&singular(word))
        || QUALITY_ENDINGS.words().any(|ending| word.ends_with(ending))
            && !THING_WORDS.contains(word)
}
