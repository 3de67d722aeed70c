//! The sink of an import: a data folder or a running server. Both accept idempotent creates and
//! report a result for every product.

use std::panic::{AssertUnwindSafe, catch_unwind};

use anyhow::bail;
use serde_json::Value;

use super::{
    plan::{Action, Batch, Row, for_creation},
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

    /// Creates or updates products by their `key`.
    fn upsert(&self, products: &[&Value]) -> anyhow::Result<Vec<Result<(), RecordError>>>;

    /// Deletes products; those that are gone already are no error.
    fn delete(&self, ids: &[u64]) -> anyhow::Result<()>;
}

/// The outcome of one row.
#[derive(Debug, PartialEq)]
pub(super) enum Outcome {
    /// With its id, if that is known.
    Created(Option<u64>),
    Updated(Option<u64>),
    Refused(RecordError),
}

fn created_as(stored: Stored) -> Outcome {
    stored.map_or_else(Outcome::Refused, |id| Outcome::Created(Some(id)))
}

/// Stores a batch and returns the outcome of each row, in order. A panic is an error too: the
/// outcome of every batch is waited for.
pub(super) fn deliver(sink: &dyn Sink, run: &str, batch: &Batch) -> anyhow::Result<Vec<Outcome>> {
    let stored = catch_unwind(AssertUnwindSafe(|| store(sink, run, batch)));
    stored.unwrap_or_else(|_| {
        let lines = batch.rows.first().zip(batch.rows.last());
        let (first, last) = lines.map_or((0, 0), |(first, last)| (first.line, last.line));
        bail!("internal error while storing lines {first} to {last}; please report it")
    })
}

fn store(sink: &dyn Sink, run: &str, batch: &Batch) -> anyhow::Result<Vec<Outcome>> {
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
            outcomes[*position] = Some(created_as(stored));
        }
    }

    let upserted = positions(|row| matches!(row.action, Action::Upsert { .. }));
    if !upserted.is_empty() {
        for (position, stored) in upserted.iter().zip(sink.upsert(&bodies(&upserted))?) {
            let is_new = batch.rows[*position].action == Action::Upsert { is_new: true };
            outcomes[*position] = Some(match stored {
                Err(error) => Outcome::Refused(error),
                Ok(()) if is_new => Outcome::Created(None),
                Ok(()) => Outcome::Updated(None),
            });
        }
    }

    let updated = positions(|row| row.action == Action::Update);
    let mut gone = Vec::new();
    if !updated.is_empty() {
        for (position, stored) in updated.iter().zip(sink.update(&bodies(&updated))?) {
            let row = &batch.rows[*position];
            outcomes[*position] = Some(match stored {
                Ok(id) => Outcome::Updated(Some(id)),
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
        let anew: Vec<Value> = bodies(&gone)
            .into_iter()
            .map(|body| for_creation(body.as_object().cloned().unwrap_or_default()).into())
            .collect();
        let anew: Vec<&Value> = anew.iter().collect();
        for (position, stored) in gone.iter().zip(sink.create(&key, &anew)?) {
            outcomes[*position] = Some(created_as(stored));
        }
    }
    let unanswered = || Outcome::Refused(RecordError::of_whole("unanswered", "got no answer"));
    Ok(outcomes.into_iter().map(|outcome| outcome.unwrap_or_else(unanswered)).collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::cli::import::plan::Notes;

    struct Panicking;

    impl Sink for Panicking {
        fn create(&self, _: &str, _: &[&Value]) -> anyhow::Result<Vec<Stored>> {
            panic!("a product that breaks the program")
        }

        fn update(&self, _: &[&Value]) -> anyhow::Result<Vec<Stored>> {
            unreachable!()
        }

        fn upsert(&self, _: &[&Value]) -> anyhow::Result<Vec<Result<(), RecordError>>> {
            unreachable!()
        }

        fn delete(&self, _: &[u64]) -> anyhow::Result<()> {
            unreachable!()
        }
    }

    #[test]
    fn a_panic_is_an_error_that_names_the_lines() {
        let row = |line| Row {
            line,
            action: Action::Create,
            body: json!({}),
            key: None,
            can_be_created: false,
            notes: Notes::default(),
            original: json!({}),
        };
        let mut batch = Batch::new(0);
        [7, 8, 9].into_iter().for_each(|line| batch.add(Ok(row(line)), 1));
        let error = deliver(&Panicking, "run", &batch).unwrap_err();
        assert!(error.to_string().contains("lines 7 to 9"), "{error}");
    }
}
