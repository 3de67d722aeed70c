//! What may a shopper ask? A text with something in it, of bounded length.

use crate::text::InvalidText;

/// The longest query, in characters.
pub const MAX_CHARS: usize = 1000;
/// The largest page of results.
pub const MAX_LIMIT: usize = 50;
/// The page size when none is asked for.
pub const DEFAULT_LIMIT: usize = 10;
/// The deepest place a page may start at.
pub const MAX_OFFSET: usize = 1000;

/// A shopper's words, as written.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct QueryText(String);

impl QueryText {
    /// Accepts a query or says what is wrong with it.
    pub fn parse(raw: &str) -> Result<Self, InvalidText> {
        if raw.trim().is_empty() {
            return Err(InvalidText::Blank);
        }
        crate::text::at_most(raw, MAX_CHARS)?;
        Ok(Self(raw.to_owned()))
    }

    /// The words as written.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_says_something_and_ends() {
        assert_eq!(QueryText::parse(" \u{2003}\n"), Err(InvalidText::Blank));
        assert!(QueryText::parse(&"é".repeat(MAX_CHARS)).is_ok());
        assert_eq!(
            QueryText::parse(&"é".repeat(MAX_CHARS + 1)),
            Err(InvalidText::TooLong { max: MAX_CHARS })
        );
    }
}
