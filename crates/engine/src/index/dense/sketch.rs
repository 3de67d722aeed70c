//! Sketches: binary quantisation of vectors, with an unbiased estimate of the cosine and an error
//! bound (RaBitQ; Gao and Long, 2024).
//!
//! Both vectors are rotated first ([`super::rotation`]). Of a product, only the signs `b` (±1) and
//! the norm ratio `‖x‖ / ‖x‖₁` are stored. With `q` the unit vector of the query, `⟨b, q⟩` times
//! the norm ratio is an unbiased estimate of the cosine: the component of `b` orthogonal to `x`
//! points in a random direction after the rotation. Its product with `q` is the error, with a
//! standard deviation of `√((r² - 1) / (dims - 1))` where `r` is the norm ratio times `√dims`.
//!
//! The error bound is three standard deviations: by the normal distribution, the cosine exceeds it
//! for about one product in 700; the quantisation of the query adds 2 % to the deviation.
//! The query is quantised to four bits per dimension, so that `⟨b, q⟩` takes four ANDs and bit
//! counts per 64 dimensions.

use fearless_simd::Simd;

use super::rotation::rotate;
use crate::index::bits::BLOCK;

/// Bits per dimension of a query.
const PLANES: usize = 4;
/// The largest quantised number of a query.
const MAX_QUANTISED: f32 = ((1 << (PLANES - 1)) - 1) as f32;

/// The error bound in standard deviations.
const DEVIATIONS: f32 = 3.0;
/// The norm ratio times `√dims` of a vector with normally distributed numbers: `√(π/2)`.
const USUAL_NORM_RATIO: f32 = 1.253_314;

/// With fewer dimensions, the error bound is too large to be of use.
pub(super) const MIN_SKETCH_DIMS: usize = 64;

/// The sketch of a product's vector.
pub(super) struct Sketch {
    /// A bit per dimension: whether the rotated number is not negative.
    pub(super) signs: Vec<u64>,
    /// `‖x‖ / ‖x‖₁` of the rotated vector.
    pub(super) norm_ratio: f32,
}

impl Sketch {
    /// The sketch of a vector that is not zero.
    #[inline(always)]
    pub(super) fn of(numbers: &[i8]) -> Self {
        let rotated = rotated(numbers);
        let square: f32 = rotated.iter().map(|x| x * x).sum();
        let sum: f32 = rotated.iter().map(|x| x.abs()).sum();
        let sign = |bits, (at, x): (usize, &f32)| bits | u64::from(*x >= 0.0) << at;
        let signs = rotated.chunks(BLOCK).map(|chunk| chunk.iter().enumerate().fold(0, sign));
        Self { signs: signs.collect(), norm_ratio: square.sqrt() / sum }
    }
}

/// The query's side of the estimate.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct QuerySketch {
    /// For each 64 dimensions, the bit planes of the quantised numbers, lowest first, in two's
    /// complement.
    planes: Box<[[u64; PLANES]]>,
    /// The estimate is `norm_ratio · (step · sum + offset)`, where `sum` is the sum of the quantised
    /// numbers at positive signs.
    step: f32,
    offset: f32,
    /// The error bound is `norm_ratio · error_slope + error_offset`.
    error_slope: f32,
    error_offset: f32,
}

impl QuerySketch {
    /// The sketch of a vector that is not zero; `None` below [`MIN_SKETCH_DIMS`] dimensions.
    pub(super) fn of(numbers: &[i8]) -> Option<Self> {
        if numbers.len() < MIN_SKETCH_DIMS {
            return None;
        }
        let rotated = rotated(numbers);
        let length = rotated.iter().map(|x| x * x).sum::<f32>().sqrt();
        let largest = rotated.iter().fold(0.0_f32, |largest, x| largest.max(x.abs()));
        let rough: Vec<i8> =
            rotated.iter().map(|x| (x / largest * MAX_QUANTISED).round() as i8).collect();
        let plane = |chunk: &[i8], plane: usize| {
            let bits = chunk.iter().enumerate();
            bits.fold(0, |bits, (at, x)| bits | u64::from(x >> plane & 1 == 1) << at)
        };
        let planes = |chunk: &[i8]| std::array::from_fn(|at| plane(chunk, at));
        let step = largest / MAX_QUANTISED / length;
        let sum: i32 = rough.iter().map(|x| i32::from(*x)).sum();
        // The standard deviation is a concave function of the norm ratio. Its tangent at the usual
        // norm ratio is never below it, and needs no square root per product.
        let dims = numbers.len() as f32;
        let usual = (USUAL_NORM_RATIO * USUAL_NORM_RATIO - 1.0).sqrt();
        let slope = USUAL_NORM_RATIO / usual;
        let deviations = DEVIATIONS / (dims - 1.0).sqrt();
        Some(Self {
            planes: rough.chunks(BLOCK).map(planes).collect(),
            step: 2.0 * step,
            offset: -step * sum as f32,
            error_slope: deviations * slope * dims.sqrt(),
            error_offset: deviations * (usual - slope * USUAL_NORM_RATIO),
        })
    }

    /// How far the cosine may be from its estimate, but for a tail of the normal distribution.
    pub(super) fn error_bound(&self, norm_ratio: f32) -> f32 {
        norm_ratio * self.error_slope + self.error_offset
    }

    /// Number of 64-bit words of a product's signs.
    pub(super) fn words(&self) -> usize {
        self.planes.len()
    }

    /// Estimates the cosines of a block's products. `signs` holds the first word of each product,
    /// then the second of each, and so on.
    ///
    /// Plain code that the compiler vectorises for each instruction set that `dispatch!` selects.
    #[inline(always)]
    pub(super) fn estimate<S: Simd>(
        &self,
        _: S,
        signs: &[[u64; BLOCK]],
        norm_ratios: &[f32; BLOCK],
        estimates: &mut [f32; BLOCK],
    ) {
        let mut sums = [0_i64; BLOCK];
        for (words, planes) in signs.iter().zip(&self.planes) {
            for at in 0..BLOCK {
                let word = words[at];
                for (bit, plane) in planes[..PLANES - 1].iter().enumerate() {
                    sums[at] += i64::from((word & plane).count_ones()) << bit;
                }
                sums[at] -= i64::from((word & planes[PLANES - 1]).count_ones()) << (PLANES - 1);
            }
        }
        for at in 0..BLOCK {
            estimates[at] = self.of_sum(norm_ratios[at], sums[at] as i32);
        }
    }

    /// Estimates the cosine of one product of a block, exactly as [`Self::estimate`] does.
    // Without closures: they are compiled for the oldest instruction set where they are not inlined.
    #[inline(always)]
    pub(super) fn estimate_one<S: Simd>(
        &self,
        _: S,
        signs: &[[u64; BLOCK]],
        norm_ratios: &[f32; BLOCK],
        at: usize,
    ) -> f32 {
        let mut sum = 0;
        for (words, planes) in signs.iter().zip(&self.planes) {
            for (bit, plane) in planes[..PLANES - 1].iter().enumerate() {
                sum += (words[at] & plane).count_ones().cast_signed() << bit;
            }
            sum -= (words[at] & planes[PLANES - 1]).count_ones().cast_signed() << (PLANES - 1);
        }
        self.of_sum(norm_ratios[at], sum)
    }

    #[inline(always)]
    fn of_sum(&self, norm_ratio: f32, sum: i32) -> f32 {
        norm_ratio * (self.step * sum as f32 + self.offset)
    }
}

#[inline(always)]
fn rotated(numbers: &[i8]) -> Vec<f32> {
    let mut rotated: Vec<f32> = numbers.iter().map(|x| f32::from(*x)).collect();
    rotate(&mut rotated);
    rotated
}
