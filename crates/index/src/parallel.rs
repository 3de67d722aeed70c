//! Short work on several threads.
//!
//! The threads are started once: a new one costs a tenth of a search.

use std::{sync::LazyLock, thread};

use rayon_core::{ThreadPool, ThreadPoolBuilder};

/// One thread for each core but that of the caller; `None` if none can be started.
static HELPERS: LazyLock<Option<ThreadPool>> = LazyLock::new(|| {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let helpers = ThreadPoolBuilder::new().num_threads(cores.saturating_sub(1).max(1));
    helpers.thread_name(|number| format!("helper-{number}")).build().ok()
});

/// Does the work of `here` on this thread and that of `there` on another.
pub(crate) fn join<A, B: Send>(
    here: impl FnOnce() -> A,
    there: impl FnOnce() -> B + Send,
) -> (A, B) {
    let Some(helpers) = &*HELPERS else { return (here(), there()) };
    let mut done = None;
    let own = helpers.in_place_scope(|scope| {
        scope.spawn(|_| done = Some(there()));
        here()
    });
    (own, done.expect("the scope waits for it, and passes its panic on"))
}

/// Maps parts of a slice, of at least `least` items unless there are fewer, on up to `threads`
/// threads. The results are in the order of the items; there is one for an empty slice.
pub fn map_parts<T: Sync, R: Send>(
    items: &[T],
    threads: usize,
    least: usize,
    map: impl Fn(&[T]) -> R + Sync,
) -> Vec<R> {
    let threads = threads.min(items.len() / least.max(1)).max(1);
    let size = items.len().div_ceil(threads).max(1);
    let parts: Vec<&[T]> =
        if items.is_empty() { vec![items] } else { items.chunks(size).collect() };
    map_each(&parts, &map)
}

/// Maps each part on a thread of its own, the first on this one.
fn map_each<T: Sync, R: Send>(parts: &[&[T]], map: &(impl Fn(&[T]) -> R + Sync)) -> Vec<R> {
    match parts {
        [] => Vec::new(),
        [own] => vec![map(own)],
        [own, others @ ..] => {
            let (own, others) = join(|| map(own), || map_each(others, map));
            std::iter::once(own).chain(others).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use std::panic::catch_unwind;

    use super::*;

    #[test]
    fn parts_are_in_order_and_not_too_small() {
        let numbers: Vec<usize> = (0..100).collect();
        for (threads, least, parts) in [(1, 1, 1), (2, 50, 2), (2, 51, 1), (3, 10, 3), (9, 0, 9)] {
            let mapped = map_parts(&numbers, threads, least, <[usize]>::to_vec);
            assert_eq!(mapped.len(), parts);
            assert_eq!(mapped.concat(), numbers);
        }
        assert_eq!(map_parts(&[] as &[u8], 4, 1, <[u8]>::len), [0]);
    }

    #[test]
    fn work_is_done_on_two_threads() {
        let (here, there) = join(|| thread::current().id(), || thread::current().id());
        assert_eq!(here, thread::current().id());
        assert_ne!(there, here);
    }

    #[test]
    fn a_panic_on_another_thread_is_passed_on_and_the_thread_stays() {
        for _ in 0..3 {
            assert!(catch_unwind(|| join(|| 1, || panic!("on purpose"))).is_err());
        }
        assert_eq!(join(|| 1, || 2), (1, 2));
    }
}
