//! Whether a title says a name of what the query asks for.

use embed::Thing;
use hashbrown::{HashMap, hash_map::Entry};

use crate::segment::{Segment, Term, TitleWord};

/// What the last word of a name counts without the others, and the others without the last: a
/// *floor lamp* is a lamp, a *floor tile* is none.
const LAST_WORD: f32 = 0.5;
const OTHER_WORDS: f32 = 0.15;

/// To find a word of a name in a segment costs about as much as to compare this many words of titles with
/// all names: in memory that was not read before, a look-up reads three places, a comparison one.
const TITLE_WORDS: usize = 2;

/// What a name counts at head position of a title, elsewhere, and with other words in between.
const AT_HEAD: f32 = 1.0;
const ELSEWHERE: f32 = 0.5;
const SCATTERED: f32 = 0.4;

/// A set of words of a [`NameQuery`], one bit each.
type WordSet = u128;
/// Names with further words are not looked for. The things of the built-in model have 16 words at
/// most, a category with all below it may have more.
const MAX_WORDS: usize = WordSet::BITS as usize;

/// The names of the things that a query asks for.
pub(super) struct NameQuery<'a> {
    /// The words of all names, each once.
    words: Vec<&'a str>,
    /// The index of each word.
    indexes: HashMap<Term<'a>, usize>,
    things: Vec<(f32, Vec<Name>)>,
}

struct Name {
    /// Its words in order, by their index.
    words: Box<[usize]>,
    /// All of them.
    set: WordSet,
    /// The last of them.
    last: WordSet,
    weight: f32,
}

impl<'a> NameQuery<'a> {
    pub(super) fn new(things: &'a [Thing]) -> Self {
        let mut words: Vec<&str> = Vec::new();
        let mut indexes: HashMap<Term<'_>, usize> = HashMap::with_capacity(MAX_WORDS);
        let mut index_of = |word: &'a str| match indexes.entry(Term::of(word)) {
            Entry::Occupied(known) => Some(*known.get()),
            Entry::Vacant(_) if words.len() == MAX_WORDS => None,
            Entry::Vacant(new) => {
                words.push(word);
                Some(*new.insert(words.len() - 1))
            }
        };
        let things = things.iter().map(|thing| {
            let names = thing.names.iter().filter_map(|name| {
                let words = name.words.iter().map(|word| index_of(word));
                let words: Box<[usize]> = words.collect::<Option<_>>()?;
                let set = words.iter().fold(0, |set, at| set | 1 << at);
                let last = words.last().map_or(0, |at| 1 << at);
                Some(Name { words, set, last, weight: name.weight })
            });
            (thing.share, names.collect())
        });
        let things = things.collect();
        Self { words, indexes, things }
    }
}

/// The names of the things that a query asks for, in the words of one segment.
pub(super) struct NameMatcher<'a> {
    query: &'a NameQuery<'a>,
    /// The words that the segment has: their numbers there, ascending, and their indexes.
    known: Vec<(usize, usize)>,
    filter: WordFilter,
}

/// Tells most words of titles that are in no name, by the last bits of their numbers.
struct WordFilter([u64; Self::BITS / 64]);

impl WordFilter {
    /// Enough to let 3 % of the other words through where there are [`MAX_WORDS`].
    const BITS: usize = 4096;

    fn of(words: impl Iterator<Item = usize>) -> Self {
        let mut bits = [0; Self::BITS / 64];
        words.for_each(|word| bits[word % Self::BITS / 64] |= 1 << (word % 64));
        Self(bits)
    }

    #[inline]
    fn may_contain(&self, word: usize) -> bool {
        self.0[word % Self::BITS / 64] >> (word % 64) & 1 == 1
    }
}

impl<'a> NameMatcher<'a> {
    /// The matcher for some titles of a segment.
    pub(super) fn new<'t>(
        query: &'a NameQuery<'a>,
        segment: &Segment,
        titles: impl Iterator<Item = &'t [TitleWord]> + Clone,
    ) -> Self {
        let in_titles: usize = titles.clone().map(<[_]>::len).sum();
        let mut known: Vec<(usize, usize)> = match in_titles < TITLE_WORDS * query.words.len() {
            true => {
                let said = titles.flatten().map(|word| word.term());
                let index = |word| query.indexes.get(&segment.terms.term(word)).copied();
                said.filter_map(|word| Some((word, index(word)?))).collect()
            }
            false => {
                let words = query.words.iter().enumerate();
                words.filter_map(|(at, word)| Some((segment.terms.find(word)?, at))).collect()
            }
        };
        known.sort_unstable();
        known.dedup();
        let filter = WordFilter::of(known.iter().map(|(number, _)| *number));
        Self { query, known, filter }
    }

    /// How well each title says what the query asks for, from 0 to 1. Many titles say the same words of
    /// names, which are compared with all names once.
    pub(super) fn matched<'t>(&self, titles: impl Iterator<Item = &'t [TitleWord]>) -> Vec<f32> {
        let mut known: HashMap<WordSet, f32> = HashMap::from([(0, 0.0)]);
        let mut matched = |title: &[TitleWord]| {
            let said = self.said(title);
            *known.entry(said).or_insert_with(|| self.sum(|name| name.matched(said)))
        };
        titles.map(&mut matched).collect()
    }

    /// How well a title names what the query asks for, best in head position, from 0 to 1.
    pub(super) fn at_head(&self, title: &[TitleWord]) -> f32 {
        let said = self.said(title);
        if said == 0 {
            return 0.0;
        }
        self.sum(|name| match said & name.set == name.set {
            true => name.weight * self.place(name, title),
            false => 0.0,
        })
    }

    /// The words of names that a title says.
    fn said(&self, title: &[TitleWord]) -> WordSet {
        let said = title.iter().filter_map(|word| self.index_of(word));
        said.fold(0, |said, at| said | 1 << at)
    }

    /// The sum of the best names of all things, by share.
    fn sum(&self, matched: impl Fn(&Name) -> f32) -> f32 {
        let best = |names: &[Name]| names.iter().map(&matched).fold(0.0, f32::max);
        self.query.things.iter().map(|(share, names)| share * best(names)).sum()
    }

    #[inline]
    fn index_of(&self, word: &TitleWord) -> Option<usize> {
        if !self.filter.may_contain(word.term()) {
            return None;
        }
        let at = self.known.binary_search_by_key(&word.term(), |(term, _)| *term).ok()?;
        Some(self.known[at].1)
    }

    /// What a name counts by its place in a title that says all its words.
    fn place(&self, name: &Name, title: &[TitleWord]) -> f32 {
        let place = |word: &usize| title.iter().position(|said| self.index_of(said) == Some(*word));
        let mut places = name.words.iter().map(place);
        let Some(mut last) = places.next().flatten() else { return 0.0 };
        let mut is_together = true;
        for place in places.flatten() {
            is_together &= place == last + 1;
            last = place;
        }
        match (is_together, title[last].is_head()) {
            (true, true) => AT_HEAD,
            (true, false) => ELSEWHERE,
            (false, _) => SCATTERED,
        }
    }
}

impl Name {
    fn matched(&self, said: WordSet) -> f32 {
        let own = said & self.set;
        if own == self.set {
            return self.weight;
        }
        let share = own.count_ones() as f32 / self.words.len() as f32;
        match own & self.last != 0 {
            true => LAST_WORD * self.weight * share,
            false => OTHER_WORDS * share,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::iter;

    use catalog::product::{ProductId, attributes::Attributes, change::Seq};
    use embed::ThingName;

    use super::*;
    use crate::{Entry, EntryVectors, segment::build_segments};

    fn name(words: &[&str]) -> ThingName {
        ThingName { words: words.iter().map(|word| Box::from(*word)).collect(), weight: 1.0 }
    }

    #[test]
    fn few_titles_say_the_same_names_as_many() {
        let texts = ["Brass floor lamp", "Floor tile", "Refrigerator shelf", "Desk", ""];
        let entries = (1..).zip(texts).map(|(id, title)| Entry {
            id: ProductId::new(id).unwrap(),
            version: Seq::default(),
            hidden: false,
            price: None,
            title,
            description: "",
            key: None,
            attributes: Attributes::none(),
            inferred: Default::default(),
            vectors: EntryVectors::Missing,
        });
        let entries: Vec<_> = entries.collect();
        let entries = entries.iter().map(|entry| (entry, Default::default()));
        let live = build_segments(entries).remove(0);
        let titles: Vec<_> = (0..texts.len()).map(|doc| live.segment.title_words.of(doc)).collect();
        let names: [&[&str]; 3] = [&["floor", "lamp"], &["refrigerator", "shelf"], &["sofa"]];
        let things = [Thing { share: 1.0, names: names.map(name).into() }];
        let query = NameQuery::new(&things);
        let matched = |times: usize| {
            let of_matcher = iter::repeat_n(&titles, times).flatten().copied();
            let matcher = NameMatcher::new(&query, &live.segment, of_matcher);
            matcher.matched(titles.iter().copied())
        };
        let (few, many) = (1, 10);
        let words = |times: usize| times * titles.iter().map(|title| title.len()).sum::<usize>();
        assert!(words(few) < TITLE_WORDS * query.words.len());
        assert!(words(many) >= TITLE_WORDS * query.words.len());
        assert_eq!(matched(few), matched(many));
        assert_eq!(matched(few)[0], 1.0);
        assert!(matched(few)[1] > 0.0 && matched(few)[1] < 0.5);
        assert_eq!(matched(few)[2..], [1.0, 0.0, 0.0]);
    }

    #[test]
    fn a_name_whose_words_find_no_room_is_left_out_as_a_whole() {
        let words: Vec<String> = (0..MAX_WORDS).map(|number| format!("word{number}")).collect();
        let mut names: Vec<ThingName> = words.iter().map(|word| name(&[word])).collect();
        names.push(name(&["word0", "further"]));
        names.push(name(&["word1", "word2"]));
        let things = [Thing { share: 1.0, names: names.into() }];
        let query = NameQuery::new(&things);
        assert_eq!(query.words.len(), MAX_WORDS);
        assert_eq!(query.things[0].1.len(), MAX_WORDS + 1);
        assert_eq!(query.things[0].1[MAX_WORDS].set, 0b110);
    }

    #[test]
    fn a_filter_lets_all_its_words_through_and_few_others() {
        let words: Vec<usize> = (0..MAX_WORDS).map(|at| at * 7_919 % 100_003).collect();
        let filter = WordFilter::of(words.iter().copied());
        assert!(words.iter().all(|word| filter.may_contain(*word)));
        let others = (0..100_000).filter(|word| filter.may_contain(*word)).count();
        assert!(others < 4_000, "{others}");
    }
}
