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
pub(super) mod rule;

use std::{collections::HashMap, sync::LazyLock};

pub(super) use evidence::{LanguageScores, LanguageSet, is_foreign_word};

use self::rule::Mark;
use crate::{query::parser::languages::rule::Rule, text::language::Language};

/// The phrases of a language.
fn file(language: Language) -> &'static str {
    match language {
        Language::English => include_str!("en.txt"),
        Language::German => include_str!("de.txt"),
        Language::French => include_str!("fr.txt"),
        Language::Spanish => include_str!("es.txt"),
        Language::Portuguese => include_str!("pt.txt"),
        Language::Italian => include_str!("it.txt"),
        Language::Russian => include_str!("ru.txt"),
        Language::Dutch => include_str!("nl.txt"),
        Language::Polish => include_str!("pl.txt"),
        Language::Turkish => include_str!("tr.txt"),
        Language::Swedish => include_str!("sv.txt"),
        Language::Danish => include_str!("da.txt"),
        Language::Norwegian => include_str!("no.txt"),
        Language::Finnish => include_str!("fi.txt"),
        Language::Czech => include_str!("cs.txt"),
        Language::Japanese => include_str!("ja.txt"),
        Language::Chinese => include_str!("zh.txt"),
        Language::Korean => include_str!("ko.txt"),
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

/// The rules of all languages by section, in the order of [`Language::ALL`]. Malformed lines are
/// left out; a test keeps the files free of them.
static RULES: LazyLock<HashMap<&'static str, Vec<Rule>>> = LazyLock::new(|| {
    let mut by_section: HashMap<&'static str, Vec<Rule>> = HashMap::new();
    for language in Language::ALL {
        for rule in read(language, file(language)).into_iter().flatten() {
            by_section.entry(rule.section).or_default().push(rule);
        }
    }
    by_section
});

/// The rules of a section.
pub(super) fn rules(section: &str) -> &'static [Rule] {
    RULES.get(section).map_or(&[], Vec::as_slice)
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
    use crate::query::parser::languages::rule::folded;

    #[test]
    fn every_line_of_every_file_is_understood() {
        let wrong = Language::ALL.into_iter().flat_map(|one| read(one, file(one)));
        let wrong: Vec<String> = wrong.filter_map(Result::err).collect();
        assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
    }

    #[test]
    fn no_phrase_is_listed_twice_with_one_kind_of_meaning() {
        let mut seen = HashSet::new();
        let all = Language::ALL.into_iter().flat_map(|one| read(one, file(one))).flatten();
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
        let all = Language::ALL.into_iter().flat_map(|one| read(one, file(one))).flatten();
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
