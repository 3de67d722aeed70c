//! How well the words of a title cover those of a query: literally or by meaning.

use catalog::text::analysis::QueryTerms;
use hashbrown::HashMap;

use crate::{
    lexical::{LexicalQuery, Occurrence, Place},
    rerank_query::RerankQuery,
    segment::{DocId, Segment, TitleWord, WordPlace},
    word_vectors::{ComparedWord, TermSet},
};

/// What a term counts that only the description contains, where one in the title counts 1.
const IN_DESCRIPTION: f32 = 0.85;
/// What a term with a digit counts of its weight: sizes and codes are often written otherwise.
const WITH_DIGIT: f32 = 0.8;

/// How well a product covers a query, from 0 to 1.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct WordCoverage {
    /// By meaning.
    pub(super) soft: f32,
    /// Literally, by title, key and attributes.
    pub(super) in_title: f32,
    /// Literally, by the key and attributes alone.
    pub(super) in_attributes: f32,
    /// How near the query's head word is to a word of the title.
    pub(super) head: f32,
}

impl Occurrence {
    /// What a term counts that occurs like this, without its meaning.
    fn literal(&self) -> f32 {
        match self.place {
            Place::Attribute | Place::Title => self.likelihood,
            Place::Description => IN_DESCRIPTION * self.likelihood,
        }
    }
}

/// Compares the words of one segment with the terms of a query.
pub(super) struct WordMatcher<'a> {
    query: &'a RerankQuery,
    lexical: &'a LexicalQuery<'a>,
    segment_no: usize,
    segment: &'a Segment,
    /// The weight of each term; their sum is 1.
    weights: Vec<f32>,
}

impl<'a> WordMatcher<'a> {
    /// The matcher for the segment with this number.
    pub(super) fn new(
        query: &'a RerankQuery,
        (lexical, terms): (&'a LexicalQuery<'a>, &QueryTerms),
        (segment_no, segment): (usize, &'a Segment),
    ) -> Self {
        let mut weights = lexical.term_weights(terms);
        for (weight, term) in weights.iter_mut().zip(terms.terms()) {
            let word = &term.alternatives[0].words[0];
            if word.bytes().next().is_some_and(|byte| byte.is_ascii_digit()) {
                *weight *= WITH_DIGIT;
            }
        }
        let sum: f32 = weights.iter().sum();
        weights.iter_mut().for_each(|weight| *weight /= sum.max(f32::MIN_POSITIVE));
        Self { query, lexical, segment_no, segment, weights }
    }

    /// How well a product covers the query, without meaning.
    pub(super) fn literal_coverage(&self, doc: DocId) -> WordCoverage {
        let mut found = vec![None; self.weights.len()];
        self.lexical.find_occurrences(self.segment_no, doc, &mut found);
        self.coverage(&found, &vec![0.0; found.len()])
    }

    /// How well products with these titles cover the query.
    ///
    /// In steps over all products, so that the memory accesses of one step, which are to random
    /// places, do not wait for each other.
    pub(super) fn coverages(&self, products: &[(DocId, &[TitleWord])]) -> Vec<WordCoverage> {
        let terms = self.weights.len();
        let mut found = vec![None; products.len() * terms];
        for (at, (doc, _)) in products.iter().enumerate() {
            let found = &mut found[at * terms..(at + 1) * terms];
            self.lexical.find_occurrences(self.segment_no, *doc, found);
        }
        let mut titles = Titles::new(products.iter().map(|(_, title)| title.len()).sum());
        for (at, (_, title)) in products.iter().enumerate() {
            titles.push(title, unsaid(&found[at * terms..(at + 1) * terms]));
        }
        let cosines = self.cosines(&mut titles);
        let mut greatest = vec![0.0; terms];
        let coverage = |at: usize| {
            let found = &found[at * terms..(at + 1) * terms];
            titles.greatest_cosines(at, &cosines, &mut greatest);
            self.coverage(found, &greatest)
        };
        (0..products.len()).map(coverage).collect()
    }

    /// How well a product covers the query: where it has each term, and the greatest cosine of each
    /// with a word of its title.
    fn coverage(&self, found: &[Option<Occurrence>], cosines: &[f32]) -> WordCoverage {
        let mut coverage = WordCoverage::default();
        for (at, (soft, weight)) in cosines.iter().zip(&self.weights).enumerate() {
            let mut covered = *soft;
            let mut said = 0.0;
            if let Some(occurrence) = found[at] {
                covered = covered.max(occurrence.literal());
                if occurrence.place != Place::Description {
                    said = occurrence.likelihood;
                }
                if occurrence.place == Place::Attribute {
                    coverage.in_attributes += weight * occurrence.likelihood;
                }
            }
            coverage.in_title += weight * said;
            coverage.soft += weight * covered;
            if self.query.head == Some(at) {
                coverage.head = soft.max(said);
            }
        }
        coverage
    }

    /// The cosine of each word of the titles with each term; empty without a model.
    fn cosines(&self, titles: &mut Titles) -> Vec<f32> {
        let Some(vectors) = &self.query.word_vectors else { return Vec::new() };
        let Segment { terms, word_places, .. } = self.segment;
        let places = word_places.of(terms);
        for (word, number) in titles.words.iter_mut().zip(&titles.numbers) {
            word.place = places.get(*number);
            if !vectors.contains(word.place) {
                let found = terms.with_word(*number, |word| Some(vectors.look_up(word)));
                word.place = found.unwrap_or(WordPlace::NOWHERE);
                places.set(*number, word.place);
            }
        }
        vectors.compare(&titles.words, &self.query.term_vectors)
    }
}

/// The terms that a product does not say as the query means them. Meaning adds nothing to others.
fn unsaid(found: &[Option<Occurrence>]) -> TermSet {
    let is_said = |found: &Option<Occurrence>| found.is_some_and(|one| one.literal() == 1.0);
    let mut unsaid = TermSet::default();
    (0..found.len()).filter(|term| !is_said(&found[*term])).for_each(|term| unsaid.insert(term));
    unsaid
}

/// The words of titles whose meaning counts.
struct Titles {
    /// Each word once, and its number in the segment.
    words: Vec<ComparedWord>,
    numbers: Vec<usize>,
    /// Where each word is in `words`, by its number.
    known: HashMap<usize, u32>,
    /// The words of all titles by their place in `words`, and where those of each title end.
    said: Vec<u32>,
    ends: Vec<usize>,
}

impl Titles {
    /// For titles with this many words in all.
    fn new(words: usize) -> Self {
        Self {
            words: Vec::new(),
            numbers: Vec::new(),
            // In 200 titles of a search, a third of the words are distinct.
            known: HashMap::with_capacity(words / 2),
            said: Vec::with_capacity(words),
            ends: Vec::new(),
        }
    }

    /// Adds the words of the next title, to be compared with some terms.
    fn push(&mut self, title: &[TitleWord], terms: TermSet) {
        for word in if terms.is_empty() { &[] } else { title } {
            let at = *self.known.entry(word.term()).or_insert_with(|| {
                let (place, terms) = (WordPlace::NOWHERE, TermSet::default());
                self.words.push(ComparedWord { place, terms });
                self.numbers.push(word.term());
                self.words.len() as u32 - 1
            });
            self.words[at as usize].terms.extend(terms);
            self.said.push(at);
        }
        self.ends.push(self.said.len());
    }

    /// Computes the greatest cosine of each term with a word of a title. `cosines` are those of all words
    /// with all terms, or none.
    fn greatest_cosines(&self, title: usize, cosines: &[f32], greatest: &mut [f32]) {
        greatest.fill(0.0);
        if cosines.is_empty() {
            return;
        }
        let (start, terms) =
            (title.checked_sub(1).map_or(0, |before| self.ends[before]), greatest.len());
        for word in &self.said[start..self.ends[title]] {
            let of_word = &cosines[*word as usize * terms..(*word as usize + 1) * terms];
            greatest.iter_mut().zip(of_word).for_each(|(best, one)| *best = best.max(*one));
        }
    }
}
