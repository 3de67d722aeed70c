//! Is the database there? What this process believes right now, by what it saw last.
//!
//! A connection that hangs says nothing for a long time, so belief does not wait for requests to
//! fail: a [pulse](super::pulse) asks twice a second. Once it gets no answer, whoever waits for a
//! read is told so at once.

use std::{
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    time::{Duration, Instant},
};

use parking_lot::Mutex;
use tokio::sync::watch;

/// Without being compared with the database for so long, answers say how old they are.
const OLD_AFTER: Duration = Duration::from_secs(3);

/// What is believed of one database.
pub(crate) struct Outlook {
    /// Whether the pulse got no answer.
    lost: watch::Sender<bool>,
    /// Whether somebody else got none since the pulse got one.
    doubted: AtomicBool,
    /// When the indexes were last known to be as new as the database.
    confirmed: Mutex<Instant>,
    /// How often the server was found demoted. Connections made before that are replaced.
    generation: AtomicU64,
}

impl Outlook {
    /// Bright, until somebody knows better.
    pub(super) fn new() -> Self {
        Self {
            lost: watch::Sender::new(false),
            doubted: AtomicBool::new(false),
            confirmed: Mutex::new(Instant::now()),
            generation: AtomicU64::new(0),
        }
    }

    /// The database answered the pulse.
    pub(super) fn answered(&self) {
        self.doubted.store(false, Ordering::Release);
        self.lost.send_if_modified(|lost| std::mem::replace(lost, false));
    }

    /// The database did not answer the pulse.
    pub(super) fn lose(&self) {
        self.lost.send_if_modified(|lost| !std::mem::replace(lost, true));
    }

    /// Somebody asked in vain. It may have been bad luck.
    pub(super) fn doubt(&self) {
        self.doubted.store(true, Ordering::Release);
    }

    /// Whether it is away for all that is known.
    pub(crate) fn is_lost(&self) -> bool {
        *self.lost.borrow()
    }

    /// Whether who can do without it should.
    pub(super) fn is_doubtful(&self) -> bool {
        self.doubted.load(Ordering::Acquire) || self.is_lost()
    }

    /// Which connections are good: those of this generation.
    pub(super) fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    /// A connection of this generation leads to a server that took writes and no longer does, so
    /// all of that generation may.
    pub(super) fn demoted(&self, generation: u64) {
        let (next, order) = (generation + 1, Ordering::AcqRel);
        if self.generation.compare_exchange(generation, next, order, Ordering::Acquire).is_ok() {
            tracing::warn!("the database server only reads any more; looking for another one");
        }
    }

    /// Tells when it is lost.
    pub(super) fn watch(&self) -> watch::Receiver<bool> {
        self.lost.subscribe()
    }

    /// The indexes in memory were as new as the database at this time.
    pub(crate) fn confirm(&self, at: Instant) {
        *self.confirmed.lock() = at;
    }

    /// How old answers from memory may be, if it is not known that they are up to date.
    pub(crate) fn age(&self) -> Option<Duration> {
        let age = self.confirmed.lock().elapsed();
        (age > OLD_AFTER || self.is_doubtful()).then_some(age)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_to_the_pulse_ends_every_doubt() {
        let outlook = Outlook::new();
        assert_eq!((outlook.age(), outlook.is_doubtful(), outlook.is_lost()), (None, false, false));
        outlook.doubt();
        assert!(outlook.age().is_some() && outlook.is_doubtful() && !outlook.is_lost());
        outlook.lose();
        assert!(outlook.is_lost() && *outlook.watch().borrow());
        outlook.answered();
        assert_eq!((outlook.age(), outlook.is_doubtful(), outlook.is_lost()), (None, false, false));
    }
}
