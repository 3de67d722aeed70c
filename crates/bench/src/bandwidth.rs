//! The memory bandwidth of the machine: the limit of a search that reads its index once.

use std::{
    hint::black_box,
    sync::Barrier,
    thread,
    time::{Duration, Instant},
};

/// Bytes that each thread reads: more than the caches hold.
const BYTES: usize = 256 << 20;
/// Each thread reads this often; the fastest pass counts.
const PASSES: usize = 5;
/// Independent sums, so that the additions do not wait for each other.
const LANES: usize = 16;

/// Bytes per second that this many threads read together from memory of their own.
pub fn read_bandwidth(threads: usize) -> f64 {
    let start = Barrier::new(threads);
    let pass = |numbers: &[u64]| {
        start.wait();
        let started = Instant::now();
        black_box(sum(black_box(numbers)));
        started.elapsed()
    };
    let fastest = |_: usize| {
        let numbers = vec![1_u64; BYTES / size_of::<u64>()];
        (0..PASSES).map(|_| pass(&numbers)).min().unwrap_or(Duration::MAX)
    };
    let times: Vec<_> = thread::scope(|scope| {
        let running: Vec<_> = (0..threads).map(|at| scope.spawn(move || fastest(at))).collect();
        running.into_iter().filter_map(|thread| thread.join().ok()).collect()
    });
    times.iter().map(|time| BYTES as f64 / time.as_secs_f64()).sum()
}

fn sum(numbers: &[u64]) -> [u64; LANES] {
    let mut sums = [0_u64; LANES];
    for chunk in numbers.as_chunks::<LANES>().0 {
        for (sum, number) in sums.iter_mut().zip(chunk) {
            *sum = sum.wrapping_add(*number);
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_is_read_once() {
        assert_eq!(sum(&vec![1; 10 * LANES]), [10; LANES]);
    }
}
