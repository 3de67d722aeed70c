//! Phrase tables with longest-match lookup.
//!
//! A phrase is written as folded tokens with one space between them; signs are tokens of their own
//! (`"< ="`, `"w / o"`).

use crate::lexer::Tokens;

/// A table of phrases, each with a value.
pub(super) struct Lexicon<T: 'static> {
    /// Sorted by first word.
    entries: Vec<Entry<T>>,
}

struct Entry<T> {
    first: &'static str,
    rest: Vec<&'static str>,
    value: T,
}

impl<T> Entry<T> {
    fn new(phrase: &'static str, value: T) -> Self {
        let mut words = phrase.split(' ');
        Self { first: words.next().unwrap_or_default(), rest: words.collect(), value }
    }
}

impl<T: Copy> Lexicon<T> {
    pub(super) fn of(tables: &[&[(&'static str, T)]]) -> Self {
        let entries = tables.iter().flat_map(|table| table.iter());
        Self::sorted(entries.map(|(phrase, value)| Entry::new(phrase, *value)).collect())
    }

    /// From lists of phrases with the same value, separated by `|`.
    pub(super) fn of_lists(lists: &[(&'static str, T)]) -> Self {
        let each = |(list, value): &(&'static str, T)| {
            let value = *value;
            list.split('|').map(move |phrase| Entry::new(phrase.trim(), value))
        };
        Self::sorted(lists.iter().flat_map(each).collect())
    }

    fn sorted(mut entries: Vec<Entry<T>>) -> Self {
        entries.sort_by_key(|entry| entry.first);
        Self { entries }
    }

    /// The value of the longest phrase that begins at a token, and its exclusive end.
    pub(super) fn longest_at(&self, tokens: &Tokens, at: usize) -> Option<(T, usize)> {
        let mut longest: Option<(T, usize)> = None;
        for entry in self.beginning_with(tokens.word(at)) {
            let end = at + 1 + entry.rest.len();
            let matches =
                entry.rest.iter().zip(at + 1..).all(|(word, at)| tokens.word(at) == *word);
            if matches && longest.is_none_or(|(_, so_far)| end > so_far) {
                longest = Some((entry.value, end));
            }
        }
        longest
    }

    fn beginning_with(&self, word: &str) -> &[Entry<T>] {
        let start = self.entries.partition_point(|entry| entry.first < word);
        let len = self.entries[start..].iter().take_while(|entry| entry.first == word).count();
        if word.is_empty() { &[] } else { &self.entries[start..start + len] }
    }

    #[cfg(test)]
    pub(super) fn phrases(&self) -> Vec<String> {
        let phrase = |entry: &Entry<T>| {
            let words: Vec<_> =
                [entry.first].into_iter().chain(entry.rest.iter().copied()).collect();
            words.join(" ")
        };
        self.entries.iter().map(phrase).collect()
    }
}

/// A set of single words.
pub(super) struct WordSet(Vec<&'static str>);

impl WordSet {
    /// From lists of words separated by spaces.
    pub(super) fn of(lists: &[&'static str]) -> Self {
        let mut words: Vec<_> = lists.iter().flat_map(|list| list.split_whitespace()).collect();
        words.sort_unstable();
        Self(words)
    }

    pub(super) fn contains(&self, word: &str) -> bool {
        self.0.binary_search(&word).is_ok()
    }

    #[cfg(test)]
    pub(super) fn words(&self) -> impl Iterator<Item = &'static str> {
        self.0.iter().copied()
    }
}

/// Asserts that phrases are written in folded form.
#[cfg(test)]
pub(super) fn assert_folded(phrases: Vec<String>) {
    for phrase in phrases {
        let tokens = Tokens::of(&phrase);
        let words: Vec<_> = (0..tokens.len()).map(|at| tokens.word(at)).collect();
        assert_eq!(words.join(" "), phrase);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_phrase_matches() {
        let lexicon = Lexicon::of_lists(&[("less than|under", 1), ("less", 2), ("under the", 3)]);
        let found = |text| lexicon.longest_at(&Tokens::of(text), 0);
        assert_eq!(found("less than 5"), Some((1, 2)));
        assert_eq!(found("less is more"), Some((2, 1)));
        assert_eq!(found("Under the bed"), Some((3, 2)));
        assert_eq!(found("underwear"), None);
        assert_eq!(found(""), None);
    }
}
