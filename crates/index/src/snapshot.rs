//! Snapshots: the immutable state of an index that a reader holds.

use std::sync::{
    OnceLock,
    atomic::{AtomicU64, Ordering},
};

use catalog::{
    product::{ProductId, access::Visibility, change::Seq, inferred::CategoryIndex},
    ranking::{bm25f::CorpusStats, hits::Hit},
    text::{
        vocabulary::{TermLookup, Vocabulary},
        word_forms::ShopLanguages,
    },
};
#[cfg(any(test, feature = "testing"))]
use catalog::{
    query::{filter::ProductFilter, sort::Sort},
    text::analysis::QueryTerms,
};
use embed::TextLanguage;

#[cfg(any(test, feature = "testing"))]
use super::plan::QueryKind;
use super::{
    entry::DocVectors,
    lexical::{self, Statistics},
    plan::Plan,
    scoring::{self, Matches},
    segment::LiveSegment,
};

/// Identifies a snapshot among those of all shops of this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SnapshotId(u64);

impl SnapshotId {
    /// A new identifier.
    pub fn next() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// The products of a shop as of one change. Immutable.
#[derive(Debug)]
pub struct Snapshot {
    id: SnapshotId,
    seq: Seq,
    segments: Vec<LiveSegment>,
    /// Statistics of all products.
    corpus: CorpusStats,
    /// Statistics of the products that are not hidden.
    visible: CorpusStats,
    /// The languages of all products, and of those that are not hidden, once they are needed.
    languages: [OnceLock<ShopLanguages>; 2],
    /// The language of most of them, likewise.
    main_languages: [OnceLock<TextLanguage>; 2],
}

impl Snapshot {
    pub(super) fn new(seq: Seq, segments: Vec<LiveSegment>) -> Self {
        let sum = |visibility| {
            let each = segments.iter().map(|live| live.corpus(visibility));
            each.fold(CorpusStats::default(), CorpusStats::plus)
        };
        let (corpus, visible) = (sum(Visibility::All), sum(Visibility::VisibleOnly));
        let (id, languages, main_languages) =
            (SnapshotId::next(), Default::default(), Default::default());
        Self { id, seq, segments, corpus, visible, languages, main_languages }
    }

    pub(super) fn segments(&self) -> &[LiveSegment] {
        &self.segments
    }

    /// Identifies this snapshot.
    pub fn id(&self) -> SnapshotId {
        self.id
    }

    /// The last change that this snapshot contains.
    pub fn seq(&self) -> Seq {
        self.seq
    }

    /// Statistics of the visible products.
    pub(super) fn corpus(&self, visibility: Visibility) -> &CorpusStats {
        match visibility {
            Visibility::VisibleOnly => &self.visible,
            Visibility::All => &self.corpus,
        }
    }

    /// Whether the index holds a product.
    pub(super) fn contains(&self, id: ProductId) -> bool {
        self.segments.iter().any(|live| live.find(id).is_some())
    }

    /// The vectors of a product.
    pub fn vectors(&self, id: ProductId) -> DocVectors<'_> {
        let found = self.find(id);
        found.map(|(live, doc)| live.vectors_of(doc)).unwrap_or_default()
    }

    /// The likeliest category of a product.
    pub fn likely_category(&self, id: ProductId) -> Option<CategoryIndex> {
        let (live, doc) = self.find(id)?;
        live.segment.inferred.get(doc).likely_category
    }

    /// The segment of a product, and its place there.
    fn find(&self, id: ProductId) -> Option<(&LiveSegment, usize)> {
        self.segments.iter().find_map(|live| Some((live, live.find(id)?)))
    }

    /// Whether a visible product has this key.
    pub fn contains_key(&self, key: &str, visibility: Visibility) -> bool {
        self.segments.iter().any(|live| live.find_key(key, visibility).is_some())
    }

    /// Number of products, hidden ones included.
    pub fn product_count(&self) -> usize {
        self.corpus.products as usize
    }

    /// Number of products that are not hidden.
    pub fn visible_count(&self) -> usize {
        self.visible.products as usize
    }

    /// Number of segments.
    pub fn segment_count(&self) -> usize {
        self.segments.len()
    }

    /// Memory of the snapshot, shared parts included.
    pub fn memory_bytes(&self) -> usize {
        size_of::<Self>() + self.segments.iter().map(LiveSegment::memory_bytes).sum::<usize>()
    }

    /// Memory of attributes and keys, without their words.
    pub fn attribute_bytes(&self) -> usize {
        self.segments.iter().map(|live| live.segment.attribute_bytes()).sum()
    }

    /// Whether any product visible contains a term, given as it is indexed.
    pub fn contains_term(&self, term: &str, visibility: Visibility) -> bool {
        lexical::is_known(&self.segments, visibility, term)
    }

    /// The language of most visible products.
    pub fn language(&self, visibility: Visibility) -> TextLanguage {
        let known = &self.main_languages[usize::from(visibility == Visibility::VisibleOnly)];
        *known.get_or_init(|| lexical::language(&self.segments, visibility))
    }

    /// Calls `f` with the terms of the visible products. `is_word` tells words of the language.
    pub fn with_vocabulary(
        &self,
        visibility: Visibility,
        is_word: TermLookup,
        f: &mut dyn FnMut(&Vocabulary<'_>),
    ) {
        let known = &self.languages[usize::from(visibility == Visibility::VisibleOnly)];
        let languages = || *known.get_or_init(|| lexical::languages(&self.segments, visibility));
        lexical::with_vocabulary(&self.segments, visibility, &languages, is_word, f);
    }

    /// The products that satisfy a plan, in its order. All statistics are those of the products in
    /// the plan's visibility: the result is the same as if there were no others.
    ///
    /// `verify` is called with products whose terms do not decide whether they match an exclusion of
    /// the plan, and returns those whose texts do: once, and once more for each facet whose own
    /// conditions are left out.
    pub fn search<E>(
        &self,
        plan: &Plan<'_>,
        verify: impl FnMut(&[ProductId]) -> Result<Vec<ProductId>, E>,
    ) -> Result<Matches, E> {
        let visibility = plan.visibility;
        let statistics =
            Statistics { visibility, corpus: self.corpus(visibility), doc_freqs: None };
        scoring::search(&self.segments, &statistics, plan, verify)
    }

    /// The visible products that are most similar to a product, without itself, which need not be
    /// visible.
    pub fn similar(&self, id: ProductId, visibility: Visibility, limit: usize) -> Vec<Hit> {
        scoring::similar(&self.segments, id, visibility, limit)
    }

    /// The products with at least one of the words, best first.
    #[cfg(any(test, feature = "testing"))]
    pub fn search_words(
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

/// The plan of a search by terms alone.
#[cfg(any(test, feature = "testing"))]
pub(super) fn plan_of(
    words: &QueryTerms,
    visibility: Visibility,
    offset: usize,
    limit: usize,
) -> Plan<'static> {
    Plan {
        kind: QueryKind::Terms(words.clone()),
        dense: None,
        rerank: None,
        title_fingerprint: 0,
        key: None,
        price_ranges: Vec::new(),
        exclusions: &[],
        filter: ProductFilter::none(),
        facets: &[],
        facet_limit: 0,
        order: Sort::Relevance,
        visibility,
        offset,
        limit,
        explain: false,
        threads: 1,
        tuning: catalog::ranking::tuning::TUNING,
        deadline: None,
    }
}
