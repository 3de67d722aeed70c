//! The term dictionary of a segment: sorted terms, found by a hash table of their numbers.
//!
//! The first eight bytes of each term are stored as an integer, the rest in one common arena. Most
//! terms are no longer, so a look-up compares integers.

use std::{
    hash::{BuildHasher, Hash, Hasher},
    io,
    ops::Range,
};

use catalog::text::analysis::MAX_WORD_BYTES;
use fearless_simd::{Level, dispatch};
use hashbrown::{DefaultHashBuilder, Equivalent, HashTable};

use crate::arrays::{ArrayReader, ArrayWriter, Rejected, Stored};

/// Bytes of a term that are stored as an integer.
const HEAD_BYTES: usize = 8;

/// A term as the dictionary compares it; sorts like its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Term<'a> {
    head: u64,
    tail: &'a [u8],
}

impl<'a> Term<'a> {
    pub(crate) fn of(word: &'a str) -> Self {
        let (head, tail) = word.as_bytes().split_at(word.len().min(HEAD_BYTES));
        let mut padded = [0; HEAD_BYTES];
        padded[..head.len()].copy_from_slice(head);
        Self { head: u64::from_be_bytes(padded), tail }
    }

    /// Whether the head ends before its last byte, so that there is no tail.
    #[inline]
    fn is_short(self) -> bool {
        self.head as u8 == 0
    }

    fn letters(self) -> Letters {
        Letters::of(self.copy(&mut [0; MAX_WORD_BYTES]))
    }

    fn copy(self, word: &mut [u8; MAX_WORD_BYTES]) -> &[u8] {
        let head = self.head.to_be_bytes();
        let head_len = head.iter().position(|byte| *byte == 0).unwrap_or(HEAD_BYTES);
        let len = (head_len + self.tail.len()).min(MAX_WORD_BYTES);
        word[..head_len].copy_from_slice(&head[..head_len]);
        word[head_len..len].copy_from_slice(&self.tail[..len - head_len]);
        &word[..len]
    }
}

/// Most terms have no tail, and are hashed as one integer.
impl Hash for Term<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.head);
        if !self.tail.is_empty() {
            state.write(self.tail);
        }
    }
}

/// An owned [`Term`], as the key of a hash table that is looked up by [`Term`]. A short one needs
/// no allocation, and no other memory to be compared.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct OwnedTerm {
    head: u64,
    tail: Box<[u8]>,
}

impl OwnedTerm {
    pub(crate) fn as_term(&self) -> Term<'_> {
        Term { head: self.head, tail: &self.tail }
    }
}

impl Hash for OwnedTerm {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_term().hash(state);
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

/// The set of letters of a term and its length. Terms within a small edit distance differ little
/// in both, which is tested without reading the terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Letters(u32);

impl Letters {
    const COUNT_SHIFT: u32 = 26;
    const SET: u32 = (1 << Self::COUNT_SHIFT) - 1;
    const MAX_LENGTH: usize = (1 << (32 - Self::COUNT_SHIFT)) - 1;
    /// Of a term with other characters than `a` to `z`; near none.
    const NONE: Self = Self(0);
    /// The greatest difference in length, doubled letters included.
    const MAX_LENGTH_DIFFERENCE: u32 = 3;

    fn of(word: &[u8]) -> Self {
        if !word.iter().all(u8::is_ascii_lowercase) {
            return Self::NONE;
        }
        let set = word.iter().fold(0, |set, letter| set | 1 << (letter - b'a'));
        Self(set | (word.len().min(Self::MAX_LENGTH) as u32) << Self::COUNT_SHIFT)
    }

    #[inline(always)]
    fn are_near(self, other: Self, edits: u32) -> bool {
        let set = (self.0 ^ other.0) & Self::SET;
        let count = (self.0 >> Self::COUNT_SHIFT).abs_diff(other.0 >> Self::COUNT_SHIFT);
        set.count_ones() <= 2 * edits && count <= Self::MAX_LENGTH_DIFFERENCE
    }
}

/// Sorted, distinct terms, numbered from 0.
#[derive(Debug, Default)]
pub(crate) struct Dictionary {
    heads: Box<[u64]>,
    /// Where each term's tail ends in `tails`; it starts where the previous one ends.
    tail_ends: Box<[u32]>,
    tails: Box<[u8]>,
    letters: Box<[Letters]>,
    numbers: TermNumbers,
}

/// The numbers of terms by the hash of the term.
#[derive(Default)]
struct TermNumbers {
    hasher: DefaultHashBuilder,
    table: HashTable<u32>,
}

impl TermNumbers {
    /// Numbers distinct terms in their order.
    fn of<'a>(terms: impl ExactSizeIterator<Item = Term<'a>>) -> Self {
        let hasher = DefaultHashBuilder::default();
        let mut table = HashTable::with_capacity(terms.len());
        // Numbers are inserted once, so the table never grows.
        let rehash = |_: &u32| unreachable!("the table has room for all terms");
        for (number, term) in (0..).zip(terms) {
            table.insert_unique(hasher.hash_one(term), number, rehash);
        }
        Self { hasher, table }
    }
}

/// Without the numbers, the order of which means nothing.
impl std::fmt::Debug for TermNumbers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TermNumbers").field("len", &self.table.len()).finish_non_exhaustive()
    }
}

impl Dictionary {
    pub(crate) fn len(&self) -> usize {
        self.heads.len()
    }

    pub(crate) fn term(&self, at: usize) -> Term<'_> {
        Term { head: self.heads[at], tail: &self.tails[self.tail_range(at)] }
    }

    fn terms(&self) -> impl ExactSizeIterator<Item = Term<'_>> {
        (0..self.len()).map(|at| self.term(at))
    }

    /// With the numbers of all terms.
    fn numbered(mut self) -> Self {
        self.numbers = TermNumbers::of(self.terms());
        self
    }

    /// Calls `f` with the text of a term; `None` for a term that is not text.
    pub(crate) fn with_word<R>(&self, at: usize, f: impl FnOnce(&str) -> Option<R>) -> Option<R> {
        let mut buffer = [0; MAX_WORD_BYTES];
        f(std::str::from_utf8(self.term(at).copy(&mut buffer)).ok()?)
    }

    /// The number of a term, if the segment contains it.
    pub(crate) fn find(&self, word: &str) -> Option<usize> {
        let wanted = Term::of(word);
        let TermNumbers { hasher, table } = &self.numbers;
        let has_tail = |at| wanted.tail == &self.tails[self.tail_range(at)];
        let is_wanted = |number: &u32| {
            let at = *number as usize;
            self.heads[at] == wanted.head && (wanted.is_short() || has_tail(at))
        };
        table.find(hasher.hash_one(wanted), is_wanted).map(|number| *number as usize)
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        size_of_val(&*self.heads)
            + size_of_val(&*self.tail_ends)
            + self.tails.len()
            + size_of_val(&*self.letters)
            + self.numbers.table.allocation_size()
    }

    /// Calls `f` with the numbers of terms that may be within `edits` edits of `word`, which consists
    /// of lower-case letters: those with the same first letter and nearly the same set of letters,
    /// and those that differ in the first letter alone.
    pub(crate) fn near(&self, word: &str, edits: u32, mut f: impl FnMut(usize)) {
        let Some(first) = word.bytes().next() else { return };
        let start = |first: u8| self.heads.partition_point(|head| ((head >> 56) as u8) < first);
        let wanted = Letters::of(word.as_bytes());
        let range = start(first)..start(first + 1);
        dispatch!(Level::new(), _ => {
            for at in range {
                if wanted.are_near(self.letters[at], edits) {
                    f(at);
                }
            }
        });
        let rest = &word[1..];
        let mut look_up = |other: &str| self.find(other).into_iter().for_each(&mut f);
        look_up(rest);
        let mut other = String::with_capacity(word.len() + 1);
        for letter in (b'a'..=b'z').filter(|letter| *letter != first).map(char::from) {
            for behind in [rest, word] {
                other.clear();
                other.push(letter);
                other.push_str(behind);
                look_up(&other);
            }
        }
        if let Some(second) = rest.chars().next().filter(|second| *second != char::from(first)) {
            other.clear();
            other.push(second);
            other.push(char::from(first));
            other.push_str(&rest[1..]);
            look_up(&other);
        }
    }

    /// The numbers of the terms with a prefix.
    pub(crate) fn with_prefix(&self, prefix: &str) -> Range<usize> {
        let wanted = Term::of(prefix);
        let is_before = |at: usize| self.term(at) < wanted;
        let has_prefix = |at: usize| {
            let mut word = [0; MAX_WORD_BYTES];
            self.copy(at, &mut word).starts_with(prefix.as_bytes())
        };
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low.midpoint(high);
            if is_before(middle) { low = middle + 1 } else { high = middle }
        }
        let end = (low..self.len()).find(|at| !has_prefix(*at)).unwrap_or(self.len());
        low..end
    }

    /// The numbers of the words that end with any of these suffixes and are longer, ascending.
    pub(crate) fn with_suffix(&self, suffixes: &[String]) -> Vec<usize> {
        // Most terms lack a letter that all suffixes have.
        let letters = suffixes.iter().map(|suffix| Letters::of(suffix.as_bytes()).0);
        let in_all = letters.fold(Letters::SET, |all, letters| all & letters);
        let may_match = |at: &usize| {
            let letters = self.letters[*at];
            letters == Letters::NONE || letters.0 & in_all == in_all
        };
        let has_suffix = |at: &usize| {
            let mut word = [0; MAX_WORD_BYTES];
            let word = self.copy(*at, &mut word);
            suffixes.iter().any(|end| word.len() > end.len() && word.ends_with(end.as_bytes()))
        };
        // Negation terms begin with a control character.
        let first = self.heads.partition_point(|head| (head >> 56) < u64::from(b' '));
        (first..self.len()).filter(may_match).filter(has_suffix).collect()
    }

    /// Writes a term into `word` and returns its bytes.
    pub(crate) fn copy<'a>(&self, at: usize, word: &'a mut [u8; MAX_WORD_BYTES]) -> &'a [u8] {
        self.term(at).copy(word)
    }

    fn tail_range(&self, at: usize) -> Range<usize> {
        let start = at.checked_sub(1).map_or(0, |before| self.tail_ends[before]);
        start as usize..self.tail_ends[at] as usize
    }
}

/// Builds a dictionary from terms in ascending order.
#[derive(Default)]
pub(crate) struct DictionaryBuilder {
    heads: Vec<u64>,
    tail_ends: Vec<u32>,
    tails: Vec<u8>,
    letters: Vec<Letters>,
}

impl DictionaryBuilder {
    pub(crate) fn with_capacity(terms: usize) -> Self {
        let (heads, tail_ends) = (Vec::with_capacity(terms), Vec::with_capacity(terms));
        Self { heads, tail_ends, tails: Vec::new(), letters: Vec::with_capacity(terms) }
    }

    /// Appends a term greater than all before.
    pub(crate) fn push(&mut self, term: Term<'_>) {
        self.heads.push(term.head);
        self.tails.extend_from_slice(term.tail);
        self.tail_ends.push(self.tails.len() as u32);
        self.letters.push(term.letters());
    }

    pub(crate) fn finish(self) -> Dictionary {
        Dictionary {
            heads: self.heads.into_boxed_slice(),
            tail_ends: self.tail_ends.into_boxed_slice(),
            tails: self.tails.into_boxed_slice(),
            letters: self.letters.into_boxed_slice(),
            numbers: TermNumbers::default(),
        }
        .numbered()
    }
}

impl Stored for Dictionary {
    fn write(&self, to: &mut ArrayWriter<'_>) -> io::Result<()> {
        to.slice(&self.heads)?;
        to.slice(&self.tails)?;
        to.slice(&self.tail_ends)?;
        to.array(self.letters.iter().map(|letters| letters.0))
    }

    fn read(from: &mut ArrayReader<'_>, _: usize) -> Result<Self, Rejected> {
        let (heads, tails) = (from.array()?, from.array()?);
        let tail_ends = from.ends(tails.len())?;
        let letters = from.array_of(|bits| Some(Letters(bits)))?;
        let is_whole = tail_ends.len() == heads.len() && letters.len() == heads.len();
        Rejected::unless(is_whole, "the dictionary is incomplete")?;
        let numbers = TermNumbers::default();
        let dictionary = Self { heads, tail_ends, tails, letters, numbers };
        let is_sorted = dictionary.terms().is_sorted_by(|a, b| a < b);
        Rejected::unless(is_sorted, "the dictionary is not sorted")?;
        Ok(dictionary.numbered())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn terms_are_found_at_their_sorted_position(
            words in prop::collection::btree_set("(aaaaaaaa)?[a-bé]{1,12}", 0..150),
            others in prop::collection::vec("(aaaaaaaa)?[a-bé]{1,12}", 0..20),
        ) {
            let mut builder = DictionaryBuilder::default();
            words.iter().for_each(|word| builder.push(Term::of(word)));
            let dictionary = builder.finish();
            let sorted: Vec<_> = words.iter().collect();
            for word in words.iter().chain(&others).collect::<BTreeSet<_>>() {
                prop_assert_eq!(dictionary.find(word), sorted.binary_search(&word).ok());
            }
            let suffixes: Vec<String> = others.iter().take(3).cloned().collect();
            let has_suffix = |word: &str| {
                suffixes.iter().any(|end| word.len() > end.len() && word.ends_with(&**end))
            };
            let ending = (0..sorted.len()).filter(|at| has_suffix(sorted[*at]));
            prop_assert_eq!(dictionary.with_suffix(&suffixes), ending.collect::<Vec<_>>());
        }
    }
}
