//! The words of each product's title, in order: what the second stage of ranking compares with the
//! words of a query.

use std::io;

use crate::arrays::{ArrayReader, ArrayWriter, Rejected, Stored};

/// More words of a title are left out.
const MAX_WORDS: usize = 24;
/// Set in the number of a word in head position.
const HEAD: u32 = 1 << 31;

/// A word of a title.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TitleWord(u32);

impl TitleWord {
    /// The number of the word in the dictionary of the segment.
    #[inline]
    pub(crate) fn term(self) -> usize {
        (self.0 & !HEAD) as usize
    }

    /// Whether it is in head position ([`catalog::text::analysis::for_each_title_word`]).
    #[inline]
    pub(crate) fn is_head(self) -> bool {
        self.0 & HEAD != 0
    }
}

/// The words of each title of a segment.
#[derive(Debug, Default)]
pub(crate) struct TitleWords {
    words: Box<[TitleWord]>,
    /// Where the words of each product end.
    ends: Box<[u32]>,
}

impl TitleWords {
    /// The words of a product's title, in order and distinct.
    pub(crate) fn of(&self, doc: usize) -> &[TitleWord] {
        let start = doc.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.words[start as usize..self.ends[doc] as usize]
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        size_of_val(&*self.words) + size_of_val(&*self.ends)
    }
}

/// Collects the words of titles, product by product.
#[derive(Default)]
pub(super) struct TitleWordsBuilder {
    words: Vec<TitleWord>,
    ends: Vec<u32>,
}

impl TitleWordsBuilder {
    /// Adds a word of the next product's title. A word that occurs again is kept once, in head
    /// position if it ever is.
    pub(super) fn push_word(&mut self, term: u32, is_head: bool) {
        let start = self.ends.last().map_or(0, |end| *end as usize);
        let own = &mut self.words[start..];
        let flag = if is_head { HEAD } else { 0 };
        if let Some(known) = own.iter_mut().find(|word| word.0 & !HEAD == term) {
            known.0 |= flag;
        } else if own.len() < MAX_WORDS {
            self.words.push(TitleWord(term | flag));
        }
    }

    /// Ends the title of a product.
    pub(super) fn end_title(&mut self) {
        self.ends.push(self.words.len() as u32);
    }

    /// Adds the title of a product of another segment, whose terms are renumbered. A word that is
    /// not among the new `terms` is left out: a damaged file may contain one.
    pub(super) fn push_title(&mut self, words: &[TitleWord], new_number: &[u32], terms: usize) {
        let renumbered = words.iter().map(|word| (new_number[word.term()], word.0 & HEAD));
        let known = renumbered.filter(|(term, _)| (*term as usize) < terms);
        self.words.extend(known.map(|(term, head)| TitleWord(term | head)));
        self.end_title();
    }

    /// The words, by their final numbers.
    pub(super) fn finish(mut self, position: &[u32]) -> TitleWords {
        for word in &mut self.words {
            word.0 = position[word.term()] | word.0 & HEAD;
        }
        self.finish_numbered()
    }

    /// The words, which have their final numbers.
    pub(super) fn finish_numbered(self) -> TitleWords {
        TitleWords { words: self.words.into(), ends: self.ends.into() }
    }
}

impl TitleWords {
    /// Whether all words are among the first `terms` terms of a dictionary.
    pub(super) fn are_below(&self, terms: usize) -> bool {
        self.words.iter().all(|word| word.term() < terms)
    }
}

impl Stored for TitleWords {
    fn write(&self, to: &mut ArrayWriter<'_>) -> io::Result<()> {
        to.array(self.words.iter().map(|word| word.0))?;
        to.slice(&self.ends)
    }

    fn read(from: &mut ArrayReader<'_>, len: usize) -> Result<Self, Rejected> {
        let words = from.array_of(|word| Some(TitleWord(word)))?;
        let ends = from.ends(words.len())?;
        let starts = std::iter::once(&0).chain(&ends);
        let are_short = starts.zip(&ends).all(|(start, end)| (end - start) as usize <= MAX_WORDS);
        Rejected::unless(ends.len() == len && are_short, "the title words do not fit")?;
        Ok(Self { words, ends })
    }
}
