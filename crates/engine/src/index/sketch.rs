//! How near is a product, about, and how wrong can that be? A bit for each number of its vector
//! tells, compared with four bits for each of the query's.
//!
//! Both vectors are turned first ([`super::rotation`]). Of a product, the signs are kept and how
//! far they stretch along the vector itself; the query's product with the signs, divided by that,
//! is the cosine but for an error that is small and known: after the turn, what the signs leave
//! out points anywhere. (This is the estimate of RaBitQ, by Gao and Long, 2024.)

use fearless_simd::Simd;

use super::{bits::BLOCK, rotation::rotate};

/// Bits for each number of a query.
const PLANES: usize = 4;
/// The largest number that a query's bits can tell.
const LARGEST: f32 = ((1 << (PLANES - 1)) - 1) as f32;

/// How many times the usual error a cosine may differ from its estimate.
const PATIENCE: f32 = 3.0;
/// How far a vector stretches beyond its signs if its numbers are spread as chance has it:
/// the root of half of pi.
const USUAL_STRETCH: f32 = 1.253_314;

/// Fewer numbers than this tell too little for an estimate.
pub(super) const LEAST_DIMS: usize = 64;

/// What is kept of a product's vector.
pub(super) struct Sketch {
    /// Which of the turned numbers are not below zero, a bit each.
    pub(super) signs: Vec<u64>,
    /// What the product of a query with the signs is to be multiplied with.
    pub(super) stretch: f32,
}

impl Sketch {
    /// The sketch of a vector that is somewhere.
    #[inline(always)]
    pub(super) fn of(numbers: &[i8]) -> Self {
        let turned = turned(numbers);
        let square: f32 = turned.iter().map(|x| x * x).sum();
        let sum: f32 = turned.iter().map(|x| x.abs()).sum();
        let sign = |bits, (at, x): (usize, &f32)| bits | u64::from(*x >= 0.0) << at;
        let signs = turned.chunks(BLOCK).map(|chunk| chunk.iter().enumerate().fold(0, sign));
        Self { signs: signs.collect(), stretch: square.sqrt() / sum }
    }
}

/// What products' sketches are compared with.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct QuerySketch {
    /// For each word of the signs, the bits of the query's numbers, lowest first. A number
    /// is what its bits are worth, the highest counting negative.
    planes: Box<[[u64; PLANES]]>,
    /// The estimate is the stretch times this times the numbers at the signs …
    step: f32,
    /// … and this.
    offset: f32,
    /// The error is no more than the stretch times this …
    doubt: f32,
    /// … and this.
    doubt_offset: f32,
}

impl QuerySketch {
    /// The sketch of a vector that is somewhere; `None` if it has too few numbers.
    pub(super) fn of(numbers: &[i8]) -> Option<Self> {
        if numbers.len() < LEAST_DIMS {
            return None;
        }
        let turned = turned(numbers);
        let length = turned.iter().map(|x| x * x).sum::<f32>().sqrt();
        let largest = turned.iter().fold(0.0_f32, |largest, x| largest.max(x.abs()));
        let rough: Vec<i8> = turned.iter().map(|x| (x / largest * LARGEST).round() as i8).collect();
        let plane = |chunk: &[i8], plane: usize| {
            let bits = chunk.iter().enumerate();
            bits.fold(0, |bits, (at, x)| bits | u64::from(x >> plane & 1 == 1) << at)
        };
        let planes = |chunk: &[i8]| std::array::from_fn(|at| plane(chunk, at));
        let step = largest / LARGEST / length;
        let sum: i32 = rough.iter().map(|x| i32::from(*x)).sum();
        // The usual error is the root of (x² - 1) / (dims - 1) where x is the stretch times the
        // root of dims. The tangent is never below it, and costs less.
        let dims = numbers.len() as f32;
        let usual = (USUAL_STRETCH * USUAL_STRETCH - 1.0).sqrt();
        let slope = USUAL_STRETCH / usual;
        let patience = PATIENCE / (dims - 1.0).sqrt();
        Some(Self {
            planes: rough.chunks(BLOCK).map(planes).collect(),
            step: 2.0 * step,
            offset: -step * sum as f32,
            doubt: patience * slope * dims.sqrt(),
            doubt_offset: patience * (usual - slope * USUAL_STRETCH),
        })
    }

    /// The most that a cosine may differ from its estimate.
    #[inline(always)]
    pub(super) fn doubt(&self, stretch: f32) -> f32 {
        stretch * self.doubt + self.doubt_offset
    }

    /// Words of a product's signs.
    pub(super) fn words(&self) -> usize {
        self.planes.len()
    }

    /// Estimates the cosines of a block's products. `signs` has the first word of each product,
    /// then the second of each, and so on.
    ///
    /// Plain code: compiled for each instruction set, it becomes the instructions of that set.
    #[inline(always)]
    pub(super) fn estimate<S: Simd>(
        &self,
        _: S,
        signs: &[[u64; BLOCK]],
        stretches: &[f32; BLOCK],
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
            estimates[at] = stretches[at] * (self.step * sums[at] as i32 as f32 + self.offset);
        }
    }
}

#[inline(always)]
fn turned(numbers: &[i8]) -> Vec<f32> {
    let mut turned: Vec<f32> = numbers.iter().map(|x| f32::from(*x)).collect();
    rotate(&mut turned);
    turned
}
