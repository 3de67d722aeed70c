//! Which words of a query are about products? The others are set aside.

use super::{Side, for_each_form, stem::singular};

/// Words that hold a sentence together and say nothing about a product.
///
/// Words that are also goods or features stay out of this list: `can`, `over`, `under`, `no`.
#[rustfmt::skip]
const FUNCTION_WORDS: &[&str] = &[
    "a", "about", "also", "am", "an", "and", "any", "anything", "are", "as", "at", "be", "been",
    "but", "by", "could", "did", "do", "does", "every", "for", "from", "had", "has", "have",
    "he", "her", "him", "his", "how", "i", "if", "in", "into", "is", "it", "its", "me", "my",
    "of", "on", "or", "our", "please", "she", "should", "so", "some", "someone", "something",
    "than", "that", "the", "their", "them", "then", "there", "these", "they", "this", "those",
    "to", "us", "very", "was", "we", "were", "what", "when", "where", "which", "who", "with",
    "would", "you", "your",
];

/// What people say before they say what they want. Single words of these may well be about
/// products ("looking glass", "want want rice crackers"), so only the whole phrase is set aside.
const CHIT_CHAT: &[&[&str]] = &[
    &["looking", "for"],
    &["look", "for"],
    &["looking", "to", "buy"],
    &["searching", "for"],
    &["search", "for"],
    &["in", "search", "of"],
    &["trying", "to", "find"],
    &["i", "want"],
    &["i", "need"],
    &["we", "need"],
    &["i", "like"],
    &["would", "like"],
    &["want", "to", "buy"],
    &["want", "to", "get"],
    &["need", "to", "buy"],
    &["need", "to", "get"],
    &["like", "to", "buy"],
    &["show", "me"],
    &["find", "me"],
    &["find", "a"],
    &["buy", "a"],
    &["give", "me"],
    &["get", "me"],
    &["recommend", "me"],
    &["suggest", "me"],
    &["help", "me", "find"],
    &["can", "you"],
    &["can", "you", "find"],
    &["can", "you", "show"],
    &["could", "you", "find"],
    &["can", "i", "get"],
    &["can", "i", "find"],
    &["can", "i", "buy"],
    &["have", "you", "got"],
    &["do", "you", "sell"],
    &["kind", "of"],
    &["thank", "you"],
    &["ich", "suche"],
    &["ich", "brauche"],
    &["je", "cherche"],
    &["я", "ищу"],
];

/// The distinct words of a query that products are matched with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueryWords {
    words: Vec<Box<str>>,
}

impl QueryWords {
    /// Reads a query. Function words count only in a query that has nothing else.
    pub fn of(text: &str) -> Self {
        let mut forms = Vec::new();
        for_each_form(text, Side::Query, |form| forms.push(form.to_owned()));
        let set_aside = set_aside(&forms);
        let has_content = set_aside.contains(&false);
        let mut words: Vec<Box<str>> = Vec::new();
        for (form, aside) in forms.iter().zip(set_aside) {
            let word = singular(form);
            if !(aside && has_content || words.iter().any(|known| **known == *word)) {
                words.push(word.into());
            }
        }
        Self { words }
    }

    /// The words, each once, in the order they were first said.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &str> {
        self.words.iter().map(|word| &**word)
    }

    /// Whether the query says no word at all, such as one of punctuation only.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }
}

/// Whether a form holds a sentence together and says nothing about a product.
pub(crate) fn is_function_word(form: &str) -> bool {
    FUNCTION_WORDS.binary_search(&form).is_ok()
}

/// For each form, whether it is a function word or part of chit-chat.
pub(crate) fn set_aside(forms: &[impl AsRef<str>]) -> Vec<bool> {
    let mut aside: Vec<bool> = forms.iter().map(|form| is_function_word(form.as_ref())).collect();
    for start in 0..forms.len() {
        for phrase in CHIT_CHAT {
            let said = &forms[start..];
            if said.len() >= phrase.len()
                && said.iter().zip(*phrase).all(|(form, word)| form.as_ref() == *word)
            {
                aside[start..start + phrase.len()].fill(true);
            }
        }
    }
    aside
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(query: &str, expected: &[&str]) {
        assert_eq!(QueryWords::of(query).iter().collect::<Vec<_>>(), expected, "{query:?}");
    }

    #[test]
    fn the_function_words_are_sorted() {
        assert!(FUNCTION_WORDS.is_sorted());
    }

    #[test]
    fn function_words_and_chit_chat_are_set_aside() {
        check("I'm looking for something to sit on", &["sit"]);
        check("show me a red sofa for my dog", &["red", "sofa", "dog"]);
        check("i would like to buy the lamp", &["lamp"]);
        check("trash can", &["trash", "can"]);
        check("looking glass", &["looking", "glass"]);
    }

    #[test]
    fn a_query_of_function_words_alone_is_searched_as_it_is() {
        check("the who", &["the", "who"]);
        check("to be or not to be", &["not"]);
    }

    #[test]
    fn each_word_counts_once() {
        check("dog dogs Dog's WD-40 wd40", &["dog", "wd", "40", "wd40"]);
    }

    #[test]
    fn pairs_of_characters_are_asked_for_not_single_ones() {
        check("绿茶杯 茶", &["绿茶", "茶杯", "茶"]);
    }

    #[test]
    fn a_query_without_words_is_empty() {
        assert!(QueryWords::of("?! 🔥").is_empty());
    }
}
