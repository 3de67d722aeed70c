//! Runs an import: one thread reads, validates and forms batches, several threads send them to the
//! sink, and results are recorded in the order of the file.
//!
//! Memory is bounded by the number of batches in flight, independent of the size of the file.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::{Mutex, mpsc},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, bail};
use ring::digest::{self, SHA256};
use serde_json::Value;

use super::{
    mapping::Mapping,
    plan::{BadRecord, Batch, Read, Row},
    progress::Progress,
    record::{Record, Records},
    report::Report,
    sink::{Outcome, Sink, deliver},
    state::State,
    sync::SyncPlan,
};

/// The state is saved at most this often.
const SAVE_INTERVAL: Duration = Duration::from_millis(250);

/// The products that a dry run shows.
const EXAMPLES: usize = 3;

/// An import that is ready to run.
pub(super) struct Import<'a> {
    pub(super) records: Records,
    pub(super) mapping: &'a Mapping,
    /// `None` checks the records and writes nothing.
    pub(super) sink: Option<&'a dyn Sink>,
    /// Concurrent batches.
    pub(super) parallel: usize,
    pub(super) sync: Option<SyncPlan>,
    pub(super) report: Report,
    pub(super) progress: Progress,
    pub(super) state: State,
    /// The state file, if the state is saved.
    pub(super) state_file: Option<PathBuf>,
}

/// The result of an import.
pub(super) struct Finished {
    pub(super) state: State,
    pub(super) elapsed: Duration,
    pub(super) sync: Option<SyncPlan>,
    /// The first products of a dry run, with their lines.
    pub(super) examples: Vec<(u64, Value)>,
}

impl Import<'_> {
    /// Imports all remaining records.
    pub(super) fn run(mut self) -> anyhow::Result<Finished> {
        let digest = self.skip_imported()?;
        let (batches, waiting) = mpsc::sync_channel::<Batch>(self.parallel);
        let (answers, answered) = mpsc::channel();
        let waiting = Mutex::new(waiting);
        let records = std::mem::replace(&mut self.records, Box::new(std::iter::empty()));
        let (sink, run) = (self.sink, self.state.run.clone());
        let finished = thread::scope(|scope| {
            for _ in 0..self.parallel {
                let (waiting, answers, run) = (&waiting, answers.clone(), &run);
                scope.spawn(move || {
                    let next = || waiting.lock().ok()?.recv().ok();
                    while let Some(batch) = next() {
                        let outcomes = match sink {
                            Some(sink) => deliver(sink, run, &batch),
                            None => Ok(batch.rows.iter().map(|row| row.action.outcome()).collect()),
                        };
                        if answers.send((batch, outcomes)).is_err() {
                            break;
                        }
                    }
                });
            }
            drop(answers);
            let mut pipeline = Pipeline::new(&mut self, batches, answered, digest);
            let fed = pipeline.feed(records);
            let examples = std::mem::take(&mut pipeline.examples);
            let ended = pipeline.finish();
            fed.and(ended).map(|()| examples)
        });
        // Recorded results are saved even after an error.
        let saved = self.save();
        let elapsed = self.progress.finish();
        let examples = finished?;
        saved?;
        Ok(Finished { state: self.state, elapsed, sync: self.sync, examples })
    }

    /// Skips the records that an earlier run has imported, which must be unchanged.
    fn skip_imported(&mut self) -> anyhow::Result<digest::Context> {
        let mut digest = digest::Context::new(&SHA256);
        for _ in 0..self.state.counts.records {
            let record = self.records.next().context("the file is shorter than it was")??;
            include(&mut digest, &record)?;
        }
        if self.state.counts.records > 0 && hex(digest.clone().finish()) != self.state.digest {
            bail!("the file has changed since the import began; begin anew with --restart");
        }
        Ok(digest)
    }

    /// Records the outcome of a batch: counts, errors and warnings.
    fn record(&mut self, batch: &Batch, outcomes: Vec<Outcome>) -> anyhow::Result<()> {
        let counts = &mut self.state.counts;
        let mut bad = batch.bad.iter().peekable();
        let mut rows = batch.rows.iter().zip(outcomes).peekable();
        loop {
            // Errors are reported in the order of the file.
            let bad_is_next = match (bad.peek(), rows.peek()) {
                (None, None) => break,
                (Some(bad), Some((row, _))) => bad.line < row.line,
                (bad, _) => bad.is_some(),
            };
            if bad_is_next {
                let Some(BadRecord { line, errors, original }) = bad.next() else { break };
                counts.refused += 1;
                for error in errors {
                    self.report.add(*line, error, original, &self.progress)?;
                }
                continue;
            }
            let Some((row, outcome)) = rows.next() else { break };
            match outcome {
                Outcome::Created => counts.created += 1,
                Outcome::Updated => counts.updated += 1,
                Outcome::Refused(error) => {
                    counts.refused += 1;
                    self.report.add(row.line, &error, &row.original, &self.progress)?;
                    continue;
                }
            }
            counts.pictures_left_out += u64::from(row.notes.pictures_left_out);
            counts.cut += u64::from(!row.notes.warnings.is_empty());
            counts.repaired += u64::from(row.notes.is_repaired);
            if row.notes.is_repaired {
                let repaired = "characters of Windows-1252 were repaired";
                self.report.warn(row.line, repaired, &self.progress);
            }
            for warning in &row.notes.warnings {
                self.report.warn(row.line, warning, &self.progress);
            }
        }
        counts.records += batch.records;
        counts.unchanged += batch.unchanged;
        self.state.batches = batch.number + 1;
        self.state.digest.clone_from(&batch.digest);
        self.progress.show(&self.state.counts);
        Ok(())
    }

    /// Saves the report before the state, which must not be ahead of it.
    fn save(&mut self) -> anyhow::Result<()> {
        self.state.report_bytes = self.report.sync()?;
        self.state_file.as_deref().map_or(Ok(()), |path: &Path| self.state.save(path))
    }
}

/// A batch with its outcome.
type Answered = (Batch, anyhow::Result<Vec<Outcome>>);

/// The batches in flight, and those that were completed out of order.
struct Pipeline<'a, 'i> {
    import: &'a mut Import<'i>,
    batches: mpsc::SyncSender<Batch>,
    answered: mpsc::Receiver<Answered>,
    digest: digest::Context,
    current: Batch,
    /// Batches sent whose outcome is not recorded.
    in_flight: usize,
    completed: BTreeMap<u64, (Batch, Vec<Outcome>)>,
    examples: Vec<(u64, Value)>,
    saved_at: Option<Instant>,
}

impl<'a, 'i> Pipeline<'a, 'i> {
    fn new(
        import: &'a mut Import<'i>,
        batches: mpsc::SyncSender<Batch>,
        answered: mpsc::Receiver<Answered>,
        digest: digest::Context,
    ) -> Self {
        let current = Batch::new(import.state.batches);
        Self {
            import,
            batches,
            answered,
            digest,
            current,
            in_flight: 0,
            completed: BTreeMap::new(),
            examples: Vec::new(),
            saved_at: None,
        }
    }

    fn feed(&mut self, records: Records) -> anyhow::Result<()> {
        for record in records {
            let record = record?;
            let bytes = include(&mut self.digest, &record)?;
            let read = Read::new(record, self.import.mapping);
            let planned = match &mut self.import.sync {
                Some(sync) => sync.plan(read),
                None => Some(read.plan()),
            };
            match planned {
                None => self.current.add_unchanged(),
                Some(planned) => {
                    self.keep_example(&planned);
                    self.current.add(planned, bytes);
                }
            }
            if self.current.is_full() {
                self.send()?;
            }
        }
        if self.current.records > 0 {
            self.send()?;
        }
        self.record_all()
    }

    fn keep_example(&mut self, planned: &Result<Row, BadRecord>) {
        if let (Ok(row), None, true) = (planned, self.import.sink, self.examples.len() < EXAMPLES) {
            self.examples.push((row.line, row.body.clone()));
        }
    }

    /// Sends the current batch and starts another.
    fn send(&mut self) -> anyhow::Result<()> {
        while self.in_flight >= 2 * self.import.parallel {
            self.record_next()?;
        }
        let next = Batch::new(self.current.number + 1);
        let mut batch = std::mem::replace(&mut self.current, next);
        batch.digest = hex(self.digest.clone().finish());
        self.in_flight += 1;
        self.batches.send(batch).context("all import threads have ended")?;
        while let Ok(answer) = self.answered.try_recv() {
            self.record(answer)?;
        }
        Ok(())
    }

    fn record_all(&mut self) -> anyhow::Result<()> {
        while self.in_flight > 0 {
            self.record_next()?;
        }
        Ok(())
    }

    /// Waits for a batch and records all outcomes that are next in order.
    fn record_next(&mut self) -> anyhow::Result<()> {
        let answer = self.answered.recv().context("an import thread has ended early")?;
        self.record(answer)
    }

    fn record(&mut self, (batch, outcomes): Answered) -> anyhow::Result<()> {
        let outcomes = outcomes.with_context(|| {
            let from = batch.rows.first().map_or(0, |row| row.line);
            format!("the records from line {from} on could not be imported")
        });
        self.completed.insert(batch.number, (batch, outcomes?));
        let recorded_before = self.import.state.batches;
        while let Some((batch, outcomes)) = self.completed.remove(&self.import.state.batches) {
            self.import.record(&batch, outcomes)?;
            self.in_flight -= 1;
        }
        let any = self.import.state.batches > recorded_before;
        if any && self.saved_at.is_none_or(|at| at.elapsed() >= SAVE_INTERVAL) {
            self.import.save()?;
            self.saved_at = Some(Instant::now());
        }
        Ok(())
    }

    /// Sends no more batches, and records the outcomes of those in flight.
    fn finish(self) -> anyhow::Result<()> {
        let Self { import, batches, answered, mut completed, .. } = self;
        drop(batches);
        for (batch, outcomes) in answered {
            if let Ok(outcomes) = outcomes {
                completed.insert(batch.number, (batch, outcomes));
            }
        }
        while let Some((batch, outcomes)) = completed.remove(&import.state.batches) {
            import.record(&batch, outcomes)?;
        }
        Ok(())
    }
}

/// Adds a record to the digest of all records; returns its size in bytes.
fn include(digest: &mut digest::Context, record: &Record) -> anyhow::Result<usize> {
    let content = match &record.content {
        Ok(object) => serde_json::to_vec(object)?,
        Err(unreadable) => unreadable.original.clone().into_bytes(),
    };
    digest.update(&(content.len() as u64).to_le_bytes());
    digest.update(&content);
    Ok(content.len())
}

pub(super) fn hex(bytes: impl AsRef<[u8]>) -> String {
    bytes.as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}
