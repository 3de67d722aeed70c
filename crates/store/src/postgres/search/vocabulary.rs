//! Document frequencies, spelling candidates and keys of a shop that is searched inside PostgreSQL,
//! fetched in batches and cached for the duration of one search.

use std::{
    cell::{Cell, RefCell},
    collections::{HashMap, HashSet},
};

use catalog::{
    product::{ProductId, access::Visibility, key::Key},
    text::{
        analysis::{QueryTerms, for_each_word},
        vocabulary::{TermLookup, Vocabulary},
        word_forms::ShopLanguages,
    },
};

use super::{snapshot::SearchSnapshot, text_query};
use crate::StoreError;

/// Limit for words that are similar by trigrams.
const MAX_SIMILAR: i64 = 300;
/// Limit for words with a common prefix.
const MAX_WITH_PREFIX: i64 = 200;
/// Limit for words with a common suffix.
const MAX_WITH_SUFFIX: i64 = 1000;
/// Co-occurrences are counted up to this number; the speller does not distinguish larger ones.
const MAX_TOGETHER: i64 = 5_000;

/// The words and keys of a shop's visible products, as of one database state.
///
/// The speller's callbacks cannot fail, so the first error of the database is kept and returned by
/// [`doc_freqs`](Self::doc_freqs).
pub struct ShopVocabulary<'a, 'session> {
    snapshot: &'a SearchSnapshot<'session>,
    visibility: Visibility,
    /// The document frequency of each word looked up so far, 0 included.
    doc_freqs: RefCell<HashMap<Box<str>, u64>>,
    /// The visible product with each key looked up so far.
    keys: RefCell<HashMap<Box<str>, Option<ProductId>>>,
    /// The number of visible products.
    products: u64,
    error: Cell<Option<StoreError>>,
}

impl<'a, 'session> ShopVocabulary<'a, 'session> {
    /// The words of a shop with `products` visible products.
    pub fn new(
        snapshot: &'a SearchSnapshot<'session>,
        visibility: Visibility,
        products: u64,
    ) -> Self {
        let (doc_freqs, keys, error) = Default::default();
        Self { snapshot, visibility, doc_freqs, keys, products, error }
    }

    /// The visible product with a key.
    pub fn with_key(&self, key: &str) -> Option<ProductId> {
        if let Some(known) = self.keys.borrow().get(key) {
            return *known;
        }
        // PostgreSQL's text cannot contain NUL.
        let is_key = Key::parse(key).is_ok();
        let found = is_key.then(|| self.snapshot.with_key(self.visibility, key));
        let found = found.and_then(|found| self.keep_error(found)).flatten();
        self.keys.borrow_mut().insert(key.into(), found);
        found
    }

    /// How many visible products contain a word.
    pub fn doc_freq(&self, word: &str) -> u64 {
        if let Some(known) = self.doc_freqs.borrow().get(word) {
            return *known;
        }
        self.prefetch(&[word.to_owned()]);
        self.doc_freqs.borrow().get(word).copied().unwrap_or(0)
    }

    /// Fetches the document frequencies of words that will be looked up.
    pub fn prefetch(&self, words: &[String]) {
        let mut unknown: Vec<String> = words.to_vec();
        // PostgreSQL's text cannot contain NUL, and no word does.
        let is_valid = |word: &str| !word.contains('\0');
        unknown.retain(|word| is_valid(word) && !self.doc_freqs.borrow().contains_key(&**word));
        unknown.sort_unstable();
        unknown.dedup();
        if unknown.is_empty() {
            return;
        }
        let found = self.snapshot.doc_freqs(self.visibility, &unknown);
        let Some(found) = self.keep_error(found) else { return };
        let mut doc_freqs = self.doc_freqs.borrow_mut();
        for word in unknown {
            let products = found.get(&word).copied().unwrap_or(0);
            doc_freqs.insert(word.into(), products);
        }
    }

    /// Fetches the document frequencies of the words of a query text.
    pub fn prefetch_text(&self, text: &str) {
        let mut words: Vec<String> = Vec::new();
        for_each_word(text, |word| words.push(word.to_owned()));
        words.extend(text.split_whitespace().map(str::to_lowercase));
        words.extend(QueryTerms::of(text).iter().map(str::to_owned));
        words.extend(ShopLanguages::telling_words().map(str::to_owned));
        self.prefetch(&words);
    }

    /// Calls `f` with the words of the visible products.
    pub fn with(&self, is_word: TermLookup, f: &mut dyn FnMut(&Vocabulary<'_>)) {
        f(&Vocabulary {
            languages: &|| ShopLanguages::of(self.products, |word| self.doc_freq(word)),
            is_dictionary_word: is_word,
            is_foreign_word: &|_| false,
            num_docs: self.products,
            prefetch: &|words| self.prefetch(words),
            doc_freq: &|word| self.doc_freq(word),
            near: &|word, found| self.similar(word, found),
            with_prefix: &|word, found| {
                let words = self.snapshot.words_with_prefix(self.visibility, word, MAX_WITH_PREFIX);
                self.visit(words, &mut |other| {
                    if !word.is_ascii() || is_plain(other) {
                        found(other);
                    }
                });
            },
            with_suffix: &|ends, found| {
                let words = self.snapshot.words_with_suffix(self.visibility, ends, MAX_WITH_SUFFIX);
                self.visit(words, found);
            },
            co_doc_freq: &|word, others| self.together(word, others),
        });
    }

    /// The document frequencies of all words looked up so far, or the first error of a lookup.
    pub fn doc_freqs(&self) -> Result<HashMap<Box<str>, u64>, StoreError> {
        match self.error.take() {
            Some(error) => Err(error),
            None => Ok(self.doc_freqs.borrow().clone()),
        }
    }

    /// Words that share trigrams with `word`, and words within one edit: in a short word, an edit
    /// leaves too few trigrams unchanged.
    fn similar(&self, word: &str, found: &mut dyn FnMut(&str)) {
        let mut found = |word: &str| {
            if is_plain(word) {
                found(word);
            }
        };
        self.visit(self.snapshot.similar_words(self.visibility, word, MAX_SIMILAR), &mut found);
        self.visit(self.snapshot.doc_freqs(self.visibility, &within_one_edit(word)), &mut found);
    }

    /// Caches document frequencies and calls back with the words, in alphabetical order.
    fn visit(&self, words: Result<HashMap<String, u64>, StoreError>, found: &mut dyn FnMut(&str)) {
        let mut words: Vec<_> = self.keep_error(words).into_iter().flatten().collect();
        words.sort_unstable();
        for (word, products) in words {
            self.doc_freqs.borrow_mut().insert((&*word).into(), products);
            found(&word);
        }
    }

    /// How many products contain `word` and any of `others`.
    fn together(&self, word: &str, others: &[&str]) -> u64 {
        let known: Vec<&str> =
            others.iter().copied().filter(|other| self.doc_freq(other) > 0).collect();
        if known.is_empty() || self.doc_freq(word) == 0 {
            return 0;
        }
        let query = text_query::with_any(word, &known);
        self.keep_error(self.snapshot.count_matching(self.visibility, &query, MAX_TOGETHER))
            .unwrap_or(0)
    }

    fn keep_error<T>(&self, result: Result<T, StoreError>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(error) => {
                let first = self.error.take().unwrap_or(error);
                self.error.set(Some(first));
                None
            }
        }
    }
}

/// Whether the speller can compare a word with others.
fn is_plain(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_lowercase())
}

/// All words that turn into `word`, of lower-case ASCII letters, by one deletion, insertion,
/// substitution or transposition.
fn within_one_edit(word: &str) -> Vec<String> {
    let mut words: HashSet<String> = HashSet::new();
    for at in 0..=word.len() {
        let (before, after) = word.split_at(at);
        for letter in 'a'..='z' {
            words.insert(format!("{before}{letter}{after}"));
            if !after.is_empty() {
                words.insert(format!("{before}{letter}{}", &after[1..]));
            }
        }
        if !after.is_empty() {
            words.insert(format!("{before}{}", &after[1..]));
        }
        if after.len() > 1 {
            words.insert(format!("{before}{}{}{}", &after[1..2], &after[..1], &after[2..]));
        }
    }
    words.remove(word);
    words.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::within_one_edit;

    #[test]
    fn every_kind_of_edit_is_covered() {
        let words = within_one_edit("lamp");
        for word in ["lmap", "alamp", "lamps", "lam", "amp", "lump", "clamp", "ramp"] {
            assert!(words.iter().any(|found| found == word), "{word}");
        }
        assert!(words.iter().all(|found| found != "lamp"));
    }
}
