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
//! The query is quantised to four bits per dimension, so that `⟨b, q⟩` follows from a sum of small
//! integers ([`super::sign_sums`]).

use fearless_simd::Simd;

use super::{
    rotation::rotate,
    sign_sums::{LANES, MAX_NUMBER, Row, SumTables},
};

/// The largest quantised number of a query.
const MAX_QUANTISED: f32 = MAX_NUMBER as f32;

/// The error bound in standard deviations.
const DEVIATIONS: f32 = 3.0;
/// The norm ratio times `√dims` of a vector with normally distributed numbers: `√(π/2)`.
const USUAL_NORM_RATIO: f32 = 1.253_314;

/// With fewer dimensions, the error bound is too large to be of use.
pub(super) const MIN_SKETCH_DIMS: usize = 64;

/// The sketch of a product's vector.
pub(super) struct Sketch {
    /// For each dimension, whether the rotated number is not negative.
    pub(super) signs: Vec<bool>,
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
        let signs = rotated.iter().map(|x| *x >= 0.0);
        Self { signs: signs.collect(), norm_ratio: square.sqrt() / sum }
    }
}

/// The query's side of the estimate.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct QuerySketch {
    /// The quantised numbers.
    tables: SumTables,
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
        let step = largest / MAX_QUANTISED / length;
        let sum: i32 = rough.iter().map(|x| i32::from(*x)).sum();
        // The standard deviation is a concave function of the norm ratio. Its tangent at the usual
        // norm ratio is never below it, and needs no square root per product.
        let dims = numbers.len() as f32;
        let usual = (USUAL_NORM_RATIO * USUAL_NORM_RATIO - 1.0).sqrt();
        let slope = USUAL_NORM_RATIO / usual;
        let deviations = DEVIATIONS / (dims - 1.0).sqrt();
        Some(Self {
            tables: SumTables::of(&rough),
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

    /// Number of rows of the signs.
    pub(super) fn rows(&self) -> usize {
        self.tables.rows()
    }

    /// Estimates the cosines of some products.
    #[inline(always)]
    pub(super) fn estimate<S: Simd>(
        &self,
        simd: S,
        signs: &[Row],
        norm_ratios: &[f32; LANES],
        estimates: &mut [f32; LANES],
    ) {
        let sums = self.tables.sums(simd, signs);
        for at in 0..LANES {
            estimates[at] = norm_ratios[at] * (self.step * sums[at] as f32 + self.offset);
        }
    }
}

#[inline(always)]
fn rotated(numbers: &[i8]) -> Vec<f32> {
    let mut rotated: Vec<f32> = numbers.iter().map(|x| f32::from(*x)).collect();
    rotate(&mut rotated);
    rotated
}
