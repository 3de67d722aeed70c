//! How do values that a database has no type for stand in a column?

use catalog::{
    media::{Media, MediaKind},
    product::{ProductId, ShopId},
};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::StoreError;

/// A media item as the `media` column keeps it.
#[derive(Serialize, Deserialize)]
struct StoredMedia<'a> {
    #[serde(borrow)]
    url: std::borrow::Cow<'a, str>,
    #[serde(rename = "type", borrow)]
    kind: std::borrow::Cow<'a, str>,
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

pub(super) fn media_from_column(column: &str) -> Result<Vec<Media>, StoreError> {
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
