//! The ids of a segment's products.

use std::io;

use catalog::product::ProductId;

use super::{DocId, MAX_PRODUCTS};
use crate::{
    arrays::{ArrayReader, ArrayWriter, Rejected, Stored},
    near_numbers::NearNumbers,
};

/// The id of each product.
#[derive(Debug)]
pub(crate) struct Ids {
    by_doc: NearNumbers,
    /// The products in ascending order of id; empty if that is their order.
    by_id: Box<[DocId]>,
}

impl Ids {
    pub(super) fn len(&self) -> usize {
        self.by_doc.len()
    }

    /// In order of document number.
    pub(crate) fn iter(&self) -> impl Iterator<Item = ProductId> {
        (0..self.len()).map(|doc| self.get(doc))
    }

    /// The id of the product with this document number.
    #[inline]
    pub(crate) fn get(&self, doc: usize) -> ProductId {
        let id = ProductId::new(self.by_doc.get(doc));
        id.unwrap_or_else(|| unreachable!("the numbers are of ids"))
    }

    /// The document number of a product.
    pub(super) fn find(&self, id: ProductId) -> Option<usize> {
        if self.by_id.is_empty() {
            return self.by_doc.binary_search(id.get());
        }
        let id_of = |doc: &DocId| self.by_doc.get(usize::from(*doc));
        let at = self.by_id.binary_search_by_key(&id.get(), id_of).ok()?;
        Some(usize::from(self.by_id[at]))
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.by_doc.memory_bytes() + size_of_val(&*self.by_id)
    }
}

impl From<Box<[ProductId]>> for Ids {
    /// Precondition: the ids are distinct.
    fn from(by_doc: Box<[ProductId]>) -> Self {
        let mut by_id: Box<[DocId]> = Box::default();
        if !by_doc.is_sorted() {
            by_id = (0..by_doc.len()).map(|doc| doc as DocId).collect();
            by_id.sort_unstable_by_key(|doc| by_doc[usize::from(*doc)]);
        }
        let numbers: Box<[u64]> = by_doc.iter().map(|id| id.get()).collect();
        Self { by_doc: numbers.into(), by_id }
    }
}

impl FromIterator<ProductId> for Ids {
    fn from_iter<T: IntoIterator<Item = ProductId>>(ids: T) -> Self {
        ids.into_iter().collect::<Box<[_]>>().into()
    }
}

impl Stored for Ids {
    fn write(&self, to: &mut ArrayWriter<'_>) -> io::Result<()> {
        to.array(self.by_doc.iter())
    }

    fn read(from: &mut ArrayReader<'_>, _: usize) -> Result<Self, Rejected> {
        let by_doc = from.array_of(ProductId::new)?;
        Rejected::unless(by_doc.len() <= MAX_PRODUCTS, "a segment has too many products")?;
        let ids = Self::from(by_doc);
        let id_of = |doc: &DocId| ids.by_doc.get(usize::from(*doc));
        let are_distinct = match ids.by_id.is_empty() {
            true => ids.by_doc.iter().is_sorted_by(|one, other| one < other),
            false => ids.by_id.is_sorted_by(|one, other| id_of(one) < id_of(other)),
        };
        Rejected::unless(are_distinct, "a segment has a product twice")?;
        Ok(ids)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(numbers: &[u64]) -> Ids {
        numbers.iter().map(|number| ProductId::new(*number).unwrap()).collect()
    }

    #[test]
    fn products_are_found_in_any_order() {
        for numbers in [&[2, 3, 5, 8][..], &[5, 2, 8, 3], &[7], &[]] {
            let ids = ids(numbers);
            for number in 1..10 {
                let expected = numbers.iter().position(|one| *one == number);
                assert_eq!(ids.find(ProductId::new(number).unwrap()), expected, "{numbers:?}");
            }
        }
    }
}
