//! Which terms of a query a product contains, and where.

use catalog::analysis::QueryTerms;

use super::{LexicalQuery, TermVariant};
use crate::index::segment::DocId;

/// Where a product contains a term; the most telling place, ordered from the least.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::index) enum Occurrence {
    /// In the description alone.
    Description,
    /// In the title.
    Title,
    /// In the key or an attribute.
    Attribute,
}

impl LexicalQuery<'_> {
    /// The weight of each term of the query that this was made from: its idf with the offset.
    pub(in crate::index) fn term_weights(&self, query: &QueryTerms) -> Vec<f32> {
        let mut weights = vec![self.unknown_weight; query.terms().len()];
        for term in &self.terms {
            let of_words = term.variants.iter().flat_map(|one| &one.term_weights);
            weights[term.index] = of_words.copied().fold(f32::INFINITY, f32::min);
        }
        weights
    }

    /// Where a product contains each of the query's terms.
    pub(in crate::index) fn occurrences(
        &self,
        segment: usize,
        doc: DocId,
        terms: usize,
    ) -> Vec<Option<Occurrence>> {
        let mut found = vec![None; terms];
        for term in &self.terms {
            let variants = term.variants.iter();
            let occurrences = variants.filter_map(|one| self.occurrence(one, segment, doc));
            found[term.index] = occurrences.max();
        }
        found
    }

    fn occurrence(&self, variant: &TermVariant, segment: usize, doc: DocId) -> Option<Occurrence> {
        let (mut count, mut in_title, mut in_attribute) = (0, 0, 0);
        for word in &variant.words {
            let Some(postings) = self.postings[segment][*word] else { continue };
            if let Ok(at) = postings.docs.binary_search(&doc) {
                let freqs = postings.freqs[at];
                count += 1;
                in_title += usize::from(freqs.title() > 0);
                in_attribute += usize::from(freqs.attribute());
            }
        }
        let needed = if variant.all { variant.words.len() } else { 1 };
        match count >= needed {
            true if in_attribute >= needed => Some(Occurrence::Attribute),
            true if in_title >= needed => Some(Occurrence::Title),
            true => Some(Occurrence::Description),
            false => None,
        }
    }
}
