//! Which words does a product say only to deny them: "leather-free", "no leather"?
//!
//! They are noted when a product is indexed, as postings of a mark of the word, so that a search
//! for products without leather decides by postings alone which products say it. A product has a
//! mark of a word exactly if an exclusion of that one word is not broken by its texts although they
//! say the word.

use catalog::query_parser::Exclusion;

/// Begins the mark of a word. No word does: texts have no control characters, and words begin with
/// a letter or a digit. It sorts before all words, so no walk through words meets a mark.
const MARK: char = '\u{1}';

/// The term whose postings are the products that say this word only to deny it.
pub(super) fn mark_of(word: &str) -> String {
    format!("{MARK}{word}")
}

/// The words of one product in order, field by field. The room is used again for the next product.
#[derive(Debug, Default)]
pub(super) struct SaidWords<No> {
    /// All words, one behind the other.
    texts: String,
    /// Where each word ends in `texts`, and its number; the ends of sentences have none.
    words: Vec<(u32, Option<No>)>,
    /// Where each field ends in `words`.
    fields: Vec<usize>,
    /// Places of words by which others are denied.
    denials: Vec<usize>,
}

impl<No: Copy + Ord> SaidWords<No> {
    /// Takes the next word in.
    pub(super) fn push(&mut self, text: &str, word: No, is_negator: bool) {
        if is_negator {
            self.denials.push(self.words.len());
        }
        self.texts.push_str(text);
        self.words.push((self.texts.len() as u32, Some(word)));
    }

    /// A sentence ends.
    pub(super) fn push_stop(&mut self) {
        self.texts.push_str(Exclusion::SENTENCE_BREAK);
        self.words.push((self.texts.len() as u32, None));
    }

    /// The words so far are those of a field of their own.
    pub(super) fn end_field(&mut self) {
        self.fields.push(self.words.len());
    }

    /// Forgets the product.
    pub(super) fn clear(&mut self) {
        self.texts.clear();
        self.words.clear();
        self.fields.clear();
        self.denials.clear();
    }

    /// Calls `f` with every word that is denied wherever it is said.
    pub(super) fn for_each_denied(&self, mut f: impl FnMut(&str)) {
        let denied = self.denied();
        if denied.is_empty() {
            return;
        }
        let is_among = |word: No| {
            let first = denied.partition_point(|(other, _)| *other < word);
            denied.get(first).is_some_and(|(other, _)| *other == word)
        };
        let mut stated: Vec<No> = Vec::new();
        for (at, (_, word)) in self.words.iter().enumerate() {
            if let Some(word) = *word
                && is_among(word)
                && denied.binary_search(&(word, at)).is_err()
            {
                stated.push(word);
            }
        }
        stated.sort_unstable();
        for same in denied.chunk_by(|(one, _), (other, _)| one == other) {
            let (word, at) = same[0];
            if stated.binary_search(&word).is_err() {
                f(self.text(at));
            }
        }
    }

    /// The words that are denied somewhere, each with its place there, in ascending order. Only near
    /// words by which others are denied is there anything to look for.
    fn denied(&self) -> Vec<(No, usize)> {
        let mut denied = Vec::new();
        let mut denials = self.denials.iter().peekable();
        let mut from = 0;
        for end in &self.fields {
            let field: Vec<&str> = match self.denials.is_empty() {
                true => Vec::new(),
                false => (from..*end).map(|at| self.text(at)).collect(),
            };
            for at in from..from + field.len() {
                while denials.next_if(|denial| **denial + Exclusion::NEGATION_WINDOW < at).is_some()
                {
                }
                let is_near = denials.peek().is_some_and(|denial| **denial <= at + 1);
                if let Some(word) = self.words[at].1
                    && is_near
                    && Exclusion::is_negated_in(&field, at - from)
                {
                    denied.push((word, at));
                }
            }
            from = *end;
        }
        denied.sort_unstable();
        denied
    }

    fn text(&self, at: usize) -> &str {
        let start = at.checked_sub(1).map_or(0, |before| self.words[before].0);
        &self.texts[start as usize..self.words[at].0 as usize]
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use catalog::analysis::{for_each_word, for_each_word_or_break};
    use proptest::prelude::*;

    use super::*;

    /// The words that a product has marks of.
    fn marked(fields: &[&str]) -> BTreeSet<String> {
        let mut numbers: BTreeMap<String, usize> = BTreeMap::new();
        let mut said = SaidWords::default();
        for field in fields {
            for_each_word_or_break(field, |word| {
                let Some(word) = word else { return said.push_stop() };
                let next = numbers.len();
                let number = *numbers.entry(word.to_owned()).or_insert(next);
                said.push(word, number, Exclusion::is_negator(word));
            });
            said.end_field();
        }
        let mut marked = BTreeSet::new();
        said.for_each_denied(|word| assert!(marked.insert(word.to_owned()), "{word} twice"));
        marked
    }

    #[test]
    fn what_is_denied_everywhere_is_marked() {
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
        fn a_mark_says_that_an_exclusion_of_the_word_is_not_broken(
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
