//! Committed changes on their way into a shop's index.

use std::{any::Any, collections::BTreeMap, mem, sync::Arc, time::Instant};

use catalog::{change::Seq, product::ShopId};

use crate::store::{self, AppliedChange, Committed, Position, PositionChange, TxStamp};

/// Bytes of changes that are kept in memory for a shop that loads. Beyond that they are read from
/// the store when the load ends.
const MAX_MISSED_BYTES: usize = 32 << 20;

/// What a vector costs to apply, in bytes of text that cost about as much.
const EMBEDDED_COST: usize = 512;

/// Dropped once searches show the changes of a batch: a write that waits for that keeps a clone.
pub(crate) type Guard = Arc<dyn Any + Send + Sync>;

/// Changes of one shop, in order, of one transaction or of several in a row.
pub(crate) struct Batch {
    pub(super) shop: ShopId,
    /// The last change.
    pub(super) seq: Seq,
    pub(super) changes: Vec<AppliedChange>,
    /// How they moved the shop on, where the store says so and nothing lies between them.
    step: Option<Box<PositionChange>>,
    /// When all of them were durable, at the latest.
    pub(super) durable_at: Instant,
    guards: Vec<Guard>,
}

impl Batch {
    /// The changes of a transaction, by shop.
    pub(crate) fn by_shop(committed: Committed) -> BTreeMap<ShopId, Self> {
        let mut by_shop = BTreeMap::new();
        for change in committed.changes {
            let (shop, seq) = (change.shop(), change.seq());
            let new = || Self::new(shop, Vec::new(), Seq::default());
            let batch = by_shop.entry(shop).or_insert_with(new);
            batch.seq = seq.max(batch.seq);
            batch.changes.push(change);
        }
        for step in committed.positions {
            if let Some(batch) = by_shop.get_mut(&step.shop) {
                batch.step = Some(Box::new(step));
            }
        }
        by_shop
    }

    /// Changes of a shop, the last of them under the number `seq`.
    pub(super) fn new(shop: ShopId, changes: Vec<AppliedChange>, seq: Seq) -> Self {
        Self { shop, seq, changes, step: None, durable_at: Instant::now(), guards: Vec::new() }
    }

    /// Whether the changes follow on this position, with nothing in between.
    pub(super) fn follows(&self, position: Position) -> bool {
        self.step.as_ref().is_some_and(|step| step.before == position)
    }

    /// Where the shop is after the changes.
    pub(super) fn position(&self) -> Position {
        let stamp = self.step.as_ref().map_or(TxStamp::default(), |step| step.after.stamp);
        Position { seq: self.seq, stamp }
    }

    /// Keeps a guard until searches show the changes.
    pub(crate) fn guard(&mut self, guard: Guard) {
        self.guards.push(guard);
    }

    pub(crate) fn shop(&self) -> ShopId {
        self.shop
    }

    /// How much work it is to apply, in bytes of text to be indexed.
    pub(crate) fn cost(&self) -> usize {
        self.changes.iter().map(cost).sum()
    }

    /// Appends later changes of the same shop.
    pub(super) fn extend(&mut self, later: Self) {
        self.step = match (self.step.take(), later.step) {
            (Some(first), Some(next)) if first.after == next.before => {
                Some(Box::new(PositionChange { before: first.before, ..*next }))
            }
            _ => None,
        };
        self.durable_at = later.durable_at.max(self.durable_at);
        self.seq = later.seq.max(self.seq);
        self.changes.extend(later.changes);
        self.guards.extend(later.guards);
    }

    /// Leaves only what an index that shows `shown` does not show yet.
    pub(super) fn skip_shown(&mut self, shown: Seq) {
        self.changes.retain(|change| change.seq() > shown);
    }

    /// Whether the batch creates or changes products, rather than only removing or embedding them.
    pub(super) fn has_products(&self) -> bool {
        self.changes.iter().any(|change| matches!(change, AppliedChange::Upserted { .. }))
    }
}

fn cost(change: &AppliedChange) -> usize {
    match change {
        AppliedChange::Upserted { vector: store::VectorChange::Unchanged, .. }
        | AppliedChange::Deleted { .. } => 0,
        AppliedChange::Upserted { product, .. } => {
            product.title.as_str().len() + product.description.as_str().len()
        }
        AppliedChange::Embedded { .. } => EMBEDDED_COST,
    }
}

/// What a shop that loads has to be shown before it is ready.
#[derive(Default)]
pub(super) struct Missed {
    /// The last change.
    last: Seq,
    /// The batches in order, unless they are only in the store.
    batches: Option<Batch>,
    bytes: usize,
    in_store: bool,
    keeps_guards: bool,
}

impl Missed {
    /// Nothing yet. If the store is shared, changes of other processes may lie between those of
    /// this one, so all are read from the store.
    pub(super) fn new(is_shared: bool) -> Self {
        Self { in_store: is_shared, ..Self::default() }
    }

    /// Nothing, from here on with guards: a write waits until its change is applied.
    fn keeping_guards() -> Self {
        Self { keeps_guards: true, ..Self::default() }
    }

    /// Whether an index that shows `shown` has nothing left to show that was acknowledged.
    pub(super) fn is_shown_at(&self, shown: Seq) -> bool {
        self.keeps_guards || self.last <= shown
    }

    /// The last change, of this node or another.
    pub(super) fn last(&self) -> Seq {
        self.last
    }

    /// Takes what was missed so far. Until it is applied, later changes are collected again: from
    /// the second time on with their guards, so that this comes to an end.
    pub(super) fn take(&mut self, is_first: bool, is_shared: bool) -> Self {
        let next = if is_first { Self::new(is_shared) } else { Self::keeping_guards() };
        mem::replace(self, next)
    }

    /// Another process has made this change.
    pub(super) fn hear(&mut self, seq: Seq) {
        self.last = seq.max(self.last);
    }

    pub(super) fn push(&mut self, mut batch: Batch) {
        self.last = batch.seq.max(self.last);
        if !self.keeps_guards {
            batch.guards.clear();
            self.bytes += batch.cost();
            if self.in_store || self.bytes > MAX_MISSED_BYTES {
                (self.in_store, self.batches) = (true, None);
                return;
            }
        }
        match &mut self.batches {
            Some(batches) => batches.extend(batch),
            None => self.batches = Some(batch),
        }
    }

    /// As if too many changes had come.
    #[cfg(test)]
    pub(super) fn overflow(&mut self) {
        self.bytes = MAX_MISSED_BYTES;
    }

    /// The changes; `None` if they have to be read from the store.
    pub(super) fn into_batch(self) -> Option<Batch> {
        self.batches.filter(|_| !self.in_store)
    }
}

#[cfg(test)]
mod tests {
    use catalog::product::ProductId;

    use super::*;

    fn batch(before: u64, after: u64) -> Batch {
        let shop = ShopId::new(1).unwrap();
        let at = |seq| Position { seq: Seq(seq), stamp: TxStamp::default() };
        let touched =
            vec![AppliedChange::Deleted { shop, id: ProductId::new(1).unwrap(), seq: Seq(after) }];
        let steps = vec![PositionChange { shop, before: at(before), after: at(after) }];
        Batch::by_shop(Committed { changes: touched, positions: steps }).remove(&shop).unwrap()
    }

    #[test]
    fn batches_in_a_row_follow_on_what_the_first_follows_on() {
        let start = Position::default();
        let mut joined = batch(0, 2);
        joined.extend(batch(2, 3));
        assert!(joined.follows(start) && joined.position().seq == Seq(3));
        // A change of another node lies in between.
        let mut apart = batch(0, 2);
        apart.extend(batch(3, 4));
        assert!(!apart.follows(start));
    }
}
