//! The vector of a query, prepared for comparison with the vectors of products.

use embed::{Vector, dot};
use fearless_simd::Simd;

use super::{cells::CellLimits, sketch::QuerySketch};

/// The vector of a query.
#[derive(Clone, Debug, PartialEq)]
pub struct QueryVector {
    /// Quantised to a signed byte per dimension, like those of products.
    pub(super) numbers: Box<[i8]>,
    /// `None` below [`super::sketch::MIN_SKETCH_DIMS`] dimensions.
    pub(super) sketch: Option<QuerySketch>,
    /// `None` if estimates have no limit.
    pub(super) limits: Option<CellLimits>,
    reciprocal_length: f32,
}

impl QueryVector {
    /// Quantises a vector; `None` for a zero vector.
    pub fn of(vector: &Vector) -> Option<Self> {
        let stored = vector.stored();
        Self::of_quantised(stored.numbers().into())
    }

    /// From a quantised vector; `None` for a zero vector.
    pub(crate) fn of_quantised(numbers: Box<[i8]>) -> Option<Self> {
        let reciprocal_length = reciprocal_length(&numbers);
        (reciprocal_length > 0.0).then(|| Self {
            sketch: QuerySketch::of(&numbers),
            limits: None,
            numbers,
            reciprocal_length,
        })
    }

    /// Limits estimates by the cells of products. Precondition: the vector was made by the model that the
    /// centroids are of.
    pub fn limited(self) -> Self {
        Self { limits: CellLimits::of(&self.numbers, self.reciprocal_length), ..self }
    }

    /// The quantised numbers.
    pub fn numbers(&self) -> &[i8] {
        &self.numbers
    }

    /// The cosine with a product's vector; 0 for a zero vector.
    #[inline(always)]
    pub(super) fn cosine<S: Simd>(&self, simd: S, numbers: &[i8]) -> f32 {
        let reciprocal_length = reciprocal_root(dot(simd, numbers, numbers).into());
        dot(simd, &self.numbers, numbers) as f32 * (reciprocal_length * self.reciprocal_length)
    }
}

/// The reciprocal of a vector's length; 0 for a zero vector.
pub(crate) fn reciprocal_length(numbers: &[i8]) -> f32 {
    reciprocal_root(numbers.iter().map(|x| i64::from(*x) * i64::from(*x)).sum())
}

#[inline]
fn reciprocal_root(square: i64) -> f32 {
    if square == 0 { 0.0 } else { (square as f64).sqrt().recip() as f32 }
}
