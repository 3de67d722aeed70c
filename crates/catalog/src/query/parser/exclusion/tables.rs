//! Word lists of the exclusion rules.

use std::sync::LazyLock;

use crate::query::parser::lexicon::{Lexicon, WordSet, phrases, words};

fn of_context(meaning: &str) -> WordSet {
    words("exclusion context", meaning)
}

/// How many words before "with no" a place may begin: "at a remote ranch".
pub(super) const MAX_PLACE: usize = 4;

/// Words that may stand between a negation and the words it excludes.
pub(super) static SKIPPED_WORDS: LazyLock<Lexicon<()>> =
    LazyLock::new(|| phrases("exclusion context", &["skipped"]));
/// Modifiers: the excluded thing includes the word after them ("faux fur").
pub(super) static MODIFIER_WORDS: LazyLock<WordSet> = LazyLock::new(|| of_context("modifier"));
/// After an excluded noun, these words are wanted again: "without laces black".
pub(super) static WANTED_WORDS: LazyLock<WordSet> = LazyLock::new(|| of_context("wanted again"));
/// Nouns in -ing that can be excluded; other words in -ing are taken for verbs.
pub(super) static ING_WORDS: LazyLock<WordSet> = LazyLock::new(|| of_context("thing in -ing"));
/// Words that are not things a product can be without.
pub(super) static NOT_NOUN_WORDS: LazyLock<Lexicon<()>> =
    LazyLock::new(|| phrases("exclusion context", &["not a noun"]));
/// Signs of an infinitive: "zonder te kloppen".
pub(super) static INFINITIVES: LazyLock<Lexicon<()>> =
    LazyLock::new(|| phrases("exclusion context", &["infinitive"]));
/// Before "no" and "not", these words start a sentence about the shopper.
pub(super) static ABOUT_ME_WORDS: LazyLock<WordSet> =
    LazyLock::new(|| of_context("about the shopper"));
/// Verbs of wanting. A query that begins with any other verb and its object describes a task, and
/// its negations describe how to do it: "cut a branch without any noise".
pub(super) static WANTING_WORDS: LazyLock<WordSet> = LazyLock::new(|| of_context("wanting"));
/// Words that make the following foreign negation part of a name: "comic sans".
pub(super) static NAME_WORDS: LazyLock<WordSet> = LazyLock::new(|| of_context("name before"));
/// Words that follow a verb but not a noun.
pub(super) static AFTER_VERBS: LazyLock<WordSet> = LazyLock::new(|| of_context("after verbs"));
/// Words that negate a free-from claim: "not sugar free".
pub(super) static NEGATED: LazyLock<WordSet> = LazyLock::new(|| of_context("negates a claim"));
/// Words that reverse "without": "can't live without a cuppa".
pub(super) static CANNOT: LazyLock<WordSet> = LazyLock::new(|| of_context("cannot"));
/// Prepositions of place: "in a tent with no electricity" describes a place, not the product.
pub(super) static PLACES: LazyLock<WordSet> = LazyLock::new(|| of_context("place"));
/// Negators that are a name or another word at the end of a query.
pub(super) static LONE_NAMES: LazyLock<WordSet> = LazyLock::new(|| of_context("lone name"));
/// Joins excluded words, of which each is excluded: "or suede".
pub(super) static OR_WORDS: LazyLock<Lexicon<()>> =
    LazyLock::new(|| phrases("exclusion list", &["or"]));
/// Joins excluded words, unless the next one is wanted: "and gluten".
pub(super) static AND_WORDS: LazyLock<Lexicon<()>> =
    LazyLock::new(|| phrases("exclusion list", &["and"]));
