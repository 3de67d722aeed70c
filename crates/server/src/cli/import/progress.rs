//! Shows progress: a bar on a terminal, otherwise a line from time to time.

use std::{
    io::{self, IsTerminal, Write},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use indicatif::{ProgressBar, ProgressStyle};

use super::state::Counts;

/// How often a log gets a line.
const LINE_EVERY: Duration = Duration::from_secs(5);
/// Remaining times are guesses before this.
const GUESS_AFTER: Duration = Duration::from_secs(1);

/// What is shown while an import runs.
pub(super) struct Progress {
    bar: Option<ProgressBar>,
    taken: Arc<AtomicU64>,
    total: Option<u64>,
    began: Instant,
    /// Records that an import before this one did.
    before: u64,
    said_at: Instant,
}

impl Progress {
    pub(super) fn new(taken: Arc<AtomicU64>, total: Option<u64>, before: u64) -> Self {
        let bar = io::stderr().is_terminal().then(|| {
            let bar = total.map_or_else(ProgressBar::new_spinner, ProgressBar::new);
            let template = match total {
                Some(_) => "[{bar:30}] {percent:>3}%  {msg}",
                None => "{spinner} {msg}",
            };
            bar.with_style(
                ProgressStyle::with_template(template)
                    .unwrap_or_else(|_| ProgressStyle::default_bar()),
            )
        });
        let began = Instant::now();
        Self { bar, taken, total, began, before, said_at: began }
    }

    /// Shows how far it is.
    pub(super) fn show(&mut self, counts: &Counts) {
        let due = self.said_at.elapsed() >= LINE_EVERY;
        if self.bar.is_none() && !due {
            return;
        }
        let taken = self.taken.load(Ordering::Relaxed);
        let said = describe(
            counts,
            counts.records - self.before.min(counts.records),
            self.began.elapsed(),
            self.total.map(|total| (taken, total)),
        );
        match &self.bar {
            Some(bar) => {
                bar.set_position(taken);
                bar.set_message(said);
            }
            None => {
                self.said_at = Instant::now();
                self.say(&said);
            }
        }
    }

    /// A line that stays.
    pub(super) fn say(&self, line: &str) {
        match &self.bar {
            Some(bar) => bar.println(line),
            None => say(line),
        }
    }

    /// Takes the bar away and says how long it took.
    pub(super) fn finish(&self) -> Duration {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
        self.began.elapsed()
    }
}

/// Records, rate, errors, and the remaining time by the bytes that are left.
fn describe(
    counts: &Counts,
    records_now: u64,
    elapsed: Duration,
    bytes: Option<(u64, u64)>,
) -> String {
    let seconds = elapsed.as_secs_f64();
    let rate = if seconds > 0.0 { records_now as f64 / seconds } else { 0.0 };
    let left = match bytes {
        Some((taken, total)) if taken > 0 && elapsed >= GUESS_AFTER => {
            let left = seconds * total.saturating_sub(taken) as f64 / taken as f64;
            format!(", {} left", time(left))
        }
        _ => String::new(),
    };
    let errors = match counts.refused {
        1 => "1 error".to_owned(),
        errors => format!("{errors} errors"),
    };
    format!("{} records, {rate:.0}/s, {errors}{left}", counts.records)
}

fn time(seconds: f64) -> String {
    let whole = seconds.ceil() as u64;
    match (whole / 3600, whole / 60 % 60, whole % 60) {
        (0, 0, s) => format!("{s} s"),
        (0, m, s) => format!("{m}:{s:02}"),
        (h, m, s) => format!("{h}:{m:02}:{s:02}"),
    }
}

/// A line on standard error.
pub(super) fn say(line: &str) {
    // A closed standard error does not stop the import.
    let _ = writeln!(io::stderr(), "{line}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_remaining_time_follows_from_the_bytes() {
        let counts = Counts { records: 5000, refused: 1, ..Counts::default() };
        let ten = Duration::from_secs(10);
        assert_eq!(
            describe(&counts, 1000, ten, Some((100, 1000))),
            "5000 records, 100/s, 1 error, 1:30 left"
        );
        assert_eq!(describe(&counts, 1000, ten, None), "5000 records, 100/s, 1 error");
        let start = describe(&Counts::default(), 0, Duration::ZERO, Some((0, 1000)));
        assert_eq!(start, "0 records, 0/s, 0 errors");
        assert_eq!((time(5.2), time(3700.0)), ("6 s".to_owned(), "1:01:40".to_owned()));
    }
}
