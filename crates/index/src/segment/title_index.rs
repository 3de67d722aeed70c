//! Finds the products of a segment by their whole title.

use std::io;

use super::{DocId, hashes::partition_point_near};
use crate::arrays::{ArrayReader, ArrayWriter, Rejected, Stored};

/// The fingerprints of all titles of a segment.
#[derive(Debug)]
pub(crate) struct TitleIndex {
    /// Ascending.
    fingerprints: Box<[u32]>,
    /// The product of each; ascending where fingerprints are equal.
    docs: Box<[DocId]>,
}

impl TitleIndex {
    /// The products whose title has this fingerprint, ascending.
    pub(crate) fn docs(&self, fingerprint: u32) -> &[DocId] {
        let share = f64::from(fingerprint) / f64::from(u32::MAX);
        let first = partition_point_near(&self.fingerprints, share, &fingerprint);
        let same = self.fingerprints[first..].partition_point(|one| *one == fingerprint);
        &self.docs[first..first + same]
    }

    /// All fingerprints with their products.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, DocId)> {
        self.fingerprints.iter().copied().zip(self.docs.iter().copied())
    }

    pub(super) fn memory_bytes(&self) -> usize {
        size_of_val(&*self.fingerprints) + size_of_val(&*self.docs)
    }
}

impl FromIterator<(u32, DocId)> for TitleIndex {
    fn from_iter<T: IntoIterator<Item = (u32, DocId)>>(titles: T) -> Self {
        let mut titles: Vec<_> = titles.into_iter().collect();
        titles.sort_unstable();
        let (fingerprints, docs): (Vec<_>, Vec<_>) = titles.into_iter().unzip();
        Self { fingerprints: fingerprints.into(), docs: docs.into() }
    }
}

impl Stored for TitleIndex {
    fn write(&self, to: &mut ArrayWriter<'_>) -> io::Result<()> {
        to.slice(&self.fingerprints)?;
        to.slice(&self.docs)
    }

    fn read(from: &mut ArrayReader<'_>, len: usize) -> Result<Self, Rejected> {
        let index = Self { fingerprints: from.array_of_len(len)?, docs: from.array_of_len(len)? };
        let are_known = index.docs.iter().all(|doc| usize::from(*doc) < len);
        let is_index = are_known && index.iter().is_sorted_by(|one, other| one < other);
        Rejected::unless(is_index, "the titles are not in order")?;
        Ok(index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_are_found_by_their_fingerprint() {
        let index: TitleIndex = [(7, 0), (3, 1), (7, 2), (u32::MAX, 3)].into_iter().collect();
        assert_eq!(index.docs(7), [0, 2]);
        assert_eq!(index.docs(3), [1]);
        assert_eq!(index.docs(u32::MAX), [3]);
        assert_eq!(index.docs(0), [0; 0]);
        assert_eq!(index.docs(8), [0; 0]);
    }
}
