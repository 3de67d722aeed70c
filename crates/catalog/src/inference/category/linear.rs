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
