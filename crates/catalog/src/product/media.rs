//! Pictures of a product. Only their URLs are stored; they are never fetched.

use crate::product::http_url::{self, InvalidUrl};

/// The largest number of media items of one product.
pub const MAX_ITEMS: usize = 20;
/// The longest URL of a media item, in characters.
pub const MAX_URL_CHARS: usize = 2048;

/// The type of a media item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MediaKind {
    /// A picture.
    Image,
    /// A stored type that this version does not know, by its name. It is kept but not served.
    Unknown(Box<str>),
}

impl MediaKind {
    /// The kind as the wire writes it.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Image => "image",
            Self::Unknown(name) => name,
        }
    }

    /// Reads the kind as the wire writes it.
    pub fn parse(raw: &str) -> Option<Self> {
        (raw == Self::Image.as_str()).then_some(Self::Image)
    }
}

/// One picture of a product.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Media {
    url: String,
    kind: MediaKind,
}

impl Media {
    /// A media item with an `http` or `https` URL, stored exactly as written.
    pub fn new(url: &str, kind: MediaKind) -> Result<Self, InvalidUrl> {
        http_url::check(url, MAX_URL_CHARS)?;
        Ok(Self { url: url.to_owned(), kind })
    }

    /// A media item from the store, which earlier rules may have accepted; it is not validated
    /// again.
    pub fn from_stored(url: String, kind: &str) -> Self {
        let kind = MediaKind::parse(kind).unwrap_or_else(|| MediaKind::Unknown(kind.into()));
        Self { url, kind }
    }

    /// The URL as written.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The type.
    pub fn kind(&self) -> &MediaKind {
        &self.kind
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(url: &str, accepted: bool) {
        assert_eq!(Media::new(url, MediaKind::Image).is_ok(), accepted, "{url}");
    }

    #[test]
    fn only_absolute_http_urls_are_media() {
        check("https://example.com/a.jpg?w=1#x", true);
        check("HTTP://example.com", true);
        check("https://例え.jp/絵.png", true);
        check("ftp://example.com/a.jpg", false);
        check("javascript:alert(1)", false);
        check("data:image/png;base64,AA", false);
        check("//example.com/a.jpg", false);
        check("/a.jpg", false);
        check("https://", false);
        check("https:///a b.jpg", false);
        check("https://example.com/\n", false);
        check("", false);
    }

    #[test]
    fn a_very_long_url_is_rejected() {
        let long = format!("https://example.com/{}", "a".repeat(MAX_URL_CHARS));
        assert_eq!(
            Media::new(&long, MediaKind::Image),
            Err(InvalidUrl::TooLong { max: MAX_URL_CHARS })
        );
    }
}
