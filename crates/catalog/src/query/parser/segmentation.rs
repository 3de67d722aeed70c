//! Splits text without spaces (Chinese, Japanese, Korean) where a phrase of a rule begins or ends,
//! so that the rules find their phrases as tokens: `5000元以下的沙发` becomes `5000`, `元`, `以下`, `的`
//! and `沙发`.
//!
//! The characters of most phrases are also parts of words (`元` in 元气, `원` in 원피스). Therefore a
//! phrase is split off only where it can be one: currencies and comparisons directly after a number,
//! other comparisons directly before one, and numbers in words before a currency. Negations and sort
//! orders are longer, and split off anywhere, except in an idiom.

use std::{collections::HashSet, sync::LazyLock};

use super::languages::rules;
use crate::{query::parser::languages::rule::Rule, text::lexer::is_full_width_digit};

/// Phrases of scripts without spaces.
struct Phrases {
    phrases: HashSet<&'static str>,
    longest_bytes: usize,
}

impl Phrases {
    /// The phrases of these sections, restricted to some meanings where there are any.
    fn of(sections: &[(&str, &[&str])]) -> Self {
        let is_meant = |rule: &&Rule, meanings: &[&str]| {
            (meanings.is_empty() || meanings.contains(&rule.meaning))
                && rule.phrase.chars().all(is_unspaced)
        };
        let mut phrases = HashSet::new();
        for (section, meanings) in sections {
            let meant = rules(section).iter().filter(|rule| is_meant(rule, meanings));
            phrases.extend(meant.map(|rule| rule.phrase));
        }
        let longest_bytes = phrases.iter().map(|phrase| phrase.len()).max().unwrap_or_default();
        Self { phrases, longest_bytes }
    }

    /// The bytes of the longest phrase that begins a text.
    fn longest_at_start_of(&self, text: &str) -> Option<usize> {
        let ends = text.char_indices().map(|(at, c)| at + c.len_utf8());
        let ends = ends.take_while(|end| *end <= self.longest_bytes);
        ends.filter(|end| self.phrases.contains(&text[..*end])).last()
    }
}

/// Meanings of phrases directly after an amount.
const SUFFIXES: &[&str] =
    &["or less", "below", "tops", "max", "or more", "above", "or so", "negated"];

/// After a number.
static AFTER: LazyLock<Phrases> = LazyLock::new(|| {
    Phrases::of(&[
        ("number", &[]),
        ("currency", &[]),
        ("suffix", SUFFIXES),
        ("joiner", &[]),
        ("trailer", &[]),
    ])
});
/// Before a number.
static BEFORE: LazyLock<Phrases> = LazyLock::new(|| {
    let negation = &["inverts", "cancels", "spending", "link", "exceeding"];
    Phrases::of(&[("cue", &[]), ("lead", &[]), ("negation", negation), ("filler", &[])])
});
static NEGATORS: LazyLock<Phrases> =
    LazyLock::new(|| Phrases::of(&[("exclusion", &["without", "no", "not", "after"])]));
static ORDERS: LazyLock<Phrases> = LazyLock::new(|| Phrases::of(&[("sort", &[])]));
/// Between an excluded word and what is wanted.
static PARTICLES: LazyLock<Phrases> =
    LazyLock::new(|| Phrases::of(&[("exclusion", &["particle"])]));
static LISTS: LazyLock<Phrases> = LazyLock::new(|| Phrases::of(&[("exclusion list", &[])]));
static IDIOMS: LazyLock<Phrases> = LazyLock::new(|| Phrases::of(&[("idiom", &["phrase"])]));
static NUMERALS: LazyLock<Phrases> = LazyLock::new(|| Phrases::of(&[("number", &[])]));
static CURRENCIES: LazyLock<Phrases> = LazyLock::new(|| Phrases::of(&[("currency", &[])]));

/// Reject what comes before them, at the end of a query.
static REJECTIONS: LazyLock<Phrases> =
    LazyLock::new(|| Phrases::of(&[("suffix", &["negated at end"])]));
static NEGATIONS: LazyLock<Phrases> = LazyLock::new(|| Phrases::of(&[("negation", &["inverts"])]));

/// The most phrases that are looked at together. Bounds the time for a long text.
const MAX_CHAIN: usize = 12;
/// The most characters of excluded words before their particle.
const MAX_EXCLUDED: usize = 16;
/// The most characters between a negation and what it negates.
const MAX_AFTER_NEGATION: usize = 4;

/// Whether a character belongs to a script in which words are not separated, or only loosely.
pub(super) fn is_unspaced(c: char) -> bool {
    matches!(c,
        '\u{3040}'..='\u{30FF}' | '々' | '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}'
        | '\u{F900}'..='\u{FAFF}' | '\u{AC00}'..='\u{D7AF}')
}

fn is_hiragana(c: char) -> bool {
    ('\u{3040}'..='\u{309F}').contains(&c)
}

fn is_hangul(c: char) -> bool {
    ('\u{AC00}'..='\u{D7AF}').contains(&c)
}

/// The offsets at which a text is split, ascending.
pub(super) fn cuts(text: &str) -> Vec<usize> {
    let mut cuts = Vec::new();
    // All of these scripts are encoded in three bytes, of which the first is at least this.
    if text.bytes().all(|byte| byte < 0xE3) {
        return cuts;
    }
    let mut at = 0;
    while let Some(start) = text[at..].find(is_unspaced).map(|skipped| at + skipped) {
        let len = text[start..].find(|c| !is_unspaced(c)).unwrap_or(text.len() - start);
        let run = Run { text, start, end: start + len };
        run.push_cuts(&mut cuts);
        at = run.end;
    }
    cuts.sort_unstable();
    cuts.dedup();
    let is_space = char::is_whitespace;
    cuts.retain(|cut| {
        *cut > 0 && !text[*cut..].starts_with(is_space) && !text[..*cut].ends_with(is_space)
    });
    cuts
}

/// A run of characters without spaces.
struct Run<'t> {
    text: &'t str,
    start: usize,
    end: usize,
}

impl Run<'_> {
    fn push_cuts(&self, cuts: &mut Vec<usize>) {
        let is_digit = |c: char| c.is_ascii_digit() || is_full_width_digit(c);
        let after_number = self.text[..self.start].ends_with(is_digit);
        let before_number =
            self.text[self.end..].starts_with(|c| is_digit(c) || "¥￥$₩￦".contains(c));
        let mut at = self.start;
        if after_number {
            at = self.cut_chain(&AFTER, at, cuts);
        }
        while at < self.end {
            at = self.cut_at(at, before_number, cuts);
        }
        // The number of 不想买500元以上的 stays glued, so that it is no amount.
        let is_cut_off = cuts.last().is_some_and(|cut| (self.start..self.end).contains(cut));
        if before_number && (is_cut_off || !self.is_negated_before(self.end)) {
            cuts.push(self.end);
        }
        self.cut_korean_particle(cuts);
    }

    /// Splits off what begins at an offset, and returns the next one to look at.
    fn cut_at(&self, at: usize, before_number: bool, cuts: &mut Vec<usize>) -> usize {
        let rest = &self.text[at..self.end];
        let next = at + rest.chars().next().map_or(1, char::len_utf8);
        if let Some(len) = IDIOMS.longest_at_start_of(rest) {
            return at + len;
        }
        if before_number && self.is_chain_to_end(at) && !self.is_negated_before(at) {
            return self.cut_chain(&BEFORE, at, cuts);
        }
        if at > self.start && REJECTIONS.longest_at_start_of(rest) == Some(rest.len()) {
            cuts.push(at);
            return self.end;
        }
        if self.is_number_in_words(at) {
            return self.cut_chain(&AFTER, at, cuts);
        }
        if let Some(len) = ORDERS.longest_at_start_of(rest).filter(|len| self.may_cut(at, *len)) {
            cuts.extend([at, at + len]);
            return at + len;
        }
        let negator = NEGATORS.longest_at_start_of(rest);
        let Some(len) = negator.filter(|len| self.may_cut(at, *len)) else { return next };
        cuts.extend([self.start_of_noun_before(at), at, at + len]);
        self.cut_particles(at + len, cuts);
        at + len
    }

    /// The start of the last noun before an offset: the katakana or Chinese characters after
    /// hiragana, which end another word (`黒い革なし`).
    fn start_of_noun_before(&self, at: usize) -> usize {
        let before = &self.text[self.start..at];
        let class = before.chars().next_back().map(class);
        match class {
            Some(Class::Han | Class::Katakana) => {
                let other =
                    before.char_indices().rev().find(|(_, c)| Some(self::class(*c)) != class);
                other.map_or(self.start, |(other, c)| self.start + other + c.len_utf8())
            }
            _ => self.start,
        }
    }

    /// Splits off the phrases that follow each other from an offset on.
    fn cut_chain(&self, phrases: &Phrases, from: usize, cuts: &mut Vec<usize>) -> usize {
        let mut at = from;
        while let Some(len) = phrases.longest_at_start_of(&self.text[at..self.end]) {
            cuts.push(at);
            at += len;
        }
        if at > from && at < self.end {
            cuts.push(at);
        }
        at
    }

    /// Whether phrases that stand before a number fill the rest of the run.
    fn is_chain_to_end(&self, from: usize) -> bool {
        self.end_of_chain(&BEFORE, from) == self.end
    }

    /// The end of the phrases that follow each other from an offset on, up to [`MAX_CHAIN`].
    fn end_of_chain(&self, phrases: &Phrases, from: usize) -> usize {
        let next = |at: &usize| Some(at + phrases.longest_at_start_of(&self.text[*at..self.end])?);
        std::iter::successors(Some(from), next).take(1 + MAX_CHAIN).last().unwrap_or(from)
    }

    /// Whether a negation stands a few characters before an offset, with words between them that
    /// no rule knows. What it negates is then unclear.
    fn is_negated_before(&self, end: usize) -> bool {
        let before = &self.text[self.start..end];
        let mut last = before.char_indices().rev().take(MAX_AFTER_NEGATION);
        last.any(|(at, c)| {
            let rest = &self.text[self.start + at..self.end];
            NEGATIONS.phrases.contains(c.encode_utf8(&mut [0; 4]) as &str)
                && IDIOMS.longest_at_start_of(rest).is_none()
        })
    }

    /// `五千元`: numerals up to a currency. In Hangul, only at the start of a word.
    fn is_number_in_words(&self, from: usize) -> bool {
        let rest = &self.text[from..self.end];
        if rest.starts_with(is_hangul) && from > self.start {
            return false;
        }
        let at = self.end_of_chain(&NUMERALS, from);
        at > from && CURRENCIES.longest_at_start_of(&self.text[at..self.end]).is_some()
    }

    /// Whether a phrase may be split off a word: in Hangul only at either end of it, and hiragana
    /// not from hiragana, which may be the same word (`はなし`).
    fn may_cut(&self, at: usize, len: usize) -> bool {
        let phrase = &self.text[at..at + len];
        let before = self.text[self.start..at].chars().next_back();
        let is_at_end = at == self.start || at + len == self.end;
        (is_at_end || !phrase.starts_with(is_hangul))
            && !(phrase.starts_with(is_hiragana) && before.is_some_and(is_hiragana))
    }

    /// Splits off what joins excluded words, up to the particle after the last: `不要皮革和布的沙发`.
    fn cut_particles(&self, from: usize, cuts: &mut Vec<usize>) {
        let rest = &self.text[from..self.end];
        for (at, _) in rest.char_indices().skip(1).take(MAX_EXCLUDED) {
            let particle = PARTICLES.longest_at_start_of(&rest[at..]);
            let len = particle.or_else(|| LISTS.longest_at_start_of(&rest[at..]));
            if let Some(len) = len {
                cuts.extend([from + at, from + at + len]);
            }
            if particle.is_some() {
                break;
            }
        }
    }

    /// Splits the particle off a Korean word whose negator follows: `가죽을 제외한`.
    fn cut_korean_particle(&self, cuts: &mut Vec<usize>) {
        let (word, next) = (&self.text[self.start..self.end], self.text[self.end..].trim_start());
        let last = word.char_indices().next_back().filter(|(at, c)| *at > 0 && is_hangul(*c));
        let Some((at, _)) = last else { return };
        let is_particle = PARTICLES.longest_at_start_of(&word[at..]) == Some(word.len() - at);
        if is_particle && NEGATORS.longest_at_start_of(next).is_some() {
            cuts.push(self.start + at);
        }
    }
}

/// The class of a character, by which Japanese words are told apart.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Hiragana,
    Katakana,
    Hangul,
    Han,
}

fn class(c: char) -> Class {
    match c {
        _ if is_hiragana(c) => Class::Hiragana,
        _ if is_hangul(c) => Class::Hangul,
        '\u{30A0}'..='\u{30FF}' => Class::Katakana,
        _ => Class::Han,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let mut shown = String::new();
        let cuts = cuts(text);
        for (at, c) in text.char_indices() {
            if cuts.contains(&at) {
                shown.push('|');
            }
            shown.push(c);
        }
        assert_eq!(shown, expected);
    }

    #[test]
    fn phrases_are_split_off_next_to_numbers() {
        check("5000元以下的沙发", "5000|元|以下|的|沙发");
        check("沙发5000元以下", "沙发|5000|元|以下");
        check("1万円以下のソファ", "1|万|円|以下|の|ソファ");
        check("5만원이하 소파", "5|만|원|이하 소파");
        check("不超过500元的鞋", "不超过|500|元|的|鞋");
        check("预算五千元", "预算|五|千|元");
    }

    #[test]
    fn negations_and_orders_are_split_off_anywhere() {
        check("不要皮革的沙发", "不要|皮革|的|沙发");
        check("不要皮革和布的沙发", "不要|皮革|和|布|的|沙发");
        check("黒い革なしのソファ", "黒い|革|なしの|ソファ");
        check("가죽없는 소파", "가죽|없는 소파");
        check("가죽을 제외한 소파", "가죽|을 제외한 소파");
        check("最便宜的手机", "最便宜的|手机");
    }

    #[test]
    fn parts_of_words_stay_together() {
        for text in
            ["元气森林", "원피스", "円卓", "はなし", "有没有沙发", "3人掛けソファ", "끝없는 이야기"]
        {
            check(text, text);
        }
    }

    #[test]
    fn text_with_spaces_is_not_split() {
        check("red shoes under 50 €", "red shoes under 50 €");
        check("кроссовки до 5000", "кроссовки до 5000");
    }
}
