//! Times the stages of a search and enforces its time limit.

use std::{
    mem,
    time::{Duration, Instant},
};

use store::StoreError;

/// Records the duration of each stage of a search and of the whole search.
pub(crate) struct StageTimer {
    started: Instant,
    stage_started: Instant,
    /// `None` for a search without a time limit.
    pub(crate) deadline: Option<Instant>,
}

impl StageTimer {
    pub(crate) fn start(time_limit: Option<Duration>) -> Self {
        let now = Instant::now();
        let deadline = time_limit.and_then(|limit| now.checked_add(limit));
        Self { started: now, stage_started: now, deadline }
    }

    /// Ends a stage; an error if the deadline has passed.
    pub(crate) fn end_stage(&mut self, stage: &'static str) -> Result<(), StoreError> {
        self.record(stage);
        match self.deadline.is_some_and(|deadline| deadline <= self.stage_started) {
            true => Err(StoreError::search_timeout()),
            false => Ok(()),
        }
    }

    /// Ends the last stage and the search.
    pub(crate) fn finish(mut self, stage: &'static str) {
        self.record(stage);
        let elapsed = (self.stage_started - self.started).as_secs_f64();
        metrics::histogram!("shopkeeper_search_seconds").record(elapsed);
    }

    fn record(&mut self, stage: &'static str) {
        let now = Instant::now();
        let elapsed = (now - mem::replace(&mut self.stage_started, now)).as_secs_f64();
        metrics::histogram!("shopkeeper_search_stage_seconds", "stage" => stage).record(elapsed);
    }
}
