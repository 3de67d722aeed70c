//! The writing side of an index: applies changes, publishes snapshots, merges segments.
//!
//! The writer's lock orders publications: those of writers and those of the background [`merger`].
//! [`bulk_builder`] builds an index from all products of a shop.

mod bulk_builder;
mod merger;
mod shared;

use std::{
    sync::{Arc, OnceLock},
    time::Instant,
};

use arc_swap::ArcSwap;
use catalog::product::{ProductId, ShopId, change::Seq};
use parking_lot::{Mutex, MutexGuard};

pub use self::bulk_builder::IndexBuilder;
use self::{
    merger::Request,
    shared::{Shared, Writer},
};
use super::{
    entry::{DocVectors, EntryVectors, IndexChange, NetChange},
    segment::{LiveSegment, MERGE_POLICY, MergePolicy, build_segments},
    snapshot::Snapshot,
};

/// One shop's products in memory.
pub struct ShopIndex {
    pub(super) shared: Arc<Shared>,
    updates: Mutex<()>,
}

impl ShopIndex {
    /// The index of a shop without products.
    pub fn empty() -> Self {
        Self::with_segments(Seq::default(), Vec::new())
    }

    pub(super) fn with_segments(seq: Seq, segments: Vec<LiveSegment>) -> Self {
        Self::with_policy(seq, segments, MERGE_POLICY)
    }

    pub(super) fn with_policy(seq: Seq, segments: Vec<LiveSegment>, policy: MergePolicy) -> Self {
        let snapshot = ArcSwap::from_pointee(Snapshot::new(seq, segments));
        let (shop, writer) = (OnceLock::new(), Mutex::default());
        let shared = Arc::new(Shared { shop, snapshot, writer, policy });
        shared.compact_later(&mut shared.writer.lock(), &shared.snapshot.load());
        Self { shared, updates: Mutex::default() }
    }

    /// Serialises callers that apply changes from several sources: held from reading the current
    /// state until the changes are applied, it keeps a change from being overtaken by a later one.
    pub fn lock_updates(&self) -> MutexGuard<'_, ()> {
        self.updates.lock()
    }

    /// As [`lock_updates`](Self::lock_updates), but `None` instead of waiting.
    pub fn try_lock_updates(&self) -> Option<MutexGuard<'_, ()>> {
        self.updates.try_lock()
    }

    /// Sets the shop that log messages name.
    pub fn for_shop(self, shop: ShopId) -> Self {
        // A second call has no effect.
        let _ = self.shared.shop.set(shop);
        self
    }

    /// The products as of the last applied change.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.shared.snapshot.load_full()
    }

    /// Applies changes in order and publishes them together, as of `seq`.
    pub fn apply(&self, changes: &[IndexChange<'_>], seq: Seq) {
        let net = NetChange::of(changes);
        // A product with unchanged texts is updated in place. The merger may move it meanwhile, but
        // nothing removes it: changes come from one thread at a time.
        let current = self.snapshot();
        let is_in_place = |id, vectors: &EntryVectors<'_>| {
            matches!(vectors, EntryVectors::Unchanged) && current.contains(id)
        };
        // Texts are indexed before the writer's lock is taken.
        let added = build_segments(net.iter().filter_map(|(id, change)| match change {
            NetChange::Upsert(entry, EntryVectors::Kept) => Some((*entry, current.vectors(*id))),
            NetChange::Upsert(entry, vectors) if !is_in_place(*id, vectors) => {
                Some((*entry, vectors.known().map_or_else(DocVectors::default, Into::into)))
            }
            _ => None,
        }));

        let mut writer = self.shared.writer.lock();
        let mut segments = self.shared.snapshot.load().segments().to_vec();
        for (id, change) in &net {
            if matches!(change, NetChange::Embed(_)) {
                continue;
            }
            // From the newest segment: what was written last is often written again.
            let before = segments.iter_mut().rev().find_map(|live| Some((live.find(*id)?, live)));
            let Some((doc, live)) = before else { continue };
            match change {
                NetChange::Upsert(entry, EntryVectors::Unchanged) => {
                    live.update(doc, entry.hidden, entry.price, entry.version);
                }
                _ => drop(live.delete(*id)),
            }
        }
        let embedded: Vec<_> = net
            .iter()
            .filter_map(|(id, change)| match change {
                NetChange::Embed(vectors) => Some((*id, DocVectors::from(*vectors))),
                NetChange::Upsert(..) | NetChange::Delete => None,
            })
            .collect();
        put_vectors(&mut segments, &embedded);
        segments.retain(|live| live.live_count() > 0);
        if !added.is_empty() {
            writer.last_added = Some(Instant::now());
        }
        segments.extend(added);
        self.shared.merge_inline(&writer, &mut segments);
        let more_to_merge = self.shared.next_background(&writer, &segments).is_some();
        let snapshot = Arc::new(Snapshot::new(seq, segments));
        self.shared.snapshot.store(Arc::clone(&snapshot));
        if more_to_merge && writer.may_queue() {
            writer.queued = true;
            merger::enqueue(Request::Merge(Arc::downgrade(&self.shared)));
        }
        self.shared.compact_later(&mut writer, &snapshot);
    }
}

/// Sets vectors of products, in whichever segment they are.
fn put_vectors(segments: &mut [LiveSegment], new: &[(ProductId, DocVectors<'_>)]) {
    for live in segments {
        let here = new.iter().filter_map(|(id, vectors)| Some((live.find(*id)?, *vectors)));
        let here: Vec<_> = here.collect();
        if !here.is_empty() {
            live.put_vectors(here);
        }
    }
}

impl Shared {
    /// Queues the compaction of the segments, if there is anything to merge.
    fn compact_later(self: &Arc<Self>, writer: &mut Writer, snapshot: &Snapshot) {
        if writer.waiting || writer.is_paused() {
            return;
        }
        let sizes = writer.sizes(snapshot.segments());
        if self.policy.next_compaction(&sizes).is_some() {
            writer.waiting = true;
            merger::enqueue(Request::Compact(Arc::downgrade(self)));
        }
    }
}
