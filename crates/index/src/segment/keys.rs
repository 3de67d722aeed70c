//! The keys of a segment's products, found by binary search.

use std::io;

use super::{
    DocId,
    attributes::{DocSet, Strings},
};
use crate::arrays::{ArrayReader, ArrayWriter, Rejected, Stored};

/// The keys of those products that have one.
#[derive(Debug)]
pub(crate) struct Keys {
    docs: DocSet,
    /// By rank.
    keys: Strings,
    /// The products, by key.
    by_key: Box<[DocId]>,
}

impl Keys {
    /// The keys of these products, in ascending order, of a segment of `len`.
    pub(super) fn of(products: &[(DocId, &str)], len: usize) -> Self {
        let docs: Vec<DocId> = products.iter().map(|(doc, _)| *doc).collect();
        let mut by_key: Vec<&(DocId, &str)> = products.iter().collect();
        by_key.sort_unstable_by_key(|(_, key)| *key);
        Self {
            docs: DocSet::of(&docs, len),
            keys: products.iter().map(|(_, key)| *key).collect(),
            by_key: by_key.into_iter().map(|(doc, _)| *doc).collect(),
        }
    }

    /// The key of a product.
    pub(crate) fn get(&self, doc: usize) -> Option<&str> {
        self.docs.rank(doc).map(|rank| self.keys.get(rank))
    }

    /// The products with a key: one at most is live.
    pub(crate) fn find(&self, key: &str) -> impl Iterator<Item = usize> {
        let key_of = |doc: &DocId| self.get(usize::from(*doc)).unwrap_or_default();
        let first = self.by_key.partition_point(|doc| key_of(doc) < key);
        let same = self.by_key[first..].iter().take_while(move |doc| key_of(doc) == key);
        same.map(|doc| usize::from(*doc))
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.docs.memory_bytes() + self.keys.memory_bytes() + size_of_val(&*self.by_key)
    }
}

impl Stored for Keys {
    fn write(&self, to: &mut ArrayWriter<'_>) -> io::Result<()> {
        self.docs.write(to)?;
        self.keys.write(to)?;
        to.slice(&self.by_key)
    }

    fn read(from: &mut ArrayReader<'_>, len: usize) -> Result<Self, Rejected> {
        let docs = DocSet::read(from, len)?;
        let keys = Strings::read(from, len)?;
        let by_key: Box<[DocId]> = from.array_of_len(keys.len())?;
        let are_known = by_key.iter().all(|doc| usize::from(*doc) < len);
        Rejected::unless(docs.len() == keys.len() && are_known, "the keys do not fit")?;
        Ok(Self { docs, keys, by_key })
    }
}
