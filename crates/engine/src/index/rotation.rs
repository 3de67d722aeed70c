//! How can a vector be turned so that each of its numbers tells as much as any other?
//!
//! Vectors of a model are uneven: a few numbers say most, so the signs of the others say little.
//! Some numbers change their sign, by chance but always the same ones, and a Hadamard transform
//! spreads each number over all. FieldLengths and angles stay as they are.

/// After so many turns of all numbers nothing is left of the unevenness.
const ROUNDS: u64 = 2;

/// Turns a vector, always in the same way.
#[inline(always)]
pub(super) fn rotate(numbers: &mut [f32]) {
    let Some(log) = numbers.len().checked_ilog2() else { return };
    // A transform is as wide as a power of two: two of them cover any other width.
    let (width, len) = (1 << log, numbers.len());
    for round in 0..ROUNDS {
        flip(numbers, 2 * round);
        transform(&mut numbers[..width]);
        if width < len {
            flip(numbers, 2 * round + 1);
            transform(&mut numbers[len - width..]);
        }
    }
}

/// Changes the sign of about half of the numbers.
#[inline(always)]
fn flip(numbers: &mut [f32], round: u64) {
    for (at, chunk) in (0..).zip(numbers.chunks_mut(u64::BITS as usize)) {
        let flips = scrambled(round << u32::BITS | at);
        // By halves, so that a bit is as wide as the number whose sign it becomes.
        let (low, high) = (flips as u32, (flips >> u32::BITS) as u32);
        for (half, bits) in chunk.chunks_mut(u32::BITS as usize).zip([low, high]) {
            for (at, number) in (0..).zip(half) {
                let sign = (bits >> at) << (u32::BITS - 1);
                *number = f32::from_bits(number.to_bits() ^ sign);
            }
        }
    }
}

/// The Hadamard transform of as many numbers as a power of two, without a change of length.
#[inline(always)]
fn transform(numbers: &mut [f32]) {
    let mut half = 1;
    while half < numbers.len() {
        for pair in numbers.chunks_exact_mut(2 * half) {
            let (ones, others) = pair.split_at_mut(half);
            for (one, other) in ones.iter_mut().zip(others) {
                (*one, *other) = (*one + *other, *one - *other);
            }
        }
        half *= 2;
    }
    let shrink = (numbers.len() as f32).sqrt().recip();
    numbers.iter_mut().for_each(|number| *number *= shrink);
}

/// Bits that look like chance, the same for the same number (the mixing step of SplitMix64).
fn scrambled(number: u64) -> u64 {
    let mut bits = number.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    bits = (bits ^ bits >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    bits = (bits ^ bits >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    bits ^ bits >> 31
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn dot(one: &[f32], other: &[f32]) -> f32 {
        one.iter().zip(other).map(|(a, b)| a * b).sum()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn lengths_and_angles_stay(
            (one, other) in (1_usize..400).prop_flat_map(|dims| {
                let numbers = || prop::collection::vec(-1.0_f32..1.0, dims);
                (numbers(), numbers())
            }),
        ) {
            let turned = |numbers: &[f32]| {
                let mut numbers = numbers.to_vec();
                rotate(&mut numbers);
                numbers
            };
            let before = [dot(&one, &other), dot(&one, &one), dot(&other, &other)];
            let (one, other) = (turned(&one), turned(&other));
            let after = [dot(&one, &other), dot(&one, &one), dot(&other, &other)];
            for (before, after) in before.iter().zip(after) {
                prop_assert!((before - after).abs() < 1e-3, "{before} {after}");
            }
        }
    }

    #[test]
    fn no_number_of_a_turned_vector_stands_out() {
        for dims in [256, 384, 768] {
            for axis in [0, 1, dims / 2, dims - 1] {
                let mut numbers = vec![0.0; dims];
                numbers[axis] = 1.0;
                rotate(&mut numbers);
                let largest = numbers.iter().fold(0.0_f32, |largest, x| largest.max(x.abs()));
                assert!(largest * (dims as f32).sqrt() < 5.0, "{dims} {axis} {largest}");
            }
        }
    }
}
