//! Where is a word among the sorted words of a segment?
//!
//! The first eight bytes of each word are kept as a number, the rest in one common arena:
//! most words are no longer than that, so a look-up compares integers side by side.

use std::{cmp::Ordering, ops::Range};

use hashbrown::Equivalent;

/// The bytes of a word that are kept as a number.
const HEAD_BYTES: usize = 8;

/// A word as the dictionary compares it; sorts like the word itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Term<'a> {
    head: u64,
    tail: &'a [u8],
}

impl<'a> Term<'a> {
    pub(super) fn of(word: &'a str) -> Self {
        let (head, tail) = word.as_bytes().split_at(word.len().min(HEAD_BYTES));
        let mut padded = [0; HEAD_BYTES];
        padded[..head.len()].copy_from_slice(head);
        Self { head: u64::from_be_bytes(padded), tail }
    }
}

/// A word as the key of a hash table, which a [`Term`] finds: a short word takes no allocation
/// of its own and is compared without a look elsewhere in memory.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct OwnedTerm {
    head: u64,
    tail: Box<[u8]>,
}

impl OwnedTerm {
    pub(super) fn as_term(&self) -> Term<'_> {
        Term { head: self.head, tail: &self.tail }
    }
}

impl From<Term<'_>> for OwnedTerm {
    fn from(term: Term<'_>) -> Self {
        Self { head: term.head, tail: term.tail.into() }
    }
}

impl Equivalent<OwnedTerm> for Term<'_> {
    fn equivalent(&self, key: &OwnedTerm) -> bool {
        *self == key.as_term()
    }
}

/// Sorted, distinct words.
#[derive(Debug, Default)]
pub(super) struct Dictionary {
    heads: Box<[u64]>,
    /// Where each word's tail ends in `tails`; it begins where the one before ends.
    tail_ends: Box<[u32]>,
    tails: Box<[u8]>,
}

impl Dictionary {
    pub(super) fn len(&self) -> usize {
        self.heads.len()
    }

    pub(super) fn term(&self, at: usize) -> Term<'_> {
        Term { head: self.heads[at], tail: &self.tails[self.tail_range(at)] }
    }

    /// The place of a word, if the segment has it.
    pub(super) fn find(&self, word: &str) -> Option<usize> {
        let wanted = Term::of(word);
        let first = self.heads.partition_point(|head| *head < wanted.head);
        let same_head = self.heads[first..].partition_point(|head| *head == wanted.head);
        let (mut low, mut high) = (first, first + same_head);
        while low < high {
            let middle = low.midpoint(high);
            match self.term(middle).tail.cmp(wanted.tail) {
                Ordering::Less => low = middle + 1,
                Ordering::Equal => return Some(middle),
                Ordering::Greater => high = middle,
            }
        }
        None
    }

    pub(super) fn memory_bytes(&self) -> usize {
        size_of_val(&*self.heads) + size_of_val(&*self.tail_ends) + self.tails.len()
    }

    fn tail_range(&self, at: usize) -> Range<usize> {
        let start = at.checked_sub(1).map_or(0, |before| self.tail_ends[before]);
        start as usize..self.tail_ends[at] as usize
    }
}

/// Makes a dictionary from words in ascending order.
#[derive(Default)]
pub(super) struct DictionaryBuilder {
    heads: Vec<u64>,
    tail_ends: Vec<u32>,
    tails: Vec<u8>,
}

impl DictionaryBuilder {
    pub(super) fn with_capacity(words: usize) -> Self {
        let (heads, tail_ends) = (Vec::with_capacity(words), Vec::with_capacity(words));
        Self { heads, tail_ends, tails: Vec::new() }
    }

    /// Appends a word greater than all before.
    pub(super) fn push(&mut self, term: Term<'_>) {
        self.heads.push(term.head);
        self.tails.extend_from_slice(term.tail);
        self.tail_ends.push(self.tails.len() as u32);
    }

    pub(super) fn finish(self) -> Dictionary {
        Dictionary {
            heads: self.heads.into_boxed_slice(),
            tail_ends: self.tail_ends.into_boxed_slice(),
            tails: self.tails.into_boxed_slice(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn words_are_found_where_they_sort(
            words in prop::collection::btree_set("(aaaaaaaa)?[a-bé]{1,12}", 0..50),
            others in prop::collection::vec("(aaaaaaaa)?[a-bé]{1,12}", 0..20),
        ) {
            let mut builder = DictionaryBuilder::default();
            words.iter().for_each(|word| builder.push(Term::of(word)));
            let dictionary = builder.finish();
            let sorted: Vec<_> = words.iter().collect();
            for word in words.iter().chain(&others).collect::<BTreeSet<_>>() {
                prop_assert_eq!(dictionary.find(word), sorted.binary_search(&word).ok());
            }
        }
    }
}
