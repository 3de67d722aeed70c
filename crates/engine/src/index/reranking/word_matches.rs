//! How well the words of a title cover those of a query: literally or by meaning.

use std::mem;

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
    /// The cosines of a word with all terms, by term number of the segment: where they start in
    /// `cosines`.
    known: HashMap<usize, usize>,
    cosines: Vec<f32>,
    /// Scratch space: the greatest cosine of each term, and where it occurs.
    best: Vec<f32>,
    found: Vec<Option<Occurrence>>,
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
        let (known, cosines, best, found) = Default::default();
        Self { reader, segment_no, segment, weights, known, cosines, best, found }
    }

    /// How well a product with this title covers the query.
    pub(super) fn coverage(&mut self, title: &[TitleWord], doc: DocId) -> WordCoverage {
        let terms = self.weights.len();
        let mut found = mem::take(&mut self.found);
        found.clear();
        found.resize(terms, None);
        self.reader.lexical.find_occurrences(self.segment_no, doc, &mut found);
        let mut best = mem::take(&mut self.best);
        best.clear();
        best.resize(terms, 0.0);
        // Meaning adds nothing to a term that the product says as the query means it.
        if !found.iter().all(|found| found.is_some_and(|found| found.literal() == 1.0)) {
            for word in title {
                let start = self.cosines_of(word.term());
                for (best, cosine) in best.iter_mut().zip(&self.cosines[start..start + terms]) {
                    *best = best.max(*cosine);
                }
            }
        }
        let mut coverage = WordCoverage::default();
        for (at, (soft, weight)) in best.iter().zip(&self.weights).enumerate() {
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
        (self.best, self.found) = (best, found);
        coverage
    }

    /// Where the cosines of a word with all terms start.
    fn cosines_of(&mut self, word: usize) -> usize {
        if let Some(start) = self.known.get(&word) {
            return *start;
        }
        let start = self.cosines.len();
        self.known.insert(word, start);
        if let Some(vectors) = &self.reader.query.word_vectors {
            let Segment { terms, word_places, .. } = self.segment;
            let place = word_places.at(word, terms);
            match vectors.at(place.get()) {
                Some(vector) => self.add_cosines(vector),
                None => {
                    let vector = terms.with_word(word, |word| {
                        let (found_at, vector) = vectors.look_up(word);
                        place.set(found_at);
                        vector
                    });
                    self.add_cosines(vector.as_deref());
                }
            }
        }
        self.cosines.resize(start + self.weights.len(), 0.0);
        start
    }

    /// Adds the cosines of a word with all terms.
    fn add_cosines(&mut self, word: Option<&StoredVector>) {
        for term in &self.reader.query.term_vectors {
            let cosine = match (word, term) {
                (Some(word), Some(term)) => word.cosine(term),
                _ => 0.0,
            };
            self.cosines.push(cosine.clamp(0.0, 1.0));
        }
    }
}
