//! Folds text: removes differences of compatibility form, case and accent.

use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};

/// Appends at most `max_bytes` of the folded `text` to `into`. Some characters expand: U+FDFA, of
/// three bytes, folds to 18 characters of 33 bytes.
pub(crate) fn fold_up_to(max_bytes: usize, into: &mut String, text: &str) {
    let limit = into.len() + max_bytes;
    let mut rest = text;
    while into.len() < limit
        && let Some(non_ascii) = rest.bytes().position(|b| !b.is_ascii())
    {
        // Most text is ASCII: only words with a non-ASCII character take the slow path.
        let is_space = |b: u8| b.is_ascii_whitespace();
        let start = rest.bytes().take(non_ascii).rposition(is_space).map_or(0, |space| space + 1);
        let end = rest
            .bytes()
            .skip(non_ascii)
            .position(is_space)
            .map_or(rest.len(), |len| non_ascii + len);
        push_lowercase(into, &rest[..start]);
        fold_piece(into, &rest[start..end], limit);
        rest = &rest[end..];
    }
    if into.len() < limit {
        push_lowercase(into, rest);
    }
    into.truncate(into.floor_char_boundary(limit));
}

fn push_lowercase(into: &mut String, ascii: &str) {
    let start = into.len();
    into.push_str(ascii);
    into[start..].make_ascii_lowercase();
}

fn fold_piece(into: &mut String, piece: &str, limit: usize) {
    let accents_parted = piece.chars().flat_map(replaced).flat_map(char::to_lowercase).nfkd();
    for c in accents_parted.filter(|c| !is_accent(*c)).nfc() {
        if into.len() >= limit {
            break;
        }
        push_plain(into, c);
    }
}

/// Replaces symbols that would join a word once decomposed (`Nike™` is not `niketm`, `5½` is not
/// `51⁄2`) and typographic apostrophes, and removes characters that only affect display.
fn replaced(c: char) -> impl Iterator<Item = char> {
    let (first, second) = match c {
        '™' | '℠' | '®' | '©' | 'ª' | 'º' => (Some(' '), None),
        '¼'..='¾' | '⅐'..='⅞' => (Some(' '), Some(c)),
        '\u{2018}' | '\u{2019}' | '\u{02BC}' | '\u{FF07}' => (Some('\''), None),
        '\u{00AD}' | '\u{200C}' | '\u{200D}' | '\u{2060}' | '\u{FEFF}' => (None, None),
        '\u{20E3}' | '\u{FE00}'..='\u{FE0F}' => (None, None),
        _ => (Some(c), None),
    };
    first.into_iter().chain(second)
}

/// Combining marks of European scripts; in other scripts, combining marks are letters.
#[inline]
pub fn is_accent(c: char) -> bool {
    matches!(c, '\u{0300}'..='\u{036F}')
}

/// The base of a lower-case letter that has one and no decomposition.
#[inline]
pub fn base_letters(c: char) -> Option<&'static str> {
    Some(match c {
        'ß' => "ss",
        'æ' => "ae",
        'œ' => "oe",
        'þ' => "th",
        'ø' => "o",
        'ł' => "l",
        'đ' | 'ð' => "d",
        'ı' => "i",
        'ς' => "σ",
        _ => return None,
    })
}

/// Appends the base of a letter. Compatibility forms may yield capitals.
fn push_plain(into: &mut String, c: char) {
    match base_letters(c) {
        Some(base) => into.push_str(base),
        None => into.extend(c.to_lowercase()),
    }
}

/// Whether a character is part of a word.
pub(crate) fn is_word_char(c: char) -> bool {
    c.is_alphanumeric() || (!c.is_ascii() && is_combining_mark(c))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(text: &str, expected: &str) {
        let mut folded = String::from("x");
        fold_up_to(1000, &mut folded, text);
        assert_eq!(folded, format!("x{expected}"));
    }

    #[test]
    fn spellings_of_one_word_fold_to_one() {
        check("CAFÉ", "cafe");
        check("cafe\u{301}", "cafe");
        check("ＡＢＣ　１", "abc 1");
        check("İstanbul ısı", "istanbul isi");
        check("ŒUVRE Smørrebrød Łódź groß", "oeuvre smorrebrod lodz gross");
        check("soft\u{AD}ware 1\u{FE0F}\u{20E3}", "software 1");
        check("№5 ﬁt", "no5 fit");
    }

    #[test]
    fn ascii_text_around_other_characters_is_folded_too() {
        check("A É\tB  CÉD e\n\u{301}F ÉG", "a e\tb  ced e\nf eg");
    }

    #[test]
    fn folding_ends_at_the_limit_and_between_characters() {
        let folded = |max_bytes, text: &str| {
            let mut folded = String::from("x");
            fold_up_to(max_bytes, &mut folded, text);
            folded
        };
        for max_bytes in 0..100 {
            for text in ["\u{FDFA}".repeat(4), "abc É".repeat(30), "ガß abc ".repeat(30)] {
                let whole = folded(1000, &text);
                let part = folded(max_bytes, &text);
                assert!(whole.starts_with(&part) && part.len() <= 1 + max_bytes, "{part:?}");
                assert!(part.len() + 3 > 1 + max_bytes.min(whole.len() - 1), "{part:?}");
            }
        }
    }

    #[test]
    fn other_scripts_keep_their_letters() {
        check("ガス 한국 हिन्दी", "ガス 한국 हिन्दी");
        check("ΚΑΝΑΠΈΣ καναπές", "καναπεσ καναπεσ");
    }

    proptest! {
        #[test]
        fn folding_twice_is_folding_once(text in "(\\PC|[ßæœþøłđıςİΣ™½’é]){0,30}") {
            let folded = |text: &str| {
                let mut folded = String::new();
                fold_up_to(usize::MAX / 2, &mut folded, text);
                folded
            };
            let once = folded(&text);
            prop_assert_eq!(folded(&once), once);
        }
    }
}
