//! Who merges the large segments? One background thread for all shops, so that neither
//! writers nor readers wait and the work takes at most one core.
//!
//! A merge reads segments as they are when it begins. Writers go on meanwhile, and what they
//! delete or give a new vector is deleted from the merged segment, or given the vector there,
//! before it is published.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, OnceLock, Weak,
        mpsc::{Receiver, Sender, channel},
    },
    thread,
};

use super::{Shared, live::LiveSegment, merge::merge, snapshot::Snapshot};

/// Shops with a merge to do. Those that have left memory in the meantime are passed over.
static QUEUE: OnceLock<Sender<Weak<Shared>>> = OnceLock::new();

/// Has the shop's next background merge done, soon.
pub(super) fn enqueue(shop: Weak<Shared>) {
    let queue = QUEUE.get_or_init(|| {
        let (sender, receiver) = channel();
        let thread = thread::Builder::new().name("index-merge".to_owned());
        if let Err(error) = thread.spawn(move || run(&receiver)) {
            tracing::error!(%error, "cannot start the thread that merges index segments");
        }
        sender
    });
    // Without the thread, segments stay as they are: searches are slower and still right.
    let _ = queue.send(shop);
}

fn run(queue: &Receiver<Weak<Shared>>) {
    while let Ok(shop) = queue.recv() {
        let Some(shared) = shop.upgrade() else { continue };
        // One merge a turn: shops with much to merge do not keep the others waiting.
        match catch_unwind(AssertUnwindSafe(|| shared.merge_in_background())) {
            Ok(true) => enqueue(shop),
            Ok(false) => {}
            Err(_) => tracing::error!("merging index segments failed; the shop keeps its segments"),
        }
    }
}

impl Shared {
    /// Does the next large merge, if there is one, and says so.
    fn merge_in_background(&self) -> bool {
        let Some(sources) = self.begin_merge() else { return false };
        let merged = merge(&sources);
        self.publish_merge(&sources, merged);
        true
    }

    /// Takes the segments of the next large merge; without one, the shop leaves the queue.
    pub(super) fn begin_merge(&self) -> Option<Vec<LiveSegment>> {
        let mut writer = self.writer.lock();
        let snapshot = self.snapshot.load();
        let Some(merge) = self.next_background(&writer, snapshot.segments()) else {
            writer.queued = false;
            return None;
        };
        let sources: Vec<_> =
            merge.sources.iter().map(|at| snapshot.segments()[*at].clone()).collect();
        writer.merging = sources.iter().map(|live| Arc::clone(&live.segment)).collect();
        Some(sources)
    }

    /// Puts the merged segment in the place of its sources.
    pub(super) fn publish_merge(&self, sources: &[LiveSegment], mut merged: LiveSegment) {
        let mut writer = self.writer.lock();
        let snapshot = self.snapshot.load();
        let mut segments = snapshot.segments().to_vec();
        for source in sources {
            let at = segments.iter().position(|live| Arc::ptr_eq(&live.segment, &source.segment));
            let now = at.map(|at| segments.remove(at));
            carry_over_deletions(source, now.as_ref(), &mut merged);
            if let Some(now) = now {
                carry_over_vectors(source, &now, &mut merged);
            }
        }
        if merged.live_count() > 0 {
            segments.push(merged);
        }
        writer.merging.clear();
        self.snapshot.store(Arc::new(Snapshot::new(snapshot.seq(), segments)));
    }
}

/// Deletes from `merged` what was deleted from a source since it was read. A source that is
/// gone has lost all its products.
fn carry_over_deletions(source: &LiveSegment, now: Option<&LiveSegment>, merged: &mut LiveSegment) {
    if now.is_some_and(|now| now.dead_count() == source.dead_count()) {
        return;
    }
    for (doc, id) in source.segment.ids.iter().enumerate() {
        if !source.is_dead(doc) && now.is_none_or(|now| now.is_dead(doc)) {
            merged.delete(*id);
        }
    }
}

/// Gives the products of `merged` the vectors that came since a source was read.
fn carry_over_vectors(source: &LiveSegment, now: &LiveSegment, merged: &mut LiveSegment) {
    let changed = now.vectors().changed_since(source.vectors());
    let new: Vec<_> = changed
        .filter_map(|doc| {
            let to = merged.find(now.segment.ids[doc])?;
            Some((to, now.vectors().get(doc)?))
        })
        .collect();
    merged.put_vectors(new);
}
