//! Which things does a title say side by side? "Kitchen sink" is not a sink for the kitchen's
//! neighbour.
//!
//! Two neighbours are kept as one small number. Function words between them do not part them, and
//! a measure or a compound stands beside its neighbours in every way that it can be asked for.

use super::{
    MAX_COMPOUND_BYTES, QueryTerms, Said, Side, cut, for_each_said, for_each_segment,
    is_function_word,
    measure::{Measure, size_of},
    singular,
};

/// Two words side by side. Others may share the number, about one pair in 65,000.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Bigram(u16);

impl Bigram {
    fn of(first: &str, second: &str) -> Self {
        const OFFSET: u32 = 0x811c_9dc5;
        const PRIME: u32 = 0x0100_0193;
        let bytes = first.bytes().chain([0]).chain(second.bytes());
        let hash = bytes.fold(OFFSET, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(PRIME));
        Self((hash >> 16 ^ hash) as u16)
    }
}

/// Calls `f` with every two neighbours of a title; with some more than once.
pub fn for_each_bigram(title: &str, mut f: impl FnMut(Bigram)) {
    let mut before: Vec<String> = Vec::new();
    let mut stands_after = |starts: &[String], ends: Vec<String>| {
        for first in &before {
            starts.iter().for_each(|second| f(Bigram::of(first, second)));
        }
        before = ends;
    };
    for_each_said(title, Side::Product, |said| match said {
        Said::Form(form) if is_function_word(form) => {}
        Said::Form(form) => for_each_segment(form, Side::Query, |form| {
            let word = vec![singular(form).into_owned()];
            stands_after(&word.clone(), word);
        }),
        Said::Compound { parts, joined } => {
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
        Said::Measured(sides) => stands_after(&ways(sides, true), ways(sides, false)),
        Said::Stop => {}
    });
}

/// The ways in which a measure is asked for by somebody who begins, or ends, with it.
fn ways(sides: &[Measure], begins: bool) -> Vec<String> {
    let cut = |text: String| cut(&text).to_owned();
    match sides {
        [side] if side.unit.is_some() => vec![cut(side.joined()), cut(side.number.clone())],
        [side] => vec![cut(side.number.clone())],
        sides => {
            let two = if begins { &sides[..2] } else { &sides[sides.len() - 2..] };
            let mut ways = vec![cut(size_of(sides))];
            if sides.len() > 2 {
                ways.push(cut(size_of(two)));
            }
            ways
        }
    }
}

impl QueryTerms {
    /// For every two things asked for one after the other, the ways in which they can stand side
    /// by side.
    pub fn bigrams(&self) -> Vec<Vec<Bigram>> {
        let neighbours = self.terms().windows(2).map(|two| {
            let ends = two[0].alternatives.iter().filter_map(|way| way.words.last());
            let starts = two[1].alternatives.iter().filter_map(|way| way.words.first());
            let both = ends.flat_map(|end| starts.clone().map(|start| Bigram::of(end, start)));
            let mut ways: Vec<Bigram> = both.collect();
            ways.sort_unstable();
            ways.dedup();
            ways
        });
        neighbours.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many neighbours of the query are neighbours in the title, and how many there are.
    fn check(query: &str, title: &str, expected: (usize, usize)) {
        let mut said = Vec::new();
        for_each_bigram(title, |pair| said.push(pair));
        let asked = QueryTerms::of(query).bigrams();
        let together = asked.iter().filter(|ways| ways.iter().any(|pair| said.contains(pair)));
        assert_eq!((together.count(), asked.len()), expected, "{query:?} {title:?}");
    }

    #[test]
    fn neighbours_are_found_in_their_order() {
        check("kitchen sink faucet", "Chrome Kitchen Sink with Faucet", (2, 2));
        check("kitchen sink faucet", "Sink Faucet for the Kitchen", (1, 2));
        check("sink kitchen", "Kitchen Sink", (0, 1));
        check("sink", "Kitchen Sink", (0, 0));
        check("bag of rice", "Rice bag", (0, 1));
        check("bags of rice", "Bag Rice", (1, 1));
    }

    #[test]
    fn measures_sizes_and_codes_stand_beside_their_neighbours() {
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
    fn characters_of_scripts_without_spaces_have_neighbours() {
        check("绿茶杯", "绿茶杯", (1, 1));
    }
}
