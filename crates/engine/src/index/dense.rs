//! What does a query mean, as products are compared with it? Every product by a sketch of its
//! vector, and those by their whole vectors of which the sketch cannot tell enough.
//!
//! How near a product is depends on nothing but the product and the query, so totals and pages do
//! not depend on which products are looked at closely.

use fearless_simd::Simd;

use super::sketch::QuerySketch;
use crate::embed::Vector;

/// What a query means, as products are compared with it.
#[derive(Clone, Debug, PartialEq)]
pub struct QueryVector {
    pub(super) numbers: Box<[i8]>,
    /// Not there if it has too few numbers for one.
    pub(super) sketch: Option<QuerySketch>,
    /// The reciprocal of the numbers' length.
    factor: f32,
}

impl QueryVector {
    /// The vector to search with; `None` for one that is nowhere.
    pub fn of(vector: &Vector) -> Option<Self> {
        let stored = vector.stored();
        Self::of_numbers(stored.numbers().into())
    }

    pub(super) fn of_numbers(numbers: Box<[i8]>) -> Option<Self> {
        let factor = factor(&numbers);
        (factor > 0.0).then(|| Self { sketch: QuerySketch::of(&numbers), numbers, factor })
    }

    /// The cosine with a product's vector of this reciprocal length.
    ///
    /// Plain code: compiled for each instruction set, it becomes the instructions of that set.
    #[inline(always)]
    pub(super) fn cosine<S: Simd>(&self, _: S, numbers: &[i8], factor: f32) -> f32 {
        dot(&self.numbers, numbers) as f32 * (factor * self.factor)
    }
}

/// The reciprocal of a vector's length; 0 for one that is nowhere.
pub(super) fn factor(numbers: &[i8]) -> f32 {
    let square: i64 = numbers.iter().map(|x| i64::from(*x) * i64::from(*x)).sum();
    if square == 0 { 0.0 } else { (square as f64).sqrt().recip() as f32 }
}

/// Exact: no sum of products of signed bytes that fits a vector overflows.
///
/// A loop by number: iterators that are not taken apart where this is compiled for an instruction
/// set would be compiled for none.
#[inline(always)]
fn dot(a: &[i8], b: &[i8]) -> i32 {
    let len = a.len().min(b.len());
    let (a, b) = (&a[..len], &b[..len]);
    let mut sum = 0;
    for at in 0..len {
        sum += i32::from(i16::from(a[at]) * i16::from(b[at]));
    }
    sum
}
