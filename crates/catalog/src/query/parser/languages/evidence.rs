//! What the words and letters of a query say about its language.
//!
//! Each word or phrase of the files counts for every language that has it, so that a word shared by
//! several languages favours none of them. A letter counts likewise. `international` words, phrases
//! marked with `?`, and signs count for none.

use std::{collections::HashMap, sync::LazyLock};

use super::rules;
use crate::{
    query::parser::languages::rule::{Mark, Rule, folded},
    text::{
        fnv::WordHash,
        language::Language,
        lexer::{TokenKind, Tokens},
    },
};

/// A set of languages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::query::parser) struct LanguageSet(u32);

impl LanguageSet {
    const ALL: Self = Self((1 << Language::ALL.len()) - 1);

    fn of(language: Language) -> Self {
        Self(1 << language as u32)
    }

    pub(in crate::query::parser) fn contains(self, language: Language) -> bool {
        self.0 & Self::of(language).0 != 0
    }

    fn is_empty(self) -> bool {
        self.0 == 0
    }
}

/// Sections whose phrases tell the language where they state a condition.
const TELLING: [&str; 7] = ["cue", "lead", "suffix", "negation", "exclusion", "sort", "currency"];

/// Meanings of these sections that have function words only.
const NOT_TELLING: [&str; 6] =
    ["link", "article", "subject", "continues", "not after", "takes a noun"];

/// A currency may follow its number after a multiplier: "2 bin TL".
const MAX_FROM_NUMBER: usize = 2;

/// A word or phrase that tells the language.
struct Telling {
    /// The words after the first.
    rest: Box<[Box<str>]>,
    languages: LanguageSet,
    /// Whether it counts where no condition is stated.
    is_word: bool,
    /// Whether it counts for no language.
    is_neutral: bool,
    /// Whether it is a currency, which counts next to a number.
    is_currency: bool,
}

/// By first word, the longest first.
static TELLING_WORDS: LazyLock<HashMap<Box<str>, Vec<Telling>, WordHash>> = LazyLock::new(|| {
    let mut found: HashMap<Box<str>, Vec<Telling>, WordHash> = HashMap::default();
    for rule in TELLING.iter().chain(&["word"]).flat_map(|section| rules(section)) {
        let mut words = folded(rule.phrase);
        // Names of currencies in the English file are international.
        let is_skipped = rule.section == "currency" && rule.language == Language::English
            || NOT_TELLING.contains(&rule.meaning)
            || !rule.phrase.contains(char::is_alphabetic);
        if is_skipped || words.is_empty() {
            continue;
        }
        let first = words.remove(0);
        add(found.entry(first).or_default(), words.into(), rule);
    }
    for same_first in found.values_mut() {
        same_first.sort_by_key(|telling| std::cmp::Reverse(telling.rest.len()));
    }
    found
});

fn add(same_first: &mut Vec<Telling>, rest: Box<[Box<str>]>, rule: &Rule) {
    let known = same_first.iter().position(|telling| telling.rest == rest);
    let at = known.unwrap_or_else(|| {
        let languages = LanguageSet::default();
        same_first.push(Telling {
            rest,
            languages,
            is_word: false,
            is_neutral: false,
            is_currency: true,
        });
        same_first.len() - 1
    });
    let telling = &mut same_first[at];
    telling.languages.0 |= LanguageSet::of(rule.language).0;
    telling.is_word |= rule.section == "word";
    telling.is_currency &= rule.section == "currency";
    telling.is_neutral |= rule.meaning == "international" || rule.mark == Mark::NeedsContext;
}

/// Whether a word is listed for other languages than English, and not for English.
pub(in crate::query::parser) fn is_foreign_word(word: &str) -> bool {
    let listed = TELLING_WORDS.get(word).into_iter().flatten();
    let mut listed = listed.filter(|telling| telling.rest.is_empty() && telling.is_word);
    listed.any(|telling| !telling.is_neutral && !telling.languages.contains(Language::English))
}

/// The letters of the files: single ones, and ranges such as `а-я`.
static LETTERS: LazyLock<Letters> = LazyLock::new(|| {
    let mut letters = Letters::default();
    for rule in rules("letter") {
        let chars: Vec<char> = rule.phrase.chars().collect();
        let set = LanguageSet::of(rule.language);
        match *chars {
            [first, '-', last] => letters.ranges.push((first, last, set)),
            _ if rule.meaning == "any" => {
                chars.iter().for_each(|c| letters.listed.entry(*c).or_default().0 |= set.0);
            }
            _ => letters.only.extend(chars.iter().map(|c| (*c, set))),
        }
    }
    letters
});

#[derive(Default)]
struct Letters {
    listed: HashMap<char, LanguageSet>,
    ranges: Vec<(char, char, LanguageSet)>,
    /// Letters of one language that lie in the range of another.
    only: HashMap<char, LanguageSet>,
}

impl Letters {
    fn languages_of(&self, letter: char) -> LanguageSet {
        if let Some(only) = self.only.get(&letter) {
            return *only;
        }
        let mut set = self.listed.get(&letter).copied().unwrap_or_default();
        for (first, last, languages) in &self.ranges {
            if (*first..=*last).contains(&letter) {
                set.0 |= languages.0;
            }
        }
        set
    }

    /// The languages that have all letters of a word; `None` for a word of ASCII letters.
    fn languages_of_word(&self, word: &str) -> Option<LanguageSet> {
        if word.is_ascii() {
            return None;
        }
        let letters = word.chars().filter(|c| !c.is_ascii()).flat_map(char::to_lowercase);
        let all = letters
            .fold(LanguageSet::ALL, |all, letter| LanguageSet(all.0 & self.languages_of(letter).0));
        Some(all)
    }
}

/// How many words of a query each language has.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::query::parser) struct LanguageScores([u16; Language::ALL.len()]);

impl LanguageScores {
    /// Scores the tokens of a query. Phrases of rules count at the tokens where `is_rule` holds,
    /// other words everywhere.
    pub(in crate::query::parser) fn of(tokens: &Tokens, is_rule: impl Fn(usize) -> bool) -> Self {
        let mut scores = Self::default();
        let mut at = 0;
        while at < tokens.len() {
            let mut before = at.saturating_sub(MAX_FROM_NUMBER)..at;
            let is_after_number = before.any(|at| tokens.is(at, TokenKind::Digits));
            let counts = |telling: &&Telling| {
                telling.is_word || is_rule(at) && (!telling.is_currency || is_after_number)
            };
            let telling = longest_at(tokens, at);
            let end = at + 1 + telling.map_or(0, |telling| telling.rest.len());
            if let Some(telling) = telling.filter(|telling| !telling.is_neutral).filter(counts) {
                scores.add(telling.languages, end - at);
            }
            for at in at..end {
                if tokens.is(at, TokenKind::Word) {
                    let letters = LETTERS.languages_of_word(tokens.raw(at, at + 1));
                    scores.add(letters.unwrap_or_default(), 1);
                }
            }
            at = end;
        }
        scores
    }

    fn add(&mut self, languages: LanguageSet, points: usize) {
        let points = u16::try_from(points).unwrap_or(u16::MAX);
        let mut rest = languages.0;
        while rest != 0 {
            let score = &mut self.0[rest.trailing_zeros() as usize];
            *score = score.saturating_add(points);
            rest &= rest - 1;
        }
    }

    /// The languages with the highest score.
    fn best(&self) -> LanguageSet {
        let highest = self.0.into_iter().max().unwrap_or_default();
        let mut best = LanguageSet::default();
        for (language, score) in Language::ALL.into_iter().zip(self.0) {
            if score == highest && score > 0 {
                best.0 |= LanguageSet::of(language).0;
            }
        }
        best
    }

    /// The few languages that the query may be in if it is not in English.
    pub(in crate::query::parser) fn foreign(&self) -> LanguageSet {
        /// An accent that many languages share tells none of them.
        const MAX_LANGUAGES: u32 = 3;
        let best = self.best();
        let is_told = !best.contains(Language::English) && best.0.count_ones() <= MAX_LANGUAGES;
        if is_told { best } else { LanguageSet::default() }
    }

    /// Whether no word tells anything.
    pub(in crate::query::parser) fn says_nothing(&self) -> bool {
        self.best().is_empty()
    }

    /// The language of the query, if exactly one is the most likely.
    pub(in crate::query::parser) fn only(&self) -> Option<Language> {
        let best = self.best();
        let mut languages = Language::ALL.into_iter().filter(|one| best.contains(*one));
        languages.next().filter(|_| !best.is_empty() && languages.next().is_none())
    }
}

fn longest_at(tokens: &Tokens, at: usize) -> Option<&'static Telling> {
    let same_first = TELLING_WORDS.get(tokens.word(at))?;
    let is_here = |telling: &&Telling| {
        telling.rest.iter().zip(at + 1..).all(|(word, at)| tokens.word(at) == &**word)
    };
    same_first.iter().find(is_here)
}
