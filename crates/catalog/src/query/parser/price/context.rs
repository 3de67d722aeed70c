//! The words around a number that make it a count, a measure or part of a name instead of a price.

use std::sync::LazyLock;

use super::cues::{CUE_WORDS, SUFFIX_WORDS};
use crate::{
    query::parser::{
        lexicon::{Lexicon, WordSet, phrases, words},
        negators::NEGATOR_WORDS,
        query_tokens::QueryTokens,
    },
    text::{
        analysis::{is_function_word, singular},
        lexer::TokenKind,
    },
};

/// Units of measure, times, and things that numbers count, in the singular where it is English.
/// Things that shops sell on their own are not in the list: "under 50 monitor" asks for a monitor.
static COUNTABLE_WORDS: LazyLock<Lexicon<()>> = LazyLock::new(|| phrases("context", &["unit"]));
/// Before a cue, these words name a measure: "size under 10".
static MEASURE_WORDS: LazyLock<Lexicon<()>> = LazyLock::new(|| phrases("context", &["measure"]));
/// Before a cue, these words make a small number an age: "kids under 5", "women over 50".
static PEOPLE_WORDS: LazyLock<Lexicon<()>> = LazyLock::new(|| phrases("context", &["people"]));
/// Function words of languages other than English, which numbers do not count.
static FREE_WORDS: LazyLock<Lexicon<()>> = LazyLock::new(|| phrases("context", &["function word"]));
/// Things that are weighed: in a query with one of these, pounds are a weight.
static WEIGHED_WORDS: LazyLock<WordSet> = LazyLock::new(|| words("context", "weighed"));
/// Words before "max" that make it a name.
static NAMES_WITH_MAX: LazyLock<WordSet> = LazyLock::new(|| words("context", "name with max"));

/// What follows a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Following {
    /// Nothing that the number could count or measure.
    Nothing,
    /// A word that the number may count.
    Noun,
    /// A unit, a counted thing, or the rest of a name.
    Measured,
}

/// Classifies the token after a number without a currency.
pub(super) fn following(tokens: &QueryTokens, at: usize) -> Following {
    let word = tokens.word(at);
    if at >= tokens.len() {
        return Following::Nothing;
    }
    if tokens.is(at, TokenKind::Sign) {
        return match word {
            "," | ";" | "!" | "?" | ")" | "]" | "(" | "…" => Following::Nothing,
            "." | ":" | "-" | "–" | "—" | "/" | "|" | "&" if !tokens.is_glued(at + 1) => {
                Following::Nothing
            }
            _ => Following::Measured,
        };
    }
    if tokens.is_glued(at) {
        return Following::Measured;
    }
    let is_last = at + 1 == tokens.len()
        || matches!(tokens.word(at + 1), "." | "x" | "×" | "," | "\"") && word == "in";
    let is_neutral = is_function_word(word)
        || FREE_WORDS.has_word(tokens, word)
        || NEGATOR_WORDS.is_at(tokens, at)
        || CUE_WORDS.is_at(tokens, at)
        || SUFFIX_WORDS.is_at(tokens, at);
    if matches!(word, "in" | "a" | "m" | "c") && is_last
        || !is_neutral && takes_number(tokens, word)
    {
        return Following::Measured;
    }
    if is_neutral { Following::Nothing } else { Following::Noun }
}

/// Whether a word is a unit or a counted thing.
pub(in crate::query::parser) fn takes_number(tokens: &QueryTokens, word: &str) -> bool {
    COUNTABLE_WORDS.has_word(tokens, word) || COUNTABLE_WORDS.has_word(tokens, &singular(word))
}

/// Whether the word before a cue names a measure other than a price.
pub(super) fn is_measure(tokens: &QueryTokens, word: &str) -> bool {
    MEASURE_WORDS.has_word(tokens, word)
}

/// Whether the word before a cue names people.
pub(super) fn is_person(tokens: &QueryTokens, word: &str) -> bool {
    PEOPLE_WORDS.has_word(tokens, word)
}

/// Whether a word names a thing that is weighed.
pub(super) fn is_weighed(word: &str) -> bool {
    WEIGHED_WORDS.contains(word)
}

/// Whether the word before "max" makes it a name. At the start of a query it is one.
pub(super) fn is_name_with_max(before: &str) -> bool {
    before.is_empty() || NAMES_WITH_MAX.contains(before)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_and_counted_things_take_a_number() {
        let what = |text| following(&QueryTokens::of(text), 1);
        for text in
            ["50 inches", "50\"", "50%", "5x8", "50-inch", "5 drawers", "50s", "6 ft", "40 in"]
        {
            assert_eq!(what(text), Following::Measured, "{text}");
        }
        for text in ["50", "50, red", "50 for her", "50 in red", "50 without", "50 - red", "50."] {
            assert_eq!(what(text), Following::Nothing, "{text}");
        }
        for text in ["50 shoes", "50 iphone", "50 5"] {
            assert_eq!(what(text), Following::Noun, "{text}");
        }
    }
}
