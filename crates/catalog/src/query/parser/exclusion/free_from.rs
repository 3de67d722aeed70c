//! Free-from claims in a query: "nickel-free", "lactose free", "free of nickel".
//!
//! With a hyphen, or after "free of", any word but those of [`NAME_WORDS`] makes a claim. Without a
//! hyphen, "free" may belong to the next word ("nike free run", "books free shipping"): then only
//! known substances make a claim, and words for which the shop's vocabulary has `wordfree`.

use std::sync::LazyLock;

use super::idioms;
use crate::{
    query::parser::{
        lexicon::{Lexicon, WordSet, phrases, words},
        query_tokens::QueryTokens,
    },
    text::{analysis::singular, lexer::TokenKind, vocabulary::TermLookup},
};

fn of_claims(meaning: &str) -> WordSet {
    words("free from", meaning)
}

/// Forms of "free" after its word.
static FREE: LazyLock<WordSet> = LazyLock::new(|| of_claims("free"));
static FREE_OF_WORDS: LazyLock<Lexicon<()>> = LazyLock::new(|| phrases("free from", &["free of"]));
/// Joins the items of a list before a claim.
static LIST_WORDS: LazyLock<WordSet> = LazyLock::new(|| of_claims("list"));
/// Substances that are not products, so that they can only be the first item of a list: "gluten and
/// dairy free".
static IMPURITY_WORDS: LazyLock<WordSet> = LazyLock::new(|| of_claims("impurity"));
/// Substances that are products and that other products can be free of.
static INGREDIENT_WORDS: LazyLock<WordSet> = LazyLock::new(|| of_claims("ingredient"));
/// Modifiers: the substance includes the word after them.
static MODIFIER_WORDS: LazyLock<WordSet> = LazyLock::new(|| of_claims("modifier"));
/// Words that form a name or a promise with "free". Products that mention such a word prevent it, do
/// without it or do not charge it; excluding them would be wrong.
static NAME_WORDS: LazyLock<WordSet> = LazyLock::new(|| of_claims("name"));
/// Words that "free" modifies: "free shipping", "free size".
static TAKER_WORDS: LazyLock<WordSet> = LazyLock::new(|| of_claims("takes free"));
/// After "free of", these are not substances.
static NO_PARTS: LazyLock<WordSet> = LazyLock::new(|| of_claims("no part"));

/// Shorter words in front of "-free" are parts of names.
const LEAST_LETTERS: usize = 2;
/// The most items of a list before its claim.
const MAX_LISTED: usize = 4;

/// A claim about the tokens `start..end`. `claim_end` is the exclusive end of the claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FreeFrom {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) claim_end: usize,
}

/// The claim that begins with its substance: "nickel-free", "palm oil free".
pub(super) fn before_free(tokens: &QueryTokens, at: usize, knows: TermLookup) -> Option<FreeFrom> {
    if !tokens.is(at, TokenKind::Word) || tokens.is_glued(at) {
        return None;
    }
    hyphenated(tokens, at).or_else(|| separate(tokens, at, knows))
}

/// The start of the substance after "free of" at a token.
pub(super) fn after_free_of(tokens: &QueryTokens, at: usize) -> Option<usize> {
    let (_, end) = FREE_OF_WORDS.longest_at(tokens, at)?;
    (!tokens.is_glued(at)).then_some(end)
}

/// Whether a product can be free of what a word names.
pub(super) fn can_be_absent(word: &str) -> bool {
    is_substance(word)
        || word.len() >= LEAST_LETTERS
            && !NAME_WORDS.contains(word)
            && !idioms::is_feature(word)
            && !NO_PARTS.contains(word)
}

/// The first item of a list that ends in a claim: "gluten" in "gluten and dairy free".
pub(super) fn listed_before(tokens: &QueryTokens, at: usize, knows: TermLookup) -> Option<usize> {
    let is_joined = |at: usize| tokens.word(at) == "," || LIST_WORDS.contains(tokens.word(at));
    let mut item = at;
    for _ in 0..MAX_LISTED {
        if !IMPURITY_WORDS.contains(tokens.word(item)) || !is_joined(item + 1) {
            return None;
        }
        let joiners = 1 + usize::from(tokens.word(item + 1) == "," && is_joined(item + 2));
        item += 1 + joiners;
        if before_free(tokens, item, knows).is_some() {
            return Some(at + 1 + joiners);
        }
    }
    None
}

/// "nickel-free", "palm-oil-free"
fn hyphenated(tokens: &QueryTokens, at: usize) -> Option<FreeFrom> {
    let claim_end = tokens.end_of_compound(at);
    let end = claim_end.checked_sub(2).filter(|end| *end > at && tokens.is_hyphen_inside(*end))?;
    // Of "gluten-and-dairy-free", only the last word is certain.
    let is_and = |at: &usize| matches!(tokens.word(*at), "and" | "&" | "or");
    let start = (at..end)
        .rev()
        .find(is_and)
        .map_or(at, |and| and + 1 + usize::from(tokens.word(and) != "&"));
    let is_claim = FREE.contains(tokens.word(claim_end - 1))
        && start < end
        && tokens.is(start, TokenKind::Word)
        && can_be_absent(tokens.word(end - 1));
    is_claim.then_some(FreeFrom { start, end, claim_end })
}

/// "lactose free", "palm oil free"
fn separate(tokens: &QueryTokens, at: usize, knows: TermLookup) -> Option<FreeFrom> {
    let is_modifier = MODIFIER_WORDS.contains(tokens.word(at))
        && tokens.is(at + 1, TokenKind::Word)
        && !FREE.contains(tokens.word(at + 1));
    let end = at + 1 + usize::from(is_modifier);
    let (word, free) = (tokens.word(end - 1), tokens.word(end));
    let is_separate =
        !tokens.is_glued(end) && !tokens.is_glued(end - 1) && !tokens.is_hyphen_inside(end + 1);
    if !FREE.contains(free) || !is_separate || TAKER_WORDS.contains(tokens.word(end + 1)) {
        return None;
    }
    let is_shop_term = || can_be_absent(word) && knows(&format!("{}free", singular(word)));
    let is_claim = is_substance(word) || is_shop_term();
    is_claim.then_some(FreeFrom { start: at, end, claim_end: end + 1 })
}

fn is_substance(word: &str) -> bool {
    let is_listed = |word: &str| IMPURITY_WORDS.contains(word) || INGREDIENT_WORDS.contains(word);
    is_listed(word) || is_listed(&singular(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_substance_is_a_name() {
        for word in IMPURITY_WORDS.words().chain(INGREDIENT_WORDS.words()) {
            assert!(!NAME_WORDS.contains(word), "{word}");
        }
    }

    #[test]
    fn the_shop_decides_which_other_words_make_a_claim() {
        let read =
            |knows: TermLookup| before_free(&QueryTokens::of("teflonium free pan"), 0, knows);
        assert_eq!(read(&|_| false), None);
        let claimed = FreeFrom { start: 0, end: 1, claim_end: 2 };
        assert_eq!(read(&|word| word == "tefloniumfree"), Some(claimed));
    }
}
