//! Decides whether a product's text violates an exclusion.
//!
//! A word counts as mentioned only where the text does not negate it: `leather-free`, `no leather`
//! and `does not contain leather` do not violate an exclusion of leather. Words are those of
//! [`for_each_word_or_break`], and a negation does not reach across a sentence break.

use std::sync::LazyLock;

use crate::text::analysis::for_each_word_or_break;

use super::Exclusion;

/// A product may have one other word between two excluded ones.
const MAX_GAP: usize = 1;

/// The word after one of these is negated: `no leather`.
const NEGATES_NEXT: [&str; 15] = [
    "no", "non", "without", "zero", "ohne", "sans", "sin", "sem", "senza", "без", "zonder", "bez",
    "uden", "uten", "ilman",
];
/// The word before one of these is negated: `leather-free`. The index has `freie` and `freies` as
/// `frey`.
pub(super) const NEGATES_PREVIOUS: [&str; 5] = ["free", "frei", "frey", "freier", "freien"];
/// The word after one of these and its preposition is negated: `free of nickel`.
const FREE_OF: [(&str, &[&str]); 7] = [
    ("free", &["of", "from"]),
    ("frei", &["von"]),
    ("libre", &["de"]),
    ("livre", &["de"]),
    ("exempt", &["de"]),
    ("privo", &["di"]),
    ("priva", &["di"]),
];
/// The word after one of these and a verb of containing is negated: `does not contain lactose`.
const NOT: [&str; 3] = ["not", "doesnt", "dont"];
const CONTAINING: [&str; 4] = ["contain", "include", "have", "use"];
/// The most words in an item of a negated list: `free of lead and nickel`.
const MAX_LISTED_WORDS: usize = 2;

/// [`Exclusion::negators`] in ascending order: every term of a segment is looked up.
static NEGATORS: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
    let mut all: Vec<_> = Exclusion::negators().collect();
    all.sort_unstable();
    all
});

impl Exclusion {
    /// How many words before a word can take part in its negation; after it, only the next one
    /// can.
    pub const NEGATION_WINDOW: usize = 8;

    /// Stands between two sentences in the words of a text: `Made of cotton. Free shipping` does
    /// not negate cotton.
    pub const SENTENCE_BREAK: &str = ".";

    /// Whether a product's text mentions the excluded words without negating them.
    pub fn matches(&self, text: &str) -> bool {
        with_words(text, |words| self.matches_words(words))
    }

    /// Whether a text matches any of these exclusions. Tokenises the text once.
    pub(in crate::query::parser) fn any_matches(exclusions: &[Self], text: &str) -> bool {
        !exclusions.is_empty()
            && with_words(text, |words| exclusions.iter().any(|one| one.matches_words(words)))
    }

    /// Whether the word at `at` is negated there. `words` are those of [`for_each_word_or_break`],
    /// in order. A text matches an exclusion of one word if it has the word anywhere without
    /// negating it.
    pub fn is_negated_in(words: &[&str], at: usize) -> bool {
        is_negated_before(words, at) || is_negated_after(words, at)
    }

    /// Whether a word can negate others. A text without such a word negates nothing.
    pub fn is_negator(word: &str) -> bool {
        NEGATORS.binary_search(&word).is_ok()
    }

    /// All words by which a text can negate others. A text that has none of them matches an
    /// exclusion of one word if it has that word.
    pub fn negators() -> impl Iterator<Item = &'static str> {
        let free_of = FREE_OF.into_iter().map(|(free, _)| free);
        let free_of = free_of.filter(|free| !NEGATES_PREVIOUS.contains(free));
        NEGATES_NEXT.into_iter().chain(NEGATES_PREVIOUS).chain(free_of).chain(NOT)
    }

    fn matches_words(&self, words: &[&str]) -> bool {
        let Some(first) = self.words.first() else { return false };
        (0..words.len()).any(|at| {
            *words[at] == **first
                && !is_negated_before(words, at)
                && self.last_from(words, at).is_some_and(|last| !is_negated_after(words, last))
        })
    }

    /// The position of the last excluded word, if all of them closely follow the first one.
    fn last_from(&self, words: &[&str], first: usize) -> Option<usize> {
        self.words[1..].iter().try_fold(first, |at, word| {
            let next = (at + 1..words.len()).filter(|next| words[*next] != Self::SENTENCE_BREAK);
            next.take(1 + MAX_GAP).find(|next| *words[*next] == **word)
        })
    }
}

/// Calls `f` with the words of a text, in order, and its sentence breaks.
fn with_words<R>(text: &str, f: impl FnOnce(&[&str]) -> R) -> R {
    #[cfg(test)]
    tests::TOKENISED.set(tests::TOKENISED.get() + 1);
    let (mut texts, mut ends) = (String::with_capacity(text.len()), Vec::new());
    for_each_word_or_break(text, |word| {
        texts.push_str(word.unwrap_or(Exclusion::SENTENCE_BREAK));
        ends.push(texts.len());
    });
    let start = |at: usize| at.checked_sub(1).map_or(0, |before| ends[before]);
    let words: Vec<&str> = (0..ends.len()).map(|at| &texts[start(at)..ends[at]]).collect();
    f(&words)
}

/// Whether words before this one negate it, directly or as the last item of a negated list.
fn is_negated_before(words: &[&str], at: usize) -> bool {
    let before = |at: usize| at.checked_sub(1).map_or("", |before| words[before]);
    let at = if before(at) == "any" { at - 1 } else { at };
    if is_negated_directly(words, at) {
        return true;
    }
    let is_last = matches!(before(at), "and" | "or" | "nor");
    let first = |length: usize| at.checked_sub(1 + length);
    is_last && (1..=MAX_LISTED_WORDS).filter_map(first).any(|first| follows_free_of(words, first))
        || before(at) != "and"
            && is_last
            && first(1).is_some_and(|first| is_negated_directly(words, first))
}

fn is_negated_directly(words: &[&str], at: usize) -> bool {
    let before = |back: usize| at.checked_sub(back).map_or("", |before| words[before]);
    NEGATES_NEXT.contains(&before(1))
        || follows_free_of(words, at)
        || CONTAINING.contains(&before(1)) && NOT.contains(&before(2))
}

fn follows_free_of(words: &[&str], at: usize) -> bool {
    let before = |back: usize| at.checked_sub(back).map_or("", |before| words[before]);
    FREE_OF.iter().any(|(free, of)| before(2) == *free && of.contains(&before(1)))
}

fn is_negated_after(words: &[&str], at: usize) -> bool {
    words.get(at + 1).is_some_and(|next| NEGATES_PREVIOUS.contains(next))
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    thread_local! {
        /// The number of texts that this thread has tokenised.
        pub(super) static TOKENISED: Cell<usize> = const { Cell::new(0) };
    }

    #[test]
    fn a_text_is_tokenised_once_for_all_exclusions() {
        let exclusions: Vec<Exclusion> = (0..140)
            .map(|at| Exclusion {
                words: vec![format!("word{at}").into(), "other".into()],
                span: 0..1,
                is_claim: false,
            })
            .collect();
        let before = TOKENISED.get();
        assert!(!Exclusion::any_matches(&exclusions, "Crème brûlée with a long description."));
        assert_eq!(TOKENISED.get() - before, 1);
    }

    #[test]
    fn a_negated_mention_does_not_match() {
        let without = |words: &[&str]| Exclusion {
            words: words.iter().map(|word| (*word).into()).collect(),
            span: 0..1,
            is_claim: false,
        };
        let leather = without(&["leather"]);
        for text in ["Leather boots", "boots of LEATHER, no laces", "no leather? real leather!"] {
            assert!(leather.matches(text), "{text}");
        }
        for text in ["", "Boots", "leather-free boots", "Leather free", "no leather", "non-leather"]
        {
            assert!(!leather.matches(text), "{text}");
        }
        let nickel = without(&["nickel"]);
        for text in [
            "free of nickel",
            "Free from nickel!",
            "free of any nickel",
            "without any nickel",
            "free of lead and nickel",
            "no lead or nickel",
            "does not contain nickel",
            "Doesn't contain nickel",
            "frei von Nickel",
            "oorbellen zonder nikkel, zonder nickel",
            "kolczyki bez nickel",
            "Nickel-freie Ohrringe",
            "libre de nickel",
            "exempt de nickel",
            "privo di nickel",
        ] {
            assert!(!nickel.matches(text), "{text}");
        }
        for text in [
            "free shipping of nickel",
            "free of lead. Nickel hooks",
            "no lead and nickel plated",
            "Made of nickel. Free shipping",
            "nickel\nfree of lead",
            "no lead. Nickel",
            "• no • nickel •",
            "not nickel",
            "and nickel",
            "any nickel",
            "contains nickel",
        ] {
            assert!(nickel.matches(text), "{text}");
        }
        let soles = without(&["leather", "sole"]);
        assert!(soles.matches("leather soles"));
        assert!(soles.matches("leather outer soles"));
        assert!(!soles.matches("leather upper, rubber sole"));
    }
}
