//! The languages that a shop's products are written in.

use super::tables::{Script, TABLES, Table};
use crate::text::language::Language;

/// A language is used if this many of its telling words are …
pub(super) const MIN_TELLING_WORDS: usize = 3;
/// … in one of this many products.
const TELLING_SHARE: u64 = 50;

/// The languages in Latin letters, English aside, that a shop's products are written in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ShopLanguages(pub(super) u32);

impl ShopLanguages {
    /// Tells the languages by the document frequencies of a few words.
    pub fn of(num_docs: u64, doc_freq: impl Fn(&str) -> u64) -> Self {
        let least = num_docs.div_ceil(TELLING_SHARE).max(1);
        let is_used = |table: &Table| {
            let frequent = table.telling_words.iter().filter(|word| doc_freq(word) >= least);
            frequent.take(MIN_TELLING_WORDS).count() == MIN_TELLING_WORDS
        };
        let used = TABLES.iter().enumerate().filter(|(_, table)| is_used(table));
        Self(used.fold(0, |set, (at, _)| set | 1 << at))
    }

    /// The words that [`of`](Self::of) looks up.
    pub fn telling_words() -> impl Iterator<Item = &'static str> {
        TABLES.iter().flat_map(|table| &table.telling_words).map(String::as_str)
    }

    /// Whether all products seem to be in English.
    pub(crate) fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(crate) fn contains(self, language: Language) -> bool {
        self.0 & Self::only(language).0 != 0
    }

    pub(super) fn only(language: Language) -> Self {
        let at = TABLES.iter().position(|table| table.code == language.code());
        Self(at.map_or(0, |at| 1 << at))
    }

    pub(super) fn tables(self, script: Option<Script>) -> impl Iterator<Item = &'static Table> {
        let tables = TABLES.iter().enumerate();
        let applies = move |(at, table): &(usize, &Table)| {
            table.is_for(script) && (script.is_some() || self.0 & 1 << at != 0)
        };
        tables.filter(applies).map(|(_, table)| table)
    }
}
