//! The sink of an import: a data folder or a running server. Both accept idempotent creates and
//! report a result for every product.

use std::panic::{AssertUnwindSafe, catch_unwind};

use anyhow::bail;
use serde_json::Value;

use super::{
    plan::{Action, Batch, Row},
    record::RecordError,
};

/// The result of one product; an error is the reason of its refusal.
pub(super) type Stored = Result<(), RecordError>;

/// Stores products. `tests/import` runs one suite on both implementations.
pub(super) trait Sink: Sync {
    /// Creates products; idempotent for the same key.
    fn create(&self, key: &str, products: &[&Value]) -> anyhow::Result<Vec<Stored>>;

    /// Updates products by their `id`.
    fn update(&self, products: &[&Value]) -> anyhow::Result<Vec<Stored>>;

    /// Creates or updates products by their `key`.
    fn upsert(&self, products: &[&Value]) -> anyhow::Result<Vec<Stored>>;

    /// Deletes products; those that are gone already are no error.
    fn delete(&self, ids: &[u64]) -> anyhow::Result<()>;
}

/// The outcome of one row.
#[derive(Debug, PartialEq)]
pub(super) enum Outcome {
    Created,
    Updated,
    Refused(RecordError),
}

impl Action {
    /// The outcome if it succeeds.
    pub(super) fn outcome(self) -> Outcome {
        match self {
            Self::Create | Self::Upsert { is_new: true } => Outcome::Created,
            Self::Update | Self::Upsert { is_new: false } => Outcome::Updated,
        }
    }
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
    type Request<'a> = &'a dyn Fn(&[&Value]) -> anyhow::Result<Vec<Stored>>;
    let unanswered = || Outcome::Refused(RecordError::of_whole("unanswered", "got no answer"));
    let mut outcomes: Vec<Outcome> = batch.rows.iter().map(|_| unanswered()).collect();
    let mut send = |wanted: fn(Action) -> bool, request: Request<'_>| -> anyhow::Result<()> {
        let is_wanted = |(_, row): &(usize, &Row)| wanted(row.action);
        let (positions, bodies): (Vec<_>, Vec<_>) = batch
            .rows
            .iter()
            .enumerate()
            .filter(is_wanted)
            .map(|(position, row)| (position, &row.body))
            .unzip();
        if positions.is_empty() {
            return Ok(());
        }
        for (position, stored) in positions.into_iter().zip(request(&bodies)?) {
            let action = batch.rows[position].action;
            outcomes[position] = stored.map_or_else(Outcome::Refused, |()| action.outcome());
        }
        Ok(())
    };
    let key = format!("import-{run}-{}", batch.number);
    send(|action| action == Action::Create, &|products| sink.create(&key, products))?;
    send(|action| matches!(action, Action::Upsert { .. }), &|products| sink.upsert(products))?;
    send(|action| action == Action::Update, &|products| sink.update(products))?;
    Ok(outcomes)
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

        fn upsert(&self, _: &[&Value]) -> anyhow::Result<Vec<Stored>> {
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
            notes: Notes::default(),
            original: json!({}),
        };
        let mut batch = Batch::new(0);
        [7, 8, 9].into_iter().for_each(|line| batch.add(Ok(row(line)), 1));
        let error = deliver(&Panicking, "run", &batch).unwrap_err();
        assert!(error.to_string().contains("lines 7 to 9"), "{error}");
    }
}
