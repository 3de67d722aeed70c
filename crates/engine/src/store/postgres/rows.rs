//! Decodes rows of the database.

use std::{borrow::Cow, error::Error};

use catalog::product::{Product, ProductId, ShopId};
use tokio_postgres::{
    Row,
    types::{FromSql, Type},
};

use super::{
    super::{
        ShopCounts, StoreError, TokenRow, VectorRow,
        columns::unexpected,
        decoding::{self, ProductColumns, report},
    },
    session::Session,
    statements,
};
use crate::embed::{Encoder, ModelId, StoredVector};

/// The value of a column.
pub(super) fn get<'row, T: FromSql<'row>>(row: &'row Row, at: usize) -> Result<T, StoreError> {
    row.try_get(at).map_err(unexpected)
}

/// The product in the columns from `first` on; `None` without a valid id.
pub(super) fn read(row: &Row, first: usize) -> Result<Option<Product>, StoreError> {
    let text = |at| get::<&str>(row, first + at).map(Cow::Borrowed);
    let optional = |at| get::<Option<&str>>(row, first + at).map(|text| text.map(Cow::Borrowed));
    let number = |at| get::<i64>(row, first + at);
    let columns = ProductColumns {
        id: number(0)?,
        shop: number(1)?,
        title: text(2)?,
        description: text(3)?,
        price: text(4)?,
        hidden: get(row, first + 5)?,
        media: text(6)?,
        created_at: number(7)?,
        updated_at: number(8)?,
        version: number(9)?,
        key: optional(10)?,
        url: optional(11)?,
        attributes: optional(12)?,
        inferred: get(row, first + 13)?,
    };
    Ok(columns.decode())
}

/// The counts of a shop: id, products, visible; `None` for an id that is out of range.
pub(super) fn read_counts(row: &Row) -> Result<Option<ShopCounts>, StoreError> {
    let count = |at| get(row, at).map(decoding::count);
    let (products, visible) = (count(1)?, count(2)?);
    let shop = decoding::shop_id(get(row, 0)?);
    Ok(shop.map(|shop| ShopCounts { shop, products, visible }))
}

/// A token; `None` without a valid shop, or with a role that this version does not know.
pub(super) fn read_token(row: &Row) -> Result<Option<TokenRow>, StoreError> {
    let number: i64 = get(row, 1)?;
    let role = get::<&str>(row, 2)?.parse().ok();
    let (Some(shop), Some(role)) = (decoding::shop_id(number), role) else {
        report(number, 0, "a token has an unknown role");
        return Ok(None);
    };
    let time = |at| Ok::<_, StoreError>(get::<Option<i64>>(row, at)?.map(decoding::time));
    Ok(Some(TokenRow {
        id: get::<i64>(row, 0)?.cast_unsigned(),
        shop,
        role,
        name: get(row, 3)?,
        secret_hash: get(row, 4)?,
        created_at: decoding::time(get(row, 5)?),
        expires_at: time(6)?,
        revoked_at: time(7)?,
    }))
}

/// A vector of a shop; `None` if it cannot be decoded, in which case it will be made again.
pub(super) fn read_vector(row: &Row, shop: ShopId) -> Result<Option<VectorRow>, StoreError> {
    let (number, product) = (shop.get().cast_signed(), get(row, 0)?);
    let vector = read_stored(row, 4, (number, product))?;
    let encoder = Encoder::parse(get(row, 3)?);
    let (Some(vector), Some(encoder), Some(id)) =
        (vector, encoder, decoding::product_id(number, product))
    else {
        report(number, product, "the vector cannot be read");
        return Ok(None);
    };
    let (version, model) = (decoding::seq(get(row, 1)?), ModelId::new(get::<&str>(row, 2)?));
    Ok(Some(VectorRow { shop, product: id, version, model, encoder, vector }))
}

/// A product's vector of this model.
pub(super) fn vector_of(
    session: &mut Session,
    shop: i64,
    product: ProductId,
    model: &ModelId,
) -> Result<Option<StoredVector>, StoreError> {
    let product = product.get().cast_signed();
    let found = session.query_opt(statements::VECTOR_OF, &[&shop, &product, &model.as_str()])?;
    found.map_or(Ok(None), |row| read_stored(&row, 0, (shop, product)))
}

/// The vector whose scale and coordinates begin at this column; `None` if it is null or cannot be
/// decoded. `shop` and `product` are for the log.
pub(super) fn read_stored(
    row: &Row,
    first: usize,
    (shop, product): (i64, i64),
) -> Result<Option<StoredVector>, StoreError> {
    let Some(Halfvec(coordinates)) = get(row, first + 1)? else { return Ok(None) };
    let scale: Option<f32> = get(row, first)?;
    let vector = scale.and_then(|scale| StoredVector::of_coordinates(scale, &coordinates));
    if vector.is_none() {
        report(shop, product, "the vector cannot be read");
    }
    Ok(vector)
}

/// Decodes pgvector's binary `halfvec`: the dimension, two reserved bytes, and a half-precision
/// float each.
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

/// A vector in pgvector's text format.
pub(super) fn vector_text(vector: &StoredVector) -> String {
    let numbers = vector.numbers().iter();
    let texts: Vec<_> = numbers.map(|x| (f32::from(*x) * vector.scale()).to_string()).collect();
    format!("[{}]", texts.join(","))
}

#[cfg(test)]
mod tests {
    use super::widen;

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
