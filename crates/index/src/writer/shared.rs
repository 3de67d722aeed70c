//! What writers and the merger of one index share, and which segments are merged next.

use std::{
    sync::{Arc, OnceLock},
    time::Instant,
};

use arc_swap::ArcSwap;
use catalog::product::ShopId;
use parking_lot::Mutex;

use crate::{
    segment::{LiveSegment, MergePlan, MergePolicy, Segment, SegmentSize, merge},
    snapshot::Snapshot,
};

/// What writers and the merger share.
pub(crate) struct Shared {
    /// For the log; set once.
    pub(super) shop: OnceLock<ShopId>,
    pub(super) snapshot: ArcSwap<Snapshot>,
    pub(crate) writer: Mutex<Writer>,
    pub(super) policy: MergePolicy,
}

/// State that the writer's lock protects.
#[derive(Default)]
pub(crate) struct Writer {
    /// Segments of the background merge under way.
    pub(crate) merging: Vec<Arc<Segment>>,
    /// Whether the shop is in the merger's queue.
    pub(crate) queued: bool,
    /// Whether the shop waits for its compaction.
    pub(super) waiting: bool,
    /// When a segment was last added. New vectors and prices change segments in place.
    pub(super) last_added: Option<Instant>,
    /// Background merges that have panicked since the last success.
    pub(super) failed_merges: u32,
    /// Earliest time of the next background merge, after several that failed.
    pub(super) merge_after: Option<Instant>,
    /// Background merges that are made to panic.
    #[cfg(test)]
    pub(super) merges_to_fail: u32,
}

impl Shared {
    /// Does the merges that are too small for the background.
    pub(super) fn merge_inline(&self, writer: &Writer, segments: &mut Vec<LiveSegment>) {
        while let Some(MergePlan { sources, .. }) = self.policy.next_inline(&writer.sizes(segments))
        {
            let taken: Vec<LiveSegment> = sources.iter().map(|at| segments[*at].clone()).collect();
            let mut at = 0;
            segments.retain(|_| {
                at += 1;
                !sources.contains(&(at - 1))
            });
            segments.push(merge(&taken));
        }
    }

    pub(super) fn next_background(
        &self,
        writer: &Writer,
        segments: &[LiveSegment],
    ) -> Option<MergePlan> {
        self.policy.next_background(&writer.sizes(segments))
    }
}

impl Writer {
    /// Whether the shop may enter the merger's queue.
    pub(super) fn may_queue(&self) -> bool {
        !self.queued && !self.is_paused()
    }

    /// Whether background merges pause after several that failed.
    pub(super) fn is_paused(&self) -> bool {
        self.merge_after.is_some_and(|after| after > Instant::now())
    }

    /// Marks segments as being merged, and returns them.
    pub(super) fn begin(
        &mut self,
        segments: &[LiveSegment],
        sources: &[usize],
    ) -> Vec<LiveSegment> {
        let sources: Vec<_> = sources.iter().map(|at| segments[*at].clone()).collect();
        self.merging = sources.iter().map(|live| Arc::clone(&live.segment)).collect();
        sources
    }

    pub(super) fn sizes(&self, segments: &[LiveSegment]) -> Vec<SegmentSize> {
        let is_busy =
            |live: &LiveSegment| self.merging.iter().any(|m| Arc::ptr_eq(m, &live.segment));
        segments
            .iter()
            .map(|live| SegmentSize {
                live: live.live_count(),
                deleted: live.deleted_count(),
                postings: live.segment.posting_count(),
                disordered: live.vectors().disordered(),
                busy: is_busy(live),
            })
            .collect()
    }
}
