//! The words of a title that tell what the product is, and which of them name it.
//!
//! A noun phrase names a thing by its last word: a *leather watch strap* is a strap. A word is in
//! *head position* if a phrase ends after it, at a comma, a preposition or a number, unless the
//! phrase belongs to a preposition that introduces another thing: *sofa cover for a couch* is a
//! cover.

use super::{
    Bigram, Lexeme, MAX_COMPOUND_BYTES, TextKind, bigrams::TitleBigrams, cut, for_each_lexeme,
    for_each_segment, for_each_word_of, singular,
};

/// Words after which another phrase begins.
#[rustfmt::skip]
const PREPOSITIONS: &[&str] = &[
    "against", "and", "at", "by", "for", "from", "in", "like", "made", "of", "on", "or", "over",
    "that", "to", "under", "which", "while", "with", "without",
];
/// Those of them that introduce another thing.
const INTRODUCING: &[&str] = &["against", "by", "for", "from", "on", "to", "with", "without"];
/// Words that say how a thing is sold, not what it is.
#[rustfmt::skip]
const QUANTITIES: &[&str] = &[
    "box", "bundle", "count", "ct", "kit", "lot", "pack", "pair", "pc", "pcs", "piece", "set", "size",
];

/// Calls `f` with the words of a title, as they are indexed and in order, and whether each is in
/// head position. Function words are left out.
pub fn for_each_title_word(title: &str, mut f: impl FnMut(&str, bool)) {
    let mut title_words = TitleWords::default();
    for_each_lexeme(title, TextKind::Product, |lexeme| title_words.push(lexeme, &mut f));
    title_words.end_phrase(&mut f);
}

/// Something that the index keeps of a title.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TitlePart<'a> {
    /// As of [`for_each_word_or_break`](super::for_each_word_or_break).
    Word(&'a str),
    /// Likewise.
    Break,
    /// As of [`for_each_title_word`]: a word, and whether it is in head position.
    TitleWord(&'a str, bool),
    /// As of [`for_each_bigram`](super::for_each_bigram).
    Bigram(Bigram),
}

/// Calls `f` with all parts of a title, those of each kind in order. Splits the title once, where
/// the functions for one kind would do so each.
pub fn for_each_title_part(title: &str, mut f: impl FnMut(TitlePart<'_>)) {
    let (mut title_words, mut bigrams) = (TitleWords::default(), TitleBigrams::default());
    for_each_lexeme(title, TextKind::Product, |lexeme| {
        for_each_word_of(lexeme, |word| f(word.map_or(TitlePart::Break, TitlePart::Word)));
        bigrams.push(lexeme, &mut |bigram| f(TitlePart::Bigram(bigram)));
        title_words.push(lexeme, &mut |word, is_head| f(TitlePart::TitleWord(word, is_head)));
    });
    bigrams.finish(|bigram| f(TitlePart::Bigram(bigram)));
    title_words.end_phrase(&mut |word, is_head| f(TitlePart::TitleWord(word, is_head)));
}

/// The words of a name, as they are indexed, without function words.
pub fn content_words(name: &str) -> Vec<Box<str>> {
    let mut words = Vec::new();
    super::for_each_form(name, |form| {
        if !super::is_function_word(form) {
            words.push(singular(form).into());
        }
    });
    words
}

#[derive(Default)]
struct TitleWords {
    /// The word before, and as one word if it is a compound; not reported yet.
    last: String,
    /// Where each of these words ends.
    ends: Vec<usize>,
    /// Whether the phrase belongs to a preposition that introduces another thing.
    is_introduced: bool,
}

impl TitleWords {
    fn push(&mut self, lexeme: Lexeme<'_>, f: &mut impl FnMut(&str, bool)) {
        match lexeme {
            Lexeme::Form(form) | Lexeme::Elided { joined: form, .. } => {
                for_each_segment(form, TextKind::Product, |form| self.push_form(form, f));
            }
            Lexeme::Compound { parts, joined } => {
                for part in parts {
                    for_each_segment(part, TextKind::Product, |form| self.push_form(form, f));
                }
                if joined.len() <= MAX_COMPOUND_BYTES {
                    self.push_last(&singular(joined));
                }
            }
            Lexeme::Measured(dimensions) => {
                self.end_phrase(f);
                for dimension in dimensions {
                    match dimension.unit {
                        Some(_) => f(cut(&dimension.joined()), false),
                        None => f(cut(&dimension.number), false),
                    }
                }
            }
            Lexeme::Break | Lexeme::Pause => {
                self.end_phrase(f);
                self.is_introduced = false;
            }
        }
    }

    fn push_form(&mut self, form: &str, f: &mut impl FnMut(&str, bool)) {
        if PREPOSITIONS.contains(&form) {
            self.end_phrase(f);
            self.is_introduced |= INTRODUCING.contains(&form);
            return;
        }
        if super::is_function_word(form) {
            return;
        }
        let word = singular(form);
        let ends_phrase = QUANTITIES.contains(&&*word)
            || form.bytes().next().is_some_and(|byte| byte.is_ascii_digit());
        if ends_phrase {
            self.end_phrase(f);
            f(&word, false);
        } else {
            self.report(false, f);
            self.push_last(&word);
        }
    }

    fn push_last(&mut self, word: &str) {
        self.last.push_str(word);
        self.ends.push(self.last.len());
    }

    fn end_phrase(&mut self, f: &mut impl FnMut(&str, bool)) {
        self.report(!self.is_introduced, f);
    }

    fn report(&mut self, is_head: bool, f: &mut impl FnMut(&str, bool)) {
        let mut start = 0;
        for end in self.ends.drain(..) {
            f(&self.last[start..end], is_head);
            start = end;
        }
        self.last.clear();
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::text::analysis::{for_each_bigram, for_each_word, for_each_word_or_break};

    /// The words of a title; those in head position are capitalised.
    fn check(title: &str, expected: &str) {
        let mut words = Vec::new();
        for_each_title_word(title, |word, is_head| {
            words.push(if is_head { word.to_uppercase() } else { word.to_owned() });
        });
        assert_eq!(words.join(" "), expected, "{title}");
    }

    #[test]
    fn the_last_word_of_a_phrase_is_in_head_position() {
        check("Leather Watch Strap, Brown", "leather watch STRAP BROWN");
        check("Mid-Century Armchair in Navy", "mid century midcentury ARMCHAIR NAVY");
        check("Oak Table with 4 Chairs", "oak TABLE 4 chair");
    }

    #[test]
    fn what_a_thing_is_for_is_not_what_it_is() {
        check("Sofa Cover for 3 Seater Couch, Grey", "sofa COVER 3 seater couch GREY");
        check("Phone case compatible with iPhone - blue", "phone case COMPATIBLE iphone BLUE");
    }

    #[test]
    fn numbers_and_quantities_end_a_phrase() {
        check("Cushion Covers Set of 2", "cushion COVER set 2");
        check("Desk Lamp 40 cm", "desk LAMP 40cm");
        check("T-Shirts", "t SHIRT TSHIRT");
    }

    proptest! {
        #[test]
        fn the_parts_of_a_title_are_those_of_each_kind(
            title in "(\\PC|[0-9a-z ./x'\",-]|绿茶|the|for|set){0,40}",
        ) {
            let (mut words, mut title_words, mut bigrams) = (Vec::new(), Vec::new(), Vec::new());
            for_each_title_part(&title, |part| match part {
                TitlePart::Word(word) => words.push(Some(word.to_owned())),
                TitlePart::Break => words.push(None),
                TitlePart::TitleWord(word, is_head) => {
                    title_words.push((word.to_owned(), is_head));
                }
                TitlePart::Bigram(bigram) => bigrams.push(bigram),
            });
            let mut words = words.into_iter();
            for_each_word_or_break(&title, |word| {
                assert_eq!(words.next(), Some(word.map(str::to_owned)));
            });
            let mut title_words = title_words.into_iter();
            for_each_title_word(&title, |word, is_head| {
                assert_eq!(title_words.next(), Some((word.to_owned(), is_head)));
            });
            let mut bigrams = bigrams.into_iter();
            for_each_bigram(&title, |bigram| assert_eq!(bigrams.next(), Some(bigram)));
            prop_assert_eq!((words.len(), title_words.len(), bigrams.len()), (0, 0, 0));
        }

        #[test]
        fn every_title_word_is_indexed(title in "(\\PC|[0-9a-z ./x'\",-]){0,40}") {
            let mut indexed = Vec::new();
            for_each_word(&title, |word| indexed.push(word.to_owned()));
            for_each_title_word(&title, |word, _| {
                assert!(indexed.iter().any(|known| known == word), "{word:?} {indexed:?}");
            });
        }
    }
}
