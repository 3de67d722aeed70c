//! Whether a title says a name of what the query asks for.

use hashbrown::HashMap;

use crate::{
    embed::Thing,
    index::segment::{Segment, TitleWord},
};

/// What the last word of a name counts without the others, and the others without the last: a
/// *floor lamp* is a lamp, a *floor tile* is none.
const LAST_WORD: f32 = 0.5;
const OTHER_WORDS: f32 = 0.15;

/// What a name counts at head position of a title, elsewhere, and with other words in between.
const AT_HEAD: f32 = 1.0;
const ELSEWHERE: f32 = 0.5;
const SCATTERED: f32 = 0.4;

/// The names of the things that a query asks for, in the words of one segment.
pub(super) struct NameMatcher {
    things: Vec<(f32, Vec<Name>)>,
}

struct Name {
    /// The numbers of its words in the segment; `None` for a word that no product has.
    words: Vec<Option<u32>>,
    weight: f32,
}

impl NameMatcher {
    pub(super) fn new(things: &[Thing], segment: &Segment) -> Self {
        let mut numbers: HashMap<&str, Option<u32>> = HashMap::new();
        let things = things.iter().map(|thing| {
            let names = thing.names.iter().map(|name| {
                let words = name.words.iter().map(|word| {
                    let find = || segment.terms.find(word).map(|number| number as u32);
                    *numbers.entry(word).or_insert_with(find)
                });
                Name { words: words.collect(), weight: name.weight }
            });
            (thing.share, names.collect())
        });
        Self { things: things.collect() }
    }

    /// How well a title says what the query asks for, from 0 to 1.
    pub(super) fn matched(&self, title: &[TitleWord]) -> f32 {
        self.sum(|name| name.matched(title))
    }

    /// How well a title names what the query asks for, best in head position, from 0 to 1.
    pub(super) fn at_head(&self, title: &[TitleWord]) -> f32 {
        self.sum(|name| name.at_head(title))
    }

    /// The sum of the best names of all things, by share.
    fn sum(&self, matched: impl Fn(&Name) -> f32) -> f32 {
        let best = |names: &[Name]| names.iter().map(&matched).fold(0.0, f32::max);
        self.things.iter().map(|(share, names)| share * best(names)).sum()
    }
}

impl Name {
    fn matched(&self, title: &[TitleWord]) -> f32 {
        let is_said = |word: &Option<u32>| {
            word.is_some_and(|word| title.iter().any(|said| said.term() == word as usize))
        };
        let said = self.words.iter().filter(|word| is_said(word)).count();
        if said == self.words.len() {
            return self.weight;
        }
        let share = said as f32 / self.words.len() as f32;
        match self.words.last().is_some_and(is_said) {
            true => LAST_WORD * self.weight * share,
            false => OTHER_WORDS * share,
        }
    }

    fn at_head(&self, title: &[TitleWord]) -> f32 {
        let mut places = Vec::with_capacity(self.words.len());
        for word in &self.words {
            let said = |said: &TitleWord| Some(said.term() as u32) == *word;
            let Some(place) = title.iter().position(said) else { return 0.0 };
            places.push(place);
        }
        let is_head = places.last().is_some_and(|last| title[*last].is_head());
        let is_together = places.windows(2).all(|pair| pair[1] == pair[0] + 1);
        self.weight
            * match (is_together, is_head) {
                (true, true) => AT_HEAD,
                (true, false) => ELSEWHERE,
                (false, _) => SCATTERED,
            }
    }
}
