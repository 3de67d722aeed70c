//! The sink of an import: a data folder or a running server. Both accept idempotent creates and
//! report a result for every product.

use serde_json::Value;

use super::{
    plan::{Action, Batch, Row},
    record::RecordError,
};

/// The result of one product: its id, or the reason of its refusal.
pub(super) type Stored = Result<u64, RecordError>;

/// Stores products. `tests/import` runs one suite on both implementations.
pub(super) trait Sink: Sync {
    /// Creates products; idempotent for the same key.
    fn create(&self, key: &str, products: &[&Value]) -> anyhow::Result<Vec<Stored>>;

    /// Updates products by their `id`.
    fn update(&self, products: &[&Value]) -> anyhow::Result<Vec<Stored>>;
}

/// The outcome of one row.
#[derive(Debug, PartialEq)]
pub(super) enum Outcome {
    Created(u64),
    Updated(u64),
    Refused(RecordError),
}

/// Stores a batch and returns the outcome of each row, in order.
pub(super) fn deliver(sink: &dyn Sink, run: &str, batch: &Batch) -> anyhow::Result<Vec<Outcome>> {
    let mut outcomes: Vec<Option<Outcome>> = batch.rows.iter().map(|_| None).collect();
    let positions = |wanted: fn(&Row) -> bool| -> Vec<usize> {
        (0..batch.rows.len()).filter(|position| wanted(&batch.rows[*position])).collect()
    };
    let bodies = |positions: &[usize]| -> Vec<&Value> {
        positions.iter().map(|position| &batch.rows[*position].body).collect()
    };

    let created = positions(|row| row.action == Action::Create);
    if !created.is_empty() {
        let key = format!("import-{run}-{}", batch.number);
        for (position, stored) in created.iter().zip(sink.create(&key, &bodies(&created))?) {
            outcomes[*position] = Some(stored.map_or_else(Outcome::Refused, Outcome::Created));
        }
    }

    let updated = positions(|row| row.action != Action::Create);
    let mut gone = Vec::new();
    if !updated.is_empty() {
        for (position, stored) in updated.iter().zip(sink.update(&bodies(&updated))?) {
            let row = &batch.rows[*position];
            outcomes[*position] = Some(match stored {
                Ok(id) => Outcome::Updated(id),
                Err(error) => {
                    if error.code == "not_found" && row.can_be_created {
                        gone.push(*position);
                    }
                    Outcome::Refused(error)
                }
            });
        }
    }
    // Products that were deleted meanwhile are created again.
    if !gone.is_empty() {
        let key = format!("import-{run}-{}-again", batch.number);
        for (position, stored) in gone.iter().zip(sink.create(&key, &bodies(&gone))?) {
            outcomes[*position] = Some(stored.map_or_else(Outcome::Refused, Outcome::Created));
        }
    }
    let unanswered = || Outcome::Refused(RecordError::of_whole("unanswered", "got no answer"));
    Ok(outcomes.into_iter().map(|outcome| outcome.unwrap_or_else(unanswered)).collect())
}
