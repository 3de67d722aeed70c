//! Who may compute next? There are as many seats as threads; searches are seated first.

use parking_lot::{Condvar, Mutex};

use super::Turn;

/// A fixed number of things of which one at a time may be used.
pub(super) struct Seats<T> {
    state: Mutex<State<T>>,
    freed: Condvar,
}

struct State<T> {
    free: Vec<T>,
    searches_waiting: usize,
}

/// A seat taken; it is free again when dropped.
pub(super) struct Seat<'a, T> {
    seats: &'a Seats<T>,
    taken: Option<T>,
}

impl<T> Seats<T> {
    pub(super) fn new(all: Vec<T>) -> Self {
        Self { state: Mutex::new(State { free: all, searches_waiting: 0 }), freed: Condvar::new() }
    }

    /// Waits for a seat. In the background that lasts as long as any search waits.
    pub(super) fn take(&self, turn: Turn) -> Seat<'_, T> {
        let mut state = self.state.lock();
        let search = usize::from(turn == Turn::Search);
        state.searches_waiting += search;
        loop {
            let my_turn = turn == Turn::Search || state.searches_waiting == 0;
            if my_turn && let Some(taken) = state.free.pop() {
                state.searches_waiting -= search;
                if !state.free.is_empty() {
                    self.freed.notify_all();
                }
                return Seat { seats: self, taken: Some(taken) };
            }
            self.freed.wait(&mut state);
        }
    }
}

impl<T> std::ops::Deref for Seat<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.taken.as_ref().unwrap_or_else(|| unreachable!("held until dropped"))
    }
}

impl<T> Drop for Seat<'_, T> {
    fn drop(&mut self) {
        let mut state = self.seats.state.lock();
        state.free.extend(self.taken.take());
        // All of them: the one woken may be in the background while a search waits.
        self.seats.freed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::{sync::mpsc, thread};

    use super::*;

    #[test]
    fn a_search_is_seated_before_the_background() {
        let seats = Seats::new(vec![()]);
        let (seated, order) = mpsc::channel();
        let taken = seats.take(Turn::Background);
        let background = seated.clone();
        thread::scope(|scope| {
            scope.spawn(|| {
                let _seat = seats.take(Turn::Background);
                background.send("background").unwrap();
            });
            scope.spawn(|| {
                let _seat = seats.take(Turn::Search);
                seated.send("search").unwrap();
            });
            while seats.state.lock().searches_waiting == 0 {
                thread::yield_now();
            }
            drop(taken);
        });
        assert_eq!(order.recv(), Ok("search"));
        assert_eq!(order.recv(), Ok("background"));
    }
}
