//! Changes that commit while their shop loads.

use std::mem;

use catalog::product::change::Seq;

use super::change_batch::ChangeBatch;

/// Bytes of changes that are kept in memory for a load. Beyond that, the load reads them from the
/// store.
const MAX_PENDING_BYTES: usize = 32 << 20;

/// The changes that a load has to apply before it publishes its index.
#[derive(Default)]
pub(super) struct PendingChanges {
    /// The number of the last change.
    last_seq: Seq,
    /// The changes in order, as one batch.
    batch: Option<ChangeBatch>,
    bytes: usize,
    /// Whether the changes have to be read from the store instead.
    in_store: bool,
    /// Whether writes wait until their changes are applied. Before, they are acknowledged at once,
    /// and the index is not published without them.
    holds_guards: bool,
}

impl PendingChanges {
    /// No changes yet. If the store is shared, those of other nodes may lie between those of this
    /// node, so all are read from the store.
    pub(super) fn new(is_shared: bool) -> Self {
        Self { in_store: is_shared, ..Self::default() }
    }

    /// No changes yet, from now on with their guards.
    fn holding_guards() -> Self {
        Self { holds_guards: true, ..Self::default() }
    }

    /// Whether an index at `shown` shows every change that was acknowledged.
    pub(super) fn is_covered_by(&self, shown: Seq) -> bool {
        self.holds_guards || self.last_seq <= shown
    }

    /// The last change, of this node or another.
    pub(super) fn last_seq(&self) -> Seq {
        self.last_seq
    }

    /// Takes the changes so far. While they are applied, later ones are collected: the first time
    /// as before, then with their guards. Writes wait from then on, so that the load comes to an
    /// end however fast the writer is.
    pub(super) fn take(&mut self, is_first: bool, is_shared: bool) -> Self {
        let next = if is_first { Self::new(is_shared) } else { Self::holding_guards() };
        mem::replace(self, next)
    }

    /// Records a change of another node.
    pub(super) fn note(&mut self, seq: Seq) {
        self.last_seq = seq.max(self.last_seq);
    }

    pub(super) fn push(&mut self, mut batch: ChangeBatch) {
        self.note(batch.seq);
        if !self.holds_guards {
            batch.release_guards();
            self.bytes += batch.cost();
            if self.in_store || self.bytes > MAX_PENDING_BYTES {
                (self.in_store, self.batch) = (true, None);
                return;
            }
        }
        match &mut self.batch {
            Some(pending) => pending.extend(batch),
            None => self.batch = Some(batch),
        }
    }

    /// Makes the next change exceed the limit.
    #[cfg(test)]
    pub(super) fn overflow(&mut self) {
        self.bytes = MAX_PENDING_BYTES;
    }

    /// The changes; `None` if there are none or they have to be read from the store.
    pub(super) fn into_batch(self) -> Option<ChangeBatch> {
        self.batch.filter(|_| !self.in_store)
    }
}
