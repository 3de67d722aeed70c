//! How does a row of the database become a value again?

use std::error::Error;

use catalog::{
    change::Seq,
    price::Price,
    product::{Description, Product, ShopId, Title},
};
use tokio_postgres::{
    Row,
    types::{FromSql, Type},
};

use super::{
    super::{
        ShopCounts, StoreError, TokenRow, VectorRow,
        columns::{media_from_column, read_product_id, read_shop_id, read_time, unexpected},
    },
    nearby::RawRow,
};
use crate::embed::{Encoder, ModelId, StoredVector};

/// What a column holds.
pub(super) fn get<'row, T: FromSql<'row>>(row: &'row Row, at: usize) -> Result<T, StoreError> {
    row.try_get(at).map_err(unexpected)
}

/// The product in the columns from `first` on.
pub(super) fn read(row: &Row, first: usize) -> Result<Product, StoreError> {
    let text = |at| get::<&str>(row, first + at);
    let number = |at| get::<i64>(row, first + at);
    Ok(Product {
        id: read_product_id(number(0)?)?,
        shop: read_shop_id(number(1)?)?,
        title: Title::parse(text(2)?).map_err(unexpected)?,
        description: Description::parse(text(3)?).map_err(unexpected)?,
        price: Price::parse(text(4)?).map_err(unexpected)?,
        hidden: get(row, first + 5)?,
        media: media_from_column(text(6)?)?,
        created_at: read_time(number(7)?)?,
        updated_at: read_time(number(8)?)?,
        version: read_seq(number(9)?),
    })
}

pub(super) fn read_seq(number: i64) -> Seq {
    Seq(number.cast_unsigned())
}

/// A row of a scan, for a copy of it.
pub(super) fn read_raw(row: &Row) -> Result<RawRow, StoreError> {
    Ok(RawRow {
        id: get(row, 0)?,
        version: get(row, 1)?,
        hidden: get(row, 2)?,
        price: get(row, 3)?,
        title: get(row, 4)?,
        description: get(row, 5)?,
        media: get(row, 8)?,
        created_at: get(row, 9)?,
        updated_at: get(row, 10)?,
    })
}

/// A shop's number and counts, in this order.
pub(super) fn read_counts(row: &Row) -> Result<ShopCounts, StoreError> {
    let count = |at| usize::try_from(get::<i64>(row, at)?).map_err(unexpected);
    Ok(ShopCounts { shop: read_shop_id(get(row, 0)?)?, products: count(1)?, visible: count(2)? })
}

pub(super) fn read_token(row: &Row) -> Result<TokenRow, StoreError> {
    let role: &str = get(row, 2)?;
    let time = |at| get::<Option<i64>>(row, at)?.map(read_time).transpose();
    Ok(TokenRow {
        id: get::<i64>(row, 0)?.cast_unsigned(),
        shop: read_shop_id(get(row, 1)?)?,
        role: role.parse().map_err(|_| StoreError::damaged(format!("the role {role}")))?,
        name: get(row, 3)?,
        secret_hash: get(row, 4)?,
        created_at: read_time(get(row, 5)?)?,
        expires_at: time(6)?,
        revoked_at: time(7)?,
    })
}

pub(super) fn read_vector(row: &Row, shop: ShopId) -> Result<VectorRow, StoreError> {
    let encoder: &str = get(row, 3)?;
    Ok(VectorRow {
        shop,
        product: read_product_id(get(row, 0)?)?,
        version: read_seq(get(row, 1)?),
        model: ModelId::new(get::<&str>(row, 2)?),
        encoder: Encoder::parse(encoder)
            .ok_or_else(|| StoreError::damaged(format!("the encoder {encoder}")))?,
        vector: read_stored(row, 4)?.ok_or_else(|| StoreError::damaged("a vector"))?,
    })
}

/// The vector whose scale and coordinates begin at this column, if there is one.
pub(super) fn read_stored(row: &Row, first: usize) -> Result<Option<StoredVector>, StoreError> {
    let Some(Halfvec(coordinates)) = get(row, first + 1)? else { return Ok(None) };
    let vector = StoredVector::of_coordinates(get(row, first)?, &coordinates);
    vector.map(Some).ok_or_else(|| StoreError::damaged("a vector"))
}

/// Coordinates as pgvector sends them: how many, two bytes of nothing, and a half each.
struct Halfvec(Vec<f32>);

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

/// The number that sixteen bits stand for.
fn widen(half: u16) -> f32 {
    /// What the exponents of a float and of a half differ by.
    const SHIFT: u32 = 127 - 15;
    /// The least half above nought, 2⁻²⁴.
    const LEAST: f32 = f32::from_bits((127 - 24) << 23);
    let sign = u32::from(half >> 15) << 31;
    let (exponent, fraction) = (u32::from(half >> 10 & 0x1f), u32::from(half & 0x3ff));
    match exponent {
        0 => f32::from_bits((f32::from(half & 0x3ff) * LEAST).to_bits() | sign),
        0x1f => f32::NAN,
        // By moving bits: a shop has millions of these, and all are read when it is loaded.
        _ => f32::from_bits(sign | (exponent + SHIFT) << 23 | fraction << 13),
    }
}

/// A vector as the database reads it.
pub(super) fn vector_text(vector: &StoredVector) -> String {
    let numbers = vector.numbers().iter();
    let texts: Vec<_> = numbers.map(|x| (f32::from(*x) * vector.scale()).to_string()).collect();
    format!("[{}]", texts.join(","))
}

#[cfg(test)]
mod tests {
    use super::widen;

    #[test]
    fn halves_are_what_they_stand_for() {
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
    fn every_half_is_its_fraction_times_its_power_of_two() {
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
