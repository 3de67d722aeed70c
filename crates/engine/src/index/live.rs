//! Which products of a segment still count? A segment with its deletions.

use std::sync::Arc;

use catalog::{
    access::Visibility, change::Seq, price::Money, product::ProductId, ranking::CorpusStats,
};

use super::{
    bits::{BLOCK, Bits, ones},
    columns::Columns,
    segment::{Postings, Segment},
    vectors::Vectors,
};

/// A segment, which of its products were deleted or replaced since it was made, what changed of
/// them beside their texts, and what they mean, as far as that is known by now.
#[derive(Clone, Debug)]
pub(super) struct LiveSegment {
    pub(super) segment: Arc<Segment>,
    /// Shared with older snapshots, copied when it changes.
    dead: Arc<Bits>,
    /// Shared likewise.
    columns: Arc<Columns>,
    /// Shared likewise.
    vectors: Arc<Vectors>,
    corpus: CorpusStats,
    /// The sums over the products that count and are not hidden.
    visible: CorpusStats,
}

impl LiveSegment {
    /// A segment of which every product counts, with the other columns and the vectors of its
    /// products.
    pub(super) fn new(segment: Segment, columns: Columns, vectors: Vectors) -> Self {
        let mut corpus = CorpusStats::default();
        segment.lengths.iter().for_each(|lengths| corpus.add(*lengths));
        let mut visible = corpus;
        columns.hidden().iter().for_each(|doc| visible.remove(segment.lengths[doc]));
        let dead = Arc::new(Bits::new(segment.len()));
        let (columns, vectors) = (Arc::new(columns), Arc::new(vectors));
        Self { segment: Arc::new(segment), dead, columns, vectors, corpus, visible }
    }

    /// What may change of the products without their texts.
    #[inline]
    pub(super) fn columns(&self) -> &Columns {
        &self.columns
    }

    /// Changes a product that counts, but not its texts.
    pub(super) fn update(&mut self, doc: usize, hidden: bool, price: Option<Money>, version: Seq) {
        let lengths = self.segment.lengths[doc];
        match (self.columns.hidden().get(doc), hidden) {
            (false, true) => self.visible.remove(lengths),
            (true, false) => self.visible.add(lengths),
            _ => {}
        }
        Arc::make_mut(&mut self.columns).put(doc, hidden, price, version);
    }

    /// What the products mean.
    #[inline]
    pub(super) fn vectors(&self) -> &Vectors {
        &self.vectors
    }

    /// The number of a product that counts.
    pub(super) fn find(&self, id: ProductId) -> Option<usize> {
        self.segment.find(id).filter(|doc| !self.is_dead(*doc))
    }

    /// Gives products new vectors.
    pub(super) fn put_vectors<'a>(&mut self, new: impl IntoIterator<Item = (usize, &'a [i8])>) {
        let vectors = Arc::make_mut(&mut self.vectors);
        new.into_iter().for_each(|(doc, numbers)| vectors.put(doc, numbers));
    }

    /// The sums over the products that count and may be seen.
    pub(super) fn corpus(&self, visibility: Visibility) -> CorpusStats {
        match visibility {
            Visibility::VisibleOnly => self.visible,
            Visibility::All => self.corpus,
        }
    }

    /// The number of products that count.
    pub(super) fn live_count(&self) -> usize {
        self.corpus.products as usize
    }

    /// The number of products that count and may be seen.
    pub(super) fn seen_count(&self, visibility: Visibility) -> usize {
        self.corpus(visibility).products as usize
    }

    pub(super) fn dead_count(&self) -> usize {
        self.segment.len() - self.live_count()
    }

    #[inline]
    pub(super) fn is_dead(&self, doc: usize) -> bool {
        self.dead.get(doc)
    }

    /// Which of the products from `block * BLOCK` on count and may be seen.
    #[inline]
    pub(super) fn seen(&self, block: usize, visibility: Visibility) -> u64 {
        let unseen = match visibility {
            Visibility::VisibleOnly => self.columns.hidden().block(block),
            Visibility::All => 0,
        };
        !(self.dead.block(block) | unseen)
    }

    /// Whether a product counts and may be seen.
    #[inline]
    pub(super) fn is_seen(&self, doc: usize, visibility: Visibility) -> bool {
        self.seen(doc / BLOCK, visibility) >> (doc % BLOCK) & 1 == 1
    }

    /// Lets a product no longer count; whether it did before.
    pub(super) fn delete(&mut self, id: ProductId) -> bool {
        let Some(doc) = self.find(id) else { return false };
        Arc::make_mut(&mut self.dead).set(doc);
        let lengths = self.segment.lengths[doc];
        self.corpus.remove(lengths);
        if !self.columns.hidden().get(doc) {
            self.visible.remove(lengths);
        }
        true
    }

    /// How many of the products of a word count and may be seen. Costs nothing where all products
    /// of the segment do; otherwise no more than a walk through the postings.
    pub(super) fn seen_among(&self, postings: Postings<'_>, visibility: Visibility) -> usize {
        let all = postings.docs.len();
        let unseen = self.segment.len() - self.seen_count(visibility);
        let blocks = self.segment.len().div_ceil(BLOCK);
        let steps_to_look_up = blocks + unseen * (all.max(1).ilog2() as usize + 1);
        let unseen_among = if unseen == 0 {
            0
        } else if steps_to_look_up < all {
            let unseen = (0..blocks).flat_map(|block| {
                ones(!self.seen(block, visibility)).map(move |at| block * BLOCK + at)
            });
            unseen.filter(|doc| postings.docs.binary_search(&(*doc as _)).is_ok()).count()
        } else {
            postings.docs.iter().filter(|doc| !self.is_seen(usize::from(**doc), visibility)).count()
        };
        all - unseen_among
    }

    /// Whether any of the products of a word counts and may be seen.
    pub(super) fn is_any_seen(&self, postings: Postings<'_>, visibility: Visibility) -> bool {
        self.seen_count(visibility) == self.segment.len()
            || postings.docs.iter().any(|doc| self.is_seen(usize::from(*doc), visibility))
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.segment.memory_bytes()
            + self.dead.memory_bytes()
            + self.columns.memory_bytes()
            + self.vectors.memory_bytes()
            + size_of::<Self>()
    }
}
