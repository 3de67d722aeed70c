//! How well do the words of a query match each product?
//!
//! Term by term, the postings of a segment are added up in a dense array of scores. Of several
//! ways to say a term, the best counts.

mod explained;

use std::{cmp::Ordering, collections::HashMap};

use catalog::{
    access::Visibility,
    analysis::{Bigram, QueryTerms, Term},
    ranking::{Bm25Params, Bm25Scorer, CorpusStats, TermFreqs},
};

use super::{
    live::LiveSegment,
    segment::{Doc, MAX_PRODUCTS, Postings},
};

/// One score per product of a segment; all zero between searches.
pub(super) type Scores = [f32; MAX_PRODUCTS];

/// What scores rest on: numbers of all products of the shop that are visible.
pub(super) struct Statistics<'a> {
    pub(super) visibility: Visibility,
    pub(super) corpus: &'a CorpusStats,
    /// How many of them say a word, where the segments do not hold all of them.
    pub(super) products_with: Option<&'a HashMap<Box<str>, u64>>,
}

/// A query as a shop's segments can answer it.
pub(super) struct Asked<'a> {
    scorer: Bm25Scorer,
    segments: &'a [LiveSegment],
    /// For each segment, for each word.
    found: Vec<Vec<Option<Postings<'a>>>>,
    /// What is asked for and known to the shop.
    terms: Vec<KnownTerm>,
    /// The rarity of all that is asked for, known or not.
    information: f32,
    /// What it is worth that a title says everything side by side.
    bigram_weight: f32,
    /// For every two things asked for one after the other, the ways to say them side by side.
    pairs: Vec<Vec<Bigram>>,
}

/// Something asked for, in the ways that products of the shop say it.
struct KnownTerm {
    /// Its place in the query.
    number: usize,
    ways: Vec<Way>,
}

struct Way {
    /// Words by number.
    words: Vec<usize>,
    weight: f32,
    /// Whether a product must say all of them.
    all: bool,
    /// Whether it is the first way in another spelling.
    respelled: bool,
    /// How much its words say.
    rarities: Vec<f32>,
}

impl<'a> Asked<'a> {
    /// Looks the words up.
    pub(super) fn of(
        segments: &'a [LiveSegment],
        statistics: &Statistics<'_>,
        weights: &Bm25Params,
        query: &QueryTerms,
    ) -> Self {
        let corpus = statistics.corpus;
        let words = looked_up(query);
        let found: Vec<Vec<Option<Postings<'_>>>> = segments
            .iter()
            .map(|live| words.iter().map(|word| live.segment.products_with(word)).collect())
            .collect();
        let with_word = |word: usize| {
            if let Some(products) = statistics.products_with {
                return products.get(words[word]).copied().unwrap_or(0);
            }
            let seen = segments.iter().zip(&found).filter_map(|(live, found)| {
                found[word].map(|postings| live.seen_among(postings, statistics.visibility) as u64)
            });
            seen.sum::<u64>()
        };
        let products: Vec<u64> = (0..words.len()).map(with_word).collect();
        let rarities: Vec<f32> =
            products.iter().map(|with| weights.term_weight(corpus, *with)).collect();
        let number = |word: &str| words.binary_search(&word).ok().filter(|at| products[*at] > 0);
        let known = |(at, term)| KnownTerm::of(at, term, &rarities, weights, &number);
        let terms: Vec<KnownTerm> = query.terms().iter().enumerate().filter_map(known).collect();
        let unknown = query.terms().len() - terms.len();
        let mut asked = Self {
            scorer: Bm25Scorer::new(weights, corpus),
            segments,
            found,
            terms,
            information: unknown as f32 * weights.term_weight(corpus, 0),
            bigram_weight: weights.bigram_weight,
            pairs: query.bigrams(),
        };
        asked.information += asked.known_rarity();
        asked
    }

    /// What a product would score that says everything asked for, over and over: no score is
    /// greater. What no product says counts as much as the rarest word.
    pub(super) fn maximum(&self) -> f32 {
        self.scorer.max_score(self.information)
    }

    /// What turns a score into a part of the most there could be.
    pub(super) fn share(&self) -> f32 {
        let most = self.maximum();
        if most > 0.0 { (1.0 - self.most_for_neighbours()) / most } else { 0.0 }
    }

    /// What it can give a product at most that its title says things side by side.
    pub(super) fn most_for_neighbours(&self) -> f32 {
        let worth = self.bigram_weight;
        if self.pairs.is_empty() { 0.0 } else { worth / (1.0 + worth) }
    }

    /// What it gives a product that its title says things side by side that are asked for so.
    #[inline]
    pub(super) fn for_neighbours(&self, segment: usize, doc: usize) -> f32 {
        if self.pairs.is_empty() {
            return 0.0;
        }
        let said = self.segments[segment].segment.neighbours.of(doc);
        let is_said =
            |ways: &&Vec<Bigram>| said.iter().any(|pair| ways.iter().any(|way| way == pair));
        let together = self.pairs.iter().filter(is_said).count();
        self.most_for_neighbours() * together as f32 / self.pairs.len() as f32
    }

    fn known_rarity(&self) -> f32 {
        let best = |term: &KnownTerm| {
            let rarity = |way: &Way| way.weight * way.rarities.iter().sum::<f32>();
            term.ways.iter().map(rarity).fold(0.0, f32::max)
        };
        self.terms.iter().map(best).sum()
    }

    /// Adds the scores of a segment's products, and returns how many postings it read.
    pub(super) fn add_up(&self, segment: usize, scores: &mut Scores) -> usize {
        let mut postings_read = 0;
        for term in &self.terms {
            postings_read += match &*term.ways {
                [Way { words, rarities, weight, .. }] if words.len() == 1 => {
                    self.add_word(segment, words[0], weight * rarities[0], scores)
                }
                ways => self.add_best(segment, ways, scores),
            };
        }
        postings_read
    }

    /// Adds the scores of one word.
    fn add_word(&self, at: usize, word: usize, rarity: f32, scores: &mut Scores) -> usize {
        let Some(postings) = self.found[at][word] else { return 0 };
        let lengths = &self.segments[at].segment.lengths;
        for (doc, occurrences) in postings.docs.iter().zip(postings.occurrences) {
            let doc = usize::from(*doc);
            scores[doc] += self.scorer.score(rarity, *occurrences, lengths[doc]);
        }
        postings.docs.len()
    }

    /// Adds, for each product, the score of the best way.
    fn add_best(&self, at: usize, ways: &[Way], scores: &mut Scores) -> usize {
        let mut postings_read = 0;
        let mut best = Scored::new();
        for way in ways {
            let mut sum: Option<Scored> = None;
            for (word, rarity) in way.words.iter().zip(&way.rarities) {
                let scored = self.scored(at, *word, way.weight * rarity);
                postings_read += scored.len();
                sum = Some(match sum {
                    None => scored,
                    Some(sum) => merge(&sum, &scored, way.all, |one, other| one + other),
                });
            }
            best = merge(&best, &sum.unwrap_or_default(), false, f32::max);
        }
        for (doc, score) in best {
            scores[usize::from(doc)] += score;
        }
        postings_read
    }

    /// The scores of one word.
    fn scored(&self, at: usize, word: usize, rarity: f32) -> Scored {
        let Some(postings) = self.found[at][word] else { return Scored::new() };
        let lengths = &self.segments[at].segment.lengths;
        let score = |(doc, occurrences): (&Doc, &TermFreqs)| {
            (*doc, self.scorer.score(rarity, *occurrences, lengths[usize::from(*doc)]))
        };
        postings.docs.iter().zip(postings.occurrences).map(score).collect()
    }

    /// The products of a segment that have at least one of the words; some more than once.
    pub(super) fn docs(&self, segment: usize) -> impl Iterator<Item = usize> {
        let found = self.found[segment].iter().flatten();
        found.flat_map(|postings| postings.docs).map(|doc| usize::from(*doc))
    }
}

impl KnownTerm {
    /// The ways that have a known word, or all words known. The best of them counts in full,
    /// unless the term is a guess.
    fn of(
        place: usize,
        term: &Term,
        rarities: &[f32],
        weights: &Bm25Params,
        number: &impl Fn(&str) -> Option<usize>,
    ) -> Option<Self> {
        let mut ways: Vec<Way> = term
            .alternatives
            .iter()
            .filter_map(|way| {
                let words: Vec<usize> = way.words.iter().filter_map(|word| number(word)).collect();
                let is_known = match way.all {
                    true => words.len() == way.words.len(),
                    false => !words.is_empty(),
                };
                let rarities = words.iter().map(|word| rarities[*word]).collect();
                let (weight, all, respelled) = (way.weight, way.all, way.respelled);
                is_known.then_some(Way { words, weight, all, respelled, rarities })
            })
            .collect();
        let best = ways.iter().map(|way| way.weight).fold(0.0, f32::max);
        let whole = if term.corrected { weights.correction_weight } else { 1.0 };
        ways.iter_mut().for_each(|way| way.weight *= whole / best);
        // All spellings of a word say as much as the commonest.
        let spellings = 1 + ways.iter().skip(1).filter(|way| way.respelled).count();
        if spellings > 1 {
            let common = |way: &Way| way.rarities.iter().copied().fold(f32::INFINITY, f32::min);
            let is_spelling = |at: usize, way: &Way| at == 0 || way.respelled;
            let of_spellings = ways.iter().enumerate().filter(|(at, way)| is_spelling(*at, way));
            let least = of_spellings.map(|(_, way)| common(way)).fold(f32::INFINITY, f32::min);
            for (at, way) in ways.iter_mut().enumerate() {
                if is_spelling(at, way) {
                    way.rarities.fill(least);
                }
            }
        }
        (!ways.is_empty()).then_some(Self { number: place, ways })
    }
}

/// The words that a query is looked up by: a word's number is its place here.
fn looked_up(query: &QueryTerms) -> Vec<&str> {
    let mut words: Vec<&str> = query.iter().collect();
    words.sort_unstable();
    words.dedup();
    words
}

/// Products in ascending order, each with a score.
type Scored = Vec<(Doc, f32)>;

/// The products of both lists, or only those in both; scores of the same product are combined.
fn merge(
    ones: &[(Doc, f32)],
    others: &[(Doc, f32)],
    in_both: bool,
    combine: impl Fn(f32, f32) -> f32,
) -> Scored {
    let mut merged = Scored::with_capacity(if in_both { 0 } else { ones.len() + others.len() });
    let (mut ones, mut others) = (ones.iter().peekable(), others.iter().peekable());
    while let (Some(one), Some(other)) = (ones.peek(), others.peek()) {
        match one.0.cmp(&other.0) {
            Ordering::Less => merged.extend(ones.next().filter(|_| !in_both)),
            Ordering::Greater => merged.extend(others.next().filter(|_| !in_both)),
            Ordering::Equal => {
                merged.push((one.0, combine(one.1, other.1)));
                ones.next();
                others.next();
            }
        }
    }
    if !in_both {
        merged.extend(ones.chain(others));
    }
    merged
}
