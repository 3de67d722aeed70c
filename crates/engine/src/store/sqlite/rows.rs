//! How does a product become a row, and a row a product again?

use catalog::{
    change::Seq,
    price::Price,
    product::{Description, Product, Title},
};
use rusqlite::Row;

use super::super::{
    StoreError,
    columns::{media_from_column, read_product_id, read_shop_id, read_time, unexpected},
};

use crate::embed::StoredVector;

/// The columns of a product, in the order [`read`] expects them.
pub(in crate::store) const COLUMNS: &str =
    "id, shop_id, title, description, price, hidden, media, created_at, updated_at, version";

/// The product in a row of [`COLUMNS`].
pub(in crate::store) fn read(row: &Row<'_>) -> Result<Product, StoreError> {
    Ok(Product {
        id: read_product_id(row.get(0)?)?,
        shop: read_shop_id(row.get(1)?)?,
        title: Title::parse(read_text(row, 2)?).map_err(unexpected)?,
        description: Description::parse(read_text(row, 3)?).map_err(unexpected)?,
        price: Price::parse(read_text(row, 4)?).map_err(unexpected)?,
        hidden: row.get(5)?,
        media: media_from_column(read_text(row, 6)?)?,
        created_at: read_time(row.get(7)?)?,
        updated_at: read_time(row.get(8)?)?,
        version: Seq(row.get::<_, i64>(9)?.cast_unsigned()),
    })
}

/// The vector in a column, if there is one.
pub(super) fn read_vector(
    row: &Row<'_>,
    column: usize,
) -> Result<Option<StoredVector>, StoreError> {
    let bytes = row.get_ref(column)?.as_blob_or_null().map_err(unexpected)?;
    let read =
        |bytes| StoredVector::from_bytes(bytes).ok_or_else(|| StoreError::damaged("a vector"));
    bytes.map(read).transpose()
}

/// The text in a column.
pub(in crate::store) fn read_text<'row>(
    row: &'row Row<'_>,
    column: usize,
) -> Result<&'row str, StoreError> {
    row.get_ref(column)?.as_str().map_err(unexpected)
}
