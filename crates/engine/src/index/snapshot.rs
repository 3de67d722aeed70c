//! What does a reader see? The shop's products as of one change, for as long as it looks.

use catalog::{access::Sight, change::Seq, ranking::Corpus, words::QueryWords};

use super::{
    live::LiveSegment,
    search::{self, Matches},
};

/// The products of a shop as of one change. Never changes; writers publish new ones.
#[derive(Debug)]
pub struct Snapshot {
    seq: Seq,
    segments: Vec<LiveSegment>,
    corpus: Corpus,
}

impl Snapshot {
    pub(super) fn new(seq: Seq, segments: Vec<LiveSegment>) -> Self {
        let corpus = segments.iter().fold(Corpus::default(), |sum, live| sum.plus(live.corpus()));
        Self { seq, segments, corpus }
    }

    pub(super) fn segments(&self) -> &[LiveSegment] {
        &self.segments
    }

    /// The last change that this snapshot has seen.
    pub fn seq(&self) -> Seq {
        self.seq
    }

    /// The number of products, hidden ones included.
    pub fn product_count(&self) -> usize {
        self.segments.iter().map(LiveSegment::live_count).sum()
    }

    /// The number of products that are not hidden.
    pub fn visible_count(&self) -> usize {
        self.segments.iter().map(LiveSegment::visible_count).sum()
    }

    /// The number of segments the products are spread over.
    pub fn segment_count(&self) -> usize {
        self.segments.len()
    }

    /// What the index of the shop takes in memory.
    pub fn memory_bytes(&self) -> usize {
        size_of::<Self>() + self.segments.iter().map(LiveSegment::memory_bytes).sum::<usize>()
    }

    /// The products that say at least one word of the query, best first: `limit` of them,
    /// after the first `offset`. Rarity of words and average lengths are those of all products
    /// of the shop, hidden ones included, so that a product's score does not depend on the reader.
    pub fn search(&self, query: &QueryWords, sight: Sight, offset: usize, limit: usize) -> Matches {
        search::search(&self.segments, &self.corpus, query, sight, offset, limit)
    }
}
