//! Which words does a text say? The same for products and queries, so that they can meet.
//!
//! Text is folded (compatibility forms, case and accents), cut into *forms* (words as
//! written), and each form is brought to the *word* it is indexed under.
//!
//! - `Men's` says `men`; `L'Oréal` says `loreal`; `3.5mm` and `501` stay as they are.
//! - A compound says its parts and itself as one word: `WD-40` says `wd`, `40` and `wd40`.
//! - Scripts without spaces say their characters and pairs of neighbours.

mod fold;
mod query;
mod stem;

use unicode_normalization::char::is_combining_mark;
use unicode_segmentation::UnicodeSegmentation;

pub(crate) use fold::fold_into;
pub use query::QueryWords;
pub(crate) use query::{is_function_word, set_aside};
pub(crate) use stem::singular;

/// Longer forms are cut here, on both sides alike: a wall of letters is not a word.
pub const MAX_WORD_BYTES: usize = 64;
/// Longer compounds are sentences with hyphens; only their parts count.
const MAX_COMPOUND_BYTES: usize = 32;

/// Calls `f` with every word of a product's text, in order.
pub fn for_each_word(text: &str, mut f: impl FnMut(&str)) {
    for_each_form(text, Side::Product, |form| f(&singular(form)));
}

/// Whose text is read: a product offers more ways to be found than a query asks for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Product,
    Query,
}

/// Calls `f` with every form of a text, in order.
pub(crate) fn for_each_form(text: &str, side: Side, mut f: impl FnMut(&str)) {
    let mut folded = String::with_capacity(text.len());
    fold_into(&mut folded, text);
    let mut cleaned = String::new();
    let mut compound = String::new();
    let mut rest = from_first_word(&folded);
    while !rest.is_empty() {
        let run = Run::at_start_of(rest);
        let form = run.form(rest, &mut cleaned);
        rest = &rest[run.bytes..];
        if run.is_ascii {
            f(cut(form));
        } else {
            say_segments(form, side, &mut f);
        }
        let next = after_joiner(rest);
        if next.is_some() || !compound.is_empty() {
            compound.push_str(form);
        }
        rest = next.unwrap_or_else(|| {
            if !compound.is_empty() && compound.len() <= MAX_COMPOUND_BYTES {
                f(&compound);
            }
            compound.clear();
            from_first_word(rest)
        });
    }
}

pub(crate) fn is_word_char(c: char) -> bool {
    c.is_alphanumeric() || (!c.is_ascii() && is_combining_mark(c))
}

fn first_char(text: &str) -> char {
    text.chars().next().unwrap_or_default()
}

/// The text from its first word on.
fn from_first_word(text: &str) -> &str {
    let mut rest = text;
    loop {
        let is_plain_gap = |b: u8| b.is_ascii() && !b.is_ascii_alphanumeric();
        let gap = rest.bytes().take_while(|b| is_plain_gap(*b)).count();
        rest = &rest[gap..];
        let c = first_char(rest);
        if rest.is_empty() || is_word_char(c) {
            return rest;
        }
        rest = &rest[c.len_utf8()..];
    }
}

/// One word of folded text, with what stands inside it: apostrophes between letters, points
/// and commas between digits.
struct Run {
    bytes: usize,
    is_ascii: bool,
    has_marks: bool,
}

impl Run {
    fn at_start_of(text: &str) -> Self {
        let bytes = text.as_bytes();
        let mut run = Self { bytes: 0, is_ascii: true, has_marks: false };
        while let Some(&byte) = bytes.get(run.bytes) {
            if byte.is_ascii_alphanumeric() {
                run.bytes += 1;
            } else if !byte.is_ascii() {
                let c = first_char(&text[run.bytes..]);
                if !is_word_char(c) {
                    break;
                }
                run.is_ascii = false;
                run.bytes += c.len_utf8();
            } else if Self::is_inside(byte, &text[..run.bytes], &text[run.bytes + 1..]) {
                run.has_marks = true;
                run.bytes += 1;
            } else {
                break;
            }
        }
        run
    }

    fn is_inside(mark: u8, before: &str, after: &str) -> bool {
        let is_digit = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_digit);
        match mark {
            b'\'' => first_char(after).is_alphanumeric(),
            b'.' | b',' => is_digit(before.as_bytes().last()) && is_digit(after.as_bytes().first()),
            _ => false,
        }
    }

    /// `men's` → `men`, `o'neill` → `oneill`, `1,299` → `1299`.
    fn form<'a>(&self, text: &'a str, cleaned: &'a mut String) -> &'a str {
        let run = &text[..self.bytes];
        if !self.has_marks {
            return run;
        }
        let run = without_ending(run);
        cleaned.clear();
        cleaned.extend(run.chars().filter(|c| !matches!(c, '\'' | ',')));
        cleaned
    }
}

/// `men's` → `men`, `i'm` → `i`, in folded text.
pub(crate) fn without_ending(word: &str) -> &str {
    match word.rsplit_once('\'') {
        Some((before, "s" | "m" | "d" | "ll" | "re" | "ve")) => before,
        _ => word,
    }
}

/// What follows a hyphen or `&` that binds two words: `wd-40`, `h&m`.
fn after_joiner(rest: &str) -> Option<&str> {
    let after = rest.strip_prefix(['-', '&', '\u{2010}'])?;
    after.starts_with(is_word_char).then_some(after)
}

/// Words of a run in any script. Where the segmentation rules part every character (Chinese,
/// Japanese, Thai), pairs of neighbours carry the meaning: products offer both characters and
/// pairs, queries ask for pairs unless a character stands alone.
fn say_segments(run: &str, side: Side, f: &mut impl FnMut(&str)) {
    let mut pieces = run.unicode_word_indices().peekable();
    let mut paired_with_last = false;
    while let Some((at, piece)) = pieces.next() {
        let end = at + piece.len();
        let pair = pieces
            .peek()
            .filter(|(next_at, next)| {
                *next_at == end && is_one_character(piece) && is_one_character(next)
            })
            .map(|(_, next)| &run[at..end + next.len()]);
        if side == Side::Product || (pair.is_none() && !paired_with_last) {
            f(cut(piece));
        }
        if let Some(pair) = pair {
            f(cut(pair));
        }
        paired_with_last = pair.is_some();
    }
}

fn is_one_character(piece: &str) -> bool {
    piece.graphemes(true).nth(1).is_none()
}

fn cut(form: &str) -> &str {
    &form[..form.floor_char_boundary(MAX_WORD_BYTES)]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn words(text: &str) -> String {
        let mut words = Vec::new();
        for_each_word(text, |word| words.push(word.to_owned()));
        words.join(" ")
    }

    fn check(text: &str, expected: &str) {
        assert_eq!(words(text), expected, "{text:?}");
    }

    #[test]
    fn case_accents_and_forms_are_folded() {
        check("Crème BRÛLÉE Ｆｕｌｌ ŁÓDŹ Straße", "creme brulee full lodz strasse");
    }

    #[test]
    fn possessives_and_apostrophes_vanish() {
        check("Men's kids' L'Oréal Levi’s", "men kid loreal levi");
        check("I'm you're don't", "i you dont");
    }

    #[test]
    fn product_codes_are_found_as_typed_and_as_one_word() {
        check("WD-40", "wd 40 wd40");
        check("usb-c", "usb c usbc");
        check("H&M", "h m hm");
        check("501 a4 18x18 3.5mm 1,299", "501 a4 18x18 3.5mm 1299");
    }

    #[test]
    fn punctuation_parts_words() {
        check("cotton.Soft/warm (new)_x", "cotton soft warm new x");
        check("- & ' . , -- 🔥❤️", "");
        check("black–white", "black white");
    }

    #[test]
    fn symbols_do_not_stick_to_words() {
        check("Nike™ Lego® 5½ m²", "nike lego 5 1 2 m2");
    }

    #[test]
    fn scripts_without_spaces_offer_characters_and_pairs() {
        check("绿茶", "绿 绿茶 茶");
        check("iphone手机", "iphone 手 手机 机");
        check("コーヒー", "コーヒー");
        check("커피 머신", "커피 머신");
        check("Красные туфли", "красные туфли");
    }

    #[test]
    fn long_walls_of_letters_are_cut_at_a_character() {
        let mut lengths = Vec::new();
        for_each_word(&"é1".repeat(500), |word| lengths.push(word.len()));
        for_each_word(&"я".repeat(500), |word| lengths.push(word.len()));
        assert_eq!(lengths, [MAX_WORD_BYTES; 2]);
    }

    proptest! {
        #[test]
        fn every_word_is_short_and_says_something(text in "\\PC{0,60}") {
            for_each_word(&text, |word| {
                assert!(!word.is_empty() && word.len() <= MAX_WORD_BYTES, "{word:?}");
            });
        }

        #[test]
        fn case_does_not_matter(text in "[a-zA-Z0-9é' .-]{0,40}") {
            prop_assert_eq!(words(&text), words(&text.to_uppercase()));
        }
    }
}
