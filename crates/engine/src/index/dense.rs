//! Which products mean what a query means? Two looks: the signs of all products' vectors, and
//! the whole vectors of those whose signs are near.
//!
//! How near a product is depends on nothing but the product and the query: the cosine of the
//! vectors as they are kept, if no more than [`RADIUS`] of their signs differ, and nothing
//! otherwise. So totals and pages do not depend on how many products are looked at.

use rten_simd::{Isa, SimdOp};

use super::bits::{BLOCK, ones};
use crate::embed::Vector;

/// Vectors of which more than this share of the signs differ are strangers. So wide because
/// signs tell little of the built-in model's vectors: at 0.42, half of the ten nearest products
/// were lost (`dense_tests`).
pub(super) const RADIUS: f32 = 0.52;

/// What a query means, as products are compared with it.
#[derive(Clone, Debug, PartialEq)]
pub struct QueryVector {
    pub(super) numbers: Box<[i8]>,
    signs: Box<[u64]>,
    /// The reciprocal of the numbers' length.
    factor: f32,
    /// Signs that may differ.
    radius: u64,
}

impl QueryVector {
    /// The vector to search with; `None` for one that is nowhere.
    pub fn of(vector: &Vector) -> Option<Self> {
        let stored = vector.stored();
        Self::of_numbers(stored.numbers().into())
    }

    pub(super) fn of_numbers(numbers: Box<[i8]>) -> Option<Self> {
        let factor = factor(&numbers);
        let radius = (numbers.len() as f32 * RADIUS) as u64;
        (factor > 0.0).then(|| Self { signs: signs(&numbers).collect(), numbers, factor, radius })
    }
}

/// The reciprocal of a vector's length; 0 for one that is nowhere.
pub(super) fn factor(numbers: &[i8]) -> f32 {
    let square: i64 = numbers.iter().map(|x| i64::from(*x) * i64::from(*x)).sum();
    if square == 0 { 0.0 } else { (square as f64).sqrt().recip() as f32 }
}

/// Which numbers are below zero, a bit each.
pub(super) fn signs(numbers: &[i8]) -> impl Iterator<Item = u64> {
    numbers.chunks(BLOCK).map(|chunk| {
        chunk.iter().enumerate().fold(0, |bits, (at, x)| bits | u64::from(*x < 0) << at)
    })
}

/// Which products of a block have signs near the query's. `signs` has the first word of each
/// product, then the second of each, and so on.
pub(super) struct NearSigns<'a> {
    pub(super) query: &'a QueryVector,
    pub(super) signs: &'a [[u64; BLOCK]],
}

impl SimdOp for NearSigns<'_> {
    type Output = u64;

    /// Plain code: compiled for each instruction set, it becomes the instructions of that set.
    #[inline(always)]
    fn eval<I: Isa>(self, _: I) -> u64 {
        let mut distances = [0_u64; BLOCK];
        for (words, wanted) in self.signs.iter().zip(&self.query.signs) {
            for (distance, word) in distances.iter_mut().zip(words) {
                *distance += u64::from((word ^ wanted).count_ones());
            }
        }
        let radius = self.query.radius;
        let near = distances.iter().enumerate();
        near.fold(0, |near, (at, distance)| near | u64::from(*distance <= radius) << at)
    }
}

/// The cosines of some products of a block with the query.
pub(super) struct Cosines<'a> {
    pub(super) query: &'a QueryVector,
    /// The vectors of the block, one after the other.
    pub(super) numbers: &'a [i8],
    pub(super) factors: &'a [f32],
    /// Which ones.
    pub(super) wanted: u64,
    pub(super) cosines: &'a mut [f32; BLOCK],
}

impl SimdOp for Cosines<'_> {
    type Output = ();

    #[inline(always)]
    fn eval<I: Isa>(self, _: I) {
        let dims = self.query.numbers.len();
        for at in ones(self.wanted) {
            let numbers = &self.numbers[at * dims..(at + 1) * dims];
            let dot = dot(&self.query.numbers, numbers);
            self.cosines[at] = dot as f32 * (self.factors[at] * self.query.factor);
        }
    }
}

/// Exact: no sum of products of signed bytes that fits a vector overflows.
#[inline(always)]
fn dot(a: &[i8], b: &[i8]) -> i32 {
    a.iter().zip(b).map(|(a, b)| i32::from(i16::from(*a) * i16::from(*b))).sum()
}
