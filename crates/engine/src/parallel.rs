//! Work on parts of a slice, on several threads.

use std::{panic::resume_unwind, thread};

/// Maps parts of a slice, of at least `least` items unless there are fewer, on up to `threads`
/// threads. The results are in the order of the items; there is one for an empty slice.
pub(crate) fn map_parts<T: Sync, R: Send>(
    items: &[T],
    threads: usize,
    least: usize,
    map: impl Fn(&[T]) -> R + Sync,
) -> Vec<R> {
    let threads = threads.min(items.len() / least.max(1)).max(1);
    let (own, others) = items.split_at(items.len().div_ceil(threads));
    let map = &map;
    thread::scope(|scope| {
        let others = others.chunks(own.len().max(1));
        let others: Vec<_> = others.map(|part| scope.spawn(move || map(part))).collect();
        let mut all = vec![map(own)];
        for other in others {
            all.push(other.join().unwrap_or_else(|panic| resume_unwind(panic)));
        }
        all
    })
}

#[cfg(test)]
mod tests {
    use super::map_parts;

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
}
