//! Vectors as pgvector's `halfvec`, in its binary format: as text, a vector takes about as long to format
//! as the category of its product to infer.

use std::error::Error;

use bytes::{BufMut, BytesMut};
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type, to_sql_checked};

use embed::StoredVector;

/// The coordinates of a vector. In binary: the dimension, two reserved bytes, and a half-precision float
/// each.
#[derive(Debug)]
pub(super) struct Halfvec(pub(super) Vec<f32>);

impl From<&StoredVector> for Halfvec {
    fn from(vector: &StoredVector) -> Self {
        let numbers = vector.numbers().iter();
        Self(numbers.map(|x| f32::from(*x) * vector.scale()).collect())
    }
}

impl ToSql for Halfvec {
    fn to_sql(&self, _: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        out.put_u16(u16::try_from(self.0.len())?);
        out.put_u16(0);
        self.0.iter().for_each(|number| out.put_u16(narrow(*number)));
        Ok(IsNull::No)
    }

    fn accepts(kind: &Type) -> bool {
        <Self as FromSql<'_>>::accepts(kind)
    }

    to_sql_checked!();
}

impl<'row> FromSql<'row> for Halfvec {
    fn from_sql(_: &Type, raw: &'row [u8]) -> Result<Self, Box<dyn Error + Sync + Send>> {
        let (head, halves) = raw.split_first_chunk::<4>().ok_or("a vector without a head")?;
        let count = usize::from(u16::from_be_bytes([head[0], head[1]]));
        let (halves, []) = halves.as_chunks::<2>() else { return Err("half a half".into()) };
        if halves.len() != count {
            return Err("a vector of another length".into());
        }
        Ok(Self(halves.iter().map(|half| widen(u16::from_be_bytes(*half))).collect()))
    }

    fn accepts(kind: &Type) -> bool {
        kind.name() == "halfvec"
    }
}

/// Decodes a half-precision float.
fn widen(half: u16) -> f32 {
    /// The difference between the exponent biases of `f32` and of a half.
    const SHIFT: u32 = 127 - 15;
    /// The smallest positive half, 2⁻²⁴.
    const LEAST: f32 = f32::from_bits((127 - 24) << 23);
    let sign = u32::from(half >> 15) << 31;
    let (exponent, fraction) = (u32::from(half >> 10 & 0x1f), u32::from(half & 0x3ff));
    match exponent {
        0 => f32::from_bits((f32::from(half & 0x3ff) * LEAST).to_bits() | sign),
        0x1f => f32::NAN,
        // Bit manipulation, because loading a shop decodes millions of these.
        _ => f32::from_bits(sign | (exponent + SHIFT) << 23 | fraction << 13),
    }
}

/// The nearest half-precision float, of two equally near ones the even one, as PostgreSQL reads it from
/// text. Infinity if there is none, which pgvector rejects.
fn narrow(number: f32) -> u16 {
    /// The difference between the exponent biases of `f32` and of a half, as bits of an `f32`.
    const SHIFT: u32 = (127 - 15) << 23;
    /// The least half that is no subnormal number, 2⁻¹⁴, as an `f32`.
    const LEAST_NORMAL: u32 = SHIFT + (1 << 23);
    /// The last bit of an `f32` near this counts as much as that of a subnormal half.
    const ALIGNING: f32 = 0.5;
    const INFINITY: u32 = 0x7c00;
    let sign = number.to_bits() >> 31 << 15;
    let magnitude = number.to_bits() & !(1 << 31);
    let half = match magnitude < LEAST_NORMAL {
        true => (f32::from_bits(magnitude) + ALIGNING).to_bits() - ALIGNING.to_bits(),
        false => {
            let is_odd = magnitude >> 13 & 1;
            (magnitude - SHIFT + 0xfff + is_odd) >> 13
        }
    };
    (sign | half.min(INFINITY)) as u16
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{narrow, widen};

    #[test]
    fn halves_are_decoded() {
        for (half, number) in [
            (0x0000, 0.0),
            (0x3c00, 1.0),
            (0xc000, -2.0),
            (0x3555, 0.333_251_95),
            (0x7bff, 65504.0),
            (0x0001, 5.960_464_5e-8),
            (0x8400, -6.103_515_6e-5),
        ] {
            assert_eq!(widen(half), number, "{half:#06x}");
        }
        assert!(widen(0x7c00).is_nan());
    }

    #[test]
    fn every_half_is_its_own_nearest() {
        for half in (0..=u16::MAX).filter(|half| half >> 10 & 0x1f != 0x1f) {
            assert_eq!(narrow(widen(half)), half, "{half:#06x}");
        }
        for too_large in [65520.0, f32::MAX, f32::INFINITY] {
            assert_eq!((narrow(too_large), narrow(-too_large)), (0x7c00, 0xfc00));
        }
    }

    proptest! {
        #[test]
        fn numbers_become_the_nearest_half(
            number in prop_oneof![-1_f32..1.0, -1e-4_f32..1e-4, -65519_f32..65519.0],
        ) {
            let half = narrow(number);
            let error = |half: u16| (f64::from(widen(half)) - f64::from(number)).abs();
            // Halves of one sign are ordered like their bits.
            let neighbours = [half.wrapping_sub(1), half + 1].into_iter().filter(|one| {
                (one ^ half) >> 15 == 0 && one >> 10 & 0x1f != 0x1f
            });
            for other in neighbours {
                let is_nearer = error(half) < error(other);
                let is_even_tie = error(half) == error(other) && half.is_multiple_of(2);
                prop_assert!(is_nearer || is_even_tie, "{half:#06x}");
            }
        }
    }

    #[test]
    fn every_half_equals_its_definition() {
        for half in (0..=u16::MAX).filter(|half| half >> 10 & 0x1f != 0x1f) {
            let sign = if half >> 15 == 0 { 1.0 } else { -1.0 };
            let (exponent, fraction) = (i32::from(half >> 10 & 0x1f), f64::from(half & 0x3ff));
            let number = match exponent {
                0 => fraction * 2_f64.powi(-24),
                _ => (1.0 + fraction / 1024.0) * 2_f64.powi(exponent - 15),
            };
            assert_eq!(f64::from(widen(half)), sign * number, "{half:#06x}");
        }
    }
}
