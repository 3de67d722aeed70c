//! The sums of the classifier, compiled for each instruction set by [`dispatch`]. All of them add the
//! same numbers in the same order, so a text gets the same category on every machine.

use fearless_simd::{Level, Simd, dispatch, f32x16, prelude::*};

/// The partial sums of a dot product. Its order of additions is part of the model: dimension `i`
/// goes to partial sum `i % LANES`, and the partial sums are added from the first to the last.
const LANES: usize = 16;

/// Rows that every text is compared with, in blocks of [`LANES`] rows. A block has the first number
/// of all its rows, then the second of all of them, so that a dot product is a lane of a vector.
pub(super) struct Rows {
    blocks: Vec<[f32; LANES]>,
    dims: usize,
}

impl Rows {
    /// The rows in `numbers`, `dims` signed bytes each.
    pub(super) fn new(numbers: &[u8], dims: usize) -> Self {
        let rows: Vec<&[u8]> = numbers.chunks_exact(dims).collect();
        let mut blocks = Vec::with_capacity(rows.len().div_ceil(LANES) * dims);
        for block in rows.chunks(LANES) {
            let number = |row: usize, dim: usize| block.get(row).map_or(0.0, |row| float(row[dim]));
            blocks.extend((0..dims).map(|dim| std::array::from_fn(|row| number(row, dim))));
        }
        Self { blocks, dims }
    }

    /// Replaces `dots` by the dot products of all rows with a vector, and of rows of zeros that
    /// complete the last block.
    pub(super) fn dots(&self, vector: &[f32], dots: &mut Vec<f32>) {
        dots.clear();
        dispatch!(Level::new(), simd => {
            for block in self.blocks.chunks_exact(self.dims) {
                dots.extend_from_slice(&block_dots(simd, vector, block));
            }
        });
    }
}

/// The dot products of a vector and the rows of a block. All partial sums are made at the same time,
/// each in a register of its own: an addition takes several cycles, and the next one to the same sum
/// waits for it.
#[inline(always)]
fn block_dots<S: Simd>(simd: S, vector: &[f32], block: &[[f32; LANES]]) -> [f32; LANES] {
    let (wholes, rest) = vector.as_chunks::<LANES>();
    let (columns, rest_columns) = block.as_chunks::<LANES>();
    let mut sums = [f32x16::splat(simd, 0.0); LANES];
    for (xs, columns) in wholes.iter().zip(columns) {
        for lane in 0..LANES {
            sums[lane] += f32x16::from_slice(simd, &columns[lane]) * xs[lane];
        }
    }
    let mut total = f32x16::splat(simd, -0.0);
    for sum in sums {
        total += sum;
    }
    let mut tail = f32x16::splat(simd, -0.0);
    for (x, column) in rest.iter().zip(rest_columns) {
        tail += f32x16::from_slice(simd, column) * *x;
    }
    (total + tail).into()
}

/// The dot products of a vector and rows of signed bytes.
pub(super) fn for_each_dot<'a, T>(
    vector: &[f32],
    rows: impl Iterator<Item = (T, &'a [u8])>,
    mut found: impl FnMut(T, f32),
) {
    dispatch!(Level::new(), _ => {
        for (name, numbers) in rows {
            found(name, dot(vector, numbers));
        }
    });
}

/// In several sums, so that the compiler vectorises it.
#[inline(always)]
fn dot(vector: &[f32], numbers: &[u8]) -> f32 {
    let mut sums = [0.0_f32; LANES];
    let (chunks, rest) = vector.as_chunks::<LANES>();
    let (number_chunks, number_rest) = numbers.as_chunks::<LANES>();
    for (xs, ys) in chunks.iter().zip(number_chunks) {
        for lane in 0..LANES {
            sums[lane] += xs[lane] * float(ys[lane]);
        }
    }
    let tail: f32 = rest.iter().zip(number_rest).map(|(x, y)| x * float(*y)).sum();
    sums.iter().sum::<f32>() + tail
}

/// Turns scores into probabilities.
pub(super) fn softmax(scores: &mut [f32]) {
    dispatch!(Level::new(), _ => {
        let highest = greatest(scores);
        scores.iter_mut().for_each(|score| *score = exp(*score - highest));
        divide_by_sum(scores);
    });
}

/// Replaces cosines by what each counts: 1 for the greatest, and `e^-x` for one that is less by `x`
/// times `decay`, but not less than `least`.
pub(super) fn decay(cosines: &mut [f32], decay: f32, least: f32) {
    dispatch!(Level::new(), _ => {
        let greatest = greatest(cosines);
        for cosine in cosines {
            *cosine = exp((*cosine - greatest) / decay).max(least);
        }
    });
}

/// Replaces probabilities by their geometric means with others, divided by their sum.
pub(super) fn combine(shares: &mut [f32], others: &[f32]) {
    dispatch!(Level::new(), _ => {
        let both = shares.iter_mut().zip(others);
        both.for_each(|(share, other)| *share = (*share * other).sqrt());
        divide_by_sum(shares);
    });
}

/// The greatest of some numbers.
#[inline(always)]
fn greatest(numbers: &[f32]) -> f32 {
    let mut greatest = [f32::NEG_INFINITY; LANES];
    let (chunks, rest) = numbers.as_chunks::<LANES>();
    for chunk in chunks {
        for lane in 0..LANES {
            greatest[lane] = greatest[lane].max(chunk[lane]);
        }
    }
    rest.iter().chain(&greatest).copied().fold(f32::NEG_INFINITY, f32::max)
}

/// Divides numbers by their sum, which is made of [`LANES`] partial sums like a dot product.
#[inline(always)]
fn divide_by_sum(numbers: &mut [f32]) {
    let mut sums = [0.0; LANES];
    let (chunks, rest) = numbers.as_chunks::<LANES>();
    for chunk in chunks {
        for lane in 0..LANES {
            sums[lane] += chunk[lane];
        }
    }
    let total = sums.iter().sum::<f32>() + rest.iter().sum::<f32>();
    numbers.iter_mut().for_each(|number| *number /= total);
}

/// The exponential function of a number that is not positive, to within two units in the last place. Of
/// additions and multiplications alone, unlike that of a C library: it is the same on every machine, and
/// the compiler vectorises it.
#[inline(always)]
pub(super) fn exp(x: f32) -> f32 {
    /// The least power of two that is no subnormal number is `e` to the power of a bit less.
    const LEAST: f32 = -87.0;
    /// A sum with this is rounded to an integer, which is in its last bits.
    const ROUNDING: f32 = 12_582_912.0;
    /// The logarithm of 2, of which the first part has few bits: a multiple of it is exact.
    const LN_2: [f32; 2] = [0.693_359_4, -2.121_944_4e-4];
    const EXPONENT_BITS: u32 = 23;
    const EXPONENT_OF_1: u32 = 127 << EXPONENT_BITS;
    let x = x.max(LEAST);
    let rounded = x * std::f32::consts::LOG2_E + ROUNDING;
    let power = rounded - ROUNDING;
    let rest = x - power * LN_2[0] - power * LN_2[1];
    let mut sum = 1.0 / 5040.0;
    for factor in [1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0, 1.0] {
        sum = sum * rest + factor;
    }
    let power = (rounded.to_bits() << EXPONENT_BITS).wrapping_add(EXPONENT_OF_1);
    sum * f32::from_bits(power)
}

/// Adds rows of signed bytes to `sum`, each times its scale. Row `n` begins at `n` times the
/// dimensions.
pub(super) fn add_rows(sum: &mut [f32], table: &[u8], rows: &[(usize, f32)]) {
    dispatch!(Level::new(), _ => add_rows_inline(sum, table, rows));
}

#[inline(always)]
fn add_rows_inline(sum: &mut [f32], table: &[u8], rows: &[(usize, f32)]) {
    let dims = sum.len();
    for (row, scale) in rows {
        let numbers = &table[row * dims..][..dims];
        for (sum, number) in sum.iter_mut().zip(numbers) {
            *sum += scale * float(*number);
        }
    }
}

#[inline(always)]
fn float(number: u8) -> f32 {
    f32::from(number.cast_signed())
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};

    use super::*;

    #[test]
    fn the_exponential_function_has_its_limits() {
        assert_eq!(exp(0.0), 1.0);
        assert!(exp(f32::NEG_INFINITY) > 0.0 && exp(f32::NEG_INFINITY) < 1e-37);
    }

    proptest! {
        /// To the bit: the categories of products are stored, and compared between nodes.
        #[test]
        fn blocks_of_rows_have_the_dot_products_of_single_rows(
            vector in vec(-4.0_f32..4.0, 1..50),
            numbers in vec(any::<u8>(), 0..2_000),
        ) {
            let dims = vector.len();
            let mut dots = vec![7.0];
            Rows::new(&numbers, dims).dots(&vector, &mut dots);
            let rows = numbers.chunks_exact(dims);
            prop_assert_eq!(dots.len(), rows.len().next_multiple_of(LANES));
            for (row, found) in rows.zip(dots) {
                prop_assert_eq!(found.to_bits(), dot(&vector, row).to_bits());
            }
        }

        #[test]
        fn the_exponential_function_is_nearly_exact(x in -100.0_f32..=0.0) {
            let exact = f64::from(x.max(-87.0)).exp();
            let error = (f64::from(exp(x)) / exact - 1.0).abs();
            prop_assert!(error < 2.0 * f64::from(f32::EPSILON), "{} {}", x, error);
        }

        #[test]
        fn probabilities_add_up_to_one_and_keep_their_order(
            scores in vec(-30.0_f32..30.0, 1..60),
            other in 0.01_f32..1.0,
        ) {
            let mut shares = scores.clone();
            softmax(&mut shares);
            let others = vec![other; shares.len()];
            let mut combined = shares.clone();
            combine(&mut combined, &others);
            let mut decayed = scores.clone();
            decay(&mut decayed, 2.0, 0.001);
            prop_assert!(decayed.iter().all(|one| (0.001..=1.0).contains(one)));
            for shares in [&shares, &combined] {
                prop_assert!((shares.iter().sum::<f32>() - 1.0).abs() < 1e-5);
            }
            for (one, other) in (0..scores.len()).zip(1..scores.len()) {
                let is_less = scores[one] <= scores[other];
                for shares in [&shares, &combined, &decayed] {
                    let (less, more) = if is_less { (one, other) } else { (other, one) };
                    prop_assert!(shares[less] <= shares[more] * 1.000_001);
                }
            }
        }

        #[test]
        fn rows_are_added_in_their_order(
            table in vec(any::<u8>(), 60..=60),
            rows in vec((0_usize..4, -2.0_f32..2.0), 0..9),
        ) {
            let mut sum = vec![0.5; 15];
            let mut expected = sum.clone();
            add_rows(&mut sum, &table, &rows);
            for (row, scale) in rows {
                for (at, sum) in expected.iter_mut().enumerate() {
                    *sum += scale * float(table[row * 15 + at]);
                }
            }
            prop_assert_eq!(sum, expected);
        }
    }
}
