//! Counts the facets of a result, a segment at a time.

use catalog::{
    product::inferred::Attribute,
    query::filter::ProductFilter,
    ranking::facets::{AttributeCounts, CategoryCounts, Facet, FacetField, PriceCounts},
};
use embed::inference::taxonomy;

use crate::segment::{DocId, LiveSegment, Segment};

/// The counts of some facets.
pub(super) struct FacetCounts<'a>(Vec<FieldCounts<'a>>);

enum FieldCounts<'a> {
    Price(PriceCounts),
    Category(CategoryCounts<'static>),
    Attribute(&'a str, Option<Attribute>, AttributeCounts<'a>),
}

impl<'a> FacetCounts<'a> {
    /// `filter` is that of the request, with the conditions on the fields themselves.
    pub(super) fn new(
        fields: impl Iterator<Item = &'a FacetField>,
        filter: &ProductFilter,
    ) -> Self {
        let counts = |field: &'a FacetField| match field {
            FacetField::Price => FieldCounts::Price(PriceCounts::default()),
            FacetField::Category => {
                let required = filter.category(taxonomy());
                FieldCounts::Category(CategoryCounts::new(taxonomy(), required))
            }
            FacetField::Attribute(name) => {
                let (name, counts) = (name.as_str(), AttributeCounts::default());
                FieldCounts::Attribute(name, Attribute::by_name(name), counts)
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
                FieldCounts::Category(counts) => {
                    live.segment.inferred.count_categories(docs, counts);
                }
                FieldCounts::Attribute(name, inferred, counts) => {
                    count_values(&live.segment, docs, name, *inferred, counts);
                }
            }
        }
    }

    /// The facets, in order, each with at most `limit` values.
    pub(super) fn finish(self, limit: usize) -> Vec<Facet> {
        let finish = |counts| match counts {
            FieldCounts::Price(prices) => prices.finish(),
            FieldCounts::Category(counts) => counts.finish(limit),
            FieldCounts::Attribute(_, _, counts) => counts.finish(limit),
        };
        self.0.into_iter().map(finish).collect()
    }
}

/// Counts what merchants state and, where they state nothing, what is inferred.
fn count_values<'a>(
    segment: &'a Segment,
    docs: &[DocId],
    name: &str,
    inferred: Option<Attribute>,
    counts: &mut AttributeCounts<'a>,
) {
    let column = segment.attributes.get(name);
    let stated = column.map_or(0, |column| column.count(docs, counts));
    match inferred {
        None => counts.add_missing(docs.len() - stated),
        Some(attribute) => {
            let is_stated = |doc: DocId| column.is_some_and(|one| one.contains(usize::from(doc)));
            let unstated = docs.iter().copied().filter(|doc| !is_stated(*doc));
            segment.inferred.count(attribute, unstated, counts);
        }
    }
}
