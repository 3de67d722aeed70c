//! Splits a query into tokens: words, numbers and signs.
//!
//! Unlike index terms, tokens keep signs, know their span, and separate letters from digits: `$50k`
//! is `$`, `50` and `k`, of which the last two are *glued* to their predecessor.

use std::ops::Range;

use crate::text::analysis::{fold_into, is_word_char, without_ending};

/// A range of bytes of a query; both ends lie on character boundaries.
pub type Span = Range<usize>;

/// The kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenKind {
    /// Letters of any script, with apostrophes inside.
    Word,
    /// ASCII or full-width digits, with single separators between them.
    Digits,
    /// Any other character that is not white space.
    Sign,
}

#[derive(Clone, Debug)]
struct Token {
    kind: TokenKind,
    start: usize,
    end: usize,
    /// The exclusive end of its folded form, which begins where the previous one ends.
    folded_end: usize,
    /// Whether it follows the previous token without a space or a cut.
    is_glued: bool,
}

/// The tokens of a text. A position after the last token has an empty word.
pub(crate) struct Tokens<'t> {
    text: &'t str,
    folded: String,
    tokens: Vec<Token>,
}

impl<'t> Tokens<'t> {
    pub(crate) fn of(text: &'t str) -> Self {
        Self::with_cuts(text, &[])
    }

    /// Like [`Self::of`], with further boundaries inside words. A token that begins at one of these
    /// offsets, which ascend, is not glued to its predecessor. Scripts without spaces are split so.
    pub(crate) fn with_cuts(text: &'t str, cuts: &[usize]) -> Self {
        /// Usual texts have fewer tokens than one in this many bytes.
        const BYTES_OF_A_TOKEN: usize = 4;
        let tokens = Vec::with_capacity(text.len() / BYTES_OF_A_TOKEN);
        let mut all = Self { text, folded: String::with_capacity(text.len()), tokens };
        let mut scratch = String::new();
        let (mut at, mut cuts) = (0, cuts.iter().copied().peekable());
        while let Some(first) = text[at..].chars().next() {
            if first.is_whitespace() {
                at += first.len_utf8();
                continue;
            }
            let mut is_cut = false;
            while let Some(cut) = cuts.next_if(|cut| *cut <= at) {
                is_cut |= cut == at;
            }
            let (kind, len) = token_at_start_of(&text[at..], first);
            let end = cuts.peek().map_or(at + len, |cut| (at + len).min(*cut));
            let is_glued = !is_cut && all.tokens.last().is_some_and(|last| last.end == at);
            if kind == TokenKind::Word || is_full_width_digit(first) {
                fold_word(&mut all.folded, &mut scratch, &text[at..end]);
            } else {
                all.folded.push_str(&text[at..end]);
            }
            let folded_end = all.folded.len();
            all.tokens.push(Token { kind, start: at, end, folded_end, is_glued });
            at = end;
        }
        all
    }

    pub(crate) fn text(&self) -> &'t str {
        self.text
    }

    pub(crate) fn len(&self) -> usize {
        self.tokens.len()
    }

    /// The folded form of a token.
    pub(crate) fn word(&self, at: usize) -> &str {
        let Some(token) = self.tokens.get(at) else { return "" };
        let start = match at {
            0 => 0,
            _ => self.tokens[at - 1].folded_end,
        };
        &self.folded[start..token.folded_end]
    }

    /// The folded form of the token before.
    pub(crate) fn word_before(&self, at: usize) -> &str {
        at.checked_sub(1).map_or("", |before| self.word(before))
    }

    pub(crate) fn is(&self, at: usize, kind: TokenKind) -> bool {
        self.tokens.get(at).is_some_and(|token| token.kind == kind)
    }

    /// Whether a token follows the previous one without a space or a cut.
    pub(crate) fn is_glued(&self, at: usize) -> bool {
        self.tokens.get(at).is_some_and(|token| token.is_glued)
    }

    /// The text between a token and the previous one.
    pub(crate) fn gap_before(&self, at: usize) -> &'t str {
        match at {
            0 => "",
            _ => &self.text[self.tokens[at - 1].end..self.tokens[at].start],
        }
    }

    /// The text of the tokens `from..to`, as written.
    pub(crate) fn raw(&self, from: usize, to: usize) -> &'t str {
        &self.text[self.span(from, to)]
    }

    /// The span of the tokens `from..to`, a non-empty range.
    pub(crate) fn span(&self, from: usize, to: usize) -> Span {
        self.tokens[from].start..self.tokens[to - 1].end
    }

    /// The exclusive end of the hyphenated or otherwise glued compound that begins at `at`.
    pub(crate) fn end_of_compound(&self, at: usize) -> usize {
        let mut end = at + 1;
        loop {
            if self.is_glued(end) && !self.is(end, TokenKind::Sign) {
                end += 1;
            } else if self.is_hyphen_inside(end) {
                end += 2;
            } else {
                return end;
            }
        }
    }

    /// Whether the token is a hyphen or `&` between two words.
    pub(crate) fn is_hyphen_inside(&self, at: usize) -> bool {
        self.is_glued(at)
            && matches!(self.word(at), "-" | "\u{2010}" | "\u{2011}" | "&")
            && self.is_glued(at + 1)
            && !self.is(at + 1, TokenKind::Sign)
    }
}

fn token_at_start_of(text: &str, first: char) -> (TokenKind, usize) {
    if first.is_ascii_digit() {
        return (TokenKind::Digits, digits_len(text.as_bytes()));
    }
    if is_full_width_digit(first) {
        let end = text.find(|c| !is_full_width_digit(c) && !matches!(c, '．' | '，'));
        let number = text[..end.unwrap_or(text.len())].trim_end_matches(['．', '，']);
        return (TokenKind::Digits, number.len());
    }
    if first.is_ascii() && !first.is_ascii_alphabetic() {
        return (TokenKind::Sign, 1);
    }
    // Most words are of ASCII letters, and end before an ASCII character that is none of a word.
    let letters = text.bytes().take_while(u8::is_ascii_alphabetic).count();
    match text.as_bytes().get(letters) {
        None => return (TokenKind::Word, letters),
        Some(end) if letters > 0 && end.is_ascii() && !matches!(end, b'\'' | b'`') => {
            return (TokenKind::Word, letters);
        }
        _ => {}
    }
    if !is_word_char(first) {
        return (TokenKind::Sign, first.len_utf8());
    }
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let next = chars.peek().map(|(_, next)| *next);
        let inside = is_apostrophe(c) && next.is_some_and(char::is_alphabetic);
        let is_digit = c.is_ascii_digit() || is_full_width_digit(c);
        if is_digit || !(inside || is_word_char(c)) {
            return (TokenKind::Word, at);
        }
    }
    (TokenKind::Word, text.len())
}

/// `５`, as East Asian keyboards type it.
pub(crate) fn is_full_width_digit(c: char) -> bool {
    ('０'..='９').contains(&c)
}

/// Digits with single separators between them.
fn digits_len(text: &[u8]) -> usize {
    let is_digit = |at: usize| text.get(at).is_some_and(u8::is_ascii_digit);
    let mut len = 0;
    loop {
        match text.get(len) {
            Some(byte) if byte.is_ascii_digit() => len += 1,
            Some(b'.' | b',' | b'\'') if is_digit(len + 1) => len += 1,
            _ => return len,
        }
    }
}

/// Apostrophes, and accents typed in their place: "can´t".
fn is_apostrophe(c: char) -> bool {
    matches!(c, '\'' | '\u{2019}' | '\u{02BC}' | '\u{FF07}') || is_accent_for_apostrophe(c)
}

fn is_accent_for_apostrophe(c: char) -> bool {
    matches!(c, '`' | '\u{B4}')
}

fn fold_word(into: &mut String, scratch: &mut String, word: &str) {
    let is_plain = word.bytes().all(|byte| byte.is_ascii_alphabetic());
    if is_plain {
        let start = into.len();
        into.push_str(word);
        into[start..].make_ascii_lowercase();
        return;
    }
    scratch.clear();
    match word.contains(is_accent_for_apostrophe) {
        true => fold_into(scratch, &word.replace(is_accent_for_apostrophe, "'")),
        false => fold_into(scratch, word),
    }
    into.extend(without_ending(scratch.trim()).chars().filter(|c| *c != '\''));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        let tokens = Tokens::of(text);
        let mut shown = String::new();
        for at in 0..tokens.len() {
            shown += if tokens.is_glued(at) { "·" } else { " " };
            shown += tokens.word(at);
        }
        assert_eq!(shown.trim_start(), expected, "{text:?}");
    }

    #[test]
    fn letters_digits_and_signs_are_separated() {
        check("Under $50k, T-shirt 5x8", "under $·50·k·, t·-·shirt 5·x·8");
        check("1,299.00 € 1.5. 5'10 40\"", "1,299.00 € 1.5·. 5'10 40·\"");
        check("Men's I’m Höchstens ½ 50 €", "men i hochstens 1⁄2 50 €");
    }

    #[test]
    fn full_width_digits_are_folded() {
        check("５，０００円 Ａ４", "5,000·円 a·4");
    }

    #[test]
    fn cuts_separate_tokens() {
        let text = "沙发5000元以下";
        let at = |piece: &str| text.find(piece).unwrap();
        let tokens = Tokens::with_cuts(text, &[at("5000"), at("元"), at("以下")]);
        let words: Vec<_> = (0..tokens.len()).map(|at| tokens.word(at)).collect();
        assert_eq!(words, ["沙发", "5000", "元", "以下"]);
        assert!((0..tokens.len()).all(|at| !tokens.is_glued(at)));
        let tokens = Tokens::with_cuts("ab cd", &[1, 3]);
        assert!(!tokens.is_glued(1) && tokens.len() == 3);
    }

    #[test]
    fn positions_after_the_end_are_empty() {
        let tokens = Tokens::of("a");
        assert_eq!((tokens.word(1), tokens.word_before(0)), ("", ""));
        assert!(!tokens.is_glued(0) && !tokens.is_glued(1) && !tokens.is(1, TokenKind::Word));
    }

    #[test]
    fn compounds_end_where_a_space_does() {
        let tokens = Tokens::of("wd-40 b12 red- x");
        assert_eq!(tokens.end_of_compound(0), 3);
        assert_eq!(tokens.end_of_compound(3), 5);
        assert_eq!(tokens.end_of_compound(5), 6);
    }
}
