//! Phrase tables with longest-match lookup by hash of the first word.
//!
//! A phrase is a sequence of folded tokens; signs are tokens of their own (`<=` is `<` and `=`).

use std::collections::{HashMap, HashSet};

use super::query_tokens::QueryTokens;
use crate::{
    query::parser::languages::{
        rule::{Mark, Rule, folded},
        rules,
    },
    text::{fnv::WordHash, language::Language},
};

/// A table of phrases, each with a value.
pub(super) struct Lexicon<T> {
    /// By first word. The longest phrases come first, and among those of one length the earlier
    /// languages.
    entries: HashMap<Box<str>, Vec<Entry<T>>, WordHash>,
}

struct Entry<T> {
    /// The words after the first.
    rest: Box<[Box<str>]>,
    value: T,
    restriction: Restriction,
}

/// Sections whose phrases stand next to an amount.
const ABOUT_PRICES: [&str; 5] = ["cue", "lead", "suffix", "joiner", "currency"];

/// Where a phrase counts; see [`Mark`].
enum Restriction {
    None,
    AsWritten(Box<str>),
    In(Language),
    /// Like [`Self::In`], for a phrase about a price.
    PricedIn(Language),
}

impl<T: Copy> Lexicon<T> {
    pub(super) fn of_rules(rules: impl Iterator<Item = (Rule, T)>) -> Self {
        let mut entries: HashMap<Box<str>, Vec<Entry<T>>, WordHash> = HashMap::default();
        for (rule, value) in rules {
            let mut words = folded(rule.phrase);
            if words.is_empty() {
                continue;
            }
            let first = words.remove(0);
            let restriction = match rule.mark {
                Mark::None => Restriction::None,
                Mark::AsWritten => Restriction::AsWritten(rule.phrase.to_lowercase().into()),
                Mark::NeedsContext if ABOUT_PRICES.contains(&rule.section) => {
                    Restriction::PricedIn(rule.language)
                }
                Mark::NeedsContext => Restriction::In(rule.language),
            };
            let entry = Entry { rest: words.into(), value, restriction };
            entries.entry(first).or_default().push(entry);
        }
        for same_first in entries.values_mut() {
            // Where a restricted phrase counts, it is more specific than the same without.
            same_first.sort_by_key(|entry| {
                let is_free = matches!(entry.restriction, Restriction::None);
                (std::cmp::Reverse(entry.rest.len()), is_free)
            });
        }
        Self { entries }
    }

    /// The value of the longest phrase that begins at a token, and its exclusive end.
    pub(super) fn longest_at(&self, tokens: &QueryTokens, at: usize) -> Option<(T, usize)> {
        let entries = self.entries.get(tokens.word(at))?;
        let matches = |entry: &&Entry<T>| {
            entry.rest.iter().zip(at + 1..).all(|(word, at)| tokens.word(at) == &**word)
                && entry.restriction.allows(tokens, at, entry.rest.len())
        };
        let entry = entries.iter().find(matches)?;
        Some((entry.value, at + 1 + entry.rest.len()))
    }

    /// Whether a single word is in the table, for a query.
    pub(super) fn has_word(&self, tokens: &QueryTokens, word: &str) -> bool {
        let counts = |entry: &Entry<T>| {
            entry.rest.is_empty()
                && match &entry.restriction {
                    Restriction::In(language) => tokens.may_be_in(*language),
                    Restriction::PricedIn(language) => tokens.may_state_price_in(*language),
                    Restriction::None | Restriction::AsWritten(_) => true,
                }
        };
        self.entries.get(word).is_some_and(|entries| entries.iter().any(counts))
    }

    /// Whether a phrase begins at a token.
    pub(super) fn is_at(&self, tokens: &QueryTokens, at: usize) -> bool {
        self.longest_at(tokens, at).is_some()
    }
}

impl Restriction {
    /// Whether a phrase counts that begins at a token and has `more` others.
    fn allows(&self, tokens: &QueryTokens, at: usize, more: usize) -> bool {
        match self {
            Self::None => true,
            Self::AsWritten(phrase) => tokens.raw(at, at + 1 + more).to_lowercase() == **phrase,
            Self::In(language) => tokens.may_be_in(*language),
            Self::PricedIn(language) => tokens.may_state_price_in(*language),
        }
    }
}

/// The lexicon of a section, with the value of each meaning. Meanings without a value are left out.
pub(super) fn lexicon<T: Copy>(section: &str, value: impl Fn(&str) -> Option<T>) -> Lexicon<T> {
    let valued = |rule: &Rule| Some((*rule, value(rule.meaning)?));
    Lexicon::of_rules(rules(section).iter().filter_map(valued))
}

/// The phrases of some meanings of a section.
pub(super) fn phrases(section: &str, meanings: &[&str]) -> Lexicon<()> {
    lexicon(section, |meaning| meanings.contains(&meaning).then_some(()))
}

/// The single words of a meaning.
pub(super) fn words(section: &str, meaning: &str) -> WordSet {
    let of_meaning = rules(section).iter().filter(|rule| rule.meaning == meaning);
    WordSet::of(of_meaning.map(|rule| rule.phrase))
}

/// A set of single words.
pub(super) struct WordSet(HashSet<Box<str>, WordHash>);

impl WordSet {
    pub(super) fn of(words: impl Iterator<Item = &'static str>) -> Self {
        Self(words.map(|word| folded(word).concat().into()).collect())
    }

    pub(super) fn contains(&self, word: &str) -> bool {
        self.0.contains(word)
    }

    pub(super) fn words(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|word| &**word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_phrase_matches() {
        let rule = |phrase| Rule {
            language: Language::English,
            section: "cue",
            meaning: "under",
            phrase,
            mark: Mark::None,
        };
        let rules = [("less", 2), ("less than", 1), ("under", 1), ("under the", 3)];
        let rules = rules.into_iter().map(|(phrase, value)| (rule(phrase), value));
        let lexicon = Lexicon::of_rules(rules);
        let found = |text| lexicon.longest_at(&QueryTokens::of(text), 0);
        assert_eq!(found("less than 5"), Some((1, 2)));
        assert_eq!(found("less is more"), Some((2, 1)));
        assert_eq!(found("Under the bed"), Some((3, 2)));
        assert_eq!(found("underwear"), None);
        assert_eq!(found(""), None);
    }

    #[test]
    fn a_marked_phrase_matches_with_its_accents_only() {
        let mark = Mark::AsWritten;
        let (language, section, meaning) = (Language::German, "lead", "for");
        let rule = Rule { language, section, meaning, phrase: "für", mark };
        let lexicon = Lexicon::of_rules([(rule, ())].into_iter());
        let is_found = |text| lexicon.is_at(&QueryTokens::of(text), 0);
        assert!(is_found("für 50") && is_found("FÜR 50") && !is_found("fur 50"));
    }
}
