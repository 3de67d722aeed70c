//! Absolute `http` and `https` URLs. They are stored as written and never fetched.

use thiserror::Error;
use url::Url;

use crate::text::validation;

/// The longest URL of a product's page, in characters.
pub const MAX_PRODUCT_URL_CHARS: usize = 2000;

/// Why a URL is invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum InvalidUrl {
    /// Not an absolute `http` or `https` URL with a host.
    #[error("must be an absolute http or https URL, such as https://example.com/sofa.jpg")]
    NotHttp,
    /// Longer than the limit.
    #[error("must be at most {max} characters long")]
    TooLong {
        /// The largest number of characters allowed.
        max: usize,
    },
}

/// Rejects what is not an absolute `http` or `https` URL of at most `max` characters.
pub(crate) fn check(url: &str, max: usize) -> Result<(), InvalidUrl> {
    validation::at_most(url, max).map_err(|_| InvalidUrl::TooLong { max })?;
    let says_http = ["http://", "https://"]
        .iter()
        .any(|scheme| url.get(..scheme.len()).is_some_and(|s| s.eq_ignore_ascii_case(scheme)));
    let has_odd_characters = url.chars().any(|c| c.is_control() || c.is_whitespace());
    if !says_http || has_odd_characters || Url::parse(url).is_err() {
        return Err(InvalidUrl::NotHttp);
    }
    Ok(())
}

/// The address of a product's page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProductUrl(Box<str>);

impl ProductUrl {
    /// Validates a URL.
    pub fn parse(raw: &str) -> Result<Self, InvalidUrl> {
        check(raw, MAX_PRODUCT_URL_CHARS)?;
        Ok(Self(raw.into()))
    }

    /// A URL from the store, which earlier rules may have accepted; it is not validated again.
    pub fn from_stored(raw: &str) -> Self {
        Self(raw.into())
    }

    /// The URL as written.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_product_url_is_absolute_and_bounded() {
        assert_eq!(
            ProductUrl::parse("https://a.example/x").unwrap().as_str(),
            "https://a.example/x"
        );
        for bad in ["", "/x", "ftp://a.example", "javascript:alert(1)", "https://a b.example"] {
            assert_eq!(ProductUrl::parse(bad), Err(InvalidUrl::NotHttp), "{bad}");
        }
        let path = |chars: usize| format!("https://a.example/{}", "x".repeat(chars - 18));
        assert!(ProductUrl::parse(&path(MAX_PRODUCT_URL_CHARS)).is_ok());
        let max = MAX_PRODUCT_URL_CHARS;
        assert_eq!(ProductUrl::parse(&path(max + 1)), Err(InvalidUrl::TooLong { max }));
    }
}
