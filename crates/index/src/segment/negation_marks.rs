//! Negation marks: words that a product only negates ("leather-free", "no leather").
//!
//! Indexing adds a posting of the word's negation term for such a product, so that postings alone
//! decide a search for products without leather. A product has the negation term of a word exactly
//! if its texts contain the word and do not match an exclusion of that one word.

use catalog::query::parser::Exclusion;

/// The first character of negation terms. No word starts with it, and it sorts before all words, so
/// prefix and fuzzy searches never meet a negation term.
const MARK: char = '\u{1}';

/// The term whose postings are the products that contain a word and only negate it.
pub(crate) fn negation_term(word: &str) -> String {
    format!("{MARK}{word}")
}

/// Finds the negated words of one product. Its memory is reused for the next product.
#[derive(Debug, Default)]
pub(super) struct NegatedWords<No> {
    /// All words, concatenated.
    texts: String,
    /// Where each word ends in `texts`, and its number; `None` for the end of a sentence.
    words: Vec<(u32, Option<No>)>,
    /// Where each field ends in `words`.
    fields: Vec<usize>,
    /// Positions of words that negate others.
    negators: Vec<usize>,
}

impl<No: Copy + Ord> NegatedWords<No> {
    /// Adds a word.
    pub(super) fn push(&mut self, text: &str, word: No, is_negator: bool) {
        if is_negator {
            self.negators.push(self.words.len());
        }
        self.texts.push_str(text);
        self.words.push((self.texts.len() as u32, Some(word)));
    }

    /// Ends a sentence.
    pub(super) fn push_sentence_break(&mut self) {
        self.texts.push_str(Exclusion::SENTENCE_BREAK);
        self.words.push((self.texts.len() as u32, None));
    }

    /// Ends a field.
    pub(super) fn end_field(&mut self) {
        self.fields.push(self.words.len());
    }

    /// Prepares for the next product.
    pub(super) fn clear(&mut self) {
        self.texts.clear();
        self.words.clear();
        self.fields.clear();
        self.negators.clear();
    }

    /// Calls `f` with every word that is negated wherever it occurs.
    pub(super) fn for_each(&self, mut f: impl FnMut(&str)) {
        let negated = self.negated();
        if negated.is_empty() {
            return;
        }
        let is_among = |word: No| {
            let first = negated.partition_point(|(other, _)| *other < word);
            negated.get(first).is_some_and(|(other, _)| *other == word)
        };
        let mut asserted: Vec<No> = Vec::new();
        for (at, (_, word)) in self.words.iter().enumerate() {
            if let Some(word) = *word
                && is_among(word)
                && negated.binary_search(&(word, at)).is_err()
            {
                asserted.push(word);
            }
        }
        asserted.sort_unstable();
        for same in negated.chunk_by(|(one, _), (other, _)| one == other) {
            let (word, at) = same[0];
            if asserted.binary_search(&word).is_err() {
                f(self.text(at));
            }
        }
    }

    /// The words that are negated somewhere, each with its position there, in ascending order. Only
    /// the surroundings of words that negate others are examined.
    fn negated(&self) -> Vec<(No, usize)> {
        let mut negated = Vec::new();
        let mut negators = self.negators.iter().peekable();
        let mut from = 0;
        for end in &self.fields {
            let field: Vec<&str> = match self.negators.is_empty() {
                true => Vec::new(),
                false => (from..*end).map(|at| self.text(at)).collect(),
            };
            for at in from..from + field.len() {
                while negators
                    .next_if(|negator| **negator + Exclusion::NEGATION_WINDOW < at)
                    .is_some()
                {}
                let is_near = negators.peek().is_some_and(|negator| **negator <= at + 1);
                if let Some(word) = self.words[at].1
                    && is_near
                    && Exclusion::is_negated_in(&field, at - from)
                {
                    negated.push((word, at));
                }
            }
            from = *end;
        }
        negated.sort_unstable();
        negated
    }

    fn text(&self, at: usize) -> &str {
        let start = at.checked_sub(1).map_or(0, |before| self.words[before].0);
        &self.texts[start as usize..self.words[at].0 as usize]
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use catalog::text::analysis::{for_each_word, for_each_word_or_break};
    use proptest::prelude::*;

    use super::*;

    /// The words whose negation terms a product has.
    fn marked(fields: &[&str]) -> BTreeSet<String> {
        let mut numbers: BTreeMap<String, usize> = BTreeMap::new();
        let mut said = NegatedWords::default();
        for field in fields {
            for_each_word_or_break(field, |word| {
                let Some(word) = word else { return said.push_sentence_break() };
                let next = numbers.len();
                let number = *numbers.entry(word.to_owned()).or_insert(next);
                said.push(word, number, Exclusion::is_negator(word));
            });
            said.end_field();
        }
        let mut marked = BTreeSet::new();
        said.for_each(|word| assert!(marked.insert(word.to_owned()), "{word} twice"));
        marked
    }

    #[test]
    fn words_that_are_denied_everywhere_are_marked() {
        let of = |title, description| {
            marked(&[title, description]).into_iter().collect::<Vec<_>>().join(" ")
        };
        assert_eq!(of("Leather-free boots", "no laces, no leather"), "lace leather");
        assert_eq!(of("Leather boots", "no leather"), "");
        assert_eq!(of("Cotton shirt", "Soft, free shipping"), "soft");
        assert_eq!(of("Shirt", "Made of cotton. Free shipping"), "");
        assert_eq!(of("Shirt of cotton", "free shipping"), "");
        assert_eq!(of("", ""), "");
    }

    fn text() -> impl Strategy<Value = String> {
        let word = prop::sample::select(vec![
            "leather",
            "cotton",
            "sole",
            "free",
            "frei",
            "no",
            "non",
            "without",
            "of",
            "and",
            "or",
            "any",
            "not",
            "does",
            "contain",
            "cotton-free",
            "non-leather",
            "shipping",
            "5 ft.",
            "-",
        ]);
        prop::collection::vec(word, 0..20).prop_map(|words| words.join(" "))
    }

    proptest! {
        #[test]
        fn a_word_is_marked_exactly_if_an_exclusion_of_it_does_not_match(
            title in text(),
            description in text(),
        ) {
            let marked = marked(&[&title, &description]);
            let mut said = BTreeSet::new();
            for text in [&title, &description] {
                for_each_word(text, |word| {
                    said.insert(word.to_owned());
                });
            }
            for word in &said {
                let exclusion = Exclusion { words: vec![(&**word).into()], span: 0..1, is_claim: false };
                let is_broken =
                    exclusion.matches(&title) || exclusion.matches(&description);
                prop_assert_eq!(marked.contains(word), !is_broken, "{}", word);
            }
            prop_assert!(marked.is_subset(&said));
        }
    }
}
