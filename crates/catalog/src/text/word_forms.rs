//! Other forms of a query's words in the vocabulary of the shop, for languages other than English.
//!
//! The index has words as written. A query word is also searched for in the other forms that the
//! shop has:
//!
//! - inflections: `rote` is also `rotes`;
//! - compounds that end with it: `Tisch` is also `Holztisch`, if `Holz` is a word;
//! - its parts, if the shop has no such compound: `Holztisch` is also `Tisch` with `Holz`.
//!
//! The rules are [`tables`]. Those of languages in Latin letters apply if products are written in the
//! language or the query is; English words have no other forms here, because their plurals are
//! indexed under the singular.

mod shop_languages;
mod tables;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

pub use shop_languages::ShopLanguages;
use tables::{Script, Table, term};

use crate::text::{
    analysis::{Alternative, QueryForm, for_each_query_form},
    language::Language,
    vocabulary::Vocabulary,
};

/// The weight of another inflection.
const INFLECTED: f32 = 0.9;
/// The weight of a compound that ends with the word.
const COMPOUND: f32 = 0.8;
/// The weight of a compound that begins with the word.
const BEGINS_COMPOUND: f32 = 0.4;
/// The weight of the last part of a compound alone.
const LAST_PART: f32 = 0.5;
/// The most forms of a word; the heaviest and most frequent.
const MAX_FORMS: usize = 64;
/// The most words of a query that are looked up.
const MAX_WORDS: usize = 16;

/// The other forms of a query's words.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WordForms {
    /// Terms of the query with their other forms.
    pub(crate) related: Vec<(Box<str>, Alternative)>,
    /// Terms that say nothing: function words, and bigrams across two words of a script without
    /// spaces.
    pub(crate) ignored: Vec<Box<str>>,
}

impl WordForms {
    /// The forms of the words of a text that the vocabulary has.
    pub(crate) fn of(text: &str, language: Option<Language>, vocabulary: &Vocabulary<'_>) -> Self {
        let mut forms = Self::default();
        if language == Some(Language::English) {
            return forms;
        }
        let mut languages = (vocabulary.languages)();
        languages.0 |= language.map_or(0, |language| ShopLanguages::only(language).0);
        if languages.is_empty() && text.is_ascii() {
            return forms;
        }
        let finder = Finder { vocabulary, languages };
        let mut runs: BTreeMap<usize, Vec<Box<str>>> = BTreeMap::new();
        let mut looked_up = 0;
        for_each_query_form(text, |QueryForm { form, term, run, is_bigram }| {
            if is_bigram {
                runs.entry(run).or_default().push(term.into());
            } else if finder.is_function_word(form) {
                forms.ignored.push(term.into());
            } else if looked_up < MAX_WORDS {
                looked_up += 1;
                let found = finder.forms_of(form, &term);
                forms.related.extend(found.into_iter().map(|found| (Box::from(&*term), found)));
            }
        });
        for bigrams in runs.into_values() {
            let (known, unknown): (Vec<_>, Vec<_>) =
                bigrams.into_iter().partition(|bigram| (vocabulary.doc_freq)(bigram) > 0);
            forms.ignored.extend(unknown.into_iter().filter(|_| !known.is_empty()));
        }
        forms
    }

    /// Whether a term has other forms.
    pub(crate) fn has(&self, term: &str) -> bool {
        self.related.iter().any(|(of, _)| **of == *term)
    }
}

struct Finder<'a> {
    vocabulary: &'a Vocabulary<'a>,
    languages: ShopLanguages,
}

impl Finder<'_> {
    /// Whether a form is a function word of a language of the shop or the query. A word that more
    /// products have than any telling word of that language is none: *la* of brands.
    fn is_function_word(&self, form: &str) -> bool {
        let is_listed = |table: &&Table| {
            table.spellings(form).iter().any(|word| table.function_words.contains(&term(word)))
        };
        let mut tables = self.languages.tables(None).filter(is_listed);
        let doc_freq = self.vocabulary.doc_freq;
        tables.any(|table| {
            (self.vocabulary.prefetch)(&table.telling_words);
            let own = doc_freq(&term(form));
            own == 0 || table.telling_words.iter().any(|word| doc_freq(word) >= own)
        })
    }

    fn is_known(&self, term: &str) -> bool {
        (self.vocabulary.doc_freq)(term) > 0
    }

    /// The terms of forms that the vocabulary has.
    fn known(&self, forms: &[String]) -> Vec<String> {
        let mut terms: Vec<String> = forms.iter().map(|form| term(form)).collect();
        terms.sort_unstable();
        terms.dedup();
        (self.vocabulary.prefetch)(&terms);
        terms.retain(|term| self.is_known(term));
        terms
    }

    fn forms_of(&self, form: &str, term: &str) -> Vec<Alternative> {
        let mut found = Vec::new();
        for table in self.languages.tables(Script::of(form)) {
            let mut words = self.words_of(table, form);
            words.remove(term);
            found.extend(spellings(words, 1.0, true));
            if table.has_compounds() && found.is_empty() && !self.is_known(term) {
                found.extend(self.parts_of(table, form));
            }
        }
        let doc_freq = |form: &Alternative| (self.vocabulary.doc_freq)(&form.words[0]);
        found.sort_by(|one, other| {
            let heavier = other.weight.total_cmp(&one.weight);
            heavier
                .then_with(|| doc_freq(other).cmp(&doc_freq(one)))
                .then_with(|| one.words.cmp(&other.words))
        });
        found.truncate(MAX_FORMS);
        found
    }

    /// The inflections of a form and the compounds that end with one of them, with their weights.
    fn words_of(&self, table: &Table, form: &str) -> BTreeMap<String, f32> {
        let mut forms = table.spellings(form);
        let inflected: Vec<String> = forms.iter().flat_map(|form| table.inflected(form)).collect();
        forms.extend(inflected);
        let mut words: BTreeMap<String, f32> = BTreeMap::new();
        let mut add = |word: String, weight: f32| {
            let known = words.entry(word).or_insert(weight);
            *known = known.max(weight);
        };
        for word in self.known(&forms) {
            add(word, INFLECTED);
        }
        if table.has_compounds() && table.is_long_enough(form) {
            for compound in self.compounds(table, &forms) {
                add(compound, COMPOUND);
            }
        }
        if table.joins_freely() {
            for compound in self.begun_by(table, form) {
                add(compound, BEGINS_COMPOUND);
            }
        }
        words
    }

    /// Compounds whose last part is one of these forms.
    fn compounds(&self, table: &Table, forms: &[String]) -> Vec<String> {
        let mut heads: Vec<String> = forms.iter().map(|form| term(form)).collect();
        heads.sort_unstable_by_key(|head| std::cmp::Reverse(head.len()));
        heads.dedup();
        let mut found: Vec<(String, Vec<String>)> = Vec::new();
        (self.vocabulary.with_suffix)(&heads, &mut |word| {
            let rests = heads.iter().filter_map(|head| word.strip_suffix(&**head));
            let words: Vec<String> = rests
                .filter(|rest| table.is_long_enough(rest))
                .flat_map(|rest| table.first_part_words(rest))
                .collect();
            if !words.is_empty() && !table.is_no_compound(word) {
                found.push((word.to_owned(), words));
            }
        });
        let parts: Vec<String> = found.iter().flat_map(|(_, parts)| parts).cloned().collect();
        (self.vocabulary.prefetch)(&parts);
        let is_long = table.is_found_by_length(&forms[0]);
        found.retain(|(_, parts)| is_long || self.is_first_part(table, parts));
        found.into_iter().map(|(word, _)| word).collect()
    }

    /// Whether any of the words that a first part may be is one.
    fn is_first_part(&self, table: &Table, words: &[String]) -> bool {
        table.is_listed_first_part(words)
            || words.iter().any(|word| self.is_known(&term(word)))
            || (self.vocabulary.is_dictionary_word)(&words[0])
    }

    /// Words that begin with a form and continue with another word.
    fn begun_by(&self, table: &Table, form: &str) -> Vec<String> {
        let mut found = Vec::new();
        (self.vocabulary.with_prefix)(form, &mut |word| found.push(word.to_owned()));
        let rests: Vec<String> = found.iter().map(|word| word[form.len()..].to_owned()).collect();
        (self.vocabulary.prefetch)(&rests);
        let is_long = table.is_found_by_length(form);
        let is_word = |rest: &str| self.is_known(rest) || is_long && table.is_long_enough(rest);
        found.retain(|word| is_word(&word[form.len()..]));
        found
    }

    /// The parts of a compound that the shop does not have: both, or the last alone.
    fn parts_of(&self, table: &Table, form: &str) -> Vec<Alternative> {
        let splits = form.char_indices().map(|(at, _)| form.split_at(at));
        let splits: Vec<(&str, &str)> = splits
            .filter(|(first, last)| table.is_long_enough(first) && table.is_long_enough(last))
            .collect();
        let pieces = splits.iter().flat_map(|(first, last)| {
            table.first_part_words(first).into_iter().chain([term(last)])
        });
        (self.vocabulary.prefetch)(&pieces.collect::<Vec<_>>());
        for (first, last) in splits {
            let words = table.first_part_words(first);
            if table.is_no_compound(form) || !self.is_first_part(table, &words) {
                continue;
            }
            let lasts = self.words_of(table, last);
            if lasts.is_empty() {
                continue;
            }
            let head = lasts.iter().find(|(_, weight)| **weight >= INFLECTED);
            let first = words.iter().map(|word| term(word)).find(|word| self.is_known(word));
            let both = first.zip(head).map(|(first, (head, _))| {
                Alternative::all(vec![first.into(), head.as_str().into()])
            });
            return both.into_iter().chain(spellings(lasts, LAST_PART, false)).collect();
        }
        Vec::new()
    }
}

/// Words as alternatives of a term.
fn spellings(
    words: BTreeMap<String, f32>,
    factor: f32,
    respelled: bool,
) -> impl Iterator<Item = Alternative> {
    words.into_iter().map(move |(word, weight)| Alternative {
        weight: weight * factor,
        respelled,
        ..Alternative::word(&word)
    })
}
