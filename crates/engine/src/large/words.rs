//! Which words does a large shop know, and which of them are like one that it does not? Asked of
//! the database a few times, in batches, and remembered for the rest of the search.

use std::{
    cell::{Cell, RefCell},
    collections::{HashMap, HashSet},
};

use catalog::{
    access::Visibility,
    analysis::{QueryTerms, for_each_word},
    query_parser::{ParsedQuery, TermLookup},
    spelling::Vocabulary,
};

use super::query;
use crate::store::{Glance, StoreError};

/// Words that look like another, at most.
const MOST_LIKE: i64 = 300;
/// Words that begin with another, at most.
const MOST_ENDINGS: i64 = 200;
/// Products that say words together are counted up to this number: more is just often.
const MOST_TOGETHER: i64 = 5_000;

/// The words of a shop's visible products, as of one state of the database.
pub(super) struct Words<'a, 'session> {
    glance: RefCell<&'a mut Glance<'session>>,
    visibility: Visibility,
    /// How many products say a word, 0 included.
    counts: RefCell<HashMap<Box<str>, u64>>,
    all: u64,
    /// What went wrong where nothing could be said.
    failed: Cell<Option<StoreError>>,
}

impl<'a, 'session> Words<'a, 'session> {
    /// The words of a shop with `all` visible products.
    pub(super) fn of(glance: &'a mut Glance<'session>, visibility: Visibility, all: u64) -> Self {
        Self {
            glance: RefCell::new(glance),
            visibility,
            counts: RefCell::default(),
            all,
            failed: Cell::default(),
        }
    }

    /// How many products say a word.
    pub(super) fn products(&self, word: &str) -> u64 {
        if let Some(known) = self.counts.borrow().get(word) {
            return *known;
        }
        self.expect(&[word.to_owned()]);
        self.counts.borrow().get(word).copied().unwrap_or(0)
    }

    /// Fetches the counts of words that will be asked for.
    pub(super) fn expect(&self, words: &[String]) {
        let mut unknown: Vec<String> = words.to_vec();
        // A text of the database cannot hold NUL, and no word does.
        let can_be_asked = |word: &str| !word.contains('\0');
        unknown.retain(|word| can_be_asked(word) && !self.counts.borrow().contains_key(&**word));
        unknown.sort_unstable();
        unknown.dedup();
        if unknown.is_empty() {
            return;
        }
        let found = self.glance.borrow_mut().word_counts(self.visibility, &unknown);
        let Some(found) = self.noted(found) else { return };
        let mut counts = self.counts.borrow_mut();
        for word in unknown {
            let products = found.get(&word).copied().unwrap_or(0);
            counts.insert(word.into(), products);
        }
    }

    /// Fetches the counts of all that a text says or asks for.
    pub(super) fn expect_text(&self, text: &str) {
        let mut words: Vec<String> = Vec::new();
        for_each_word(text, |word| words.push(word.to_owned()));
        words.extend(text.split_whitespace().map(str::to_lowercase));
        words.extend(QueryTerms::of(text).iter().map(str::to_owned));
        self.expect(&words);
    }

    /// Corrects a query with the words that products say.
    pub(super) fn correct(&self, query: &str, is_word: TermLookup, parsed: &mut ParsedQuery) {
        parsed.correct(
            query,
            &Vocabulary {
                is_dictionary_word: is_word,
                num_docs: self.all,
                prefetch: &|words| self.expect(words),
                doc_freq: &|word| self.products(word),
                near: &|word, found| self.near(word, found),
                with_prefix: &|word, found| {
                    let words =
                        self.glance.borrow_mut().beginning(self.visibility, word, MOST_ENDINGS);
                    self.hand_over(words, found);
                },
                co_doc_freq: &|word, others| self.together(word, others),
            },
        );
    }

    /// What was found out, if nothing went wrong: the counts of all words that were asked for.
    pub(super) fn into_counts(self) -> Result<HashMap<Box<str>, u64>, StoreError> {
        match self.failed.take() {
            Some(error) => Err(error),
            None => Ok(self.counts.into_inner()),
        }
    }

    /// Words that share groups of letters with a word, and those that are one slip away: a slip in
    /// a short word leaves too few groups as they were.
    fn near(&self, word: &str, found: &mut dyn FnMut(&str)) {
        let like = self.glance.borrow_mut().like(self.visibility, word, MOST_LIKE);
        self.hand_over(like, found);
        let one_slip = self.glance.borrow_mut().word_counts(self.visibility, &one_slip_away(word));
        self.hand_over(one_slip, found);
    }

    fn hand_over(
        &self,
        words: Result<HashMap<String, u64>, StoreError>,
        found: &mut dyn FnMut(&str),
    ) {
        let mut words: Vec<_> = self.noted(words).into_iter().flatten().collect();
        words.sort_unstable();
        for (word, products) in words {
            self.counts.borrow_mut().insert((&*word).into(), products);
            if word.bytes().all(|byte| byte.is_ascii_lowercase()) {
                found(&word);
            }
        }
    }

    fn together(&self, word: &str, others: &[&str]) -> u64 {
        let known: Vec<&str> =
            others.iter().copied().filter(|other| self.products(other) > 0).collect();
        if known.is_empty() || self.products(word) == 0 {
            return 0;
        }
        let query = query::both(word, &known);
        let count = self.glance.borrow_mut().saying(self.visibility, &query, MOST_TOGETHER);
        self.noted(count).unwrap_or(0)
    }

    /// What was answered; an error is kept for later.
    fn noted<T>(&self, answer: Result<T, StoreError>) -> Option<T> {
        match answer {
            Ok(answer) => Some(answer),
            Err(error) => {
                self.failed.set(Some(error));
                None
            }
        }
    }
}

/// What a word of lower-case letters may have been before a letter was left out, added, changed or
/// swapped with its neighbour.
fn one_slip_away(word: &str) -> Vec<String> {
    let mut made: HashSet<String> = HashSet::new();
    for at in 0..=word.len() {
        let (before, after) = word.split_at(at);
        for letter in 'a'..='z' {
            made.insert(format!("{before}{letter}{after}"));
            if !after.is_empty() {
                made.insert(format!("{before}{letter}{}", &after[1..]));
            }
        }
        if !after.is_empty() {
            made.insert(format!("{before}{}", &after[1..]));
        }
        if after.len() > 1 {
            made.insert(format!("{before}{}{}{}", &after[1..2], &after[..1], &after[2..]));
        }
    }
    made.remove(word);
    made.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::one_slip_away;

    #[test]
    fn every_slip_is_undone() {
        let made = one_slip_away("lamp");
        for word in ["lmap", "alamp", "lamps", "lam", "amp", "lump", "clamp", "ramp"] {
            assert!(made.iter().any(|made| made == word), "{word}");
        }
        assert!(made.iter().all(|made| made != "lamp"));
    }
}
