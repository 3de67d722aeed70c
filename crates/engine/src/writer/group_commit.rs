//! The writer thread: takes all queued writes, commits them in one transaction, retries what
//! failed for a transient reason, and hands the changes to the indexes.

use std::{
    collections::BTreeSet,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, atomic::AtomicUsize},
    thread,
    time::{Duration, Instant},
};

use embed::Embedder;
use store::{CatalogStore, Committed, ErrorChain, StoreError, StoreErrorKind, background::Wakeup};

use super::{
    WriterSettings,
    queue::{Acknowledgement, Group, WriteQueue},
};
use crate::{
    replication::{Applier, ChangeBatch, VisibilityGuard},
    system::Clock,
    writes::TxContext,
};

/// Pauses before the retries of a group that conflicted with another node's transaction.
const CONFLICT_BACKOFF: [Duration; 4] = [
    Duration::from_millis(5),
    Duration::from_millis(20),
    Duration::from_millis(80),
    Duration::from_millis(320),
];

/// The state of the writer thread.
pub(super) struct GroupCommit {
    pub(super) store: Box<dyn CatalogStore>,
    pub(super) applier: Applier,
    pub(super) embedder: Option<Arc<dyn Embedder>>,
    pub(super) clock: Clock,
    pub(super) settings: WriterSettings,
    pub(super) unacknowledged: Arc<AtomicUsize>,
    /// Notified after every commit that changed products.
    pub(super) committed: Arc<Wakeup>,
}

impl GroupCommit {
    /// Runs until the queue is closed and empty.
    pub(super) fn run(mut self, queue: &WriteQueue) {
        while let Some(group) = queue.next_group(self.settings.group_products) {
            self.write_group(group);
            self.store.maintain();
        }
    }

    fn write_group(&mut self, mut group: Group) {
        let started = Instant::now();
        let writes = group.len();
        let committed = self.commit(&mut group);
        metrics::histogram!("shopkeeper_write_group_size").record(writes as f64);
        metrics::histogram!("shopkeeper_commit_seconds").record(started.elapsed().as_secs_f64());
        let result = if committed.is_ok() { "ok" } else { "failed" };
        match committed {
            Err(error) if writes > 1 && !fails_every_write(&error) => {
                // One write may have failed the whole group: retry each alone.
                for write in group {
                    self.write_group(vec![write]);
                }
                return;
            }
            Err(error) => {
                tracing::error!(error = %ErrorChain(&error), writes, "a write could not be stored");
                self.store.failed(&error);
                for write in group {
                    write.acknowledge(Err(error.clone()));
                }
            }
            Ok(committed) => self.publish(group, committed),
        }
        metrics::counter!("shopkeeper_writes_total", "result" => result).increment(writes as u64);
    }

    /// Commits a group, and retries conflicts with other nodes.
    fn commit(&mut self, group: &mut Group) -> Result<Committed, StoreError> {
        let mut pauses = CONFLICT_BACKOFF.iter();
        loop {
            // A write that panics rolls its transaction back; the thread goes on.
            let stored = catch_unwind(AssertUnwindSafe(|| self.try_commit(group)));
            match stored.unwrap_or_else(|_| Err(StoreError::unexpected("a write panicked"))) {
                Err(error) if error.kind() == StoreErrorKind::Conflict => match pauses.next() {
                    Some(pause) => {
                        metrics::counter!("shopkeeper_write_retries_total").increment(1);
                        thread::sleep(*pause);
                    }
                    None => return Err(error),
                },
                outcome => return outcome,
            }
        }
    }

    /// Runs all writes of a group in one transaction.
    fn try_commit(&mut self, group: &mut Group) -> Result<Committed, StoreError> {
        let now = (self.clock)();
        let context = TxContext { now, responses_since: now - self.settings.response_retention };
        let transaction = self.store.begin()?.limited_to(self.settings.quotas);
        let mut transaction = transaction.embedding_with(self.embedder.as_deref());
        // In ascending order, so that two nodes cannot deadlock.
        let shops: BTreeSet<_> = group.iter().flat_map(|write| write.shops()).collect();
        for shop in shops {
            transaction.lock_shop(shop)?;
        }
        for write in group {
            write.run(&mut transaction, context)?;
        }
        transaction.commit()
    }

    /// Hands a committed group to the indexes. Each write is acknowledged once the indexes of all
    /// its shops show it.
    fn publish(&mut self, group: Group, committed: Committed) {
        let has_changes = !committed.changes.is_empty();
        let mut batches = ChangeBatch::by_shop(committed);
        for write in group {
            let shops: BTreeSet<_> = write.shops().into_iter().collect();
            let acknowledgement: VisibilityGuard =
                Arc::new(Acknowledgement::new(write, &self.unacknowledged));
            for shop in shops {
                if let Some(batch) = batches.get_mut(&shop) {
                    batch.add_guard(Arc::clone(&acknowledgement));
                }
            }
        }
        self.applier.apply(batches.into_values());
        if has_changes {
            self.committed.notify();
        }
    }
}

/// Whether a retry of each write alone would fail the same way after the same wait, or might write
/// twice.
fn fails_every_write(error: &StoreError) -> bool {
    matches!(
        error.kind(),
        StoreErrorKind::Busy | StoreErrorKind::Unavailable | StoreErrorKind::CommitUnknown
    )
}
