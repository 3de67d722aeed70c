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
    time::{Duration, Instant},
};

use super::{Shared, live::LiveSegment, merge::merge, snapshot::Snapshot};

/// A merge that panics is tried this many times without a pause.
const MERGES_AT_ONCE: u32 = 3;
/// The pause after that; it doubles with every failure.
const FIRST_MERGE_PAUSE: Duration = Duration::from_secs(1);
/// The longest pause.
const LONGEST_MERGE_PAUSE: Duration = Duration::from_secs(600);

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
            Err(_) if shared.abandon_merge() => enqueue(shop),
            Err(_) => {}
        }
    }
}

impl Shared {
    /// Does the next large merge, if there is one, and says so.
    fn merge_in_background(&self) -> bool {
        let Some(sources) = self.begin_merge() else { return false };
        #[cfg(test)]
        self.fail_if_told();
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

    /// Gives up a merge that panicked: its segments stay as they are and can be merged again. Says
    /// whether to try again at once. After several failures the next write tries again, later and
    /// later.
    fn abandon_merge(&self) -> bool {
        let mut writer = self.writer.lock();
        writer.merging.clear();
        writer.failed_merges = writer.failed_merges.saturating_add(1);
        let failures = writer.failed_merges;
        let again = failures < MERGES_AT_ONCE;
        writer.queued = again;
        if !again {
            let doubled = FIRST_MERGE_PAUSE * (1 << (failures - MERGES_AT_ONCE).min(16));
            writer.merge_after = Some(Instant::now() + doubled.min(LONGEST_MERGE_PAUSE));
        }
        let shop = self.shop.get().map(|shop| shop.get());
        tracing::error!(shop, failures, "merging index segments panicked");
        again
    }

    #[cfg(test)]
    fn fail_if_told(&self) {
        let mut writer = self.writer.lock();
        if writer.merges_to_fail > 0 {
            writer.merges_to_fail -= 1;
            drop(writer);
            panic!("this merge was told to fail");
        }
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
                carry_over_columns(source, &now, &mut merged);
                carry_over_vectors(source, &now, &mut merged);
            }
        }
        if merged.live_count() > 0 {
            segments.push(merged);
        }
        writer.merging.clear();
        (writer.failed_merges, writer.merge_after) = (0, None);
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

/// Makes the changes to products of `merged` that came since a source was read.
fn carry_over_columns(source: &LiveSegment, now: &LiveSegment, merged: &mut LiveSegment) {
    let columns = now.columns();
    for doc in columns.changed_since(source.columns()) {
        if let Some(to) = merged.find(now.segment.ids[doc]) {
            merged.update(to, columns.hidden().get(doc), columns.price(doc), columns.version(doc));
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

#[cfg(test)]
mod tests {
    use catalog::{change::Seq, price::Price, product::ProductId};

    use super::*;
    use crate::index::{Entry, EntryVector, IndexChange, ShopIndex, tiers::Policy};

    /// Hands every merge to the merging thread.
    const POLICY: Policy = Policy { fanout: 2, max_products: 1000, inline_postings: 0 };

    struct Bench {
        index: ShopIndex,
        products: u64,
    }

    impl Bench {
        fn new() -> Self {
            let index = ShopIndex::with_policy(Seq::default(), Vec::new(), POLICY);
            Self { index, products: 0 }
        }

        fn create(&mut self) {
            self.products += 1;
            let entry = Entry {
                id: ProductId::new(self.products).unwrap(),
                version: Seq(self.products),
                hidden: false,
                price: Price::parse("$1").unwrap().money(),
                title: "lamp",
                description: "",
                vector: EntryVector::Missing,
            };
            self.index.apply(&[IndexChange::Upsert(entry)], Seq(self.products));
        }

        fn fail_merges(&self, count: u32) {
            self.index.shared.writer.lock().merges_to_fail = count;
        }

        /// Waits until no merge is left to do.
        fn wait_until_merged(&self) {
            let until = Instant::now() + Duration::from_secs(20);
            while self.index.snapshot().segment_count() > 1 {
                assert!(Instant::now() < until, "the segments were not merged");
                thread::sleep(Duration::from_millis(5));
            }
        }
    }

    #[test]
    fn a_merge_that_panics_is_tried_again() {
        let mut bench = Bench::new();
        bench.fail_merges(MERGES_AT_ONCE - 1);
        bench.create();
        bench.create();
        bench.wait_until_merged();
        assert_eq!(bench.index.shared.writer.lock().failed_merges, 0);
    }

    #[test]
    fn merging_goes_on_after_a_pause_however_often_it_failed() {
        let mut bench = Bench::new();
        bench.fail_merges(MERGES_AT_ONCE);
        bench.create();
        bench.create();
        let until = Instant::now() + Duration::from_secs(20);
        while bench.index.shared.writer.lock().failed_merges < MERGES_AT_ONCE {
            assert!(Instant::now() < until, "no merge was tried");
            thread::sleep(Duration::from_millis(5));
        }
        let pause = bench.index.shared.writer.lock().merge_after.unwrap();
        assert!(pause > Instant::now() && pause <= Instant::now() + FIRST_MERGE_PAUSE);
        assert_eq!(bench.index.snapshot().segment_count(), 2, "the segments are as they were");
        while pause > Instant::now() {
            thread::sleep(Duration::from_millis(20));
        }
        bench.create();
        bench.create();
        bench.wait_until_merged();
    }
}
