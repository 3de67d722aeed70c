//! The phrases of the rules, as data: one file per language.
//!
//! A file is plain text that a speaker of the language can review without reading code:
//!
//! ```text
//! # A comment.
//! [cue]
//! up to: höchstens, maximal, bis zu,
//!   bis maximal
//! ```
//!
//! A section names the kind of phrase, the word before the colon its meaning; both are in
//! [`SECTIONS`], currencies and numbers apart. Phrases are written as people write them, separated
//! by commas; an indented line continues the one before. Case and accents do not matter, with two
//! exceptions:
//!
//! - `!für`: only with these accents, because "fur" is another word.
//! - `?do`: only in a query that is probably in this language, because the word is common in
//!   others. Such a word says nothing about the language of a query.
//!
//! The sections `word` and `letter` tell the language of a query: see [`evidence`].
//!
//! A new language is a file here, an entry of [`Language`], and a table of queries in
//! `tests/languages`, half of which state no condition. Mark every word that is also a word or a
//! name in another language; in doubt, mark it.

mod evidence;

use std::{collections::HashMap, sync::LazyLock};

use super::lexicon::{Lexicon, WordSet};
pub(super) use evidence::{LanguageScores, LanguageSet, is_foreign_word};

/// A language with rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Language {
    English,
    German,
    French,
    Spanish,
    Portuguese,
    Italian,
    Russian,
    Dutch,
    Polish,
    Turkish,
    Swedish,
    Danish,
    Norwegian,
    Finnish,
    Czech,
    Japanese,
    Chinese,
    Korean,
}

impl Language {
    /// All languages. Where two have the same phrase, the meaning in the earlier one counts.
    pub const ALL: [Self; 18] = [
        Self::English,
        Self::German,
        Self::French,
        Self::Spanish,
        Self::Portuguese,
        Self::Italian,
        Self::Russian,
        Self::Dutch,
        Self::Polish,
        Self::Turkish,
        Self::Swedish,
        Self::Danish,
        Self::Norwegian,
        Self::Finnish,
        Self::Czech,
        Self::Japanese,
        Self::Chinese,
        Self::Korean,
    ];

    /// Its ISO 639-1 code.
    pub fn code(self) -> &'static str {
        self.entry().0
    }

    fn file(self) -> &'static str {
        self.entry().1
    }

    fn entry(self) -> (&'static str, &'static str) {
        match self {
            Self::English => ("en", include_str!("en.txt")),
            Self::German => ("de", include_str!("de.txt")),
            Self::French => ("fr", include_str!("fr.txt")),
            Self::Spanish => ("es", include_str!("es.txt")),
            Self::Portuguese => ("pt", include_str!("pt.txt")),
            Self::Italian => ("it", include_str!("it.txt")),
            Self::Russian => ("ru", include_str!("ru.txt")),
            Self::Dutch => ("nl", include_str!("nl.txt")),
            Self::Polish => ("pl", include_str!("pl.txt")),
            Self::Turkish => ("tr", include_str!("tr.txt")),
            Self::Swedish => ("sv", include_str!("sv.txt")),
            Self::Danish => ("da", include_str!("da.txt")),
            Self::Norwegian => ("no", include_str!("no.txt")),
            Self::Finnish => ("fi", include_str!("fi.txt")),
            Self::Czech => ("cs", include_str!("cs.txt")),
            Self::Japanese => ("ja", include_str!("ja.txt")),
            Self::Chinese => ("zh", include_str!("zh.txt")),
            Self::Korean => ("ko", include_str!("ko.txt")),
        }
    }
}

/// Sections with their meanings. Those of `currency` and `number` are open.
const SECTIONS: &[(&str, &[&str])] = &[
    (
        "cue",
        &[
            "under",
            "less than",
            "cheaper than",
            "up to",
            "max",
            "price up to",
            "more than",
            "dearer than",
            "at least",
            "price at least",
            "from",
            "about",
            "between",
            "range",
        ],
    ),
    ("lead", &["for", "have", "price", "budget"]),
    (
        "suffix",
        &[
            "or less",
            "below",
            "tops",
            "max",
            "or more",
            "above",
            "or so",
            "negated",
            "negated at end",
        ],
    ),
    ("joiner", &["range", "between", "closing"]),
    ("trailer", &["any", "particle"]),
    ("filler", &["any"]),
    (
        "negation",
        &[
            "inverts",
            "cancels",
            "subject",
            "spending",
            "link",
            "exceeding",
            "article",
            "continues",
            "takes a noun",
            "rejects a noun",
            "not after",
        ],
    ),
    ("exclusion", &["without", "no", "not", "non", "at end", "after", "particle"]),
    ("exclusion list", &["or", "and"]),
    (
        "exclusion context",
        &[
            "skipped",
            "modifier",
            "wanted again",
            "thing in -ing",
            "not a noun",
            "about the shopper",
            "name before",
            "wanting",
            "after verbs",
            "negates a claim",
            "cannot",
            "infinitive",
            "place",
            "lone name",
        ],
    ),
    ("idiom", &["no", "non", "phrase", "quality ending", "thing"]),
    (
        "free from",
        &[
            "free",
            "free of",
            "list",
            "impurity",
            "ingredient",
            "modifier",
            "name",
            "takes free",
            "no part",
        ],
    ),
    ("currency", &[]),
    ("number", &[]),
    ("sort", &["cheapest", "dearest", "newest"]),
    ("context", &["unit", "measure", "people", "function word", "weighed", "name with max"]),
    ("word", &["any", "international"]),
    ("letter", &["any", "only", "traditional"]),
];

/// A phrase with its meaning in one language.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rule {
    pub(super) language: Language,
    pub(super) section: &'static str,
    pub(super) meaning: &'static str,
    /// As written in the file, without its mark.
    pub(super) phrase: &'static str,
    pub(super) mark: Mark,
}

/// Restricts where a phrase counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    /// Everywhere.
    None,
    /// `!`: only where it is written with these accents.
    AsWritten,
    /// `?`: only in a query that is probably in this language.
    NeedsContext,
}

/// The rules of all languages by section, in the order of [`Language::ALL`]. Malformed lines are
/// left out; a test keeps the files free of them.
static RULES: LazyLock<HashMap<&'static str, Vec<Rule>>> = LazyLock::new(|| {
    let mut by_section: HashMap<&'static str, Vec<Rule>> = HashMap::new();
    for language in Language::ALL {
        for rule in read(language, language.file()).into_iter().flatten() {
            by_section.entry(rule.section).or_default().push(rule);
        }
    }
    by_section
});

/// The rules of a section.
pub(super) fn rules(section: &str) -> &'static [Rule] {
    RULES.get(section).map_or(&[], Vec::as_slice)
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

/// Reads a file: a rule per phrase, or the description of what is wrong with a line.
fn read(language: Language, file: &'static str) -> Vec<Result<Rule, String>> {
    let mut rules = Vec::new();
    let (mut section, mut meaning) = ("", "");
    for (number, line) in file.lines().enumerate() {
        let wrong = |what: &str| {
            Err(format!("{}.txt, line {}: {what}: {line:?}", language.code(), number + 1))
        };
        let line = line.trim_end();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            (section, meaning) = (name, "");
            if !SECTIONS.iter().any(|(known, _)| *known == name) {
                rules.push(wrong("unknown section"));
            }
            continue;
        }
        let mut list = line.trim_start();
        if !line.starts_with(' ') {
            let Some((name, rest)) = line.split_once(':') else {
                rules.push(wrong("expected `meaning: phrase, phrase`"));
                continue;
            };
            (meaning, list) = (name, rest);
        }
        if !has_meaning(section, meaning) {
            rules.push(wrong("unknown meaning"));
            continue;
        }
        for phrase in list.trim().trim_end_matches(',').split(',').map(str::trim) {
            rules.push(match phrase {
                "" => wrong("empty phrase"),
                _ => Ok(rule(language, section, meaning, phrase)),
            });
        }
    }
    rules
}

fn has_meaning(section: &str, meaning: &str) -> bool {
    let is_listed = |(name, meanings): &(&str, &[&str])| {
        *name == section && (meanings.is_empty() || meanings.contains(&meaning))
    };
    !meaning.is_empty() && SECTIONS.iter().any(is_listed)
}

fn rule(
    language: Language,
    section: &'static str,
    meaning: &'static str,
    marked: &'static str,
) -> Rule {
    let (mark, phrase) = match marked.split_at(1.min(marked.floor_char_boundary(1))) {
        ("!", phrase) if !phrase.is_empty() => (Mark::AsWritten, phrase),
        ("?", phrase) if !phrase.is_empty() => (Mark::NeedsContext, phrase),
        _ => (Mark::None, marked),
    };
    Rule { language, section, meaning, phrase, mark }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::query_parser::lexicon::folded;

    #[test]
    fn every_line_of_every_file_is_understood() {
        let wrong = Language::ALL.into_iter().flat_map(|one| read(one, one.file()));
        let wrong: Vec<String> = wrong.filter_map(Result::err).collect();
        assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
    }

    #[test]
    fn no_phrase_is_listed_twice_with_one_kind_of_meaning() {
        let mut seen = HashSet::new();
        let all = Language::ALL.into_iter().flat_map(|one| read(one, one.file())).flatten();
        for rule in all {
            let (phrase, language) = (rule.phrase, rule.language.code());
            let is_new = seen.insert((language, rule.section, rule.meaning, phrase));
            assert!(is_new, "{language}.txt: {:?} twice in {}", phrase, rule.meaning);
        }
    }

    #[test]
    fn every_phrase_has_words_and_every_word_is_one() {
        /// Sections whose phrases are single words, and the meanings in which they are not.
        const WORDS: &[(&str, &[&str])] =
            &[("exclusion context", &["skipped"]), ("idiom", &["phrase"]), ("context", &[])];
        let all = Language::ALL.into_iter().flat_map(|one| read(one, one.file())).flatten();
        for rule in all {
            let words = folded(rule.phrase);
            let is_word = |(section, others): &(&str, &[&str])| {
                *section == rule.section && !others.contains(&rule.meaning)
            };
            assert!(!words.is_empty(), "{rule:?}");
            assert!(words.len() == 1 || !WORDS.iter().any(is_word), "{rule:?}");
        }
    }

    #[test]
    fn malformed_lines_are_reported() {
        let found = |file| read(Language::English, file).into_iter().any(|rule| rule.is_err());
        for file in
            ["under: below", "[cue]\nunder", "[cue]\nunder: a,, b", "[cues]", "[cue]\nbelow: x"]
        {
            assert!(found(file), "{file:?}");
        }
        assert!(!found("# all fine\n[cue]\nunder: below, !für,\n  ?do\n"));
    }
}
