//! Which products of a shop match? One shop's products in memory, searchable by word and by
//! vector.
//!
//! Works like a log-structured merge tree without the disk: every group of writes becomes a
//! small immutable [`segment`], small segments are merged into larger ones ([`tiers`],
//! [`merge`], [`merger`]), and a deletion is a bit beside the segment ([`live`]). A change that
//! leaves the texts alone is made in columns beside it ([`columns`]). Readers take a [`Snapshot`]
//! and never wait; the one writer publishes the next.
//!
//! Architecture invariants:
//! - an index holds one shop; nothing here filters by shop;
//! - totals, scores and order depend on the visible products alone, not on how they came to be
//!   there: the statistics are those of the live products that the reader gets to see, exactly.

mod bits;
mod board;
mod build;
mod collect;
mod columns;
mod denied;
mod dense;
#[cfg(test)]
mod dense_tests;
mod dictionary;
mod excerpt;
mod exclude;
#[cfg(test)]
mod filter_tests;
mod gather;
mod lexical;
mod live;
mod load;
mod merge;
mod merger;
#[cfg(test)]
mod model_tests;
mod neighbours;
mod plan;
mod rotation;
mod search;
mod segment;
mod similar;
mod sketch;
mod snapshot;
mod standard;
#[cfg(test)]
mod standard_tests;
mod tiers;
mod vectors;
mod vocabulary;
mod weigh;

use std::{
    collections::BTreeMap,
    sync::{Arc, OnceLock},
    time::Instant,
};

use arc_swap::ArcSwap;
use catalog::{
    change::Seq,
    price::Money,
    product::{ProductId, ShopId},
};
use parking_lot::{Mutex, MutexGuard};

use crate::embed::StoredVector;

use self::{
    build::SegmentBuilder,
    live::LiveSegment,
    segment::{MAX_PRODUCTS, Segment},
    tiers::{Merge, POLICY, Policy, Shape},
};
pub use self::{
    dense::QueryVector,
    excerpt::CandidateIndex,
    load::IndexBuilder,
    plan::{DenseQuery, Plan, QueryKind},
    search::Matches,
    snapshot::{Snapshot, SnapshotId},
};

/// What the index needs to know of a product.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'a> {
    /// Its number.
    pub id: ProductId,
    /// The change that wrote it last.
    pub version: Seq,
    /// Whether only some readers get to see it.
    pub hidden: bool,
    /// Its price; `None` where it cannot be parsed.
    pub price: Option<Money>,
    /// Its title.
    pub title: &'a str,
    /// Its description.
    pub description: &'a str,
    /// Its vector.
    pub vector: EntryVector<'a>,
}

/// The vector of an [`Entry`]. All vectors of an index come from one model.
#[derive(Clone, Copy, Debug)]
pub enum EntryVector<'a> {
    /// The product has no vector yet.
    Missing,
    /// Texts and vector are those that the index already holds.
    Unchanged,
    /// The vector of the texts.
    Known(&'a StoredVector),
}

impl<'a> EntryVector<'a> {
    fn known(self) -> Option<&'a StoredVector> {
        match self {
            Self::Known(vector) => Some(vector),
            Self::Missing | Self::Unchanged => None,
        }
    }
}

/// One change to the shop's products.
#[derive(Clone, Copy, Debug)]
pub enum IndexChange<'a> {
    /// The product exists and is this.
    Upsert(Entry<'a>),
    /// The product does not exist. No product of this id is not an error.
    Delete(ProductId),
    /// The product, if it exists, means this.
    Embed(ProductId, &'a StoredVector),
}

/// What a group of changes does to one product in the end.
#[derive(Clone, Copy)]
enum Net<'a> {
    Upsert(&'a Entry<'a>, EntryVector<'a>),
    Delete,
    Embed(&'a StoredVector),
}

impl<'a> Net<'a> {
    fn of(changes: &'a [IndexChange<'a>]) -> BTreeMap<ProductId, Self> {
        let mut net = BTreeMap::new();
        for change in changes {
            let (id, now) = match change {
                IndexChange::Upsert(entry) => (entry.id, Self::Upsert(entry, entry.vector)),
                IndexChange::Delete(id) => (*id, Self::Delete),
                IndexChange::Embed(id, vector) => (*id, Self::Embed(vector)),
            };
            let then = net.get(&id).map_or(now, |before: &Self| before.then(now));
            net.insert(id, then);
        }
        net
    }

    fn then(self, next: Self) -> Self {
        match (self, next) {
            (Self::Upsert(entry, _), Self::Embed(vector)) => {
                Self::Upsert(entry, EntryVector::Known(vector))
            }
            (Self::Delete, Self::Embed(_)) => Self::Delete,
            (Self::Upsert(_, vector), Self::Upsert(entry, EntryVector::Unchanged)) => {
                Self::Upsert(entry, vector)
            }
            (Self::Embed(vector), Self::Upsert(entry, EntryVector::Unchanged)) => {
                Self::Upsert(entry, EntryVector::Known(vector))
            }
            (_, next) => next,
        }
    }
}

/// One shop's products in memory.
pub struct ShopIndex {
    shared: Arc<Shared>,
    turn: Mutex<()>,
}

/// What writers and the merging thread share.
struct Shared {
    /// Which shop it is, for the log.
    shop: OnceLock<ShopId>,
    snapshot: ArcSwap<Snapshot>,
    writer: Mutex<Writer>,
    policy: Policy,
}

/// What only the holder of the writer's lock may touch. The lock is what orders the
/// publications of writers and of the merging thread.
#[derive(Default)]
struct Writer {
    /// Segments that the merging thread is working on.
    merging: Vec<Arc<Segment>>,
    /// Whether the merging thread knows of this shop.
    queued: bool,
    /// Background merges that have panicked since the last one that succeeded.
    failed_merges: u32,
    /// No background merge is tried before, after several that failed.
    merge_after: Option<Instant>,
    /// Background merges that are made to panic.
    #[cfg(test)]
    merges_to_fail: u32,
}

impl ShopIndex {
    /// The index of a shop without products.
    pub fn empty() -> Self {
        Self::with_segments(Seq::default(), Vec::new())
    }

    fn with_segments(seq: Seq, segments: Vec<LiveSegment>) -> Self {
        Self::with_policy(seq, segments, POLICY)
    }

    fn with_policy(seq: Seq, segments: Vec<LiveSegment>, policy: Policy) -> Self {
        let snapshot = ArcSwap::from_pointee(Snapshot::new(seq, segments));
        let (shop, writer) = (OnceLock::new(), Mutex::default());
        let shared = Arc::new(Shared { shop, snapshot, writer, policy });
        Self { shared, turn: Mutex::default() }
    }

    /// Waits for the turn to apply changes. A caller with several sources of changes holds it
    /// from reading what is shown until the changes are applied, so that no change is overtaken
    /// by a later one.
    pub(crate) fn lock_updates(&self) -> MutexGuard<'_, ()> {
        self.turn.lock()
    }

    /// As [`lock_updates`](Self::lock_updates), but `None` where it would have to wait.
    pub(crate) fn try_lock_updates(&self) -> Option<MutexGuard<'_, ()>> {
        self.turn.try_lock()
    }

    /// Says which shop it is.
    pub(crate) fn for_shop(self, shop: ShopId) -> Self {
        // It stays what it was, if it was said before.
        let _ = self.shared.shop.set(shop);
        self
    }

    /// The products as of the last change that was applied.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.shared.snapshot.load_full()
    }

    /// Applies changes in order and publishes them together, as of `seq`.
    pub fn apply(&self, changes: &[IndexChange<'_>], seq: Seq) {
        let net = Net::of(changes);
        // A product whose texts are the same is changed where it is. The merging thread may move it
        // meanwhile, but nothing else takes it away: changes come from one thread at a time.
        let current = self.snapshot();
        let is_in_place = |id, vector: &EntryVector<'_>| {
            matches!(vector, EntryVector::Unchanged) && current.holds(id)
        };
        let added = segments_of(net.iter().filter_map(|(id, change)| match change {
            Net::Upsert(entry, vector) if !is_in_place(*id, vector) => {
                Some((*entry, vector.known()))
            }
            _ => None,
        }));

        let mut writer = self.shared.writer.lock();
        let mut segments = self.shared.snapshot.load().segments().to_vec();
        for (id, change) in &net {
            if matches!(change, Net::Embed(_)) {
                continue;
            }
            // The newest segments hold what was written last, which is often written again.
            let before = segments.iter_mut().rev().find_map(|live| Some((live.find(*id)?, live)));
            let Some((doc, live)) = before else { continue };
            match change {
                Net::Upsert(entry, EntryVector::Unchanged) => {
                    live.update(doc, entry.hidden, entry.price, entry.version);
                }
                _ => drop(live.delete(*id)),
            }
        }
        let embedded: Vec<_> = net
            .iter()
            .filter_map(|(id, change)| match change {
                Net::Embed(vector) => Some((*id, vector.numbers())),
                Net::Upsert(..) | Net::Delete => None,
            })
            .collect();
        put_vectors(&mut segments, &embedded);
        segments.retain(|live| live.live_count() > 0);
        segments.extend(added);
        self.shared.merge_inline(&writer, &mut segments);
        let more_to_merge = self.shared.next_background(&writer, &segments).is_some();
        self.shared.snapshot.store(Arc::new(Snapshot::new(seq, segments)));
        if more_to_merge && writer.may_queue() {
            writer.queued = true;
            merger::enqueue(Arc::downgrade(&self.shared));
        }
    }
}

/// Segments of products in ascending order of id: one, unless the group is huge.
fn segments_of<'a>(
    entries: impl Iterator<Item = (&'a Entry<'a>, Option<&'a StoredVector>)>,
) -> Vec<LiveSegment> {
    let mut entries = entries.peekable();
    let mut segments = Vec::new();
    while entries.peek().is_some() {
        let mut builder = SegmentBuilder::default();
        let fitting = entries.by_ref().take(MAX_PRODUCTS);
        fitting.for_each(|(entry, vector)| builder.add(entry, vector));
        segments.push(builder.finish());
    }
    segments
}

/// Gives products new vectors, wherever they are.
fn put_vectors(segments: &mut [LiveSegment], new: &[(ProductId, &[i8])]) {
    for live in segments {
        let here = new.iter().filter_map(|(id, numbers)| Some((live.find(*id)?, *numbers)));
        let here: Vec<_> = here.collect();
        if !here.is_empty() {
            live.put_vectors(here);
        }
    }
}

impl Shared {
    /// Does the merges that are too small to be handed over.
    fn merge_inline(&self, writer: &Writer, segments: &mut Vec<LiveSegment>) {
        while let Some(Merge { sources, .. }) = self.policy.next_inline(&writer.shapes(segments)) {
            let taken: Vec<LiveSegment> = sources.iter().map(|at| segments[*at].clone()).collect();
            let mut at = 0;
            segments.retain(|_| {
                at += 1;
                !sources.contains(&(at - 1))
            });
            segments.push(merge::merge(&taken));
        }
    }

    fn next_background(&self, writer: &Writer, segments: &[LiveSegment]) -> Option<Merge> {
        self.policy.next_background(&writer.shapes(segments))
    }
}

impl Writer {
    /// Whether the merging thread is to be told of a background merge.
    fn may_queue(&self) -> bool {
        !self.queued && self.merge_after.is_none_or(|after| after <= Instant::now())
    }

    fn shapes(&self, segments: &[LiveSegment]) -> Vec<Shape> {
        let is_busy =
            |live: &LiveSegment| self.merging.iter().any(|m| Arc::ptr_eq(m, &live.segment));
        segments
            .iter()
            .map(|live| Shape {
                live: live.live_count(),
                dead: live.dead_count(),
                postings: live.segment.posting_count(),
                busy: is_busy(live),
            })
            .collect()
    }
}
