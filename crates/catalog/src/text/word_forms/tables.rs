//! The tables of word forms, one file per language that a speaker can review without reading code.
//!
//! ```text
//! [forms]
//! # Tisch, Tische, Tischen
//! -, e, en
//! ```
//!
//! Phrases are separated by commas; a line of `[forms]` has the endings that one word can have, `-`
//! for none. Case and accents do not matter.
//!
//! - `telling words` are frequent in texts of the language and rare in others.
//! - `function words` are ignored in a query.
//! - `spellings`: `ae = a` for letters that are typed in place of others.
//! - `linking`: what may stand between the parts of a compound. A language with this section writes
//!   compounds as one word.
//! - `first parts` of compounds that are no words of their own, or that a small shop does not have.
//! - `not compounds`: words that only look like compounds, or do not name what their end says.

use std::sync::LazyLock;

use crate::text::analysis::{fold_into, is_hangul, is_katakana, singular};

/// The word forms of a language. Everything is folded.
#[derive(Debug, Default)]
pub(super) struct Table {
    /// ISO 639-1.
    pub(super) code: &'static str,
    script: Option<Script>,
    pub(super) telling_words: Vec<String>,
    pub(super) function_words: Vec<String>,
    /// The endings of a word's forms, by kind of word.
    forms: Vec<Vec<String>>,
    spellings: Vec<(String, String)>,
    /// `None` where compounds are written as several words.
    linking: Option<Vec<String>>,
    first_parts: Vec<String>,
    not_compounds: Vec<String>,
}

/// A script that tells which table applies. Languages in Latin letters are told by the shop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Script {
    Cyrillic,
    Greek,
    Hangul,
    Katakana,
}

impl Script {
    /// The script of a folded word; `None` for Latin letters and scripts without a table.
    pub(super) fn of(word: &str) -> Option<Self> {
        let is_all = |is: fn(char) -> bool| word.chars().all(is);
        match word.chars().next()? {
            '\u{0400}'..='\u{052F}' => Some(Self::Cyrillic),
            '\u{0370}'..='\u{03FF}' => Some(Self::Greek),
            _ if is_all(is_hangul) => Some(Self::Hangul),
            _ if is_all(is_katakana) => Some(Self::Katakana),
            _ => None,
        }
    }
}

macro_rules! tables {
    ($($code:literal $script:expr),+ $(,)?) => {
        /// In the order of the bits of [`super::ShopLanguages`].
        pub(super) static TABLES: LazyLock<Vec<Table>> = LazyLock::new(|| {
            vec![$(Table::parse($code, $script, include_str!(concat!($code, ".txt")))),+]
        });
    };
}

tables!(
    "cs" None,
    "da" None,
    "de" None,
    "el" Some(Script::Greek),
    "es" None,
    "fi" None,
    "fr" None,
    "it" None,
    "ja" Some(Script::Katakana),
    "ko" Some(Script::Hangul),
    "nl" None,
    "no" None,
    "pl" None,
    "pt" None,
    "ru" Some(Script::Cyrillic),
    "sv" None,
    "tr" None,
);

/// Shorter stems have too many words, unless the endings are long, as in *rood*, *rode*. A Korean or
/// katakana character stands for a syllable.
const MIN_STEM: usize = 3;
const MIN_SYLLABLES: usize = 2;

impl Table {
    fn parse(code: &'static str, script: Option<Script>, text: &str) -> Self {
        let mut table = Self { code, script, ..Self::default() };
        let mut section = "";
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let name = line.strip_prefix('[').and_then(|line| line.strip_suffix(']'));
            if let Some(name) = name {
                section = name;
                if name == "linking" {
                    table.linking = Some(Vec::new());
                }
                continue;
            }
            let words = line.split(',').map(str::trim).filter(|word| !word.is_empty()).map(folded);
            match section {
                "telling words" => table.telling_words.extend(words.map(|word| term(&word))),
                "function words" => table.function_words.extend(words.map(|word| term(&word))),
                "forms" => table.forms.push(words.collect()),
                "linking" => table.linking.get_or_insert_default().extend(words),
                "first parts" => table.first_parts.extend(words),
                "not compounds" => table.not_compounds.extend(words),
                "spellings" => {
                    let pairs = words.filter_map(|pair| {
                        let (one, other) = pair.split_once('=')?;
                        Some((one.trim().to_owned(), other.trim().to_owned()))
                    });
                    table.spellings.extend(pairs);
                }
                _ => debug_assert!(line.is_empty(), "{code}: {line}"),
            }
        }
        table.forms.retain(|endings| !endings.is_empty());
        table
    }

    /// Whether it applies to words of a script.
    pub(super) fn is_for(&self, script: Option<Script>) -> bool {
        self.script == script
    }

    fn min_chars(&self) -> usize {
        match self.script {
            Some(Script::Hangul | Script::Katakana) => MIN_SYLLABLES,
            _ => MIN_STEM,
        }
    }

    /// Whether a piece is long enough to be a word.
    pub(super) fn is_long_enough(&self, piece: &str) -> bool {
        piece.chars().nth(self.min_chars() - 1).is_some()
    }

    pub(super) fn has_compounds(&self) -> bool {
        self.linking.is_some()
    }

    /// Whether a word is found in words that it begins, too.
    pub(super) fn joins_freely(&self) -> bool {
        matches!(self.script, Some(Script::Hangul | Script::Katakana))
    }

    /// Whether a word is so long that the rest of a compound need not be a known word.
    pub(super) fn is_found_by_length(&self, word: &str) -> bool {
        self.script == Some(Script::Katakana) && word.chars().nth(MIN_SYLLABLES).is_some()
    }

    /// A word and its other spellings: `stuehle` is `stuhle`, and the other way around.
    pub(super) fn spellings(&self, word: &str) -> Vec<String> {
        let mut all = vec![word.to_owned()];
        for (long, short) in &self.spellings {
            if word.contains(&**long) {
                all.push(word.replace(&**long, short));
            } else if word.contains(&**short) {
                all.push(word.replace(&**short, long));
            }
        }
        all
    }

    /// The forms that a word may have, without itself; most of them do not exist.
    pub(super) fn inflected(&self, word: &str) -> Vec<String> {
        let mut all = Vec::new();
        for endings in &self.forms {
            let changes_vowel = endings.iter().all(|ending| ending.len() >= MIN_STEM);
            for ending in endings {
                let stem = word.strip_suffix(bare(ending));
                let is_stem = |stem: &&str| changes_vowel || self.is_long_enough(stem);
                let Some(stem) = stem.filter(is_stem) else { continue };
                let others = endings.iter().filter(|other| *other != ending);
                all.extend(others.map(|other| format!("{stem}{}", bare(other))));
            }
        }
        all.sort_unstable();
        all.dedup();
        all.retain(|form| form != word);
        all
    }

    /// The words that the first part of a compound may be.
    pub(super) fn first_part_words(&self, part: &str) -> Vec<String> {
        let linking = self.linking.iter().flatten();
        let unlinked = linking.filter_map(|linking| part.strip_suffix(&**linking));
        let unlinked = unlinked.filter(|word| self.is_long_enough(word)).map(str::to_owned);
        let mut words: Vec<String> = [part.to_owned()].into_iter().chain(unlinked).collect();
        if self.script.is_none() {
            // Of the word, the compound may have the stem: Schule, Schulranzen.
            words.extend(["e", "en"].map(|ending| format!("{part}{ending}")));
        }
        words
    }

    /// Whether the first part of a compound is in the list.
    pub(super) fn is_listed_first_part(&self, words: &[String]) -> bool {
        words.iter().any(|word| self.first_parts.contains(word))
    }

    pub(super) fn is_no_compound(&self, word: &str) -> bool {
        self.not_compounds.iter().any(|other| word.starts_with(&**other))
    }
}

/// `-` is no ending.
fn bare(ending: &str) -> &str {
    if ending == "-" { "" } else { ending }
}

fn folded(word: &str) -> String {
    let mut folded = String::new();
    fold_into(&mut folded, word);
    folded
}

/// The term that a form is indexed under.
pub(super) fn term(form: &str) -> String {
    singular(form).into_owned()
}
