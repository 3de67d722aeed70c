//! How well the words of a title cover those of a query: literally or by meaning.

use std::borrow::Cow;

use fearless_simd::{Level, dispatch};
use hashbrown::HashMap;

use super::EvidenceReader;
use crate::{
    embed::StoredVector,
    index::{
        lexical::{Occurrence, Place},
        segment::{DocId, Segment, TitleWord},
    },
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
    reader: &'a EvidenceReader<'a>,
    segment_no: usize,
    segment: &'a Segment,
    /// The weight of each term; their sum is 1.
    weights: Vec<f32>,
}

impl<'a> WordMatcher<'a> {
    pub(super) fn new(reader: &'a EvidenceReader<'a>, segment_no: usize) -> Self {
        let segment = &*reader.segments[segment_no].segment;
        let mut weights = reader.lexical.term_weights(reader.terms);
        for (weight, term) in weights.iter_mut().zip(reader.terms.terms()) {
            let word = &term.alternatives[0].words[0];
            if word.bytes().next().is_some_and(|byte| byte.is_ascii_digit()) {
                *weight *= WITH_DIGIT;
            }
        }
        let sum: f32 = weights.iter().sum();
        weights.iter_mut().for_each(|weight| *weight /= sum.max(f32::MIN_POSITIVE));
        Self { reader, segment_no, segment, weights }
    }

    /// How well a product covers the query, without meaning.
    pub(super) fn literal_coverage(&self, doc: DocId) -> WordCoverage {
        let mut found = vec![None; self.weights.len()];
        self.reader.lexical.find_occurrences(self.segment_no, doc, &mut found);
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
            self.reader.lexical.find_occurrences(self.segment_no, *doc, found);
        }
        let mut meanings = Meanings::default();
        for (at, (_, title)) in products.iter().enumerate() {
            meanings.add_title(title, unsaid(&found[at * terms..(at + 1) * terms]));
        }
        let vectors = meanings.words.iter().map(|word| self.vector(word.number)).collect();
        meanings.compare(vectors, &self.reader.query.term_vectors);
        let coverage = |at: usize| {
            let found = &found[at * terms..(at + 1) * terms];
            self.coverage(found, &meanings.greatest(at, terms))
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
            if self.reader.query.head == Some(at) {
                coverage.head = soft.max(said);
            }
        }
        coverage
    }

    /// The vector of a word of the segment; `None` if the model knows nothing about it.
    fn vector(&self, number: usize) -> Option<Cow<'a, StoredVector>> {
        let vectors = self.reader.query.word_vectors.as_ref()?;
        let Segment { terms, word_places, .. } = self.segment;
        let place = word_places.at(number, terms);
        if let Some(vector) = vectors.at(place.get()) {
            return vector.map(Cow::Borrowed);
        }
        terms.with_word(number, |word| {
            let (found_at, vector) = vectors.look_up(word);
            place.set(found_at);
            vector.map(Cow::Owned)
        })
    }
}

/// A set of terms of a query, a bit each. The last bit stands for all further terms.
type TermSet = u64;

fn bit(term: usize) -> TermSet {
    1 << term.min(TermSet::BITS as usize - 1)
}

/// The terms that a product does not say as the query means them. Meaning adds nothing to others.
fn unsaid(found: &[Option<Occurrence>]) -> TermSet {
    let is_said = |found: &Option<Occurrence>| found.is_some_and(|one| one.literal() == 1.0);
    let unsaid = (0..found.len()).filter(|term| !is_said(&found[*term]));
    unsaid.fold(0, |set, term| set | bit(term))
}

/// What the words of titles have to do with the terms of a query.
#[derive(Default)]
struct Meanings {
    /// The words whose meaning counts, each once.
    words: Vec<Word>,
    /// Where each word is in `words`, by its number in the segment.
    known: HashMap<usize, u32>,
    /// The words of all titles by their place in `words`, and where those of each title end.
    titles: Vec<u32>,
    ends: Vec<usize>,
    /// For each word, its cosine with each term; 0 where it is not needed.
    cosines: Vec<f32>,
}

struct Word {
    /// Its number in the segment.
    number: usize,
    /// The terms with which it is compared.
    terms: TermSet,
}

impl Meanings {
    /// Adds the words of the next title, to be compared with some terms.
    fn add_title(&mut self, title: &[TitleWord], terms: TermSet) {
        for word in if terms == 0 { &[] } else { title } {
            let at = *self.known.entry(word.term()).or_insert_with(|| {
                self.words.push(Word { number: word.term(), terms: 0 });
                self.words.len() as u32 - 1
            });
            self.words[at as usize].terms |= terms;
            self.titles.push(at);
        }
        self.ends.push(self.titles.len());
    }

    /// Compares all words with the terms that they are needed for.
    fn compare(
        &mut self,
        vectors: Vec<Option<Cow<'_, StoredVector>>>,
        terms: &[Option<StoredVector>],
    ) {
        self.cosines = vec![0.0; self.words.len() * terms.len()];
        dispatch!(Level::new(), simd => {
            for (at, vector) in vectors.iter().enumerate() {
                let Some(vector) = vector else { continue };
                for (term, of_term) in terms.iter().enumerate() {
                    if let Some(of_term) = of_term
                        && self.words[at].terms & bit(term) != 0
                    {
                        let cosine = vector.cosine(simd, of_term).clamp(0.0, 1.0);
                        self.cosines[at * terms.len() + term] = cosine;
                    }
                }
            }
        });
    }

    /// The greatest cosine of each term with a word of a title.
    fn greatest(&self, title: usize, terms: usize) -> Vec<f32> {
        let mut greatest = vec![0.0_f32; terms];
        let start = title.checked_sub(1).map_or(0, |before| self.ends[before]);
        for word in &self.titles[start..self.ends[title]] {
            let cosines = &self.cosines[*word as usize * terms..(*word as usize + 1) * terms];
            greatest.iter_mut().zip(cosines).for_each(|(best, one)| *best = best.max(*one));
        }
        greatest
    }
}
