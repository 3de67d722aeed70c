//! Splits a run of letters where its scripts change and where a script has no spaces.
//!
//! - Chinese characters, hiragana and Thai: products are indexed under characters and character
//!   bigrams; queries search for bigrams unless a character stands alone.
//!   Hiragana of a query that are particles or endings are left out.
//! - Katakana: `ダイニングテーブル` is one word, and products are indexed under its bigrams too, so
//!   that `テーブル` is found inside it.
//! - Hangul next to Latin letters or digits: `usb케이블` is `usb` and `케이블`.

use unicode_segmentation::UnicodeSegmentation;

/// Longer forms are truncated to this length, in products and queries alike.
pub const MAX_WORD_BYTES: usize = 64;

/// The kind of a text: a product is indexed under more terms than a query searches for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum TextKind {
    Product,
    Query,
    /// Words of a query that must follow each other: none are left out.
    Phrase,
}

/// Calls `f` with the forms of a run in any script, each truncated to [`MAX_WORD_BYTES`].
pub(super) fn for_each_segment(run: &str, kind: TextKind, mut f: impl FnMut(&str)) {
    match run.is_ascii() {
        true => f(cut(run)),
        false => for_each_script(run, |run| match kind {
            TextKind::Product | TextKind::Phrase => segments(run, kind, &mut f),
            TextKind::Query => without_particles(run, |run| segments(run, kind, &mut f)),
        }),
    }
}

/// Calls `f` with the pieces of a Japanese run between its particles: `子供用の傘` is `子供用` and `傘`.
fn without_particles(run: &str, mut f: impl FnMut(&str)) {
    let mut start = 0;
    let mut before: Option<char> = None;
    let mut chars = run.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let ends_noun = before.is_some_and(|before| is_han(before) || is_katakana(before));
        let starts_noun = chars.peek().is_some_and(|(_, c)| is_han(*c) || is_katakana(*c));
        let is_particle = match c {
            'の' | 'を' => ends_noun && chars.peek().is_some(),
            'が' | 'は' | 'に' | 'で' | 'と' | 'も' => ends_noun && starts_noun,
            _ => false,
        };
        if is_particle {
            f(&run[start..at]);
            start = at + c.len_utf8();
        }
        before = Some(c);
    }
    f(&run[start..]);
}

/// Separates Hangul from what stands before it, and from Latin letters after it.
fn for_each_script(run: &str, mut f: impl FnMut(&str)) {
    let mut start = 0;
    let mut before: Option<char> = None;
    for (at, c) in run.char_indices() {
        let changes = before.is_some_and(|before| match (is_hangul(before), is_hangul(c)) {
            (true, false) => c.is_ascii_alphanumeric(),
            (false, true) => before.is_ascii_alphabetic(),
            _ => false,
        });
        if changes {
            f(&run[start..at]);
            start = at;
        }
        before = Some(c);
    }
    f(&run[start..]);
}

fn segments(run: &str, kind: TextKind, f: &mut impl FnMut(&str)) {
    let first_other = run.find(|c| !is_hiragana(c)).unwrap_or(run.len());
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
        if kind == TextKind::Product || (pair.is_none() && !paired_with_last) {
            f(cut(piece));
        }
        if kind == TextKind::Product {
            katakana_bigrams(piece).for_each(|bigram| f(&bigram));
        }
        // Hiragana after other characters are endings and particles.
        let is_ending = kind == TextKind::Query && at > first_other;
        let is_said = |pair: &&str| !(is_ending && pair.chars().all(is_hiragana));
        if let Some(pair) = pair.filter(is_said) {
            f(cut(pair));
        }
        paired_with_last = pair.is_some();
    }
}

fn is_one_character(piece: &str) -> bool {
    piece.graphemes(true).nth(1).is_none()
}

/// Stands before a bigram of a katakana word, which is not a word of two characters.
const INSIDE: char = '・';

/// The character bigrams of a katakana word of at least three characters, as terms.
pub(crate) fn katakana_bigrams(word: &str) -> impl Iterator<Item = String> {
    let starts = move |back: usize| word.char_indices().map(|(at, _)| at).skip(back);
    let ends = starts(2).chain(Some(word.len()));
    let is_word = word.chars().nth(2).is_some() && word.chars().all(is_katakana);
    let bigrams = starts(0).zip(ends).filter(move |_| is_word);
    bigrams.map(|(start, end)| format!("{INSIDE}{}", &word[start..end]))
}

/// Terms as a text: bigrams of a katakana word are that word again.
pub(crate) fn joined_terms(terms: &[impl AsRef<str>]) -> String {
    let mut text = String::new();
    let mut is_inside = false;
    for term in terms.iter().map(AsRef::as_ref) {
        let bigram = term.strip_prefix(INSIDE);
        let continues = |bigram: &str| text.ends_with(|last| bigram.starts_with(last));
        match bigram.filter(|bigram| is_inside && continues(bigram)) {
            Some(bigram) => text.extend(bigram.chars().skip(1)),
            None => {
                text.push_str(if text.is_empty() { "" } else { " " });
                text.push_str(bigram.unwrap_or(term));
            }
        }
        is_inside = bigram.is_some();
    }
    text
}

/// The last character and the last two of a run that ends with a Chinese character. They name the
/// thing: `革靴` are shoes, `靴下` are not.
pub(super) fn last_han_characters(run: &str) -> impl Iterator<Item = &str> {
    let is_named = run.chars().next_back().is_some_and(is_han);
    let starts = run.char_indices().rev().take(2).filter(move |_| is_named);
    starts.map(|(at, _)| &run[at..])
}

/// Whether a term ends with a Chinese character.
pub(super) fn ends_with_han(term: &str) -> bool {
    term.chars().next_back().is_some_and(is_han)
}

fn is_han(c: char) -> bool {
    matches!(c, '々' | '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}')
}

fn is_hiragana(c: char) -> bool {
    matches!(c, '\u{3041}'..='\u{309F}')
}

pub(crate) fn is_katakana(c: char) -> bool {
    matches!(c, '\u{30A1}'..='\u{30FA}' | '\u{30FC}'..='\u{30FF}' | '\u{31F0}'..='\u{31FF}')
}

pub(crate) fn is_hangul(c: char) -> bool {
    matches!(c, '\u{1100}'..='\u{11FF}' | '\u{3130}'..='\u{318F}' | '\u{AC00}'..='\u{D7AF}')
}

/// The form, up to the longest that is indexed.
pub(super) fn cut(form: &str) -> &str {
    &form[..form.floor_char_boundary(MAX_WORD_BYTES)]
}
