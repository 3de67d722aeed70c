//! Vectors, and their quantised form in the store and in the index.

use std::sync::Arc;

use fearless_simd::{Level, Simd, dispatch, i8x64, i32x16, prelude::*, u8x64};

/// A unit vector, or the zero vector of a text without known words, which is similar to nothing.
#[derive(Clone, Debug, PartialEq)]
pub struct Vector(Arc<[f32]>);

impl Vector {
    /// The unit vector in the direction of these coordinates; `None` if one of them is NaN or
    /// infinite.
    pub fn normalized(mut numbers: Vec<f32>) -> Option<Self> {
        // In double precision, so that the squares of large numbers do not overflow.
        let length = numbers.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>().sqrt();
        if !length.is_finite() {
            return None;
        }
        if length > 0.0 {
            for x in &mut numbers {
                *x = (f64::from(*x) / length) as f32;
            }
        }
        Some(Self(numbers.into()))
    }

    /// The coordinates.
    pub fn as_slice(&self) -> &[f32] {
        &self.0
    }

    /// The dimension.
    pub fn dims(&self) -> usize {
        self.0.len()
    }

    /// Whether it is the zero vector.
    pub fn is_zero(&self) -> bool {
        self.0.iter().all(|x| *x == 0.0)
    }

    /// The cosine similarity of two vectors of one space.
    pub fn cosine(&self, other: &Self) -> f32 {
        self.0.iter().zip(other.as_slice()).map(|(a, b)| a * b).sum()
    }

    /// Quantises to a quarter of the size; the error is below the noise of the model.
    pub fn stored(&self) -> StoredVector {
        let largest = self.0.iter().fold(0_f32, |largest, x| largest.max(x.abs()));
        let scale = largest / f32::from(i8::MAX);
        let shrink = if scale > 0.0 { scale.recip() } else { 0.0 };
        let mut numbers = vec![0; self.0.len()].into_boxed_slice();
        dispatch!(Level::new(), _ => quantise(&self.0, shrink, &mut numbers));
        StoredVector { scale, numbers }
    }
}

/// Rounds numbers times `shrink`. Inlined where the instruction set has an instruction for it.
#[inline(always)]
fn quantise(numbers: &[f32], shrink: f32, quantised: &mut [i8]) {
    for (x, quantised) in numbers.iter().zip(quantised) {
        *quantised = (x * shrink).round() as i8;
    }
}

/// A [`Vector`] quantised to a signed byte per coordinate with one common scale.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredVector {
    scale: f32,
    numbers: Box<[i8]>,
}

impl StoredVector {
    /// The factor of all coordinates.
    pub fn scale(&self) -> f32 {
        self.scale
    }

    /// The vector with this factor and these coordinates, which another one had.
    pub fn of_parts(scale: f32, numbers: &[i8]) -> Self {
        Self { scale, numbers: numbers.into() }
    }

    /// The quantised coordinates, from -127 to 127.
    pub fn numbers(&self) -> &[i8] {
        &self.numbers
    }

    /// The dequantised unit vector.
    pub fn vector(&self) -> Vector {
        let numbers = self.numbers.iter().map(|x| f32::from(*x) * self.scale).collect();
        Vector::normalized(numbers).unwrap_or_else(|| Vector(vec![0.0; self.numbers.len()].into()))
    }

    /// The quantised vector nearest to `scale` times these coordinates; `None` if they are not
    /// multiples that [`Vector::stored`] produces.
    pub fn of_coordinates(scale: f32, coordinates: &[f32]) -> Option<Self> {
        let shrink = if scale > 0.0 { scale.recip() } else { 0.0 };
        let most = f32::from(i8::MAX);
        let number = |x: &f32| Some((x * shrink).round()).filter(|x| x.abs() <= most);
        let numbers: Option<Box<[i8]>> =
            coordinates.iter().map(|x| number(x).map(|x| x as i8)).collect();
        Some(Self { scale, numbers: numbers? })
    }

    /// The scale, little-endian, followed by the coordinates.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = self.scale.to_le_bytes().to_vec();
        bytes.extend(self.numbers.iter().map(|x| x.cast_unsigned()));
        bytes
    }

    /// Decodes [`to_bytes`](Self::to_bytes); `None` for anything else.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (scale, numbers) = bytes.split_first_chunk::<4>()?;
        let scale = f32::from_le_bytes(*scale);
        if !scale.is_finite() || scale < 0.0 {
            return None;
        }
        Some(Self { scale, numbers: numbers.iter().map(|x| x.cast_signed()).collect() })
    }
}

/// The vectors of a text as they are kept: see [`Embedding`](crate::Embedding).
#[derive(Clone, Debug, PartialEq)]
pub struct StoredVectors {
    /// The vector that a search compares with all products.
    pub vector: StoredVector,
    /// The vector of the transformer, in a space of its own.
    pub deep: Option<StoredVector>,
}

/// Numbers that a dot product multiplies at once.
const LANES: usize = 64;

/// A signed byte, or one that a file has as a plain byte.
pub trait Byte: Copy {
    /// The signed bytes of an array.
    fn load<S: Simd>(simd: S, bytes: &[Self; LANES]) -> i8x64<S>;

    /// The signed byte.
    fn signed(self) -> i8;
}

impl Byte for i8 {
    #[inline(always)]
    fn load<S: Simd>(simd: S, bytes: &[Self; LANES]) -> i8x64<S> {
        i8x64::from_slice(simd, bytes)
    }

    #[inline(always)]
    fn signed(self) -> i8 {
        self
    }
}

impl Byte for u8 {
    #[inline(always)]
    fn load<S: Simd>(simd: S, bytes: &[Self; LANES]) -> i8x64<S> {
        u8x64::from_slice(simd, bytes).bitcast()
    }

    #[inline(always)]
    fn signed(self) -> i8 {
        self.cast_signed()
    }
}

/// The exact dot product of two quantised vectors: a sum of products of bytes does not overflow for
/// any stored vector.
///
/// Written with pairwise sums of 16-bit products, for which every instruction set has an instruction:
/// of a plain loop over bytes the compiler makes code that takes three times as long.
#[inline(always)]
pub fn dot<S: Simd, B: Byte>(simd: S, one: &[i8], other: &[B]) -> i32 {
    let len = one.len().min(other.len());
    let (ones, one_rest) = one[..len].as_chunks::<LANES>();
    let (others, other_rest) = other[..len].as_chunks::<LANES>();
    let mut sums = i32x16::splat(simd, 0);
    for (one, other) in ones.iter().zip(others) {
        let (low, high) = i8::load(simd, one).widen();
        let (other_low, other_high) = B::load(simd, other).widen();
        sums += low.pairwise_dot_product(other_low) + high.pairwise_dot_product(other_high);
    }
    let sums: [i32; 16] = sums.into();
    let mut sum: i32 = sums.iter().sum();
    for at in 0..one_rest.len() {
        sum += i32::from(one_rest[at]) * i32::from(other_rest[at].signed());
    }
    sum
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn quantisation_keeps_direction(numbers in prop::collection::vec(-1e6_f32..1e6, 1..400)) {
            let vector = Vector::normalized(numbers).unwrap();
            let stored = vector.stored();
            prop_assert!(stored.numbers().iter().all(|x| *x >= -127));
            let again = StoredVector::from_bytes(&stored.to_bytes()).unwrap();
            prop_assert_eq!(&again, &stored);
            let near = again.vector().cosine(&vector);
            prop_assert!(vector.is_zero() || near > 0.999, "{near}");
        }

        #[test]
        fn any_bytes_are_decoded_or_rejected(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            if let Some(stored) = StoredVector::from_bytes(&bytes) {
                prop_assert!(stored.vector().as_slice().iter().all(|x| x.is_finite()));
            }
        }
    }

    #[test]
    fn nan_and_infinity_are_rejected() {
        assert_eq!(Vector::normalized(vec![1.0, f32::NAN]), None);
        assert_eq!(Vector::normalized(vec![1.0, f32::INFINITY]), None);
        assert!(Vector::normalized(vec![0.0; 3]).unwrap().is_zero());
        let far = Vector::normalized(vec![1.5e38, 2e38]).unwrap();
        assert!((far.as_slice()[0] - 0.6).abs() < 1e-6 && (far.as_slice()[1] - 0.8).abs() < 1e-6);
    }
}
