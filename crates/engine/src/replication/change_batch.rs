//! Committed changes of one shop on their way into its index.

use std::{any::Any, collections::BTreeMap, sync::Arc, time::Instant};

use catalog::product::{ShopId, change::Seq};

use store::{AppliedChange, Committed, Position, PositionChange, TxStamp, VectorChange};

/// What applying a vector costs, in bytes of text that take about as long to index.
const VECTOR_COST: usize = 512;

/// Dropped once searches show the changes of a batch. A write that waits for that keeps a clone.
pub(crate) type VisibilityGuard = Arc<dyn Any + Send + Sync>;

/// Changes of one shop, in order, of one or several consecutive transactions.
pub(crate) struct ChangeBatch {
    pub(super) shop: ShopId,
    /// The number of the last change.
    pub(super) seq: Seq,
    pub(super) changes: Vec<AppliedChange>,
    /// The positions before and after; `None` if the store records none or the transactions are
    /// not consecutive.
    step: Option<Box<PositionChange>>,
    /// A time at which all changes were durable.
    pub(super) durable_at: Instant,
    guards: Vec<VisibilityGuard>,
}

impl ChangeBatch {
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

    /// Changes of a shop, the last of them with the number `seq`.
    pub(super) fn new(shop: ShopId, changes: Vec<AppliedChange>, seq: Seq) -> Self {
        Self { shop, seq, changes, step: None, durable_at: Instant::now(), guards: Vec::new() }
    }

    /// Whether the first transaction started at this position.
    pub(super) fn starts_at(&self, position: Position) -> bool {
        self.step.as_ref().is_some_and(|step| step.before == position)
    }

    /// The shop's position after the changes.
    pub(super) fn position(&self) -> Position {
        let stamp = self.step.as_ref().map_or(TxStamp::default(), |step| step.after.stamp);
        Position { seq: self.seq, stamp }
    }

    /// Keeps a guard until searches show the changes.
    pub(crate) fn add_guard(&mut self, guard: VisibilityGuard) {
        self.guards.push(guard);
    }

    /// Releases the guards before the changes are visible.
    pub(super) fn release_guards(&mut self) {
        self.guards.clear();
    }

    /// The work of applying the changes, in bytes of text to be indexed.
    pub(super) fn cost(&self) -> usize {
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

    /// Removes the changes that an index at `shown` shows already.
    pub(super) fn skip_shown(&mut self, shown: Seq) {
        self.changes.retain(|change| change.seq() > shown);
    }

    /// Whether the batch creates or updates products, rather than only deletes or embeds them.
    pub(super) fn has_upserts(&self) -> bool {
        self.changes.iter().any(|change| matches!(change, AppliedChange::Upserted { .. }))
    }
}

fn cost(change: &AppliedChange) -> usize {
    match change {
        AppliedChange::Upserted { vectors: VectorChange::Unchanged, .. }
        | AppliedChange::Deleted { .. } => 0,
        AppliedChange::Upserted { product, .. } => {
            product.title.as_str().len() + product.description.as_str().len()
        }
        AppliedChange::Embedded { .. } => VECTOR_COST,
    }
}

#[cfg(test)]
mod tests {
    use catalog::product::ProductId;

    use super::*;

    fn batch(before: u64, after: u64) -> ChangeBatch {
        let shop = ShopId::new(1).unwrap();
        let at = |seq| Position { seq: Seq(seq), stamp: TxStamp::default() };
        let changes =
            vec![AppliedChange::Deleted { shop, id: ProductId::new(1).unwrap(), seq: Seq(after) }];
        let positions = vec![PositionChange { shop, before: at(before), after: at(after) }];
        ChangeBatch::by_shop(Committed { changes, positions }).remove(&shop).unwrap()
    }

    #[test]
    fn consecutive_batches_start_where_the_first_starts() {
        let start = Position::default();
        let mut joined = batch(0, 2);
        joined.extend(batch(2, 3));
        assert!(joined.starts_at(start) && joined.position().seq == Seq(3));
        // A change of another node lies in between.
        let mut apart = batch(0, 2);
        apart.extend(batch(3, 4));
        assert!(!apart.starts_at(start));
    }
}
