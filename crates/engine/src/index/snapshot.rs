//! What does a reader see? The shop's products as of one change, for as long as it looks.

use std::sync::atomic::{AtomicU64, Ordering};

#[cfg(test)]
use catalog::analysis::QueryTerms;
use catalog::{
    access::Visibility,
    change::Seq,
    product::ProductId,
    query_parser::{ParsedQuery, TermLookup},
    ranking::{CorpusStats, Hit},
};

#[cfg(test)]
use super::QueryKind;
use super::{
    Plan,
    lexical::Statistics,
    live::LiveSegment,
    search::{self, Matches},
    similar, vocabulary,
};

/// Tells a snapshot from every other of this process, of whatever shop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SnapshotId(u64);

impl SnapshotId {
    /// One that no snapshot had before.
    pub(crate) fn next() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// The products of a shop as of one change. Never changes; writers publish new ones.
#[derive(Debug)]
pub struct Snapshot {
    id: SnapshotId,
    seq: Seq,
    segments: Vec<LiveSegment>,
    /// The sums over all products.
    corpus: CorpusStats,
    /// The sums over those that are not hidden.
    visible: CorpusStats,
}

impl Snapshot {
    pub(super) fn new(seq: Seq, segments: Vec<LiveSegment>) -> Self {
        let sum = |visibility| {
            let each = segments.iter().map(|live| live.corpus(visibility));
            each.fold(CorpusStats::default(), CorpusStats::plus)
        };
        let (corpus, visible) = (sum(Visibility::All), sum(Visibility::VisibleOnly));
        Self { id: SnapshotId::next(), seq, segments, corpus, visible }
    }

    pub(super) fn segments(&self) -> &[LiveSegment] {
        &self.segments
    }

    /// What tells this snapshot from every other.
    pub fn id(&self) -> SnapshotId {
        self.id
    }

    /// The last change that this snapshot has seen.
    pub fn seq(&self) -> Seq {
        self.seq
    }

    /// The sums over all visible products.
    pub(super) fn corpus(&self, visibility: Visibility) -> &CorpusStats {
        match visibility {
            Visibility::VisibleOnly => &self.visible,
            Visibility::All => &self.corpus,
        }
    }

    /// Whether there is a product of this id.
    pub(super) fn holds(&self, id: ProductId) -> bool {
        self.segments.iter().any(|live| live.find(id).is_some())
    }

    /// The number of products, hidden ones included.
    pub fn product_count(&self) -> usize {
        self.corpus.products as usize
    }

    /// The number of products that are not hidden.
    pub fn visible_count(&self) -> usize {
        self.visible.products as usize
    }

    /// The number of segments the products are spread over.
    pub fn segment_count(&self) -> usize {
        self.segments.len()
    }

    /// What the index of the shop takes in memory.
    pub fn memory_bytes(&self) -> usize {
        size_of::<Self>() + self.segments.iter().map(LiveSegment::memory_bytes).sum::<usize>()
    }

    /// Whether any visible product says this word, given as the index has it.
    pub fn contains_term(&self, word: &str, visibility: Visibility) -> bool {
        vocabulary::is_known(&self.segments, visibility, word)
    }

    /// Corrects words of a query that no visible product says, and that are no words at all, to
    /// words that such products say.
    pub fn correct(
        &self,
        query: &str,
        visibility: Visibility,
        is_word: TermLookup,
        parsed: &mut ParsedQuery,
    ) {
        vocabulary::correct(&self.segments, visibility, query, is_word, parsed);
    }

    /// The products that satisfy a plan, in its order. Rarity of words and average lengths are
    /// those of the products visible to the plan: the answer is the same as if there were no
    /// others.
    ///
    /// `judge` is asked at most once and returns those of the products whose texts break an
    /// exclusion of the plan, where words alone cannot tell.
    pub fn search<E>(
        &self,
        plan: &Plan<'_>,
        judge: impl FnOnce(&[ProductId]) -> Result<Vec<ProductId>, E>,
    ) -> Result<Matches, E> {
        let visibility = plan.visibility;
        let statistics =
            Statistics { visibility, corpus: self.corpus(visibility), products_with: None };
        search::search(&self.segments, &statistics, plan, judge)
    }

    /// The visible products that are nearest to this one, nearest first and without itself.
    /// Whether it is visible too makes no difference.
    pub fn similar(&self, id: ProductId, visibility: Visibility, limit: usize) -> Vec<Hit> {
        similar::similar(&self.segments, id, visibility, limit)
    }

    /// The products that say at least one of the words, best first.
    #[cfg(test)]
    pub(crate) fn search_words(
        &self,
        words: &QueryTerms,
        visibility: Visibility,
        offset: usize,
        limit: usize,
    ) -> Matches {
        let plan = plan_of(words, visibility, offset, limit);
        let Ok(found) = self.search(&plan, |_| Ok::<_, std::convert::Infallible>(Vec::new()));
        found
    }
}

/// The plan of a search for words alone.
#[cfg(test)]
pub(super) fn plan_of(
    words: &QueryTerms,
    visibility: Visibility,
    offset: usize,
    limit: usize,
) -> Plan<'static> {
    Plan {
        kind: QueryKind::Terms(words.clone()),
        dense: None,
        title_fingerprint: 0,
        price_ranges: Vec::new(),
        exclusions: &[],
        order: None,
        visibility,
        offset,
        limit,
        explain: false,
        threads: 1,
        tuning: catalog::tuning::TUNING,
        deadline: None,
    }
}
