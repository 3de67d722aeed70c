//! Encodes and decodes the rows of products.

use std::borrow::Cow;

use catalog::product::Product;
#[cfg(doc)]
use catalog::product::attributes::Attributes;
use embed::{StoredVector, StoredVectors};
use rusqlite::{Row, types::ValueRef};

use super::super::{
    StoreError,
    columns::{attributes_from_column, unexpected},
    decoding::{self, ProductColumns, report},
};

/// The columns of a product, in the order that [`read`] expects.
pub const COLUMNS: &str = "id, shop_id, title, description, price, hidden, media,
     created_at, updated_at, version, key, url, attributes, inferred";
/// The number of [`COLUMNS`].
pub(super) const COLUMN_COUNT: usize = 14;

/// The product in a row of [`COLUMNS`]; `None` without a valid id.
pub fn read(row: &Row<'_>) -> Result<Option<Product>, StoreError> {
    let columns = ProductColumns {
        id: row.get(0)?,
        shop: row.get(1)?,
        title: read_text(row, 2)?,
        description: read_text(row, 3)?,
        price: read_text(row, 4)?,
        hidden: row.get(5)?,
        media: read_text(row, 6)?,
        created_at: row.get(7)?,
        updated_at: row.get(8)?,
        version: row.get(9)?,
        key: read_optional_text(row, 10)?,
        url: read_optional_text(row, 11)?,
        attributes: read_optional_text(row, 12)?,
        inferred: read_optional_bytes(row, 13)?,
    };
    Ok(columns.decode())
}

/// The vectors of a product, the deep one in the column after the other; `None` if there is none or
/// if one cannot be decoded.
pub(super) fn read_vectors(
    row: &Row<'_>,
    column: usize,
    shop: i64,
    product: i64,
) -> Result<Option<StoredVectors>, StoreError> {
    let blob = |column| row.get_ref(column)?.as_blob_or_null().map_err(unexpected);
    let Some(bytes) = blob(column)? else { return Ok(None) };
    let vectors = decoding::vectors(StoredVector::from_bytes(bytes), blob(column + 1)?);
    if vectors.is_none() {
        report(shop, product, "the vector cannot be read");
    }
    Ok(vectors)
}

/// The text in a column. Invalid UTF-8 is replaced.
pub fn read_text<'row>(row: &'row Row<'_>, column: usize) -> Result<Cow<'row, str>, StoreError> {
    let text = read_optional_text(row, column)?;
    text.ok_or_else(|| unexpected(format!("column {column} holds no text")))
}

/// The text in a column; `None` if it is null. Invalid UTF-8 is replaced.
pub(super) fn read_optional_text<'row>(
    row: &'row Row<'_>,
    column: usize,
) -> Result<Option<Cow<'row, str>>, StoreError> {
    match row.get_ref(column)? {
        ValueRef::Null => Ok(None),
        ValueRef::Text(bytes) => Ok(Some(String::from_utf8_lossy(bytes))),
        other => Err(unexpected(format!("column {column} holds {:?}", other.data_type()))),
    }
}

/// The bytes in a column; `None` if it holds none.
pub(super) fn read_optional_bytes<'row>(
    row: &'row Row<'_>,
    column: usize,
) -> Result<Option<&'row [u8]>, StoreError> {
    match row.get_ref(column)? {
        ValueRef::Blob(bytes) => Ok(Some(bytes)),
        _ => Ok(None),
    }
}

/// The strings of the attributes in a column, as [`Attributes::text`] joins them.
pub fn read_attribute_text(row: &Row<'_>, column: usize) -> Result<String, StoreError> {
    let attributes = read_optional_text(row, column)?;
    Ok(attributes_from_column(attributes.as_deref()).0.text())
}
