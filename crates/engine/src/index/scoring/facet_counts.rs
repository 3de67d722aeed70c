//! Counts the facets of a result, a segment at a time.

use catalog::facets::{AttributeCounts, Facet, FacetField, PriceCounts};

use crate::index::segment::{DocId, LiveSegment};

/// The counts of some facets.
pub(super) struct FacetCounts<'a>(Vec<FieldCounts<'a>>);

enum FieldCounts<'a> {
    Price(PriceCounts),
    Attribute(&'a str, AttributeCounts<'a>),
}

impl<'a> FacetCounts<'a> {
    pub(super) fn new(fields: impl Iterator<Item = &'a FacetField>) -> Self {
        let counts = |field: &'a FacetField| match field {
            FacetField::Price => FieldCounts::Price(PriceCounts::default()),
            FacetField::Attribute(name) => {
                FieldCounts::Attribute(name.as_str(), AttributeCounts::default())
            }
        };
        Self(fields.map(counts).collect())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds results of a segment.
    pub(super) fn add(&mut self, live: &'a LiveSegment, docs: &[DocId]) {
        for counts in &mut self.0 {
            match counts {
                FieldCounts::Price(prices) => {
                    let all = docs.iter().filter_map(|doc| live.columns().price(usize::from(*doc)));
                    all.for_each(|price| prices.add(price));
                }
                FieldCounts::Attribute(name, counts) => match live.segment.attributes.get(name) {
                    Some(column) => column.count(docs, counts),
                    None => counts.add_missing(docs.len()),
                },
            }
        }
    }

    /// The facets, in order, each with at most `limit` values.
    pub(super) fn finish(self, limit: usize) -> Vec<Facet> {
        let finish = |counts| match counts {
            FieldCounts::Price(prices) => prices.finish(),
            FieldCounts::Attribute(_, counts) => counts.finish(limit),
        };
        self.0.into_iter().map(finish).collect()
    }
}
