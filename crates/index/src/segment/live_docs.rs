//! A segment with its tombstones, its mutable columns and its vectors.

use std::{io, sync::Arc};

use catalog::{
    product::{ProductId, access::Visibility, change::Seq, price::Money},
    ranking::bm25f::CorpusStats,
};

use super::{Postings, Segment, columns::Columns};
use crate::{
    arrays::{ArrayReader, ArrayWriter, Rejected, Stored},
    bits::{BLOCK, BitSet, ones},
    dense::Vectors,
    entry::DocVectors,
};

/// A segment and what may change of its products without a change of texts. Everything but the
/// statistics is shared with older snapshots and copied on write.
#[derive(Clone, Debug)]
pub(crate) struct LiveSegment {
    pub(crate) segment: Arc<Segment>,
    /// Tombstones: products that were deleted or replaced.
    deleted: Arc<BitSet>,
    columns: Arc<Columns>,
    vectors: Arc<Vectors>,
    /// Those of the transformer.
    deep: Arc<Vectors>,
    /// Statistics of the live products.
    corpus: CorpusStats,
    /// Statistics of the live products that are not hidden.
    visible: CorpusStats,
}

impl LiveSegment {
    /// A new segment, all of whose products are live.
    pub(crate) fn new(segment: Segment, columns: Columns, [vectors, deep]: [Vectors; 2]) -> Self {
        let mut corpus = CorpusStats::default();
        segment.lengths.iter().for_each(|lengths| corpus.add(*lengths));
        let mut visible = corpus;
        columns.hidden().iter().for_each(|doc| visible.remove(segment.lengths[doc]));
        let deleted = Arc::new(BitSet::new(segment.len()));
        let (segment, columns) = (Arc::new(segment), Arc::new(columns));
        let (vectors, deep) = (Arc::new(vectors), Arc::new(deep));
        Self { segment, deleted, columns, vectors, deep, corpus, visible }
    }

    #[inline]
    pub(crate) fn columns(&self) -> &Columns {
        &self.columns
    }

    /// Updates a live product whose texts are unchanged.
    pub(crate) fn update(&mut self, doc: usize, hidden: bool, price: Option<Money>, version: Seq) {
        let lengths = self.segment.lengths[doc];
        match (self.columns.hidden().get(doc), hidden) {
            (false, true) => self.visible.remove(lengths),
            (true, false) => self.visible.add(lengths),
            _ => {}
        }
        Arc::make_mut(&mut self.columns).update(doc, hidden, price, version);
    }

    #[inline]
    pub(crate) fn vectors(&self) -> &Vectors {
        &self.vectors
    }

    /// The vectors of the transformer.
    #[inline]
    pub(crate) fn deep(&self) -> &Vectors {
        &self.deep
    }

    /// Both vectors of a product.
    pub(crate) fn vectors_of(&self, doc: usize) -> DocVectors<'_> {
        DocVectors { vector: self.vectors.get(doc), deep: self.deep.get(doc) }
    }

    /// The document number of a live product.
    pub(crate) fn find(&self, id: ProductId) -> Option<usize> {
        self.segment.find(id).filter(|doc| !self.is_deleted(*doc))
    }

    /// The document number of the live and visible product with a key.
    pub(crate) fn find_key(&self, key: &str, visibility: Visibility) -> Option<usize> {
        self.segment.keys.find(key).find(|doc| self.is_visible(*doc, visibility))
    }

    /// Sets vectors of products.
    pub(crate) fn put_vectors<'a>(
        &mut self,
        new: impl IntoIterator<Item = (usize, DocVectors<'a>)>,
    ) {
        for (doc, DocVectors { vector, deep }) in new {
            for (vectors, numbers) in [(&mut self.vectors, vector), (&mut self.deep, deep)] {
                // The instant vector usually stays as it is.
                if let Some(numbers) = numbers.filter(|numbers| vectors.get(doc) != Some(*numbers))
                {
                    Arc::make_mut(vectors).put(doc, numbers);
                }
            }
        }
    }

    /// Statistics of the live visible products.
    pub(crate) fn corpus(&self, visibility: Visibility) -> CorpusStats {
        match visibility {
            Visibility::VisibleOnly => self.visible,
            Visibility::All => self.corpus,
        }
    }

    /// Number of live products.
    pub(crate) fn live_count(&self) -> usize {
        self.corpus.products as usize
    }

    /// Number of live visible products.
    pub(crate) fn visible_count(&self, visibility: Visibility) -> usize {
        self.corpus(visibility).products as usize
    }

    pub(crate) fn deleted_count(&self) -> usize {
        self.segment.len() - self.live_count()
    }

    #[inline]
    pub(crate) fn is_deleted(&self, doc: usize) -> bool {
        self.deleted.get(doc)
    }

    /// The products of a block that are live and visible.
    #[inline]
    pub(crate) fn visible_block(&self, block: usize, visibility: Visibility) -> u64 {
        let unseen = match visibility {
            Visibility::VisibleOnly => self.columns.hidden().block(block),
            Visibility::All => 0,
        };
        !(self.deleted.block(block) | unseen | self.behind(block))
    }

    /// The places of a block behind the last product.
    #[inline]
    fn behind(&self, block: usize) -> u64 {
        let products = self.segment.len().saturating_sub(block * BLOCK);
        if products < BLOCK { u64::MAX << products } else { 0 }
    }

    /// Whether a product is live and visible.
    #[inline]
    pub(crate) fn is_visible(&self, doc: usize, visibility: Visibility) -> bool {
        self.visible_block(doc / BLOCK, visibility) >> (doc % BLOCK) & 1 == 1
    }

    /// Marks a product as deleted, and returns whether it was live.
    pub(crate) fn delete(&mut self, id: ProductId) -> bool {
        let Some(doc) = self.find(id) else { return false };
        Arc::make_mut(&mut self.deleted).set(doc);
        let lengths = self.segment.lengths[doc];
        self.corpus.remove(lengths);
        if !self.columns.hidden().get(doc) {
            self.visible.remove(lengths);
        }
        true
    }

    /// Number of products among the postings that are live and visible. Free where all products of
    /// the segment are; otherwise at most a pass over the postings.
    pub(crate) fn count_visible(&self, postings: Postings<'_>, visibility: Visibility) -> usize {
        let all = postings.docs.len();
        let unseen = self.segment.len() - self.visible_count(visibility);
        let blocks = self.segment.len().div_ceil(BLOCK);
        let steps_to_look_up = blocks + unseen * (all.max(1).ilog2() as usize + 1);
        let unseen_among = if unseen == 0 {
            0
        } else if steps_to_look_up < all {
            let unseen = (0..blocks).flat_map(|block| {
                ones(!self.visible_block(block, visibility)).map(move |at| block * BLOCK + at)
            });
            unseen.filter(|doc| postings.docs.binary_search(&(*doc as _)).is_ok()).count()
        } else {
            postings
                .docs
                .iter()
                .filter(|doc| !self.is_visible(usize::from(**doc), visibility))
                .count()
        };
        all - unseen_among
    }

    /// Whether any product among the postings is live and visible.
    pub(crate) fn is_any_visible(&self, postings: Postings<'_>, visibility: Visibility) -> bool {
        self.visible_count(visibility) == self.segment.len()
            || postings.docs.iter().any(|doc| self.is_visible(usize::from(*doc), visibility))
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.segment.memory_bytes()
            + self.deleted.memory_bytes()
            + self.columns.memory_bytes()
            + self.vectors.memory_bytes()
            + self.deep.memory_bytes()
            + size_of::<Self>()
    }
}

impl Stored for LiveSegment {
    fn write(&self, to: &mut ArrayWriter<'_>) -> io::Result<()> {
        self.segment.write(to)?;
        self.deleted.write(to)?;
        self.columns.write(to)?;
        self.vectors.write(to)?;
        self.deep.write(to)
    }

    fn read(from: &mut ArrayReader<'_>, len: usize) -> Result<Self, Rejected> {
        let segment = Segment::read(from, len)?;
        let len = segment.len();
        let deleted = BitSet::read(from, len)?;
        let columns = Columns::read(from, len)?;
        let vectors = [Vectors::read(from, len)?, Vectors::read(from, len)?];
        let mut live = Self::new(segment, columns, vectors);
        for doc in deleted.iter() {
            live.delete(live.segment.ids.get(doc));
        }
        Ok(live)
    }
}
