//! Cells: groups of products whose vectors are nearest to the same centroid, as in an inverted file
//! (IVF).
//!
//! The centroids are the typical vectors of categories, the same in every shop: the cell of a product
//! depends on its vector alone. A query is compared with the centroids first. The estimate of a
//! product's cosine is limited to [`SPREAD`] above the cosine of its centroid, so the products of a
//! cell far from the query need not be compared at all. The limit is part of the estimate: it depends
//! on product and query alone, too, and not on which products are compared.

use embed::inference::{category_dots, category_model};

/// The number of a cell.
pub(crate) type Cell = u16;

/// The cell of products without a vector, or with one of other dimensions than the centroids.
pub(crate) const NO_CELL: Cell = Cell::MAX;

/// How far an estimate may exceed the cosine of the centroid. Among 100,000 products, one in 200 of those
/// without a word of the query that reach the score threshold exceeds it by more.
const SPREAD: f32 = 0.4;

/// The dot product of a vector with each centroid, which has length 1 here; `None` if the vector has
/// other dimensions.
fn dots(numbers: &[i8]) -> Option<impl Iterator<Item = f32>> {
    let reciprocal_lengths = category_model().vectors()?.reciprocal_lengths();
    let dots = category_dots(numbers)?.into_iter().zip(reciprocal_lengths);
    Some(dots.map(|(dot, reciprocal_length)| dot as f32 * reciprocal_length))
}

/// The cell of a vector.
pub(super) fn cell_of(numbers: &[i8]) -> Cell {
    let nearest = dots(numbers).and_then(|dots| {
        (0..).zip(dots).reduce(|best, one| if one.1 > best.1 { one } else { best })
    });
    nearest.map_or(NO_CELL, |(cell, _)| cell)
}

/// For a query, the greatest estimate of a cosine in each cell.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct CellLimits(Box<[f32]>);

impl CellLimits {
    /// The limits for a vector of this reciprocal length; `None` if it has other dimensions than the
    /// centroids.
    pub(super) fn of(numbers: &[i8], reciprocal_length: f32) -> Option<Self> {
        Some(Self(dots(numbers)?.map(|dot| dot * reciprocal_length + SPREAD).collect()))
    }

    /// The limit of a cell.
    #[inline(always)]
    pub(super) fn get(&self, cell: Cell) -> f32 {
        self.0.get(usize::from(cell)).copied().unwrap_or(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_centroid_is_in_its_own_cell_and_limits_are_above_its_cosine() {
        let centroids = category_model().vectors().unwrap();
        let rows = centroids.numbers().chunks_exact(centroids.dims());
        let rows: Vec<Vec<i8>> =
            rows.map(|row| row.iter().map(|x| x.cast_signed()).collect()).collect();
        assert!(rows.len() > 200);
        for ((cell, row), length) in (0..).zip(&rows).zip(centroids.reciprocal_lengths()) {
            assert_eq!(cell_of(row), cell);
            let limits = CellLimits::of(row, length).unwrap();
            assert!((limits.get(cell) - 1.0 - SPREAD).abs() < 1e-3, "{}", limits.get(cell));
        }
    }

    #[test]
    fn vectors_of_other_dimensions_have_no_cell_and_no_limit() {
        assert_eq!(cell_of(&[1, 2, 3]), NO_CELL);
        assert_eq!(CellLimits::of(&[1, 2, 3], 0.3), None);
        let limits = CellLimits(vec![0.5, 0.7].into());
        assert_eq!((limits.get(1), limits.get(NO_CELL)), (0.7, 1.0));
    }
}
