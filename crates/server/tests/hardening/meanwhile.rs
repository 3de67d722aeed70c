//! Counts what is answered while something else is under way.

use std::thread;

/// How often `other` is answered while `busy` runs. If it waits for the end of that, it is answered
/// once, or twice if the first was quicker than the begin.
pub(crate) fn answers_during(busy: impl FnOnce() + Send, mut other: impl FnMut()) -> usize {
    thread::scope(|scope| {
        let busy = scope.spawn(busy);
        let mut answers = 0;
        while !busy.is_finished() {
            other();
            answers += 1;
        }
        answers
    })
}
