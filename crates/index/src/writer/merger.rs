//! The background merger: one thread that merges the large segments of all shops, so that neither
//! writers nor readers wait and merging takes at most one core.
//!
//! A merge reads the segments as they are when it begins. Writers continue meanwhile; before the
//! merged segment is published, their deletions, column updates and vectors are carried over.
//!
//! Full tiers are merged at once, one merge of a shop per turn. A shop is compacted
//! ([`MergePolicy::next_compaction`](crate::segment::MergePolicy)) when no segment was added
//! for a moment, or when that has not happened for a minute: an import is not slowed down by it, and
//! a shop with a steady trickle of writes is compacted too.

use std::{
    collections::VecDeque,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, OnceLock, Weak,
        mpsc::{Receiver, RecvTimeoutError, Sender, channel},
    },
    thread,
    time::{Duration, Instant},
};

use super::shared::Shared;
use crate::{
    segment::{LiveSegment, merge},
    snapshot::Snapshot,
};

/// Attempts of a merge that panics before the first pause.
const ATTEMPTS: u32 = 3;
/// The first pause; it doubles with every failure.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
/// The longest pause.
const MAX_PAUSE: Duration = Duration::from_secs(600);

/// A shop is compacted this long after the last product with new texts.
const QUIET: Duration = Duration::from_secs(1);
/// A shop waits at most this long for its compaction, even if it is written all the time.
const MAX_WAIT: Duration = Duration::from_secs(60);

/// Shops with work to do. Shops that have been evicted meanwhile are skipped.
static QUEUE: OnceLock<Sender<Request>> = OnceLock::new();

pub(super) enum Request {
    /// To merge full tiers now.
    Merge(Weak<Shared>),
    /// To compact when there are no writes.
    Compact(Weak<Shared>),
}

/// Queues work.
pub(super) fn enqueue(request: Request) {
    let queue = QUEUE.get_or_init(|| {
        let (sender, receiver) = channel();
        let thread = thread::Builder::new().name("index-merge".to_owned());
        if let Err(error) = thread.spawn(move || run(&receiver)) {
            tracing::error!(%error, "cannot start the thread that merges index segments");
        }
        sender
    });
    // Without the thread, segments are not merged: searches are slower and still correct.
    let _ = queue.send(request);
}

fn run(queue: &Receiver<Request>) {
    // In order of their next check.
    let mut waiting: VecDeque<Waiting> = VecDeque::new();
    loop {
        let request = match waiting.front() {
            None => queue.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Some(first) => {
                queue.recv_timeout(first.check.saturating_duration_since(Instant::now()))
            }
        };
        match request {
            Ok(Request::Merge(shop)) => merge_full_tiers(shop),
            Ok(Request::Compact(shop)) => waiting.push_back(Waiting::new(shop, Instant::now())),
            Err(RecvTimeoutError::Timeout) => {
                let checked = waiting.pop_front().and_then(Waiting::compact_if_quiet);
                waiting.extend(checked);
            }
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

/// Does one merge, so that a shop with many does not delay others.
fn merge_full_tiers(shop: Weak<Shared>) {
    let Some(shared) = shop.upgrade() else { return };
    let outcome =
        catch_unwind(AssertUnwindSafe(|| shared.merge_in_background(Shared::begin_merge)));
    let again = outcome.unwrap_or_else(|_| shared.abandon_merge());
    if again {
        enqueue(Request::Merge(shop));
    }
}

/// A shop that waits for its compaction.
struct Waiting {
    shop: Weak<Shared>,
    since: Instant,
    /// When to look at it again.
    check: Instant,
}

impl Waiting {
    fn new(shop: Weak<Shared>, since: Instant) -> Self {
        Self { shop, since, check: Instant::now() + QUIET }
    }

    /// Compacts the shop if it is time; otherwise it goes on waiting.
    fn compact_if_quiet(self) -> Option<Self> {
        let shared = self.shop.upgrade()?;
        let last_added = shared.writer.lock().last_added;
        let is_quiet = last_added.is_none_or(|last| last.elapsed() >= QUIET);
        if !is_quiet && self.since.elapsed() < MAX_WAIT {
            return Some(Self::new(self.shop, self.since));
        }
        let compact = || while shared.merge_in_background(Shared::begin_compaction) {};
        if catch_unwind(AssertUnwindSafe(compact)).is_err() {
            // The next write makes it wait again.
            shared.writer.lock().waiting = false;
            if shared.abandon_merge() {
                enqueue(Request::Merge(self.shop));
            }
        }
        None
    }
}

impl Shared {
    /// Does the next background merge, and returns whether there was one.
    fn merge_in_background(&self, begin: fn(&Self) -> Option<Vec<LiveSegment>>) -> bool {
        let Some(sources) = begin(self) else { return false };
        #[cfg(test)]
        self.fail_if_requested();
        let merged = merge(&sources);
        self.publish_merge(&sources, merged);
        true
    }

    /// The segments of the next full tier; without one, the shop leaves the queue.
    pub(crate) fn begin_merge(&self) -> Option<Vec<LiveSegment>> {
        let mut writer = self.writer.lock();
        let snapshot = self.snapshot.load();
        let merge = self.next_background(&writer, snapshot.segments());
        writer.queued = merge.is_some();
        Some(writer.begin(snapshot.segments(), &merge?.sources))
    }

    /// The segments of the next compaction; without one, the shop does not wait any more.
    fn begin_compaction(&self) -> Option<Vec<LiveSegment>> {
        let mut writer = self.writer.lock();
        let snapshot = self.snapshot.load();
        let sources = match writer.is_paused() {
            true => None,
            false => self.policy.next_compaction(&writer.sizes(snapshot.segments())),
        };
        writer.waiting = sources.is_some();
        Some(writer.begin(snapshot.segments(), &sources?))
    }

    /// Abandons a merge that panicked: its segments stay as they are. Returns whether to retry at
    /// once. After several failures, the first write after a pause queues the shop again.
    fn abandon_merge(&self) -> bool {
        let mut writer = self.writer.lock();
        writer.merging.clear();
        writer.failed_merges = writer.failed_merges.saturating_add(1);
        let failures = writer.failed_merges;
        let retry = failures < ATTEMPTS;
        writer.queued = retry;
        if !retry {
            let doubled = FIRST_PAUSE * (1 << (failures - ATTEMPTS).min(16));
            writer.merge_after = Some(Instant::now() + doubled.min(MAX_PAUSE));
        }
        let shop = self.shop.get().map(|shop| shop.get());
        tracing::error!(shop, failures, "merging index segments panicked");
        retry
    }

    #[cfg(test)]
    fn fail_if_requested(&self) {
        let mut writer = self.writer.lock();
        if writer.merges_to_fail > 0 {
            writer.merges_to_fail -= 1;
            drop(writer);
            panic!("this merge is made to fail");
        }
    }

    /// Replaces the sources by the merged segment.
    pub(crate) fn publish_merge(&self, sources: &[LiveSegment], mut merged: LiveSegment) {
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

/// Deletes from `merged` what was deleted from a source since the merge began. A source that is
/// gone has no live product left.
fn carry_over_deletions(source: &LiveSegment, now: Option<&LiveSegment>, merged: &mut LiveSegment) {
    if now.is_some_and(|now| now.deleted_count() == source.deleted_count()) {
        return;
    }
    for (doc, id) in source.segment.ids.iter().enumerate() {
        if !source.is_deleted(doc) && now.is_none_or(|now| now.is_deleted(doc)) {
            merged.delete(id);
        }
    }
}

/// Repeats column updates that were made to a source since the merge began.
fn carry_over_columns(source: &LiveSegment, now: &LiveSegment, merged: &mut LiveSegment) {
    let columns = now.columns();
    for doc in columns.changed_since(source.columns()) {
        if let Some(to) = merged.find(now.segment.ids.get(doc)) {
            merged.update(to, columns.hidden().get(doc), columns.price(doc), columns.version(doc));
        }
    }
}

/// Repeats vectors that were set in a source since the merge began.
fn carry_over_vectors(source: &LiveSegment, now: &LiveSegment, merged: &mut LiveSegment) {
    let changed = now.vectors().changed_since(source.vectors());
    let changed = changed.chain(now.deep().changed_since(source.deep()));
    let new: Vec<_> = changed
        .filter_map(|doc| {
            let to = merged.find(now.segment.ids.get(doc))?;
            Some((to, now.vectors_of(doc)))
        })
        .collect();
    merged.put_vectors(new);
}

#[cfg(test)]
mod tests {
    use catalog::product::{ProductId, change::Seq, price::Price};
    use embed::{StoredVector, StoredVectors, Vector, inference::category_model};

    use super::*;
    use crate::{Entry, EntryVectors, IndexChange, ShopIndex, segment::MergePolicy};

    /// Longer than anything takes on a busy machine.
    const PATIENCE: Duration = Duration::from_secs(60);
    /// Merges everything in the background.
    const POLICY: MergePolicy =
        MergePolicy { fanout: 2, max_products: 1000, inline_postings: 0, ordered_products: 64 };

    struct Fixture {
        index: ShopIndex,
        products: u64,
    }

    impl Fixture {
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
                key: None,
                attributes: catalog::product::attributes::Attributes::none(),
                inferred: catalog::product::inferred::Inferred::default(),
                vectors: EntryVectors::Missing,
            };
            self.index.apply(&[IndexChange::Upsert(entry)], Seq(self.products));
        }

        fn fail_merges(&self, count: u32) {
            self.index.shared.writer.lock().merges_to_fail = count;
        }

        /// Waits until all segments are merged.
        fn wait_until_merged(&self) {
            let until = Instant::now() + PATIENCE;
            while self.index.snapshot().segment_count() > 1 {
                assert!(Instant::now() < until, "the segments were not merged");
                thread::sleep(Duration::from_millis(5));
            }
        }
    }

    #[test]
    fn a_merge_that_panics_is_retried() {
        let mut fixture = Fixture::new();
        fixture.fail_merges(ATTEMPTS - 1);
        fixture.create();
        fixture.create();
        fixture.wait_until_merged();
        assert_eq!(fixture.index.shared.writer.lock().failed_merges, 0);
    }

    #[test]
    fn a_shop_that_is_not_written_is_compacted() {
        let policy = MergePolicy { fanout: 8, ..POLICY };
        let index = ShopIndex::with_policy(Seq::default(), Vec::new(), policy);
        let mut fixture = Fixture { index, products: 0 };
        (0..5).for_each(|_| fixture.create());
        assert_eq!(fixture.index.snapshot().segment_count(), 5);
        fixture.wait_until_merged();
        assert!(!fixture.index.shared.writer.lock().waiting);
        // Segments that were read from a file likewise.
        (0..3).for_each(|_| fixture.create());
        let segments = fixture.index.snapshot().segments().to_vec();
        let index = ShopIndex::with_policy(Seq(8), segments, policy);
        Fixture { index, products: 8 }.wait_until_merged();
    }

    #[test]
    fn new_vectors_do_not_postpone_a_compaction() {
        let policy = MergePolicy { fanout: 8, ..POLICY };
        let index = ShopIndex::with_policy(Seq::default(), Vec::new(), policy);
        let mut fixture = Fixture { index, products: 0 };
        (0..5).for_each(|_| fixture.create());
        let vector = Vector::normalized(vec![1.0, 2.0]).unwrap().stored();
        let vectors = StoredVectors { vector, deep: None };
        let until = Instant::now() + PATIENCE;
        let added = fixture.index.shared.writer.lock().last_added;
        while fixture.index.snapshot().segment_count() > 1 {
            assert!(Instant::now() < until, "the segments were not merged");
            let embedded = IndexChange::Embed(ProductId::new(1).unwrap(), &vectors);
            fixture.index.apply(&[embedded], Seq(6));
            assert_eq!(fixture.index.shared.writer.lock().last_added, added);
            thread::sleep(Duration::from_millis(20));
        }
    }

    #[test]
    fn products_are_put_in_order_after_their_vectors_changed() {
        let mut fixture = Fixture::new();
        (0..100).for_each(|_| fixture.create());
        fixture.wait_until_merged();
        let disordered = || fixture.index.snapshot().segments()[0].vectors().disordered();
        let centroids = category_model().vectors().unwrap();
        let centroid = |cell: usize| {
            let row = centroids.numbers().chunks_exact(centroids.dims()).nth(cell).unwrap();
            let row: Vec<i8> = row.iter().map(|x| x.cast_signed()).collect();
            StoredVectors { vector: StoredVector::of_parts(1.0, &row), deep: None }
        };
        // In descending order of cells, and then without an order.
        for step in [1, 37] {
            let vectors: Vec<_> =
                (1..=100).map(|number| (number, centroid(100 - number * step % 101))).collect();
            let changes = vectors.iter().map(|(number, vector)| {
                IndexChange::Embed(ProductId::new(*number as u64).unwrap(), vector)
            });
            let changes: Vec<_> = changes.collect();
            fixture.index.apply(&changes, Seq(101));
            assert!(disordered() > 30, "{}", disordered());
            let until = Instant::now() + PATIENCE;
            while disordered() > 0 || fixture.index.shared.writer.lock().waiting {
                assert!(Instant::now() < until, "the products are not in order");
                thread::sleep(Duration::from_millis(5));
            }
        }
        assert_eq!(fixture.index.snapshot().segment_count(), 1);
    }

    #[test]
    fn merging_resumes_after_a_pause() {
        let mut fixture = Fixture::new();
        fixture.fail_merges(ATTEMPTS);
        fixture.create();
        fixture.create();
        let until = Instant::now() + PATIENCE;
        while fixture.index.shared.writer.lock().failed_merges < ATTEMPTS {
            assert!(Instant::now() < until, "no merge was tried");
            thread::sleep(Duration::from_millis(5));
        }
        let end_pause_at = |end| fixture.index.shared.writer.lock().merge_after.replace(end);
        assert!(end_pause_at(Instant::now() + MAX_PAUSE).is_some());
        assert_eq!(fixture.index.snapshot().segment_count(), 2, "the segments are as they were");
        end_pause_at(Instant::now());
        fixture.create();
        fixture.create();
        fixture.wait_until_merged();
    }
}
