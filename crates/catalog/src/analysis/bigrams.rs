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
        const OFFSET: u32 = 0x811c_9dc5;
        const PRIME: u32 = 0x0100_0193;
        let bytes = first.bytes().chain([0]).chain(second.bytes());
        let hash = bytes.fold(OFFSET, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(PRIME));
        Self((hash >> 16 ^ hash) as u16)
    }
}

/// Calls `f` with every bigram of a title; with some more than once.
pub fn for_each_bigram(title: &str, mut f: impl FnMut(Bigram)) {
    let mut before: Vec<String> = Vec::new();
    let mut stands_after = |starts: &[String], ends: Vec<String>| {
        for first in &before {
            starts.iter().for_each(|second| f(Bigram::of(first, second)));
        }
        before = ends;
    };
    let mut ends: Vec<Bigram> = Vec::new();
    for_each_lexeme(title, TextKind::Product, |lexeme| match lexeme {
        Lexeme::Form(form) if is_function_word(form) => {}
        Lexeme::Form(form) | Lexeme::Elided { joined: form, .. } => {
            ends.extend(last_han_characters(form).map(|last| Bigram::of(last, END)));
            for_each_segment(form, TextKind::Query, |form| {
                let word = vec![singular(form).into_owned()];
                stands_after(&word.clone(), word);
            });
        }
        Lexeme::Compound { parts, joined } => {
            let words = || parts.iter().map(|part| singular(part).into_owned());
            let joined = Some(singular(joined).into_owned())
                .filter(|joined| joined.len() <= MAX_COMPOUND_BYTES);
            for (at, part) in words().enumerate() {
                let is_first = at == 0;
                let is_last = at + 1 == parts.len();
                let whole = |there: bool| joined.clone().filter(|_| there);
                let starts: Vec<String> =
                    whole(is_first).into_iter().chain([part.clone()]).collect();
                stands_after(&starts, whole(is_last).into_iter().chain([part]).collect());
            }
        }
        Lexeme::Measured(dimensions) => {
            stands_after(&forms(dimensions, true), forms(dimensions, false))
        }
        Lexeme::Break | Lexeme::Pause => {}
    });
    ends.into_iter().for_each(f);
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
