//! What of a query does one product say, in which way, and what does each give it?

use catalog::{analysis::QueryTerms, explanation::TermPart};

use super::{Asked, KnownTerm, Way, looked_up};
use crate::index::segment::Doc;

impl Asked<'_> {
    /// What a product of a segment says of what is asked for, each with what it adds to the
    /// product's score. `query` is what was looked up.
    pub(in crate::index) fn said(
        &self,
        query: &QueryTerms,
        segment: usize,
        doc: Doc,
    ) -> Vec<TermPart> {
        let words = looked_up(query);
        let part = |known: &KnownTerm| {
            let asked_for = &query.terms()[known.number].alternatives[0];
            let ways = known.ways.iter();
            let said = ways.filter_map(|way| self.said_so(&words, way, segment, doc));
            let best = said.max_by(|one, other| one.score.total_cmp(&other.score))?;
            Some(TermPart { term: asked_for.words.join(" "), ..best })
        };
        self.terms.iter().filter_map(part).collect()
    }

    /// What one way of saying something gives a product that says it so.
    fn said_so(&self, words: &[&str], way: &Way, segment: usize, doc: Doc) -> Option<TermPart> {
        let lengths = self.segments[segment].segment.lengths[usize::from(doc)];
        let mut part = TermPart::default();
        let mut said: Vec<&str> = Vec::new();
        for (word, rarity) in way.words.iter().zip(&way.rarities) {
            let Some(postings) = self.found[segment][*word] else { continue };
            let Ok(at) = postings.docs.binary_search(&doc) else { continue };
            let occurrences = postings.occurrences[at];
            said.push(words[*word]);
            part.title += occurrences.title();
            part.description += occurrences.description();
            part.score += self.scorer.score(way.weight * rarity, occurrences, lengths);
        }
        let is_said = if way.all { said.len() == way.words.len() } else { !said.is_empty() };
        is_said.then(|| TermPart { found_as: said.join(" "), ..part })
    }
}
