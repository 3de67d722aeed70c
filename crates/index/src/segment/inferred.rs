//! What the texts of each product state: inferred attributes and category, in twenty bytes.

use std::{io, ops::Range};

use catalog::{
    product::inferred::{Attribute, CategoryIndex, Inferred, InferredCategory, ProductAttributes},
    ranking::facets::{AttributeCounts, CategoryCounts},
};
use embed::inference::taxonomy;
use fearless_simd::{Level, Simd, SimdBase, SimdMask, dispatch, u16x32};

use super::DocId;
use crate::{
    arrays::{ArrayReader, ArrayWriter, Rejected, Stored},
    bits::{BLOCK, BitSet, ones},
};

/// In place of a category's number. No taxonomy is that large.
const NO_CATEGORY: u16 = u16::MAX;

/// The inferred values of each product of a segment.
#[derive(Debug, Default)]
pub(crate) struct InferredColumn {
    attributes: Box<[[u8; ProductAttributes::BYTES]]>,
    categories: Box<[u16]>,
    confidences: Box<[u8]>,
    likely_categories: Box<[u16]>,
    named_categories: Box<[u16]>,
}

impl InferredColumn {
    /// What is inferred about a product.
    pub(crate) fn get(&self, doc: usize) -> Inferred {
        let confidence = self.confidences[doc];
        let category = self.category_index(doc);
        Inferred {
            attributes: self.attributes(doc),
            category: category.map(|category| InferredCategory { category, confidence }),
            likely_category: known(self.likely_categories[doc]),
            named_category: known(self.named_categories[doc]),
        }
    }

    /// The likeliest category of a product, and the one that its title names.
    pub(crate) fn possible_categories(&self, doc: usize) -> [Option<CategoryIndex>; 2] {
        [self.likely_categories[doc], self.named_categories[doc]].map(known)
    }

    fn category_index(&self, doc: usize) -> Option<CategoryIndex> {
        known(self.categories[doc])
    }

    /// The products with one of the values, whatever their merchant states.
    pub(crate) fn any_of(&self, attribute: Attribute, values: u64) -> BitSet {
        let has = |bytes| ProductAttributes::bits_in(bytes, attribute) & values != 0;
        BitSet::from_flags(self.attributes.iter().map(has))
    }

    /// The products whose category lies within one of the ranges.
    pub(crate) fn within(&self, ranges: &[Range<u16>]) -> BitSet {
        within(&self.categories, ranges)
    }

    /// The products whose likeliest or named category lies within one of the ranges.
    pub(crate) fn close_to(&self, ranges: &[Range<u16>]) -> BitSet {
        let [likely, named] = [&self.likely_categories, &self.named_categories]
            .map(|categories| within(categories, ranges));
        BitSet::from_blocks(likely.blocks().zip(named.blocks()).map(|(one, other)| one | other))
    }

    /// What the texts of a product state.
    pub(crate) fn attributes(&self, doc: usize) -> ProductAttributes {
        ProductAttributes::from_bytes(self.attributes[doc])
    }

    /// Counts the values of products, whatever their merchants state.
    pub(crate) fn count(
        &self,
        attribute: Attribute,
        docs: impl Iterator<Item = DocId>,
        counts: &mut AttributeCounts<'_>,
    ) {
        let mut products = [0; u64::BITS as usize];
        let mut missing = 0;
        for doc in docs {
            let bits = ProductAttributes::bits_in(&self.attributes[usize::from(doc)], attribute);
            missing += usize::from(bits == 0);
            ones(bits).for_each(|at| products[at] += 1);
        }
        for (value, products) in attribute.values().iter().zip(products) {
            // Canonical values are folded already.
            if products > 0 {
                counts.add_text(value, value, products);
            }
        }
        counts.add_missing(missing);
    }

    /// Counts the categories of products.
    pub(crate) fn count_categories(&self, docs: &[DocId], counts: &mut CategoryCounts<'_>) {
        docs.iter().for_each(|doc| counts.add(self.category_index(usize::from(*doc)), 1));
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        size_of_val(&*self.attributes)
            + size_of_val(&*self.categories)
            + size_of_val(&*self.confidences)
            + size_of_val(&*self.likely_categories)
            + size_of_val(&*self.named_categories)
    }
}

/// The category with a number.
fn known(number: u16) -> Option<CategoryIndex> {
    (number != NO_CATEGORY).then_some(CategoryIndex(number))
}

/// Where a number lies within one of the ranges.
fn within(numbers: &[u16], ranges: &[Range<u16>]) -> BitSet {
    let (blocks, rest) = numbers.as_chunks::<BLOCK>();
    let is_within = |number: &u16| ranges.iter().any(|range| range.contains(number));
    let last = rest.iter().enumerate().filter(|(_, number)| is_within(number));
    let last = last.fold(0, |bits, (at, _)| bits | 1 << at);
    let blocks = dispatch!(Level::new(), simd => {
        let mut found = Vec::with_capacity(blocks.len() + 1);
        for block in blocks {
            found.push(within_block(simd, block, ranges));
        }
        found
    });
    BitSet::from_blocks(blocks.into_iter().chain((!rest.is_empty()).then_some(last)))
}

/// A bit for each number within one of the ranges.
#[inline(always)]
fn within_block<S: Simd>(simd: S, numbers: &[u16; BLOCK], ranges: &[Range<u16>]) -> u64 {
    const LANES: usize = 32;
    let mut bits = 0;
    for from in (0..BLOCK).step_by(LANES) {
        let numbers = u16x32::from_slice(simd, &numbers[from..from + LANES]);
        for range in ranges {
            // What is below the start becomes large.
            let above = numbers - range.start;
            bits |= above.simd_lt(range.end - range.start).to_bitmask() << from;
        }
    }
    bits
}

impl FromIterator<Inferred> for InferredColumn {
    fn from_iter<T: IntoIterator<Item = Inferred>>(products: T) -> Self {
        let (mut attributes, mut confidences) = (Vec::new(), Vec::new());
        let (mut categories, mut likely_categories) = (Vec::new(), Vec::new());
        let mut named_categories = Vec::new();
        let number = |category: Option<CategoryIndex>| category.map_or(NO_CATEGORY, |one| one.0);
        for product in products {
            attributes.push(product.attributes.to_bytes());
            let category = product.category;
            categories.push(number(product.category_index()));
            confidences.push(category.map_or(0, |found| found.confidence));
            likely_categories.push(number(product.likely_category));
            named_categories.push(number(product.named_category));
        }
        Self {
            attributes: attributes.into(),
            categories: categories.into(),
            confidences: confidences.into(),
            likely_categories: likely_categories.into(),
            named_categories: named_categories.into(),
        }
    }
}

impl Stored for InferredColumn {
    fn write(&self, to: &mut ArrayWriter<'_>) -> io::Result<()> {
        to.slice(self.attributes.as_flattened())?;
        to.slice(&self.categories)?;
        to.slice(&self.confidences)?;
        to.slice(&self.likely_categories)?;
        to.slice(&self.named_categories)
    }

    fn read(from: &mut ArrayReader<'_>, len: usize) -> Result<Self, Rejected> {
        let attributes = from.array_of_len(len * ProductAttributes::BYTES)?;
        let column = Self {
            attributes: attributes.as_chunks().0.into(),
            categories: from.array_of_len(len)?,
            confidences: from.array_of_len(len)?,
            likely_categories: from.array_of_len(len)?,
            named_categories: from.array_of_len(len)?,
        };
        let known = taxonomy().len();
        let is_known = |number: &u16| *number == NO_CATEGORY || usize::from(*number) < known;
        let categories = column.categories.iter().chain(&column.likely_categories);
        let categories = categories.chain(&column.named_categories);
        Rejected::unless(categories.into_iter().all(is_known), "a category is unknown")?;
        Ok(column)
    }
}

#[cfg(test)]
mod tests {
    use catalog::{
        inference::attributes::{infer_product, parse_value},
        product::attributes::Attributes,
        query::filter::FoldedText,
    };

    use super::*;

    #[test]
    fn values_are_read_as_they_were_added() {
        let inferred = |title: &str, category: Option<u16>| Inferred {
            // What is just mentioned is no value.
            attributes: infer_product(title, "Snuff is a warm brown.", Attributes::none()),
            category: category.map(|category| InferredCategory {
                category: CategoryIndex(category),
                confidence: 87,
            }),
            likely_category: category.map(CategoryIndex),
            named_category: category.map(|category| CategoryIndex(category + 1)),
        };
        let products = [
            inferred("Green linen dress for women", Some(3)),
            inferred("Striped rug", None),
            inferred("Large red leather bag", Some(9)),
        ];
        assert!(products.iter().any(|product| !product.attributes.mentioned.is_empty()));
        let column: InferredColumn = products.into_iter().collect();
        assert!((0..3).all(|doc| column.get(doc) == products[doc]));
        assert_eq!(column.memory_bytes(), 3 * 20);
        for attribute in Attribute::ALL {
            for (doc, product) in products.iter().enumerate() {
                let values = product.attributes.values.get(attribute);
                assert_eq!(column.any_of(attribute, values).get(doc), values != 0);
                assert!(!column.any_of(attribute, !values).get(doc));
            }
        }
        let within = |range| column.within(&[range]).iter().collect::<Vec<_>>();
        assert_eq!(within(3..9), [0]);
        assert_eq!(within(0..u16::MAX), [0, 2]);
        let numbers: Vec<u16> = (0..1_000_u16).map(|at| at.wrapping_mul(7_919)).collect();
        let ranges = [0..9, 5_000..9_000, 65_000..u16::MAX];
        let expected = numbers.iter().map(|number| ranges.iter().any(|one| one.contains(number)));
        let found = super::within(&numbers, &ranges);
        assert_eq!(found.blocks().count(), numbers.len().div_ceil(BLOCK));
        assert!(expected.enumerate().all(|(at, expected)| found.get(at) == expected));
        assert_eq!(column.close_to(&[0..4, 8..9]).iter().collect::<Vec<_>>(), [0]);
    }

    #[test]
    fn canonical_values_are_folded_and_name_themselves() {
        for attribute in Attribute::ALL {
            for value in attribute.values() {
                assert_eq!(FoldedText::of(value).as_str(), *value);
                let named = parse_value(attribute, value);
                assert_ne!(named & attribute.bit(value).unwrap(), 0, "{value}");
            }
        }
    }
}
