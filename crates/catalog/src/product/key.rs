//! The merchant's own identifier of a product.

use crate::text::validation::{self, InvalidText};

/// The longest key, in characters.
pub const MAX_KEY_CHARS: usize = 100;

/// A key, such as a SKU or a handle: unique within a shop, compared byte for byte.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key(Box<str>);

impl Key {
    /// Validates a key: 1 to [`MAX_KEY_CHARS`] characters, no control characters.
    pub fn parse(raw: &str) -> Result<Self, InvalidText> {
        if raw.is_empty() {
            return Err(InvalidText::Blank);
        }
        validation::at_most(raw, MAX_KEY_CHARS)?;
        match raw.chars().find(|c| c.is_control()) {
            Some(control) => Err(InvalidText::ControlCharacter(control)),
            None => Ok(Self(raw.into())),
        }
    }

    /// A key from the store, which earlier rules may have accepted; it is not validated again.
    pub fn from_stored(raw: &str) -> Self {
        Self(raw.into())
    }

    /// The key as written.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_bounded_and_has_no_control_characters() {
        assert_eq!(Key::parse("SKU 1/é").unwrap().as_str(), "SKU 1/é");
        assert!(Key::parse(&"é".repeat(MAX_KEY_CHARS)).is_ok());
        let too_long = InvalidText::TooLong { max: MAX_KEY_CHARS };
        assert_eq!(Key::parse(&"é".repeat(MAX_KEY_CHARS + 1)), Err(too_long));
        assert_eq!(Key::parse(""), Err(InvalidText::Blank));
        for control in ['\0', '\t', '\n', '\u{7f}', '\u{85}'] {
            let found = Key::parse(&format!("a{control}"));
            assert_eq!(found, Err(InvalidText::ControlCharacter(control)));
        }
    }
}
