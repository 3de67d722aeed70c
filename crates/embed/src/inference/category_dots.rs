//! Dot products of a quantised vector with the typical vectors of all categories, of which a write
//! needs two sets and a search one.

use fearless_simd::{Level, Simd, dispatch, i8x64, i16x32, i32x16, prelude::*};

/// Rows of a block. A block has the first two numbers of all its rows, then the next two of all of
/// them, so that a row's dot product is a lane of a vector and no lanes have to be added up.
const ROWS: usize = 32;

/// The rows of a matrix, in blocks.
pub(super) struct BlockedRows {
    blocks: Box<[[i8; 2 * ROWS]]>,
    rows: usize,
    dims: usize,
}

impl BlockedRows {
    /// The rows in `numbers`, `dims` signed bytes each.
    pub(super) fn new(numbers: &[u8], dims: usize) -> Self {
        let rows: Vec<&[u8]> = numbers.chunks_exact(dims).collect();
        // Zeros complete the last block, and a row with an odd number of dimensions.
        let number = |rows: &[&[u8]], dim: usize, row: usize| {
            let number = rows.get(row).and_then(|row| row.get(dim));
            number.map_or(0, |number| number.cast_signed())
        };
        let blocks = rows.chunks(ROWS).flat_map(|rows| {
            let pairs = (0..dims).step_by(2);
            pairs.map(|dim| std::array::from_fn(|at| number(rows, dim + at % 2, at / 2)))
        });
        Self { blocks: blocks.collect(), rows: rows.len(), dims }
    }

    /// The dot product of each row with a vector; `None` if that has other dimensions.
    pub(super) fn dots(&self, vector: &[i8]) -> Option<Vec<i32>> {
        if vector.len() != self.dims {
            return None;
        }
        let pair = |pair: &[i8]| {
            let [first, second] = [pair[0], pair.get(1).copied().unwrap_or(0)].map(i32::from);
            first & 0xffff | second << 16
        };
        let pairs: Vec<i32> = vector.chunks(2).map(pair).collect();
        let mut dots = Vec::with_capacity(self.rows.next_multiple_of(ROWS));
        dispatch!(Level::new(), simd => {
            for block in self.blocks.chunks_exact(pairs.len()) {
                let [low, high] = block_dots(simd, &pairs, block);
                dots.extend_from_slice(&low);
                dots.extend_from_slice(&high);
            }
        });
        dots.truncate(self.rows);
        Some(dots)
    }
}

/// The dot products of a vector, a pair of 16-bit numbers in each element, and the rows of a block. They
/// do not overflow for any stored vector.
#[inline(always)]
fn block_dots<S: Simd>(simd: S, pairs: &[i32], block: &[[i8; 2 * ROWS]]) -> [[i32; ROWS / 2]; 2] {
    let (mut lows, mut highs) = (i32x16::splat(simd, 0), i32x16::splat(simd, 0));
    for (pair, numbers) in pairs.iter().zip(block) {
        let pair: i16x32<S> = i32x16::splat(simd, *pair).bitcast();
        let (low, high) = i8x64::from_slice(simd, numbers).widen();
        lows += pair.pairwise_dot_product(low);
        highs += pair.pairwise_dot_product(high);
    }
    [lows.into(), highs.into()]
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};

    use super::*;
    use crate::dot;

    proptest! {
        #[test]
        fn blocks_have_the_dot_products_of_single_rows(
            vector in vec(any::<i8>(), 1..70),
            numbers in vec(any::<u8>(), 0..4_000),
        ) {
            let rows = BlockedRows::new(&numbers, vector.len());
            let one_by_one = numbers.chunks_exact(vector.len());
            let one_by_one: Vec<i32> = dispatch!(Level::new(), simd => {
                one_by_one.map(|row| dot(simd, &vector, row)).collect()
            });
            prop_assert_eq!(rows.dots(&vector), Some(one_by_one));
            prop_assert_eq!(rows.dots(&vector[1..]), None);
        }
    }
}
