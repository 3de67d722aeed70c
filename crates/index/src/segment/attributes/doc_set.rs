//! A set of products of a segment, numbered by rank: all, many or few of them.

use std::io;

use crate::{
    arrays::{ArrayReader, ArrayWriter, Rejected, Stored},
    bits::{BLOCK, BitSet},
    heap::{allocated, allocated_slice},
    segment::DocId,
};

/// A list of document numbers is smaller than a bit set with ranks below one product in this many:
/// it takes 16 bits for each member, the other 1.25 bits for each product.
const FEW: usize = 12;

/// A set of products. The rank of a member is the number of members before it.
#[derive(Debug)]
pub(crate) enum DocSet {
    /// All products of a segment of this many.
    All(usize),
    /// A bit for each product, and the rank of the first member of each block.
    Many { bits: BitSet, ranks: Box<[DocId]> },
    /// The members, ascending.
    Few(Box<[DocId]>),
}

impl DocSet {
    /// The set of these products, ascending, of a segment of `len`.
    pub(crate) fn of(docs: &[DocId], len: usize) -> Self {
        if docs.len() == len {
            return Self::All(len);
        }
        if docs.len() * FEW < len {
            return Self::Few(docs.into());
        }
        Self::with_ranks(BitSet::with(len, docs.iter().map(|doc| usize::from(*doc))))
    }

    fn with_ranks(bits: BitSet) -> Self {
        let mut rank = 0;
        let ranks = bits.blocks().map(|block| {
            let first = rank;
            rank += block.count_ones();
            first as DocId
        });
        let ranks = ranks.collect();
        Self::Many { bits, ranks }
    }

    /// Number of members.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::All(len) => *len,
            Self::Many { bits, .. } => bits.count(),
            Self::Few(docs) => docs.len(),
        }
    }

    /// The rank of a product; `None` if it is not a member.
    #[inline]
    pub(crate) fn rank(&self, doc: usize) -> Option<usize> {
        match self {
            Self::All(_) => Some(doc),
            Self::Many { bits, ranks } => {
                let (block, at) = (doc / BLOCK, doc % BLOCK);
                let word = bits.block(block);
                let before = word & ((1 << at) - 1);
                (word >> at & 1 == 1)
                    .then(|| usize::from(ranks[block]) + before.count_ones() as usize)
            }
            Self::Few(docs) => docs.binary_search(&(doc as DocId)).ok(),
        }
    }

    pub(crate) fn contains(&self, doc: usize) -> bool {
        self.rank(doc).is_some()
    }

    /// Calls `f` with every member, ascending: by rank.
    pub(crate) fn for_each(&self, mut f: impl FnMut(usize)) {
        match self {
            Self::All(len) => (0..*len).for_each(f),
            Self::Many { bits, .. } => bits.iter().for_each(f),
            Self::Few(docs) => docs.iter().for_each(|doc| f(usize::from(*doc))),
        }
    }

    /// The members as bits, of a segment of `len`.
    pub(crate) fn to_bits(&self, len: usize) -> BitSet {
        match self {
            Self::All(_) => BitSet::full(len),
            Self::Many { bits, .. } => bits.clone(),
            Self::Few(docs) => BitSet::with(len, docs.iter().map(|doc| usize::from(*doc))),
        }
    }

    /// How many of these products are members.
    pub(crate) fn count_among(&self, docs: &[DocId]) -> usize {
        docs.iter().filter(|doc| self.contains(usize::from(**doc))).count()
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        match self {
            Self::All(_) => 0,
            Self::Many { bits, ranks } => allocated(bits.memory_bytes()) + allocated_slice(ranks),
            Self::Few(docs) => allocated_slice(docs),
        }
    }
}

const ALL: u8 = 0;
const MANY: u8 = 1;
const FEW_MEMBERS: u8 = 2;

impl Stored for DocSet {
    fn write(&self, to: &mut ArrayWriter<'_>) -> io::Result<()> {
        match self {
            Self::All(_) => to.number(ALL),
            Self::Many { bits, .. } => {
                to.number(MANY)?;
                bits.write(to)
            }
            Self::Few(docs) => {
                to.number(FEW_MEMBERS)?;
                to.slice(docs)
            }
        }
    }

    fn read(from: &mut ArrayReader<'_>, len: usize) -> Result<Self, Rejected> {
        match from.number()? {
            ALL => Ok(Self::All(len)),
            MANY => Ok(Self::with_ranks(BitSet::read(from, len)?)),
            FEW_MEMBERS => {
                let docs: Box<[DocId]> = from.array()?;
                let are_known = docs.last().is_none_or(|last| usize::from(*last) < len);
                let is_set = docs.is_sorted_by(|a, b| a < b) && are_known;
                Rejected::unless(is_set, "a set of products does not fit")?;
                Ok(Self::Few(docs))
            }
            _ => Err(Rejected::Invalid("a set of products is of an unknown kind")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_have_ranks_however_many_there_are() {
        const LEN: usize = 1000;
        for step in [1, 2, 7, 13, 100, 2000] {
            let docs: Vec<DocId> = (0..LEN).step_by(step).map(|doc| doc as DocId).collect();
            let set = DocSet::of(&docs, LEN);
            for doc in 0..LEN {
                assert_eq!(set.rank(doc), docs.binary_search(&(doc as DocId)).ok(), "{step} {doc}");
            }
            let mut members = Vec::new();
            set.for_each(|doc| members.push(doc as DocId));
            assert_eq!(members, docs);
            assert_eq!(set.to_bits(LEN).iter().count(), docs.len());
        }
        let sparse = DocSet::of(&[5, 900], LEN);
        assert!(matches!(sparse, DocSet::Few(_)) && sparse.memory_bytes() == allocated(4));
        assert!(DocSet::of(&[], LEN).rank(3).is_none());
    }
}
