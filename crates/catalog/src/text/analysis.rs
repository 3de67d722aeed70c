//! Text analysis: turns product texts and queries into index terms, by the same rules for both.
//!
//! Text is folded (compatibility forms, case and accents) and split into *forms* (words as
//! written); each form is reduced to the *word* it is indexed under, its term.
//!
//! - `Men's` yields `men`; `L'Oréal` yields `loreal`; `501` stays as it is.
//! - A compound yields its parts and the joined word: `WD-40` yields `wd`, `40` and `wd40`; so does a
//!   word that a number touches in a product: `Laptop16`.
//! - A measure yields its number, its unit and both as one word, however it is written: `5 ft.` and
//!   `5'` yield `5`, `foot` and `5foot`. A size also yields its dimensions: `18x18`.
//! - Scripts without spaces yield single characters and character bigrams ([`segments`]).
//! - `l'été` yields `ete` in a product; a query also searches for `lete`, as `L'Été` is indexed.

mod bigrams;
mod elision;
mod fingerprint;
mod fold;
mod measure;
mod query_terms;
mod segments;
mod stem;
mod stop_words;
mod title;
mod units;

use std::borrow::Cow;

pub use bigrams::{Bigram, for_each_bigram};
pub(crate) use elision::after_elision;
pub use fingerprint::{Fingerprint, fingerprint};
use fold::fold_up_to;
pub(crate) use fold::is_word_char;
pub use fold::{base_letters, is_accent};
pub use query_terms::{Alternative, QueryTerms, Term};
pub(crate) use query_terms::{QueryForm, for_each_query_form};
pub use segments::MAX_WORD_BYTES;
use segments::{TextKind, cut, for_each_segment};
pub(crate) use segments::{is_hangul, is_katakana, joined_terms, katakana_bigrams};
pub(crate) use stem::singular;
pub(crate) use stop_words::{is_function_word, stop_words};
pub use title::{TitlePart, content_words, for_each_title_part, for_each_title_word};

use self::measure::{Measure, Measured};
use crate::text::validation::{MAX_DESCRIPTION_CHARS, MAX_QUERY_CHARS};

/// Changes whenever a text yields other terms than before, so that stored terms are made again.
pub const VERSION: i16 = 2;

/// The bytes of a product's folded text that are analysed: enough for the longest description in any
/// script, at four bytes per character. Bounds the cost of characters that fold to many.
const MAX_PRODUCT_BYTES: usize = 4 * MAX_DESCRIPTION_CHARS;
/// The bytes of a query's folded text that are analysed, likewise.
const MAX_QUERY_BYTES: usize = 4 * MAX_QUERY_CHARS;
/// Letters before a digit are a word of their own if there are this many: `laptop16`, but not `mp3`.
const MIN_WORD_BEFORE_NUMBER: usize = 3;
/// Longer compounds are sentences with hyphens; only their parts are indexed.
const MAX_COMPOUND_BYTES: usize = 32;

/// Appends the folded text, up to the limit for product texts.
pub(crate) fn fold_into(into: &mut String, text: &str) {
    fold_up_to(MAX_PRODUCT_BYTES, into, text);
}

/// Calls `f` with every word of a product's text, in order.
pub fn for_each_word(text: &str, mut f: impl FnMut(&str)) {
    for_each_word_or_break(text, |word| word.into_iter().for_each(&mut f));
}

/// Calls `f` with every word of a product's text, in order, and with `None` between two words of
/// different sentences, lines or list items.
pub fn for_each_word_or_break(text: &str, mut f: impl FnMut(Option<&str>)) {
    for_each_lexeme(text, TextKind::Product, |lexeme| for_each_word_of(lexeme, &mut f));
}

/// Calls `f` with every word of a lexeme of a product's text, or with `None` for a break.
fn for_each_word_of(lexeme: Lexeme<'_>, mut f: impl FnMut(Option<&str>)) {
    match lexeme {
        Lexeme::Form(form) | Lexeme::Elided { joined: form, .. } => {
            for_each_segment(form, TextKind::Product, |form| f(Some(&singular(form))))
        }
        Lexeme::Compound { parts, joined } => {
            for part in parts {
                for_each_segment(part, TextKind::Product, |form| f(Some(&singular(form))));
            }
            if joined.len() <= MAX_COMPOUND_BYTES {
                f(Some(&singular(joined)));
            }
        }
        Lexeme::Measured(dimensions) => {
            for dimension in dimensions {
                f(Some(cut(&dimension.number)));
                if let Some(unit) = dimension.unit {
                    f(Some(unit));
                    f(Some(cut(&dimension.joined())));
                }
            }
            // A size of three dimensions is also found by two: a 2 x 4 x 8 board is a 2 x 4.
            for from in 0..dimensions.len().saturating_sub(1) {
                f(Some(cut(&measure::size_of(&dimensions[from..from + 2]))));
            }
            if dimensions.len() > 2 {
                f(Some(cut(&measure::size_of(dimensions))));
            }
        }
        Lexeme::Break => f(None),
        Lexeme::Pause => {}
    }
}

/// Calls `f` with every form of a query's text, in order. A katakana word is its bigrams, which
/// other words that contain it have too.
pub(crate) fn for_each_form(text: &str, mut f: impl FnMut(&str)) {
    let mut f = |form: &str| match katakana_bigrams(form).next() {
        Some(_) => katakana_bigrams(form).for_each(|bigram| f(&bigram)),
        None => f(form),
    };
    for_each_lexeme(text, TextKind::Phrase, |lexeme| match lexeme {
        Lexeme::Form(form) | Lexeme::Elided { joined: form, .. } => {
            for_each_segment(form, TextKind::Phrase, &mut f)
        }
        Lexeme::Compound { parts, joined } => {
            parts.iter().for_each(|part| for_each_segment(part, TextKind::Phrase, &mut f));
            if joined.len() <= MAX_COMPOUND_BYTES {
                f(joined);
            }
        }
        Lexeme::Measured([dimension]) => f(cut(&dimension.joined())),
        Lexeme::Measured(dimensions) => f(cut(&measure::size_of(dimensions))),
        Lexeme::Break | Lexeme::Pause => {}
    });
}

/// A piece of text that is analysed as one.
#[derive(Clone, Copy)]
enum Lexeme<'a> {
    /// A form in any script, without joiners.
    Form(&'a str),
    /// A form that may begin with an elided word, and what follows that.
    Elided { joined: &'a str, word: &'a str },
    /// Forms joined by hyphens or `&`, and their concatenation.
    Compound { parts: &'a [String], joined: &'a str },
    /// A measure, or the dimensions of a size.
    Measured(&'a [Measure]),
    /// The next word belongs to another sentence, line or list item.
    Break,
    /// The next word belongs to the same sentence, after a comma, a dash or a bracket.
    Pause,
}

/// Characters that end a sentence, line or list item.
const BREAKS: [char; 7] = ['.', '!', '?', ';', '\n', '|', '•'];
/// Characters that separate the parts of a sentence.
const PAUSES: [char; 8] = [',', ':', '(', ')', '[', ']', '–', '—'];

/// Calls `f` with the lexemes of a text, in order, up to the byte limit for its kind.
fn for_each_lexeme(text: &str, kind: TextKind, mut f: impl FnMut(Lexeme<'_>)) {
    let max_bytes = match kind {
        TextKind::Product => MAX_PRODUCT_BYTES,
        TextKind::Query | TextKind::Phrase => MAX_QUERY_BYTES,
    };
    let text = match kind {
        TextKind::Product => elision::without_elisions(text),
        TextKind::Query | TextKind::Phrase => Cow::Borrowed(text),
    };
    let mut folded = String::with_capacity(text.len());
    fold_up_to(max_bytes, &mut folded, &text);
    let mut cleaned = String::new();
    let mut parts: Vec<String> = Vec::new();
    let mut rest = from_first_word(&folded);
    while !rest.is_empty() {
        if parts.is_empty()
            && let Some(Measured { dimensions, bytes }) = measure::at_start_of(rest)
        {
            f(Lexeme::Measured(&dimensions));
            rest = skip_gap(&rest[bytes..], &mut f);
            continue;
        }
        let run = Run::at_start_of(rest);
        let form = run.form(rest, &mut cleaned);
        let elided = match run.has_marks || !run.is_ascii {
            true => after_elision(&rest[..run.bytes]),
            false => None,
        };
        rest = &rest[run.bytes..];
        let next = after_joiner(rest);
        if let (Some(word), None, true) = (elided, next, parts.is_empty()) {
            f(Lexeme::Elided { joined: form, word });
        } else if next.is_none() && parts.is_empty() {
            match word_and_number(form).filter(|_| kind == TextKind::Product) {
                Some(parts) => f(Lexeme::Compound { parts: &parts, joined: form }),
                None => f(Lexeme::Form(form)),
            }
        } else {
            parts.push(form.to_owned());
        }
        rest = next.unwrap_or_else(|| {
            if !parts.is_empty() {
                f(Lexeme::Compound { parts: &parts, joined: &parts.concat() });
                parts.clear();
            }
            skip_gap(rest, &mut f)
        });
    }
}

/// Skips to the next word, and reports a break or a pause if the gap contains one.
fn skip_gap<'a>(text: &'a str, f: &mut impl FnMut(Lexeme<'_>)) -> &'a str {
    let rest = from_first_word(text);
    let gap = &text[..text.len() - rest.len()];
    if gap == " " {
        return rest;
    }
    if !rest.is_empty() && gap.contains(BREAKS) {
        f(Lexeme::Break);
    } else if !rest.is_empty() && (gap.contains(PAUSES) || gap.contains(" - ")) {
        f(Lexeme::Pause);
    }
    rest
}

/// The word of a form and what follows it from its first digit on: `laptop` and `16` of `laptop16`.
fn word_and_number(form: &str) -> Option<[String; 2]> {
    let letters = form.bytes().take_while(u8::is_ascii_lowercase).count();
    let number = form.as_bytes().get(letters).filter(|byte| byte.is_ascii_digit());
    let (word, rest) = number.map(|_| form.split_at(letters))?;
    let is_split = letters >= MIN_WORD_BEFORE_NUMBER && rest.is_ascii();
    is_split.then(|| [word.to_owned(), rest.to_owned()])
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

/// One word of folded text, including apostrophes between letters and points or commas between
/// digits.
struct Run {
    bytes: usize,
    is_ascii: bool,
    /// Whether there are apostrophes, points or commas in it.
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
                run.bytes += c.len_utf8();
                run.is_ascii = false;
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

/// Removes a possessive or contracted ending: `men's` → `men`, `i'm` → `i`. Expects folded text.
pub(crate) fn without_ending(word: &str) -> &str {
    match word.rsplit_once('\'') {
        Some((before, "s" | "m" | "d" | "ll" | "re" | "ve")) => before,
        _ => word,
    }
}

/// The text after a hyphen or `&` that joins two words: `wd-40`, `h&m`.
fn after_joiner(rest: &str) -> Option<&str> {
    let after = rest.strip_prefix(['-', '&', '\u{2010}'])?;
    after.starts_with(is_word_char).then_some(after)
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
    fn a_word_is_found_without_the_number_that_touches_it() {
        check("Laptop16 LCD17W", "laptop 16 laptop16 lcd 17w lcd17w");
        check("mp3 17w", "mp3 17 watt 17watt");
        let mut heads = Vec::new();
        for_each_title_word("Adventure Works Laptop16", |word, is_head| {
            heads.extend(is_head.then(|| word.to_owned()));
        });
        assert_eq!(heads, ["laptop", "laptop16"]);
    }

    #[test]
    fn spellings_of_a_measure_yield_the_same_terms() {
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
    fn punctuation_separates_words() {
        check("cotton.Soft/warm (new)_x", "cotton soft warm new x");
        check("- & ' . , -- 🔥❤️", "");
        check("black–white", "black white");
    }

    #[test]
    fn sentences_lines_and_items_are_separated() {
        let found = |text: &str| {
            let mut found: Vec<String> = Vec::new();
            for_each_word_or_break(text, |word| found.push(word.unwrap_or("/").to_owned()));
            found.join(" ")
        };
        assert_eq!(found("Made of cotton. Free shipping!"), "made of cotton / free shipping");
        assert_eq!(
            found("cotton\nfree • sizes | s; 3.5 mm"),
            "cotton / free / size / s / 3.5 mm 3.5mm"
        );
        assert_eq!(found("cotton-free, no wool: (soft)"), "cotton free cottonfree no wool soft");
    }

    #[test]
    fn symbols_do_not_stick_to_words() {
        check("Nike™ Lego® 5½ m²", "nike lego 5-1/2 m2");
    }

    #[test]
    fn scripts_without_spaces_yield_characters_and_bigrams() {
        check("绿茶", "绿 绿茶 茶");
        check("iphone手机", "iphone 手 手机 机");
        check("コーヒー", "コーヒー ・コー ・ーヒ ・ヒー");
        check("USBケーブル 2m", "usb ケーブル ・ケー ・ーブ ・ブル 2 meter 2meter");
        check("折りたたみ机", "折 折り り りた た たた た たみ み み机 机");
        check("โซฟา", "โ โซ ซ ซฟ ฟ ฟา า");
    }

    #[test]
    fn bigrams_of_a_katakana_word_are_joined() {
        let mut forms = Vec::new();
        for_each_form("黒い レザー ゴム コットン", |form| forms.push(form.to_owned()));
        assert_eq!(joined_terms(&forms), "黒い レザー ゴム コットン");
    }

    #[test]
    fn hangul_is_separated_from_latin_letters() {
        check("커피 머신 USB케이블 소파2인용", "커피 머신 usb 케이블 소파 2인용");
    }

    #[test]
    fn spellings_in_any_script_yield_the_same_terms() {
        for (one, other) in [
            ("Красные ёлки", "красные елки"),
            ("ΚΑΝΑΠΕΣ", "καναπές"),
            ("bàn ghế đẹp", "ban ghe dep"),
            ("IŞIK", "ışık"),
            ("Sofá", "sofa"),
            ("ｶﾞﾗｽ", "ガラス"),
            ("l'été", "été"),
            ("L’eau d’été", "eau été"),
            ("dell'acqua", "acqua"),
        ] {
            assert_eq!(words(one), words(other), "{one} {other}");
        }
    }

    #[test]
    fn long_words_are_truncated_at_a_character_boundary() {
        let mut lengths = Vec::new();
        for_each_word(&"é1".repeat(500), |word| lengths.push(word.len()));
        for_each_word(&"я".repeat(500), |word| lengths.push(word.len()));
        assert_eq!(lengths, [MAX_WORD_BYTES; 2]);
    }

    #[test]
    fn expanding_characters_do_not_exceed_the_limit() {
        let count = |text: &str| {
            let mut bytes = 0;
            for_each_word(text, |word| bytes += word.len());
            bytes
        };
        let expanding = count(&"\u{FDFA} ".repeat(MAX_DESCRIPTION_CHARS / 2));
        assert!(expanding <= MAX_PRODUCT_BYTES, "{expanding}");
        let longest = "漢 ".repeat(MAX_DESCRIPTION_CHARS / 2);
        assert_eq!(count(&longest), longest.len() / 4 * 3, "what is not expanded is read whole");
        let query: String = (0..MAX_QUERY_CHARS).map(|_| '\u{FDFA}').collect();
        let mut forms = 0;
        for_each_form(&query, |_| forms += 1);
        assert!((1..=MAX_QUERY_BYTES / 4).contains(&forms), "{forms}");
    }

    proptest! {
        #[test]
        fn every_word_is_short_and_not_empty(text in "\\PC{0,60}") {
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
            // It tells an elision from a name.
            prop_assume!(elision::without_elisions(&text) == text);
            prop_assert_eq!(words(&text), words(&text.to_uppercase()));
        }
    }
}
