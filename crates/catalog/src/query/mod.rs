//! The text of a query, validated, and the limits of a page of results.

pub mod filter;
pub mod parser;
pub mod sort;

use crate::text::validation::InvalidText;
pub use crate::text::validation::MAX_QUERY_CHARS;

/// The largest page of results.
pub const MAX_LIMIT: usize = 50;
/// The page size if the request has none.
pub const DEFAULT_LIMIT: usize = 10;
/// The largest offset of a page.
pub const MAX_OFFSET: usize = 1000;

/// A query as written: not blank, at most [`MAX_QUERY_CHARS`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct QueryText(String);

impl QueryText {
    /// Validates a query.
    pub fn parse(raw: &str) -> Result<Self, InvalidText> {
        if raw.trim().is_empty() {
            return Err(InvalidText::Blank);
        }
        crate::text::validation::at_most(raw, MAX_QUERY_CHARS)?;
        Ok(Self(raw.to_owned()))
    }

    /// The text as written.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_is_not_blank_and_bounded() {
        assert_eq!(QueryText::parse(" \u{2003}\n"), Err(InvalidText::Blank));
        assert!(QueryText::parse(&"é".repeat(MAX_QUERY_CHARS)).is_ok());
        assert_eq!(
            QueryText::parse(&"é".repeat(MAX_QUERY_CHARS + 1)),
            Err(InvalidText::TooLong { max: MAX_QUERY_CHARS })
        );
    }
}
