//! Decodes rows of the database.

use std::borrow::Cow;

use catalog::product::{Product, ProductId, ShopId};
use embed::{Encoder, ModelId, StoredVector, StoredVectors};
use tokio_postgres::{Row, types::FromSql};

use super::{
    super::{
        ShopCounts, StoreError, TokenRow, VectorRow,
        columns::unexpected,
        decoding::{self, ProductColumns, report},
    },
    halfvec::Halfvec,
    session::Session,
    statements,
};

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

/// The vectors of a product; `None` if they cannot be decoded, in which case they will be made again.
pub(super) fn read_vectors(row: &Row, shop: ShopId) -> Result<Option<VectorRow>, StoreError> {
    let (number, product) = (shop.get().cast_signed(), get(row, 0)?);
    let vectors = read_stored(row, 4, (number, product))?;
    let encoder = Encoder::parse(get(row, 3)?);
    let (Some(vectors), Some(encoder), Some(id)) =
        (vectors, encoder, decoding::product_id(number, product))
    else {
        report(number, product, "the vector cannot be read");
        return Ok(None);
    };
    let (version, model) = (decoding::seq(get(row, 1)?), ModelId::new(get::<&str>(row, 2)?));
    Ok(Some(VectorRow { shop, product: id, version, model, encoder, vectors }))
}

/// A product's vectors of this model.
pub(super) fn vectors_of(
    session: &mut Session,
    shop: i64,
    product: ProductId,
    model: &ModelId,
) -> Result<Option<StoredVectors>, StoreError> {
    let product = product.get().cast_signed();
    let found = session.query_opt(statements::VECTORS_OF, &[&shop, &product, &model.as_str()])?;
    found.map_or(Ok(None), |row| read_stored(&row, 0, (shop, product)))
}

/// The vectors in the columns `scale`, `vector` and `deep`, which begin at this one; `None` if there are
/// none or if one cannot be decoded. `shop` and `product` are for the log.
pub(super) fn read_stored(
    row: &Row,
    first: usize,
    (shop, product): (i64, i64),
) -> Result<Option<StoredVectors>, StoreError> {
    let Some(Halfvec(coordinates)) = get(row, first + 1)? else { return Ok(None) };
    let scale: Option<f32> = get(row, first)?;
    let vector = scale.and_then(|scale| StoredVector::of_coordinates(scale, &coordinates));
    let vectors = decoding::vectors(vector, get(row, first + 2)?);
    if vectors.is_none() {
        report(shop, product, "the vector cannot be read");
    }
    Ok(vectors)
}
