//! The words of a title that tell what the product is, and which of them name it.
//!
//! A noun phrase names a thing by its last word: a *leather watch strap* is a strap. A word is in
//! *head position* if a phrase ends after it, at a comma, a preposition or a number, unless the
//! phrase belongs to a preposition that introduces another thing: *sofa cover for a couch* is a
//! cover.

use super::{
    Lexeme, MAX_COMPOUND_BYTES, TextKind, cut, for_each_lexeme, for_each_segment, singular,
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
pub fn for_each_title_word(title: &str, f: impl FnMut(&str, bool)) {
    let mut title_words = TitleWords { last: Vec::new(), is_introduced: false, f };
    for_each_lexeme(title, TextKind::Product, |lexeme| title_words.push(lexeme));
    title_words.end_phrase();
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

struct TitleWords<F> {
    /// The word before, and as one word if it is a compound; not reported yet.
    last: Vec<Box<str>>,
    /// Whether the phrase belongs to a preposition that introduces another thing.
    is_introduced: bool,
    f: F,
}

impl<F: FnMut(&str, bool)> TitleWords<F> {
    fn push(&mut self, lexeme: Lexeme<'_>) {
        match lexeme {
            Lexeme::Form(form) | Lexeme::Elided { joined: form, .. } => {
                for_each_segment(form, TextKind::Product, |form| self.push_form(form));
            }
            Lexeme::Compound { parts, joined } => {
                for part in parts {
                    for_each_segment(part, TextKind::Product, |form| self.push_form(form));
                }
                if joined.len() <= MAX_COMPOUND_BYTES {
                    self.last.push(singular(joined).into());
                }
            }
            Lexeme::Measured(dimensions) => {
                self.end_phrase();
                for dimension in dimensions {
                    match dimension.unit {
                        Some(_) => (self.f)(cut(&dimension.joined()), false),
                        None => (self.f)(cut(&dimension.number), false),
                    }
                }
            }
            Lexeme::Break | Lexeme::Pause => {
                self.end_phrase();
                self.is_introduced = false;
            }
        }
    }

    fn push_form(&mut self, form: &str) {
        if PREPOSITIONS.contains(&form) {
            self.end_phrase();
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
            self.end_phrase();
            (self.f)(&word, false);
        } else {
            self.report(false);
            self.last.push(word.into());
        }
    }

    fn end_phrase(&mut self) {
        self.report(!self.is_introduced);
    }

    fn report(&mut self, is_head: bool) {
        for word in self.last.drain(..) {
            (self.f)(&word, is_head);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::analysis::for_each_word;

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
        fn every_title_word_is_indexed(title in "(\\PC|[0-9a-z ./x'\",-]){0,40}") {
            let mut indexed = Vec::new();
            for_each_word(&title, |word| indexed.push(word.to_owned()));
            for_each_title_word(&title, |word, _| {
                assert!(indexed.iter().any(|known| known == word), "{word:?} {indexed:?}");
            });
        }
    }
}
