//! Sums of a query's numbers over the sign bits of many vectors, by table look-ups in registers.
//!
//! For each four coordinates there are sixteen possible sums, one for each combination of sign bits: a
//! table of 16 bytes, in which one instruction looks up the sums of 16 vectors (as FastScan does for
//! product quantisation; André, Kermarrec and Le Scouarnec, 2015). Sums are exact.

use fearless_simd::{Bytes, Simd, SimdBase, u8x32, u16x16};

/// Vectors that are compared at once.
pub(super) const LANES: usize = 16;
/// Coordinates of a row.
const ROW: usize = 2 * u8::BITS as usize;

/// The signs of [`LANES`] vectors in [`ROW`] coordinates: a byte of each vector, then its next byte.
pub(super) type Row = [u8; 2 * LANES];

/// The greatest absolute value of a query's number: four bits with the sign.
pub(super) const MAX_NUMBER: i8 = 7;

/// Coordinates of a table.
const TABLE: usize = 4;
/// Added to the sums in a table, so that none is negative.
const BIAS: i8 = TABLE as i8 * MAX_NUMBER;
/// Rows whose sums fit into a byte, and into 16 bits.
const ROWS_OF_BYTE: usize = u8::MAX as usize / (4 * BIAS as usize);
const ROWS_OF_SUM: usize = u16::MAX as usize / (4 * BIAS as usize);
const _: () = assert!(ROWS_OF_BYTE == 2 && cfg!(target_endian = "little"));

/// Number of rows for vectors of these dimensions.
pub(super) fn rows(dims: usize) -> usize {
    dims.div_ceil(ROW)
}

/// Writes the signs of a vector into its lane: a bit for each coordinate, whether it is not negative.
pub(super) fn put(rows: &mut [Row], lane: usize, are_positive: impl Iterator<Item = bool>) {
    let mut bytes = 0;
    let mut bits = are_positive.zip(0_usize..).peekable();
    while bits.peek().is_some() {
        let byte =
            bits.by_ref().take(8).fold(0, |byte, (bit, at)| byte | u8::from(bit) << (at % 8));
        rows[bytes / 2][bytes % 2 * LANES + lane] = byte;
        bytes += 1;
    }
}

/// Copies the signs of a vector from the lane of other rows.
pub(super) fn copy(rows: &mut [Row], lane: usize, others: &[Row], other_lane: usize) {
    for (row, other) in rows.iter_mut().zip(others) {
        row[lane] = other[other_lane];
        row[LANES + lane] = other[LANES + other_lane];
    }
}

/// The sums of four coordinates by their sign bits, biased: of the first byte of a row, and of the
/// second.
type SumTable = [u8; 2 * LANES];

/// The numbers of a query, prepared for comparison with the signs of vectors.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct SumTables {
    /// For each row, the tables of the lower and the upper bits of its bytes.
    rows: Box<[[SumTable; 2]]>,
}

impl SumTables {
    /// Prepares numbers, each at most [`MAX_NUMBER`] in absolute value.
    pub(super) fn of(numbers: &[i8]) -> Self {
        debug_assert!(numbers.iter().all(|number| number.abs() <= MAX_NUMBER));
        let sum = |numbers: &[i8], bits: usize| {
            let chosen = numbers.iter().enumerate().filter(|(at, _)| bits >> at & 1 == 1);
            (BIAS + chosen.map(|(_, number)| number).sum::<i8>()).cast_unsigned()
        };
        let row = |numbers: &[i8]| {
            let mut padded = [0; ROW];
            padded[..numbers.len()].copy_from_slice(numbers);
            let [low, high, next_low, next_high] =
                std::array::from_fn(|at| &padded[at * TABLE..(at + 1) * TABLE]);
            [(low, next_low), (high, next_high)].map(|(first, second)| {
                std::array::from_fn(|at| match at < LANES {
                    true => sum(first, at),
                    false => sum(second, at - LANES),
                })
            })
        };
        Self { rows: numbers.chunks(ROW).map(row).collect() }
    }

    /// Number of rows of the signs.
    pub(super) fn rows(&self) -> usize {
        self.rows.len()
    }

    /// For each vector, the sum of the numbers whose sign bit is set.
    // Without closures: they are compiled for the oldest instruction set where they are not inlined.
    #[inline(always)]
    pub(super) fn sums<S: Simd>(&self, simd: S, signs: &[Row]) -> [i32; LANES] {
        let mut sums = [-(4 * i32::from(BIAS) * self.rows.len() as i32); LANES];
        for (signs, tables) in signs.chunks(ROWS_OF_SUM).zip(self.rows.chunks(ROWS_OF_SUM)) {
            let [even, odd] = biased_sums(simd, signs, tables);
            for at in 0..LANES / 2 {
                sums[2 * at] += i32::from(even[at]) + i32::from(even[at + LANES / 2]);
                sums[2 * at + 1] += i32::from(odd[at]) + i32::from(odd[at + LANES / 2]);
            }
        }
        sums
    }
}

/// The biased sums of the vectors with even numbers and of those with odd ones: over the first byte of
/// each row, and over the second.
#[inline(always)]
fn biased_sums<S: Simd>(simd: S, signs: &[Row], tables: &[[SumTable; 2]]) -> [[u16; LANES]; 2] {
    let mut even = u16x16::splat(simd, 0);
    let mut odd = even;
    let lower = u16x16::splat(simd, 0xff);
    let (pairs, rest) = signs.as_chunks::<ROWS_OF_BYTE>();
    let (pairs_of_tables, rest_of_tables) = tables.as_chunks::<ROWS_OF_BYTE>();
    for (signs, tables) in pairs.iter().zip(pairs_of_tables) {
        let sum = looked_up(simd, &signs[0], &tables[0]) + looked_up(simd, &signs[1], &tables[1]);
        let sum: u16x16<S> = sum.bitcast();
        even += sum & lower;
        odd += sum >> u8::BITS;
    }
    for (signs, tables) in rest.iter().zip(rest_of_tables) {
        let sum: u16x16<S> = looked_up(simd, signs, tables).bitcast();
        even += sum & lower;
        odd += sum >> u8::BITS;
    }
    [even.into(), odd.into()]
}

/// The sums of one row.
#[inline(always)]
fn looked_up<S: Simd>(simd: S, signs: &Row, tables: &[SumTable; 2]) -> u8x32<S> {
    let signs = u8x32::from_slice(simd, signs);
    let low = u8x32::from_slice(simd, &tables[0]);
    let high = u8x32::from_slice(simd, &tables[1]);
    let lower = u8x32::splat(simd, 0x0f);
    let low = low.swizzle_dyn_within_blocks(signs & lower);
    let high = high.swizzle_dyn_within_blocks((signs >> TABLE as u32) & lower);
    low + high
}

#[cfg(test)]
mod tests {
    use fearless_simd::{Level, dispatch};
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn sums_are_those_of_single_numbers(
            numbers in prop::collection::vec(-MAX_NUMBER..=MAX_NUMBER, 1..40),
            // More rows than 16 bits can sum up, once in a while.
            times in prop_oneof![9 => Just(1_usize), 1 => Just(600)],
            seed in any::<u64>(),
        ) {
            let numbers = numbers.repeat(times);
            let mut random = fastrand::Rng::with_seed(seed);
            let vectors: [Vec<bool>; LANES] =
                std::array::from_fn(|_| numbers.iter().map(|_| random.bool()).collect());
            let mut signs = vec![[0; 2 * LANES]; rows(numbers.len())];
            for (lane, vector) in vectors.iter().enumerate() {
                put(&mut signs, lane, vector.iter().copied());
            }
            let sums = vectors.map(|vector| -> i32 {
                let each = numbers.iter().zip(vector).filter(|(_, is_set)| *is_set);
                each.map(|(number, _)| i32::from(*number)).sum()
            });
            let tables = SumTables::of(&numbers);
            prop_assert_eq!(tables.rows(), signs.len());
            for level in [Level::new(), Level::baseline()] {
                prop_assert_eq!(dispatch!(level, simd => tables.sums(simd, &signs)), sums);
            }
            let mut copied = vec![[0; 2 * LANES]; signs.len()];
            (0..LANES).for_each(|lane| copy(&mut copied, LANES - 1 - lane, &signs, lane));
            let reversed: Vec<i32> = sums.into_iter().rev().collect();
            let of_copies = dispatch!(Level::new(), simd => tables.sums(simd, &copied));
            prop_assert_eq!(of_copies.to_vec(), reversed);
        }
    }

    #[test]
    fn the_greatest_sums_fit() {
        for number in [-MAX_NUMBER, MAX_NUMBER] {
            let tables = SumTables::of(&vec![number; 1000 * ROW]);
            let signs = [[u8::MAX; 2 * LANES]; 1000];
            let sums = dispatch!(Level::new(), simd => tables.sums(simd, &signs));
            assert_eq!(sums, [1000 * ROW as i32 * i32::from(number); LANES]);
        }
    }
}
