//! The encoding of media in a column.

use catalog::media::Media;
use serde::{Deserialize, Serialize};

use super::StoreError;

/// A media item in the JSON of the `media` column.
#[derive(Serialize, Deserialize)]
struct StoredMedia<'a> {
    #[serde(borrow)]
    url: std::borrow::Cow<'a, str>,
    #[serde(rename = "type", borrow)]
    kind: std::borrow::Cow<'a, str>,
}

pub(crate) fn media_column(media: &[Media]) -> String {
    if media.is_empty() {
        return "[]".to_owned();
    }
    let stored: Vec<_> = media
        .iter()
        .map(|item| StoredMedia { url: item.url().into(), kind: item.kind().as_str().into() })
        .collect();
    serde_json::to_string(&stored).unwrap_or_else(|_| unreachable!("strings always serialise"))
}

/// The media in a column; `None` if it cannot be parsed.
pub(super) fn media_from_column(column: &str) -> Option<Vec<Media>> {
    if column == "[]" {
        return Some(Vec::new());
    }
    let stored: Vec<StoredMedia<'_>> = serde_json::from_str(column).ok()?;
    let item = |item: StoredMedia<'_>| Media::from_stored(item.url.into_owned(), &item.kind);
    Some(stored.into_iter().map(item).collect())
}

pub(super) fn unexpected(why: impl std::fmt::Display) -> StoreError {
    StoreError::unexpected(why.to_string())
}
