//! A fixed pseudo-random rotation, applied to vectors before they are reduced to signs.
//!
//! The energy of a model's vectors is concentrated in a few dimensions, so most signs would carry
//! little information. Random sign flips followed by a Hadamard transform spread every dimension
//! over all others and preserve lengths and angles.

/// Two rounds are enough to spread a single dimension over all: see the tests.
const ROUNDS: u64 = 2;
/// Numbers that one instruction adds, where there are such instructions.
const LANES: usize = 16;

/// Rotates a vector.
#[inline(always)]
pub(super) fn rotate(numbers: &mut [f32]) {
    let Some(log) = numbers.len().checked_ilog2() else { return };
    // A Hadamard transform needs a power of two: two overlapping ones cover any other width.
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

/// Flips the signs of about half of the numbers, always the same in a round.
#[inline(always)]
fn flip(numbers: &mut [f32], round: u64) {
    for (at, chunk) in (0..).zip(numbers.chunks_mut(u64::BITS as usize)) {
        let flips = scrambled(round << u32::BITS | at);
        // By halves of 32 bits, the width of the numbers, so that the loop is vectorised.
        let (low, high) = (flips as u32, (flips >> u32::BITS) as u32);
        for (half, bits) in chunk.chunks_mut(u32::BITS as usize).zip([low, high]) {
            for (at, number) in (0..).zip(half) {
                let sign = (bits >> at) << (u32::BITS - 1);
                *number = f32::from_bits(number.to_bits() ^ sign);
            }
        }
    }
}

/// The normalised Hadamard transform; the number of dimensions is a power of two.
#[inline(always)]
fn transform(numbers: &mut [f32]) {
    let len = numbers.len();
    let mut half = 1;
    let (vectors, rest) = numbers.as_chunks_mut::<LANES>();
    if rest.is_empty() {
        for vector in vectors {
            combine::<1>(vector);
            combine::<2>(vector);
            combine::<4>(vector);
            combine::<8>(vector);
        }
        half = LANES;
    }
    while half < len {
        for pair in numbers.chunks_exact_mut(2 * half) {
            let (ones, others) = pair.split_at_mut(half);
            for (one, other) in ones.iter_mut().zip(others) {
                (*one, *other) = (*one + *other, *one - *other);
            }
        }
        half *= 2;
    }
    let shrink = (len as f32).sqrt().recip();
    numbers.iter_mut().for_each(|number| *number *= shrink);
}

/// Replaces numbers at a distance of `HALF` by their sum and their difference, as the loop above
/// does, in a form that the compiler turns into a permutation of a vector.
#[inline(always)]
fn combine<const HALF: usize>(numbers: &mut [f32; LANES]) {
    let before = *numbers;
    for at in 0..LANES {
        let own = if at & HALF == 0 { before[at] } else { -before[at] };
        numbers[at] = before[at ^ HALF] + own;
    }
}

/// Pseudo-random bits, a function of `number` (the mixing step of SplitMix64).
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
        fn rotation_preserves_lengths_and_angles(
            (one, other) in (1_usize..400).prop_flat_map(|dims| {
                let numbers = || prop::collection::vec(-1.0_f32..1.0, dims);
                (numbers(), numbers())
            }),
        ) {
            let rotated = |numbers: &[f32]| {
                let mut numbers = numbers.to_vec();
                rotate(&mut numbers);
                numbers
            };
            let before = [dot(&one, &other), dot(&one, &one), dot(&other, &other)];
            let (one, other) = (rotated(&one), rotated(&other));
            let after = [dot(&one, &other), dot(&one, &one), dot(&other, &other)];
            for (before, after) in before.iter().zip(after) {
                prop_assert!((before - after).abs() < 1e-3, "{before} {after}");
            }
        }
    }

    #[test]
    fn rotation_spreads_a_single_dimension_over_all() {
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
