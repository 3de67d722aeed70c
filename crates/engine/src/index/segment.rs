//! What does the index keep of the texts of a group of products? Columns by product, postings by
//! word.
//!
//! A segment never changes. Its products are in ascending order of id and numbered from 0;
//! there are at most [`MAX_PRODUCTS`], so a posting takes three bytes and the scores of a
//! segment fit the processor's cache.

use std::ops::Range;

use catalog::{
    product::ProductId,
    ranking::{FieldLengths, TermFreqs},
};

use super::{dictionary::Dictionary, neighbours::Neighbours};

/// The number of a product within its segment.
pub(super) type Doc = u16;

/// The largest number of products of a segment: as many as [`Doc`] can tell apart.
pub(super) const MAX_PRODUCTS: usize = 1 << Doc::BITS;

/// An immutable group of products, searchable by word.
#[derive(Debug)]
pub(super) struct Segment {
    pub(super) ids: Box<[ProductId]>,
    pub(super) lengths: Box<[FieldLengths]>,
    /// A fingerprint of each title.
    pub(super) titles: Box<[u32]>,
    pub(super) neighbours: Neighbours,
    pub(super) words: Dictionary,
    /// Where each word's postings end; they begin where those of the word before end.
    pub(super) ends: Box<[u32]>,
    pub(super) docs: Box<[Doc]>,
    pub(super) occurrences: Box<[TermFreqs]>,
}

/// The products that have a word, ascending, and how often each has it.
#[derive(Clone, Copy)]
pub(super) struct Postings<'a> {
    pub(super) docs: &'a [Doc],
    pub(super) occurrences: &'a [TermFreqs],
}

impl Segment {
    /// The number of products, deleted ones included.
    pub(super) fn len(&self) -> usize {
        self.ids.len()
    }

    pub(super) fn posting_count(&self) -> usize {
        self.docs.len()
    }

    /// The product of this id.
    pub(super) fn find(&self, id: ProductId) -> Option<usize> {
        let may_hold = self.ids.first().is_some_and(|first| *first <= id)
            && self.ids.last().is_some_and(|last| id <= *last);
        if may_hold { self.ids.binary_search(&id).ok() } else { None }
    }

    /// The products that have a word.
    pub(super) fn products_with(&self, word: &str) -> Option<Postings<'_>> {
        self.words.find(word).map(|at| self.postings(at))
    }

    /// The products that have the word at this place of the dictionary.
    pub(super) fn postings(&self, word: usize) -> Postings<'_> {
        let range = self.posting_range(word);
        Postings { docs: &self.docs[range.clone()], occurrences: &self.occurrences[range] }
    }

    /// What the segment takes in memory.
    pub(super) fn memory_bytes(&self) -> usize {
        size_of::<Self>()
            + size_of_val(&*self.ids)
            + size_of_val(&*self.lengths)
            + size_of_val(&*self.titles)
            + self.neighbours.memory_bytes()
            + self.words.memory_bytes()
            + size_of_val(&*self.ends)
            + size_of_val(&*self.docs)
            + size_of_val(&*self.occurrences)
    }

    fn posting_range(&self, word: usize) -> Range<usize> {
        let start = word.checked_sub(1).map_or(0, |before| self.ends[before]);
        start as usize..self.ends[word] as usize
    }
}
