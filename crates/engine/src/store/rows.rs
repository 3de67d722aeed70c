//! How does a product become a row, and a row a product again?

use catalog::{
    change::Seq,
    media::{Media, MediaKind},
    price::Price,
    product::{Description, Product, ProductId, ShopId, Title},
};
use jiff::Timestamp;
use rusqlite::Row;
use serde::{Deserialize, Serialize};

use super::StoreError;

/// The columns of a product, in the order [`read`] expects them.
pub(super) const COLUMNS: &str =
    "id, shop_id, title, description, price, hidden, media, created_at, updated_at, version";

/// A media item as the `media` column keeps it.
#[derive(Serialize, Deserialize)]
struct StoredMedia<'a> {
    #[serde(borrow)]
    url: std::borrow::Cow<'a, str>,
    #[serde(rename = "type", borrow)]
    kind: std::borrow::Cow<'a, str>,
}

/// The product in a row of [`COLUMNS`].
pub(super) fn read(row: &Row<'_>) -> Result<Product, StoreError> {
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

/// The text in a column.
pub(super) fn read_text<'row>(row: &'row Row<'_>, column: usize) -> Result<&'row str, StoreError> {
    row.get_ref(column)?.as_str().map_err(unexpected)
}

pub(super) fn media_column(media: &[Media]) -> String {
    if media.is_empty() {
        return "[]".to_owned();
    }
    let stored: Vec<_> = media
        .iter()
        .map(|item| StoredMedia { url: item.url().into(), kind: item.kind().as_str().into() })
        .collect();
    serde_json::to_string(&stored).unwrap_or_else(|_| unreachable!("strings always serialise"))
}

fn media_from_column(column: &str) -> Result<Vec<Media>, StoreError> {
    if column == "[]" {
        return Ok(Vec::new());
    }
    let stored: Vec<StoredMedia<'_>> = serde_json::from_str(column).map_err(unexpected)?;
    stored
        .iter()
        .map(|item| {
            let kind = MediaKind::parse(&item.kind)
                .ok_or_else(|| StoreError::damaged(format!("the media type {}", item.kind)))?;
            Media::new(&item.url, kind).map_err(unexpected)
        })
        .collect()
}

pub(super) fn read_product_id(number: i64) -> Result<ProductId, StoreError> {
    u64::try_from(number)
        .ok()
        .and_then(ProductId::new)
        .ok_or_else(|| StoreError::damaged(format!("the product id {number}")))
}

pub(super) fn read_shop_id(number: i64) -> Result<ShopId, StoreError> {
    u64::try_from(number)
        .ok()
        .and_then(ShopId::new)
        .ok_or_else(|| StoreError::damaged(format!("the shop id {number}")))
}

pub(super) fn read_time(microseconds: i64) -> Result<Timestamp, StoreError> {
    Timestamp::from_microsecond(microseconds).map_err(unexpected)
}

pub(super) fn unexpected(why: impl std::fmt::Display) -> StoreError {
    StoreError::damaged(why.to_string())
}
