//! Segments: immutable groups of indexed products, and how they are built and merged.
//!
//! A [`Segment`] holds postings by term and columns by product. What changes without a change of
//! texts lies beside it in a [`LiveSegment`]: tombstones, the mutable [`columns`] and the vectors.
//! [`builder`] makes a segment from products, [`merge`](mod@merge) one from several, and
//! [`merge_policy`] decides which.
//!
//! The products of a segment are numbered from 0. There are at most [`MAX_PRODUCTS`], so that a posting
//! takes three bytes and the scores of a segment fit into the processor's cache. A new segment has them in
//! ascending order of id, a merged one by [cell](super::dense): products that resemble each other are
//! adjacent, so that a search can skip those that do not resemble the query, and the matches of a word
//! lie in few blocks. No result depends on the order.

mod attributes;
mod bigrams;
mod builder;
mod columns;
mod dictionary;
mod doc_id;
mod hashes;
mod ids;
mod inferred;
mod keys;
mod live_docs;
mod merge;
mod merge_policy;
mod negation_marks;
mod title_index;
mod title_words;
mod word_places;

use std::{io, ops::Range};

use catalog::{
    product::ProductId,
    ranking::bm25f::{FieldLength, FieldLengths, TermFreqs},
};

pub(super) use self::title_words::TitleWord;
pub use self::word_places::WordPlace;
pub(super) use self::{
    attributes::AttributeColumns,
    builder::{SegmentBuilder, build_segments},
    dictionary::Term,
    doc_id::{DocId, MAX_PRODUCTS},
    live_docs::LiveSegment,
    merge::merge,
    merge_policy::{MERGE_POLICY, MergePlan, MergePolicy, SegmentSize},
    negation_marks::negation_term,
};
use self::{
    bigrams::Bigrams, dictionary::Dictionary, ids::Ids, inferred::InferredColumn, keys::Keys,
    title_index::TitleIndex, title_words::TitleWords, word_places::WordPlaces,
};
use super::arrays::{ArrayReader, ArrayWriter, Rejected, Stored};

/// An immutable group of products, searchable by term.
#[derive(Debug)]
pub(super) struct Segment {
    pub(super) ids: Ids,
    pub(super) lengths: Box<[FieldLengths]>,
    pub(super) titles: TitleIndex,
    pub(super) bigrams: Bigrams,
    pub(super) title_words: TitleWords,
    pub(super) inferred: InferredColumn,
    pub(super) attributes: AttributeColumns,
    pub(super) keys: Keys,
    pub(super) terms: Dictionary,
    pub(super) word_places: WordPlaces,
    /// Where each term's postings end; they start where those of the previous term end.
    ends: Box<[u32]>,
    docs: Box<[DocId]>,
    freqs: Box<[TermFreqs]>,
}

/// The products with a term, ascending, and its frequencies in each.
#[derive(Clone, Copy)]
pub(super) struct Postings<'a> {
    pub(super) docs: &'a [DocId],
    pub(super) freqs: &'a [TermFreqs],
}

impl Postings<'_> {
    /// Those of some products.
    pub(super) fn within(self, docs: &Range<usize>) -> Self {
        let before = |end: usize| self.docs.partition_point(|doc| usize::from(*doc) < end);
        let (from, to) = (before(docs.start), before(docs.end));
        Self { docs: &self.docs[from..to], freqs: &self.freqs[from..to] }
    }
}

impl Segment {
    /// Number of products, deleted ones included.
    pub(super) fn len(&self) -> usize {
        self.ids.len()
    }

    pub(super) fn posting_count(&self) -> usize {
        self.docs.len()
    }

    /// The document number of a product.
    pub(super) fn find(&self, id: ProductId) -> Option<usize> {
        self.ids.find(id)
    }

    /// The postings of a term; `None` if no product contains it.
    pub(super) fn postings_of(&self, term: &str) -> Option<Postings<'_>> {
        self.terms.find(term).map(|number| self.postings(number))
    }

    /// The postings of the term with this number in the dictionary.
    pub(super) fn postings(&self, term: usize) -> Postings<'_> {
        let start = term.checked_sub(1).map_or(0, |before| self.ends[before]);
        let range: Range<usize> = start as usize..self.ends[term] as usize;
        Postings { docs: &self.docs[range.clone()], freqs: &self.freqs[range] }
    }

    /// Memory of attributes and keys, without their words.
    pub(super) fn attribute_bytes(&self) -> usize {
        self.attributes.memory_bytes() + self.keys.memory_bytes()
    }

    pub(super) fn memory_bytes(&self) -> usize {
        size_of::<Self>()
            + self.attribute_bytes()
            + self.ids.memory_bytes()
            + size_of_val(&*self.lengths)
            + self.titles.memory_bytes()
            + self.bigrams.memory_bytes()
            + self.title_words.memory_bytes()
            + self.inferred.memory_bytes()
            + self.terms.memory_bytes()
            + self.word_places.memory_bytes()
            + size_of_val(&*self.ends)
            + size_of_val(&*self.docs)
            + size_of_val(&*self.freqs)
    }
}

impl Stored for Segment {
    fn write(&self, to: &mut ArrayWriter<'_>) -> io::Result<()> {
        self.ids.write(to)?;
        to.array(self.lengths.iter().map(|lengths| {
            u16::from_le_bytes([lengths.title.to_byte(), lengths.description.to_byte()])
        }))?;
        self.titles.write(to)?;
        self.bigrams.write(to)?;
        self.title_words.write(to)?;
        self.inferred.write(to)?;
        self.attributes.write(to)?;
        self.keys.write(to)?;
        self.terms.write(to)?;
        to.slice(&self.docs)?;
        to.array(self.freqs.iter().map(|freqs| freqs.to_byte()))?;
        to.slice(&self.ends)
    }

    fn read(from: &mut ArrayReader<'_>, _: usize) -> Result<Self, Rejected> {
        let ids = Ids::read(from, 0)?;
        let len = ids.len();
        let lengths = from.array_of(|bytes: u16| {
            let [title, description] = bytes.to_le_bytes().map(FieldLength::from_byte);
            Some(FieldLengths { title, description })
        })?;
        let segment = Self {
            ids,
            lengths,
            titles: TitleIndex::read(from, len)?,
            bigrams: Bigrams::read(from, len)?,
            title_words: TitleWords::read(from, len)?,
            inferred: InferredColumn::read(from, len)?,
            attributes: AttributeColumns::read(from, len)?,
            keys: Keys::read(from, len)?,
            terms: Dictionary::read(from, len)?,
            word_places: WordPlaces::default(),
            docs: from.array()?,
            freqs: from.array_of(|byte| Some(TermFreqs::from_byte(byte)))?,
            ends: Box::default(),
        };
        let segment = Self { ends: from.ends(segment.docs.len())?, ..segment };
        let is_whole = segment.lengths.len() == len
            && segment.freqs.len() == segment.docs.len()
            && segment.ends.len() == segment.terms.len()
            && segment.title_words.are_below(segment.terms.len());
        Rejected::unless(is_whole, "the postings are those of other terms")?;
        let is_list = |docs: &[DocId]| {
            docs.is_sorted_by(|a, b| a < b) && docs.last().is_none_or(|doc| usize::from(*doc) < len)
        };
        let mut postings = (0..segment.ends.len()).map(|term| segment.postings(term).docs);
        Rejected::unless(postings.all(is_list), "the postings are not in order")?;
        Ok(segment)
    }
}
