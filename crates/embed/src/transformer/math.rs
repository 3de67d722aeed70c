//! The functions of an encoder on floats.
//!
//! Sums are made in 16 lanes that are added in a fixed order, so that results do not depend on the
//! width of the processor's registers. They differ in the last bits where a processor has no fused
//! multiply-add.

use fearless_simd::{Bytes, Simd, f32x16, i32x16, prelude::*};

/// Floats that are processed together.
pub(super) const LANES: usize = 16;
/// As many floats.
pub(super) type Lanes<S> = f32x16<S>;

/// The parameters of a layer normalisation.
pub(super) struct Norm {
    pub(super) weight: Vec<f32>,
    pub(super) bias: Vec<f32>,
    pub(super) epsilon: f32,
}

/// Normalises the values of each token to a mean of 0 and a variance of 1, then applies the
/// parameters.
#[inline(always)]
pub(super) fn layer_norm<S: Simd>(simd: S, norm: &Norm, values: &mut [f32]) {
    let width = norm.weight.len();
    let (weight, bias) = (norm.weight.as_chunks::<LANES>().0, norm.bias.as_chunks::<LANES>().0);
    for token in values.chunks_exact_mut(width) {
        let chunks = token.as_chunks_mut::<LANES>().0;
        let mut sum = Lanes::splat(simd, 0.0);
        for chunk in chunks.iter() {
            sum += Lanes::load_array_ref(simd, chunk);
        }
        let mean = Lanes::splat(simd, total(sum) / width as f32);
        let mut squares = Lanes::splat(simd, 0.0);
        for chunk in chunks.iter() {
            let deviation = Lanes::load_array_ref(simd, chunk) - mean;
            squares = deviation.mul_add(deviation, squares);
        }
        let variance = total(squares) / width as f32;
        let factor = Lanes::splat(simd, 1.0 / (variance + norm.epsilon).sqrt());
        for ((chunk, weight), bias) in chunks.iter_mut().zip(weight).zip(bias) {
            let normal = (Lanes::load_array_ref(simd, chunk) - mean) * factor;
            let weight = Lanes::load_array_ref(simd, weight);
            normal.mul_add(weight, Lanes::load_array_ref(simd, bias)).store_slice(chunk);
        }
    }
}

/// Adds other values.
#[inline(always)]
pub(super) fn add(sums: &mut [f32], values: &[f32]) {
    for (sum, value) in sums.iter_mut().zip(values) {
        *sum += value;
    }
}

/// `x · (1 + erf(x / √2)) / 2` of each value.
#[inline(always)]
pub(super) fn gelu<S: Simd>(simd: S, values: &mut [f32]) {
    let (half, factor) =
        (Lanes::splat(simd, 0.5), Lanes::splat(simd, std::f32::consts::FRAC_1_SQRT_2));
    for chunk in values.as_chunks_mut::<LANES>().0 {
        let x = Lanes::load_array_ref(simd, chunk);
        let half_x = x * half;
        half_x.mul_add(erf(simd, x * factor), half_x).store_slice(chunk);
    }
}

/// The error function, by a rational approximation with an error of less than 5e-7.
#[inline(always)]
fn erf<S: Simd>(simd: S, x: Lanes<S>) -> Lanes<S> {
    const NUMERATOR: [f32; 7] = [
        -2.726_142_3e-10,
        2.770_681_4e-8,
        -2.101_024e-6,
        -5.692_506_4e-5,
        -7.349_906_3e-4,
        -2.954_6e-3,
        -1.609_603_3e-2,
    ];
    const DENOMINATOR: [f32; 5] =
        [-1.456_607_2e-5, -2.133_740_5e-4, -1.682_827e-3, -7.373_329e-3, -1.426_473_9e-2];
    let x = x.max(Lanes::splat(simd, -4.0)).min(Lanes::splat(simd, 4.0));
    let square = x * x;
    x * polynomial(simd, &NUMERATOR, square) / polynomial(simd, &DENOMINATOR, square)
}

/// `eˣ` for values that are not positive, with a relative error of less than 2e-7.
#[inline(always)]
pub(super) fn exp<S: Simd>(simd: S, x: Lanes<S>) -> Lanes<S> {
    /// `eʳ = 1 + r + r² · polynomial(r)` for `|r| ≤ ln 2 / 2`.
    const TAIL: [f32; 6] =
        [1.987_569_1e-4, 1.398_2e-3, 8.333_452e-3, 4.166_579_6e-2, 1.666_666_5e-1, 0.5];
    /// `ln 2` in two parts; the product of the first with a small integer is exact.
    const LN_2: (f32, f32) = (0.693_359_4, -2.121_944_4e-4);
    let x = x.max(Lanes::splat(simd, -87.0));
    let power = (x * Lanes::splat(simd, std::f32::consts::LOG2_E)).round_ties_even();
    let rest = power.mul_add(Lanes::splat(simd, -LN_2.0), x);
    let rest = power.mul_add(Lanes::splat(simd, -LN_2.1), rest);
    let tail = polynomial(simd, &TAIL, rest);
    let factor = (tail * rest).mul_add(rest, rest) + Lanes::splat(simd, 1.0);
    // The bits of 2 to that power.
    let bits = (power.to_int::<i32x16<S>>() + i32x16::splat(simd, 127)) << 23;
    factor * bits.bitcast::<Lanes<S>>()
}

/// A polynomial with the coefficient of the highest power first.
#[inline(always)]
fn polynomial<S: Simd>(simd: S, coefficients: &[f32], x: Lanes<S>) -> Lanes<S> {
    let mut value = Lanes::splat(simd, 0.0);
    for coefficient in coefficients {
        value = value.mul_add(x, Lanes::splat(simd, *coefficient));
    }
    value
}

/// The sum of all lanes.
#[inline(always)]
fn total<S: Simd>(lanes: Lanes<S>) -> f32 {
    let mut lanes: [f32; LANES] = lanes.into();
    let mut half = LANES / 2;
    while half > 0 {
        for at in 0..half {
            lanes[at] += lanes[at + half];
        }
        half /= 2;
    }
    lanes[0]
}
