//! Bigrams of titles and queries, for a score bonus where words are adjacent.
//!
//! A bigram is stored as a 16-bit hash. Function words between two words are skipped, and a measure
//! or compound forms bigrams in every form in which a query may contain it.

use super::{
    Lexeme, MAX_COMPOUND_BYTES, QueryTerms, TextKind, cut, for_each_lexeme, for_each_segment,
    is_function_word,
    measure::{Measure, size_of},
    segments::{ends_with_han, last_han_characters},
    singular,
};
use crate::text::fnv;

/// Stands after Chinese characters that end a run.
const END: &str = "";

/// The hash of two adjacent words. Two different bigrams collide with a probability of 1 in 65,536.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Bigram(u16);

impl Bigram {
    /// The hash that stands for the pair.
    pub fn to_bits(self) -> u16 {
        self.0
    }

    /// The bigram with this hash.
    pub fn from_bits(bits: u16) -> Self {
        Self(bits)
    }

    fn of(first: &str, second: &str) -> Self {
        FirstWord::new(first).before(second)
    }
}

/// The hash of the first word of a bigram, to be continued by a second one.
#[derive(Clone, Copy)]
struct FirstWord(u32);

impl FirstWord {
    fn new(word: &str) -> Self {
        Self(fnv::hash_32(fnv::hash_32(fnv::OFFSET_32, word.as_bytes()), &[0]))
    }

    fn before(self, second: &str) -> Bigram {
        let hash = fnv::hash_32(self.0, second.as_bytes());
        Bigram((hash >> 16 ^ hash) as u16)
    }
}

/// Calls `f` with every bigram of a title; with some more than once.
pub fn for_each_bigram(title: &str, mut f: impl FnMut(Bigram)) {
    let mut bigrams = TitleBigrams::default();
    for_each_lexeme(title, TextKind::Product, |lexeme| bigrams.push(lexeme, &mut f));
    bigrams.finish(f);
}

/// Finds the bigrams of a title.
#[derive(Default)]
pub(super) struct TitleBigrams {
    /// The forms in which the last word may come before the next one.
    before: Vec<FirstWord>,
    ends: Vec<Bigram>,
}

impl TitleBigrams {
    pub(super) fn push(&mut self, lexeme: Lexeme<'_>, f: &mut impl FnMut(Bigram)) {
        match lexeme {
            Lexeme::Form(form) if is_function_word(form) => {}
            Lexeme::Form(form) | Lexeme::Elided { joined: form, .. } => {
                let ends = last_han_characters(form).map(|last| Bigram::of(last, END));
                self.ends.extend(ends);
                for_each_segment(form, TextKind::Query, |form| {
                    let word = singular(form);
                    self.push_word(&[&word], &[&word], f);
                });
            }
            Lexeme::Compound { parts, joined } => {
                let joined = singular(joined);
                let joined = Some(&*joined).filter(|joined| joined.len() <= MAX_COMPOUND_BYTES);
                for (at, part) in parts.iter().enumerate() {
                    let part = singular(part);
                    let both = [joined.unwrap_or_default(), &part];
                    let ways = |is_whole: bool| match joined {
                        Some(_) if is_whole => &both[..],
                        _ => &both[1..],
                    };
                    self.push_word(ways(at == 0), ways(at + 1 == parts.len()), f);
                }
            }
            Lexeme::Measured(dimensions) => {
                let (starts, ends) = (forms(dimensions, true), forms(dimensions, false));
                let both = [starts, ends];
                let [starts, ends] =
                    both.each_ref().map(|ways| ways.iter().map(String::as_str).collect::<Vec<_>>());
                self.push_word(&starts, &ends, f);
            }
            Lexeme::Break | Lexeme::Pause => {}
        }
    }

    /// Adds a word that may begin with each of `starts` and end with each of `ends`.
    fn push_word(&mut self, starts: &[&str], ends: &[&str], f: &mut impl FnMut(Bigram)) {
        for first in &self.before {
            starts.iter().for_each(|second| f(first.before(second)));
        }
        self.before.clear();
        self.before.extend(ends.iter().map(|end| FirstWord::new(end)));
    }

    pub(super) fn finish(self, f: impl FnMut(Bigram)) {
        self.ends.into_iter().for_each(f);
    }
}

/// The forms of a measure at the start (or end) of a bigram.
fn forms(dimensions: &[Measure], begins: bool) -> Vec<String> {
    let cut = |text: String| cut(&text).to_owned();
    match dimensions {
        [dimension] if dimension.unit.is_some() => {
            vec![cut(dimension.joined()), cut(dimension.number.clone())]
        }
        [dimension] => vec![cut(dimension.number.clone())],
        dimensions => {
            let two = if begins { &dimensions[..2] } else { &dimensions[dimensions.len() - 2..] };
            let mut ways = vec![cut(size_of(dimensions))];
            if dimensions.len() > 2 {
                ways.push(cut(size_of(two)));
            }
            ways
        }
    }
}

impl QueryTerms {
    /// For every two consecutive terms, the bigrams of their alternatives; if the last ends with a
    /// Chinese character, that it ends a run.
    pub fn bigrams(&self) -> Vec<Vec<Bigram>> {
        let bigrams = self.terms().windows(2).map(|two| {
            let ends = two[0].alternatives.iter().filter_map(|way| way.words.last());
            let starts = two[1].alternatives.iter().filter_map(|way| way.words.first());
            let both = ends.flat_map(|end| starts.clone().map(|start| Bigram::of(end, start)));
            let mut ways: Vec<Bigram> = both.collect();
            ways.sort_unstable();
            ways.dedup();
            ways
        });
        let last = self.terms().last().map(|term| &*term.alternatives[0].words[0]);
        let last = last.filter(|word| ends_with_han(word));
        bigrams.chain(last.map(|last| vec![Bigram::of(last, END)])).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many bigrams of the query are in the title, and how many there are.
    fn check(query: &str, title: &str, expected: (usize, usize)) {
        let mut said = Vec::new();
        for_each_bigram(title, |pair| said.push(pair));
        let asked = QueryTerms::of(query).bigrams();
        let together = asked.iter().filter(|ways| ways.iter().any(|pair| said.contains(pair)));
        assert_eq!((together.count(), asked.len()), expected, "{query:?} {title:?}");
    }

    #[test]
    fn bigrams_are_ordered() {
        check("kitchen sink faucet", "Chrome Kitchen Sink with Faucet", (2, 2));
        check("kitchen sink faucet", "Sink Faucet for the Kitchen", (1, 2));
        check("sink kitchen", "Kitchen Sink", (0, 1));
        check("sink", "Kitchen Sink", (0, 0));
        check("bag of rice", "Rice bag", (0, 1));
        check("bags of rice", "Bag Rice", (1, 1));
    }

    #[test]
    fn measures_sizes_and_codes_form_bigrams() {
        check("5' ladder", "Werner 5 ft. Ladder", (1, 1));
        check("5 ladder", "Werner 5 ft. Ladder", (1, 1));
        check("white 2x4 stud", "White 2 in. x 4 in. x 8 ft. Stud", (1, 2));
        check("2x4x8 stud", "White 2 in. x 4 in. x 8 ft. Stud", (1, 1));
        check("wd40 spray", "WD-40 Spray", (1, 1));
        check("wd 40 spray", "WD-40 Spray", (2, 2));
        check("levis 501 jeans", "Levi's 501 Jeans", (2, 2));
        check("red t-shirt", "Red T-Shirt", (1, 1));
    }

    #[test]
    fn scripts_without_spaces_form_bigrams() {
        check("绿茶杯", "绿茶杯", (2, 2));
        check("靴", "革靴 メンズ", (1, 1));
        check("靴", "靴下 メンズ", (0, 1));
        check("自転車", "電動自転車 26インチ", (2, 2));
        check("自転車", "自転車ヘルメット", (1, 2));
        check("テーブル 白", "テーブル 白", (2, 2));
    }
}
