//! Elided articles and prepositions: `l'été` is `été`, `dell'acqua` is `acqua`.
//!
//! Names are written alike: `L'Oréal`, `D'Addario`. In the text of a product, an elision is followed
//! by a lower-case letter; a query is searched for both ways.

use std::borrow::Cow;

/// French, Italian and Catalan words that elide before a vowel.
const ELIDED: &[&str] =
    &["all", "d", "dall", "dell", "l", "nell", "qu", "quell", "quest", "sull", "un"];
const MAX_ELIDED: usize = 5;
const APOSTROPHES: [char; 4] = ['\'', '\u{2019}', '\u{02BC}', '\u{FF07}'];

/// A product's text without elided words.
pub(super) fn without_elisions(text: &str) -> Cow<'_, str> {
    // Faster than to look for apostrophes of all kinds in texts that have none.
    if text.is_ascii() && !text.as_bytes().contains(&b'\'') {
        return Cow::Borrowed(text);
    }
    let mut kept = String::new();
    let mut from = 0;
    for (at, apostrophe) in text.match_indices(APOSTROPHES) {
        let after = at + apostrophe.len();
        if let Some(start) = elided_before(text, at)
            && is_word(&text[after..])
        {
            kept.push_str(&text[from..start]);
            kept.push(' ');
            from = after;
        }
    }
    match from {
        0 => Cow::Borrowed(text),
        _ => Cow::Owned(kept + &text[from..]),
    }
}

/// What follows the apostrophe of a form, if the word before it is elided.
pub(crate) fn after_elision(form: &str) -> Option<&str> {
    let (before, after) = form.split_once(APOSTROPHES)?;
    (is_elided(before) && after.starts_with(char::is_alphabetic)).then_some(after)
}

/// The start of the elided word that ends at an offset. It stands alone: it is neither joined to
/// another word nor the unit of a number.
fn elided_before(text: &str, end: usize) -> Option<usize> {
    let bytes = &text.as_bytes()[..end];
    let letters = bytes.iter().rev().take_while(|byte| byte.is_ascii_alphabetic()).count();
    let before = &text[..end - letters];
    let is_alone = before.chars().next_back().is_none_or(|c| c.is_whitespace() || c == '(');
    let is_unit = before.trim_end().chars().next_back().is_some_and(char::is_numeric);
    (is_alone && !is_unit && is_elided(&text[before.len()..end])).then_some(before.len())
}

/// Whether a text begins with a word in Latin letters, the first in lower case, that is not joined to
/// another.
fn is_word(text: &str) -> bool {
    let is_latin =
        |c: char| c.is_alphabetic() && matches!(c, ..'\u{250}' | '\u{1E00}'..='\u{1EFF}');
    let end = text.find(|c| !is_latin(c)).unwrap_or(text.len());
    let ends = text[end..].chars().next();
    text.starts_with(char::is_lowercase)
        && end > 0
        && ends.is_none_or(|c| c.is_whitespace() || ",.;:!?)".contains(c))
}

fn is_elided(word: &str) -> bool {
    word.len() <= MAX_ELIDED && ELIDED.iter().any(|elided| word.eq_ignore_ascii_case(elided))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elided_words_are_removed_and_names_stay() {
        for (text, expected) in [
            ("Huile d'olive", "Huile  olive"),
            ("L\u{2019}été à l'eau", " été à  eau"),
            ("borraccia dell'acqua", "borraccia  acqua"),
            ("L'Oréal, D'Addario, HUILE D'OLIVE", "L'Oréal, D'Addario, HUILE D'OLIVE"),
            ("Men's o'clock don't aujourd'hui", "Men's o'clock don't aujourd'hui"),
            ("d'", "d'"),
            ("a&l'a l'a-b 5 l'eau", "a&l'a l'a-b 5 l'eau"),
        ] {
            assert_eq!(without_elisions(text), expected);
        }
        assert_eq!(after_elision("L’ete"), Some("ete"));
        assert_eq!(after_elision("men's"), None);
    }
}
