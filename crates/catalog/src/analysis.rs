//! Which words does a text say? The same for products and queries, so that they can meet.
//!
//! Text is folded (compatibility forms, case and accents), cut into *forms* (words as
//! written), and each form is brought to the *word* it is indexed under.
//!
//! - `Men's` says `men`; `L'Oréal` says `loreal`; `501` stays as it is.
//! - A compound says its parts and itself as one word: `WD-40` says `wd`, `40` and `wd40`.
//! - A measure says its number, its unit and both as one word, in whatever way it is written:
//!   `5 ft.` and `5'` say `5`, `foot` and `5foot`. A size also says its sides: `18x18`.
//! - Scripts without spaces say their characters and pairs of neighbours.

mod bigrams;
mod fold;
mod measure;
mod query_terms;
mod stem;
mod units;

use unicode_normalization::char::is_combining_mark;
use unicode_segmentation::UnicodeSegmentation;

use crate::{product::MAX_DESCRIPTION_CHARS, query::MAX_CHARS};

use self::measure::{Measure, Measured};
pub use bigrams::{Bigram, for_each_bigram};
use fold::fold_up_to;
pub use query_terms::{Alternative, QueryTerms, Term};
pub(crate) use query_terms::{is_function_word, stop_words};
pub(crate) use stem::singular;

/// Longer forms are cut here, on both sides alike: a wall of letters is not a word.
pub const MAX_WORD_BYTES: usize = 64;
/// Bytes of a product's folded text that are read for words: enough for the longest description in
/// any script, four bytes a character. Characters that fold to many do not make a text longer.
const MAX_PRODUCT_BYTES: usize = 4 * MAX_DESCRIPTION_CHARS;
/// Bytes of a query's folded text that are read for words, likewise.
const MAX_QUERY_BYTES: usize = 4 * MAX_CHARS;
/// Longer compounds are sentences with hyphens; only their parts count.
const MAX_COMPOUND_BYTES: usize = 32;

/// Appends a text, folded, as far as texts are read.
pub(crate) fn fold_into(into: &mut String, text: &str) {
    fold_up_to(MAX_PRODUCT_BYTES, into, text);
}

/// A number that texts with the same words in the same order share, and hardly any others do.
pub fn fingerprint(text: &str) -> u32 {
    const OFFSET: u32 = 0x811c_9dc5;
    const PRIME: u32 = 0x0100_0193;
    let mut hash = OFFSET;
    for_each_word(text, |word| {
        for byte in word.bytes().chain([0]) {
            hash = (hash ^ u32::from(byte)).wrapping_mul(PRIME);
        }
    });
    hash
}

/// Calls `f` with every word of a product's text, in order.
pub fn for_each_word(text: &str, mut f: impl FnMut(&str)) {
    for_each_word_or_break(text, |word| word.into_iter().for_each(&mut f));
}

/// Calls `f` with every word of a product's text, in order, and with `None` between two words that
/// stand in different sentences, lines or items of a list.
pub fn for_each_word_or_break(text: &str, mut f: impl FnMut(Option<&str>)) {
    for_each_said(text, Side::Product, |said| match said {
        Said::Form(form) => for_each_segment(form, Side::Product, |form| f(Some(&singular(form)))),
        Said::Compound { parts, joined } => {
            for part in parts {
                for_each_segment(part, Side::Product, |form| f(Some(&singular(form))));
            }
            if joined.len() <= MAX_COMPOUND_BYTES {
                f(Some(&singular(joined)));
            }
        }
        Said::Measured(sides) => {
            for side in sides {
                f(Some(cut(&side.number)));
                if let Some(unit) = side.unit {
                    f(Some(unit));
                    f(Some(cut(&side.joined())));
                }
            }
            // A board of 2 x 4 x 8 is also a 2 x 4.
            for from in 0..sides.len().saturating_sub(1) {
                f(Some(cut(&measure::size_of(&sides[from..from + 2]))));
            }
            if sides.len() > 2 {
                f(Some(cut(&measure::size_of(sides))));
            }
        }
        Said::Stop => f(None),
    });
}

/// Calls `f` with every form that a query's text asks for, in order.
pub(crate) fn for_each_form(text: &str, mut f: impl FnMut(&str)) {
    for_each_said(text, Side::Query, |said| match said {
        Said::Form(form) => for_each_segment(form, Side::Query, &mut f),
        Said::Compound { parts, joined } => {
            parts.iter().for_each(|part| for_each_segment(part, Side::Query, &mut f));
            if joined.len() <= MAX_COMPOUND_BYTES {
                f(joined);
            }
        }
        Said::Measured([side]) => f(cut(&side.joined())),
        Said::Measured(sides) => f(cut(&measure::size_of(sides))),
        Said::Stop => {}
    });
}

/// Whose text is read: a product offers more ways to be found than a query asks for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Product,
    Query,
}

/// One thing that a text says.
enum Said<'a> {
    /// A form of any script, with no joiner.
    Form(&'a str),
    /// Forms bound together, and all of them as one.
    Compound { parts: &'a [String], joined: &'a str },
    /// A measure, or the sides of a size.
    Measured(&'a [Measure]),
    /// What comes next stands in another sentence, line or item of a list.
    Stop,
}

/// Between two words, one of these parts what they say.
const STOPS: [char; 7] = ['.', '!', '?', ';', '\n', '|', '•'];

/// Calls `f` with everything that a text says, in order, as far as it is read.
fn for_each_said(text: &str, side: Side, mut f: impl FnMut(Said<'_>)) {
    let max_bytes = match side {
        Side::Product => MAX_PRODUCT_BYTES,
        Side::Query => MAX_QUERY_BYTES,
    };
    let mut folded = String::with_capacity(text.len());
    fold_up_to(max_bytes, &mut folded, text);
    let mut cleaned = String::new();
    let mut parts: Vec<String> = Vec::new();
    let mut rest = from_first_word(&folded);
    while !rest.is_empty() {
        if parts.is_empty()
            && let Some(Measured { sides, bytes }) = measure::at_start_of(rest)
        {
            f(Said::Measured(&sides));
            rest = behind_gap(&rest[bytes..], &mut f);
            continue;
        }
        let run = Run::at_start_of(rest);
        let form = run.form(rest, &mut cleaned);
        rest = &rest[run.bytes..];
        let next = after_joiner(rest);
        if next.is_none() && parts.is_empty() {
            f(Said::Form(form));
        } else {
            parts.push(form.to_owned());
        }
        rest = next.unwrap_or_else(|| {
            if !parts.is_empty() {
                f(Said::Compound { parts: &parts, joined: &parts.concat() });
                parts.clear();
            }
            behind_gap(rest, &mut f)
        });
    }
}

/// The text from its first word on, behind other words.
fn behind_gap<'a>(text: &'a str, f: &mut impl FnMut(Said<'_>)) -> &'a str {
    let rest = from_first_word(text);
    let gap = &text[..text.len() - rest.len()];
    if !rest.is_empty() && gap.contains(STOPS) {
        f(Said::Stop);
    }
    rest
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
    has_marks: bool,
}

impl Run {
    fn at_start_of(text: &str) -> Self {
        let bytes = text.as_bytes();
        let mut run = Self { bytes: 0, has_marks: false };
        while let Some(&byte) = bytes.get(run.bytes) {
            if byte.is_ascii_alphanumeric() {
                run.bytes += 1;
            } else if !byte.is_ascii() {
                let c = first_char(&text[run.bytes..]);
                if !is_word_char(c) {
                    break;
                }
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

/// The forms of a run in any script, each no longer than words may be.
fn for_each_segment(form: &str, side: Side, mut f: impl FnMut(&str)) {
    match form.is_ascii() {
        true => f(cut(form)),
        false => say_segments(form, side, &mut f),
    }
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
        check("501 a4 1,299", "501 a4 1299");
    }

    #[test]
    fn measures_and_sizes_say_the_same_however_they_are_written() {
        for text in ["5 ft.", "5'", "5-foot", "5ft", "5 feet"] {
            check(text, "5 foot 5foot");
        }
        for text in ["18x18", "18 x 18"] {
            check(text, "18 18 18x18");
        }
        check("2 in. x 4 in. x 8 ft.", "2 inch 2inch 4 inch 4inch 8 foot 8foot 2x4 4x8 2x4x8");
        check("3.5mm Jack 1/2 in. Pipe", "3.5 mm 3.5mm jack 1/2 inch 1/2inch pipe");
    }

    #[test]
    fn punctuation_parts_words() {
        check("cotton.Soft/warm (new)_x", "cotton soft warm new x");
        check("- & ' . , -- 🔥❤️", "");
        check("black–white", "black white");
    }

    #[test]
    fn sentences_lines_and_items_are_told_apart() {
        let heard = |text: &str| {
            let mut heard: Vec<String> = Vec::new();
            for_each_word_or_break(text, |word| heard.push(word.unwrap_or("/").to_owned()));
            heard.join(" ")
        };
        assert_eq!(heard("Made of cotton. Free shipping!"), "made of cotton / free shipping");
        assert_eq!(
            heard("cotton\nfree • sizes | s; 3.5 mm"),
            "cotton / free / size / s / 3.5 mm 3.5mm"
        );
        assert_eq!(heard("cotton-free, no wool: (soft)"), "cotton free cottonfree no wool soft");
    }

    #[test]
    fn symbols_do_not_stick_to_words() {
        check("Nike™ Lego® 5½ m²", "nike lego 5-1/2 m2");
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

    #[test]
    fn texts_that_expand_say_no_more_than_others() {
        let count = |text: &str| {
            let mut bytes = 0;
            for_each_word(text, |word| bytes += word.len());
            bytes
        };
        let expanding = count(&"\u{FDFA} ".repeat(MAX_DESCRIPTION_CHARS / 2));
        assert!(expanding <= MAX_PRODUCT_BYTES, "{expanding}");
        let longest = "漢 ".repeat(MAX_DESCRIPTION_CHARS / 2);
        assert_eq!(count(&longest), longest.len() / 4 * 3, "what is not expanded is read whole");
        let query: String = (0..MAX_CHARS).map(|_| '\u{FDFA}').collect();
        let mut forms = 0;
        for_each_form(&query, |_| forms += 1);
        assert!((1..=MAX_QUERY_BYTES / 4).contains(&forms), "{forms}");
    }

    proptest! {
        #[test]
        fn every_word_is_short_and_says_something(text in "\\PC{0,60}") {
            for_each_word(&text, |word| {
                assert!(!word.is_empty() && word.len() <= MAX_WORD_BYTES, "{word:?}");
            });
        }

        #[test]
        fn a_text_says_what_it_asks_for(text in "(\\PC|[0-9a-z ./x'\"-]){0,40}") {
            let mut said = Vec::new();
            for_each_word(&text, |word| said.push(word.to_owned()));
            for term in QueryTerms::of(&text).terms() {
                let is_there = |word: &str| said.iter().any(|said| said == word);
                let is_said = |way: &Alternative| way.words.iter().all(|word| is_there(word));
                assert!(term.alternatives.iter().any(is_said), "{term:?} {said:?}");
            }
        }

        #[test]
        fn case_does_not_matter(text in "[a-zA-Z0-9é' .-]{0,40}") {
            prop_assert_eq!(words(&text), words(&text.to_uppercase()));
        }
    }
}
