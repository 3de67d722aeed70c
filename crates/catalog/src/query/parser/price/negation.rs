//! Negations before a comparison: "can't pay more than", "nothing over".
//!
//! ```text
//! negation = [subject] negator {negator | verb | filler}
//! ```
//!
//! The comparison must follow immediately: any other word ends the negation, so that "not black
//! over 80" excludes black and keeps its floor. Several negators count as one, as in Spanish,
//! Russian and colloquial English ("no quiero nada por encima de 80").

use std::sync::LazyLock;

use super::cues::{Bare, CUE_WORDS, Cue, OVER};
use crate::{
    query::parser::{
        lexicon::{Lexicon, WordSet, lexicon, phrases, words},
        query_tokens::QueryTokens,
    },
    text::lexer::TokenKind,
};

/// The most words between a negator and its comparison.
const MAX_BETWEEN: usize = 8;

/// The effect of a negator on the comparison after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Effect {
    /// "not over 80" is "up to 80".
    Inverts,
    /// "not only under 50", "not much over 80": neither the comparison nor its opposite holds.
    Cancels,
}

use Effect::{Cancels, Inverts};

/// How many words before a sort order its negator may begin.
const MAX_BEFORE_ORDER: usize = 6;

static NEGATOR_WORDS: LazyLock<Lexicon<Effect>> = LazyLock::new(|| {
    lexicon("negation", |meaning| match meaning {
        "inverts" => Some(Inverts),
        "cancels" => Some(Cancels),
        _ => None,
    })
});
/// Subjects before a negator. They are part of the condition, so that they are not searched for.
static SUBJECT_WORDS: LazyLock<Lexicon<()>> = LazyLock::new(|| phrases("negation", &["subject"]));
/// Words that may stand between a negator and its comparison, and whether they mention spending:
/// a number after them then needs no currency.
static BETWEEN_WORDS: LazyLock<Lexicon<bool>> = LazyLock::new(|| {
    lexicon("negation", |meaning| match meaning {
        "link" => Some(false),
        "spending" => Some(true),
        _ => None,
    })
});
/// Verbs that compare, but only after a negation: "must not exceed 80", "que no superen los 80".
static EXCEEDING_WORDS: LazyLock<Lexicon<Cue>> =
    LazyLock::new(|| lexicon("negation", |meaning| (meaning == "exceeding").then_some(OVER)));
/// Words that may stand between a negator and a sort order: "doesn't have to be the cheapest".
static ARTICLE_WORDS: LazyLock<WordSet> = LazyLock::new(|| words("negation", "article"));
/// Words after which an alternative is negated as well: "not under 20 or over 80".
static CONTINUING_WORDS: LazyLock<WordSet> = LazyLock::new(|| words("negation", "continues"));
/// Before "not", these words make it part of a question or an alternative: "leather or not under 50".
static NO_NEGATION_AFTER: LazyLock<WordSet> = LazyLock::new(|| words("negation", "not after"));

/// Negators that take a noun.
static BEFORE_NOUNS: LazyLock<WordSet> = LazyLock::new(|| words("negation", "takes a noun"));

/// Phrases that reject the noun after them, and a comparison of it: "ich will keine Schuhe über 50".
static REJECTING_WORDS: LazyLock<Lexicon<()>> =
    LazyLock::new(|| phrases("negation", &["rejects a noun"]));

/// The noun that the phrase at a token rejects.
pub(super) fn rejected_noun_at(tokens: &QueryTokens, at: usize) -> Option<usize> {
    let (_, noun) = REJECTING_WORDS.longest_at(tokens, at)?;
    // "no quiero gastar más de 80" negates the comparison.
    let is_noun = tokens.is(noun, TokenKind::Word)
        && !BETWEEN_WORDS.is_at(tokens, noun)
        && !NEGATOR_WORDS.is_at(tokens, noun)
        && comparison_at(tokens, noun).is_none();
    is_noun.then_some(noun)
}

/// Whether a negator takes a noun: "no lamps".
pub(super) fn takes_noun(negator: &str) -> bool {
    BEFORE_NOUNS.contains(negator)
}

/// A negation before a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Negation {
    /// Whether the comparison becomes its opposite; otherwise it has no definite meaning.
    pub(super) inverts: bool,
    /// Whether it mentions spending: a number then needs no currency.
    pub(super) is_price: bool,
    /// Its exclusive end, where the comparison must begin.
    pub(super) end: usize,
}

/// The negation that begins at a token.
pub(super) fn negation_at(tokens: &QueryTokens, at: usize) -> Option<Negation> {
    let negator = SUBJECT_WORDS.longest_at(tokens, at).map_or(at, |(_, end)| end);
    let (effect, end) = NEGATOR_WORDS
        .longest_at(tokens, negator)
        .or_else(|| NEGATOR_WORDS.longest_at(tokens, at))?;
    let before = tokens.word_before(end - 1);
    if end == negator + 1 && NO_NEGATION_AFTER.contains(before) {
        return None;
    }
    Some(after_negator(tokens, end, effect))
}

/// The negation that continues in an alternative: "over 80" in "not under 20 or over 80".
pub(super) fn continued_at(tokens: &QueryTokens, at: usize) -> Option<Negation> {
    let is_alternative = CONTINUING_WORDS.contains(tokens.word(at));
    is_alternative.then(|| after_negator(tokens, at + 1, Inverts))
}

fn after_negator(tokens: &QueryTokens, at: usize, effect: Effect) -> Negation {
    let mut negation = Negation { inverts: effect == Inverts, is_price: false, end: at };
    for _ in 0..MAX_BETWEEN {
        let at = negation.end;
        if comparison_at(tokens, at).is_some() {
            break;
        }
        if let Some((effect, end)) = NEGATOR_WORDS.longest_at(tokens, at) {
            negation.inverts &= effect == Inverts;
            negation.end = end;
        } else if let Some((is_price, end)) = BETWEEN_WORDS.longest_at(tokens, at) {
            negation.is_price |= is_price;
            negation.end = end;
        } else {
            break;
        }
    }
    negation
}

/// The comparison after a negation. Words that only begin a range ("de 20 à 50") are fillers here.
pub(super) fn comparison_at(tokens: &QueryTokens, at: usize) -> Option<(Cue, usize)> {
    let cue = CUE_WORDS.longest_at(tokens, at).filter(|(cue, _)| cue.bare != Bare::Never);
    cue.or_else(|| EXCEEDING_WORDS.longest_at(tokens, at))
}

/// The start of a negator before a token, with only articles and the like between them: "not the
/// cheapest".
pub(in crate::query::parser) fn negator_before(tokens: &QueryTokens, at: usize) -> Option<usize> {
    let ends_here = |start: &usize| {
        NEGATOR_WORDS.longest_at(tokens, *start).is_some_and(|(_, end)| {
            end <= at && (end..at).all(|between| ARTICLE_WORDS.contains(tokens.word(between)))
        })
    };
    (at.saturating_sub(MAX_BEFORE_ORDER)..at).find(ends_here)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_negation_ends_at_the_comparison() {
        let read = |text| negation_at(&QueryTokens::of(text), 0);
        let inverts = |is_price, end| Some(Negation { inverts: true, is_price, end });
        assert_eq!(read("not over 80"), inverts(false, 1));
        assert_eq!(read("can't pay more than 80"), inverts(true, 2));
        assert_eq!(read("I don't want to spend more than 80"), inverts(true, 5));
        assert_eq!(read("no quiero nada por encima de 80"), inverts(false, 3));
        assert_eq!(
            read("not only under 50"),
            Some(Negation { inverts: false, is_price: false, end: 2 })
        );
        assert_eq!(read("under 50"), None);
        assert_eq!(read("or not under 50"), None);
    }
}
