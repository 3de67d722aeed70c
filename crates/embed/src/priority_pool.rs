//! A pool of resources in which searches take precedence over background work.

use parking_lot::{Condvar, Mutex};

use super::Priority;

/// A fixed number of resources, each used by one thread at a time.
pub(super) struct PriorityPool<T> {
    state: Mutex<State<T>>,
    freed: Condvar,
}

struct State<T> {
    free: Vec<T>,
    searches_waiting: usize,
}

/// A resource in use, returned to the pool on drop.
pub(super) struct Pooled<'a, T> {
    pool: &'a PriorityPool<T>,
    taken: Option<T>,
}

impl<T> PriorityPool<T> {
    pub(super) fn new(all: Vec<T>) -> Self {
        Self { state: Mutex::new(State { free: all, searches_waiting: 0 }), freed: Condvar::new() }
    }

    /// Waits for a resource. Background work also waits for as long as any search waits.
    pub(super) fn take(&self, priority: Priority) -> Pooled<'_, T> {
        let mut state = self.state.lock();
        let search = usize::from(priority == Priority::Search);
        state.searches_waiting += search;
        loop {
            let my_turn = priority == Priority::Search || state.searches_waiting == 0;
            if my_turn && let Some(taken) = state.free.pop() {
                state.searches_waiting -= search;
                if !state.free.is_empty() {
                    self.freed.notify_all();
                }
                return Pooled { pool: self, taken: Some(taken) };
            }
            self.freed.wait(&mut state);
        }
    }
}

impl<T> std::ops::Deref for Pooled<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.taken.as_ref().unwrap_or_else(|| unreachable!("held until dropped"))
    }
}

impl<T> std::ops::DerefMut for Pooled<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.taken.as_mut().unwrap_or_else(|| unreachable!("held until dropped"))
    }
}

impl<T> Drop for Pooled<'_, T> {
    fn drop(&mut self) {
        let mut state = self.pool.state.lock();
        state.free.extend(self.taken.take());
        // Wakes all, because a single waiter might be background work while a search waits.
        self.pool.freed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::{sync::mpsc, thread};

    use super::*;

    #[test]
    fn searches_take_precedence_over_background_work() {
        let pool = PriorityPool::new(vec![()]);
        let (taken_by, order) = mpsc::channel();
        let taken = pool.take(Priority::Background);
        let background = taken_by.clone();
        thread::scope(|scope| {
            scope.spawn(|| {
                let _used = pool.take(Priority::Background);
                background.send("background").unwrap();
            });
            scope.spawn(|| {
                let _used = pool.take(Priority::Search);
                taken_by.send("search").unwrap();
            });
            while pool.state.lock().searches_waiting == 0 {
                thread::yield_now();
            }
            drop(taken);
        });
        assert_eq!(order.recv(), Ok("search"));
        assert_eq!(order.recv(), Ok("background"));
    }
}
