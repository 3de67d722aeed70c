//! The sink of an import: a data folder or a running server. Both accept idempotent creates and
//! report a result for every product.

use serde_json::Value;

use super::{
    plan::{Action, Batch, Row},
    record::Trouble,
};

/// What became of one product: its number, or why it was refused.
pub(super) type Taken = Result<u64, Trouble>;

/// Takes products. Both implementations must behave alike; `tests/import` runs one suite on both.
pub(super) trait Sink: Sync {
    /// Creates products; the same call under the same key creates them once.
    fn create(&self, key: &str, products: &[&Value]) -> anyhow::Result<Vec<Taken>>;

    /// Changes products by their `id`.
    fn update(&self, products: &[&Value]) -> anyhow::Result<Vec<Taken>>;
}

/// What became of one row.
#[derive(Debug, PartialEq)]
pub(super) enum Outcome {
    Created(u64),
    Updated(u64),
    Refused(Trouble),
}

/// Brings a batch to where it belongs and says what became of each row, in order.
pub(super) fn deliver(sink: &dyn Sink, run: &str, batch: &Batch) -> anyhow::Result<Vec<Outcome>> {
    let mut outcomes: Vec<Option<Outcome>> = batch.rows.iter().map(|_| None).collect();
    let places = |wanted: fn(&Row) -> bool| -> Vec<usize> {
        (0..batch.rows.len()).filter(|place| wanted(&batch.rows[*place])).collect()
    };
    let bodies = |places: &[usize]| -> Vec<&Value> {
        places.iter().map(|place| &batch.rows[*place].body).collect()
    };

    let created = places(|row| row.action == Action::Create);
    if !created.is_empty() {
        let key = format!("import-{run}-{}", batch.number);
        for (place, taken) in created.iter().zip(sink.create(&key, &bodies(&created))?) {
            outcomes[*place] = Some(taken.map_or_else(Outcome::Refused, Outcome::Created));
        }
    }

    let updated = places(|row| row.action != Action::Create);
    let mut gone = Vec::new();
    if !updated.is_empty() {
        for (place, taken) in updated.iter().zip(sink.update(&bodies(&updated))?) {
            let row = &batch.rows[*place];
            outcomes[*place] = Some(match taken {
                Ok(id) => Outcome::Updated(id),
                Err(trouble) => {
                    if trouble.code == "not_found" && row.can_be_created {
                        gone.push(*place);
                    }
                    Outcome::Refused(trouble)
                }
            });
        }
    }
    // What a key stood for was deleted meanwhile: it is a new product now.
    if !gone.is_empty() {
        let key = format!("import-{run}-{}-again", batch.number);
        for (place, taken) in gone.iter().zip(sink.create(&key, &bodies(&gone))?) {
            outcomes[*place] = Some(taken.map_or_else(Outcome::Refused, Outcome::Created));
        }
    }
    let unanswered = || Outcome::Refused(Trouble::of_whole("unanswered", "got no answer"));
    Ok(outcomes.into_iter().map(|outcome| outcome.unwrap_or_else(unanswered)).collect())
}
