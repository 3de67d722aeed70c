//! Which terms of a query a product contains, and where.

use catalog::text::analysis::QueryTerms;

use super::{LexicalQuery, TermVariant};
use crate::segment::DocId;

/// How a product contains a term.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Occurrence {
    /// The most telling place.
    pub(crate) place: Place,
    /// How likely the form that it contains is what the query means, from 0 to 1.
    pub(crate) likelihood: f32,
}

/// A place in a product, ordered from the least telling.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Place {
    /// In the description alone.
    Description,
    /// In the title.
    Title,
    /// In the key or an attribute.
    Attribute,
}

impl LexicalQuery<'_> {
    /// The weight of each term of the query that this was made from: its idf with the offset.
    pub(crate) fn term_weights(&self, query: &QueryTerms) -> Vec<f32> {
        let mut weights = vec![self.unknown_weight; query.terms().len()];
        for term in &self.terms {
            let of_words = term.variants.iter().flat_map(|one| &one.term_weights);
            weights[term.index] = of_words.copied().fold(f32::INFINITY, f32::min);
        }
        weights
    }

    /// Finds where a product contains each of the query's terms. `found` has a place for each.
    pub(crate) fn find_occurrences(
        &self,
        segment: usize,
        doc: DocId,
        found: &mut [Option<Occurrence>],
    ) {
        for term in &self.terms {
            let variants = term.variants.iter();
            let occurrences = variants.filter_map(|one| self.occurrence(one, segment, doc));
            found[term.index] = occurrences.max_by(|one, other| {
                let by_likelihood = one.likelihood.total_cmp(&other.likelihood);
                by_likelihood.then_with(|| one.place.cmp(&other.place))
            });
        }
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
        let place = match count >= needed {
            true if in_attribute >= needed => Place::Attribute,
            true if in_title >= needed => Place::Title,
            true => Place::Description,
            false => return None,
        };
        Some(Occurrence { place, likelihood: variant.likelihood })
    }
}
