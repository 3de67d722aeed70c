//! The numbers of an attribute: sorted distinct values, and codes.

use std::io;

use catalog::{product::attributes::Number, ranking::facets::AttributeCounts};

use super::{codes::Codes, doc_set::DocSet};
use crate::{
    arrays::{ArrayReader, ArrayWriter, Rejected, Stored},
    bits::BitSet,
    heap::allocated_slice,
    segment::DocId,
};

/// The numbers of an attribute.
#[derive(Debug)]
pub(crate) struct NumberColumn {
    codes: Codes,
    /// Distinct and sorted.
    values: Box<[Number]>,
}

impl NumberColumn {
    /// The column of products in ascending order; `None` without any.
    pub(super) fn of_products(products: &[(DocId, Number)], len: usize) -> Option<Self> {
        if products.is_empty() {
            return None;
        }
        let mut values: Vec<Number> = products.iter().map(|(_, number)| *number).collect();
        values.sort_unstable();
        values.dedup();
        let docs: Vec<DocId> = products.iter().map(|(doc, _)| *doc).collect();
        let code = |number: &Number| values.partition_point(|other| other < number) as u32;
        let codes: Vec<u32> = products.iter().map(|(_, number)| code(number)).collect();
        let ends = (1..=docs.len() as u32).collect();
        let codes = Codes::new(&docs, len, ends, &codes, values.len());
        Some(Self { codes, values: values.into() })
    }

    /// The number of a product.
    pub(crate) fn of(&self, doc: usize) -> Option<Number> {
        let code = self.codes.of(doc)?.next()?;
        Some(self.values[code as usize])
    }

    /// Calls `f` with every product and its number.
    pub(super) fn for_each(&self, mut f: impl FnMut(usize, Number)) {
        self.codes.for_each(|doc, places| {
            places.for_each(|at| f(doc, self.values[self.codes.get(at) as usize]));
        });
    }

    /// The products of a segment of `len` with a number within both ends, which are included.
    pub(super) fn between(&self, len: usize, min: Option<Number>, max: Option<Number>) -> BitSet {
        let first = min.map_or(0, |min| self.values.partition_point(|number| *number < min));
        let end = max
            .map_or(self.values.len(), |max| self.values.partition_point(|number| *number <= max));
        match end.checked_sub(first) {
            None | Some(0) => BitSet::new(len),
            Some(count) => {
                let (first, count) = (first as u32, count as u32);
                self.codes.select(len, |code| code.wrapping_sub(first) < count)
            }
        }
    }

    /// Counts the numbers of products, and returns how many of them have one.
    pub(super) fn count(&self, docs: &[DocId], counts: &mut AttributeCounts<'_>) -> usize {
        let add = |code: u32, count| counts.add_number(self.values[code as usize], count);
        self.codes.count(docs, |_| {}, add)
    }

    /// The products with a value.
    pub(super) fn docs(&self) -> &DocSet {
        self.codes.docs()
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.codes.memory_bytes() + allocated_slice(&self.values)
    }
}

impl Stored for NumberColumn {
    fn write(&self, to: &mut ArrayWriter<'_>) -> io::Result<()> {
        self.codes.write(to)?;
        to.array(self.values.iter().map(|number| number.get()))
    }

    fn read(from: &mut ArrayReader<'_>, len: usize) -> Result<Self, Rejected> {
        let codes = Codes::read(from, len)?;
        let values = from.array_of(Number::new)?;
        let is_whole = values.len() == codes.dictionary_len() && values.is_sorted();
        Rejected::unless(is_whole, "the numbers of an attribute do not fit")?;
        Ok(Self { codes, values })
    }
}
