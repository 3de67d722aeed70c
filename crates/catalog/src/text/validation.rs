//! Validation of text: length in Unicode scalar values, no control characters.
//!
//! Accepted text is stored byte for byte.

use thiserror::Error;

/// The longest description of a product, in characters.
pub const MAX_DESCRIPTION_CHARS: usize = 20_000;
/// The longest query, in characters.
pub const MAX_QUERY_CHARS: usize = 1000;

/// Why a text is invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum InvalidText {
    /// Only white space.
    #[error("must not be blank")]
    Blank,
    /// Longer than the limit.
    #[error("must be at most {max} characters long")]
    TooLong {
        /// The largest number of Unicode scalar values allowed.
        max: usize,
    },
    /// A control character other than newline and tab.
    #[error("must not contain the control character U+{:04X}", u32::from(*.0))]
    ControlCharacter(char),
}

/// Rejects control characters other than a newline (`\n` or `\r\n`) and a tab.
pub fn without_control_characters(raw: &str) -> Result<(), InvalidText> {
    let mut chars = raw.chars().peekable();
    while let Some(c) = chars.next() {
        let newline_or_tab = matches!(c, '\n' | '\t') || (c == '\r' && chars.peek() == Some(&'\n'));
        if c.is_control() && !newline_or_tab {
            return Err(InvalidText::ControlCharacter(c));
        }
    }
    Ok(())
}

/// Rejects text of more than `max` Unicode scalar values.
pub fn at_most(raw: &str, max: usize) -> Result<(), InvalidText> {
    // A string has at least as many bytes as characters: short ones need no counting.
    if raw.len() > max && raw.chars().count() > max {
        return Err(InvalidText::TooLong { max });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn newlines_and_tabs_are_text_and_other_control_characters_are_not() {
        assert_eq!(without_control_characters("one\ntwo\r\n\tthree"), Ok(()));
        for (raw, found) in
            [("a\0b", '\0'), ("a\rb", '\r'), ("\u{85}", '\u{85}'), ("\u{7f}", '\u{7f}')]
        {
            assert_eq!(
                without_control_characters(raw),
                Err(InvalidText::ControlCharacter(found)),
                "{raw:?}"
            );
        }
    }

    #[test]
    fn length_counts_characters_not_bytes() {
        assert_eq!(at_most("ééééé", 5), Ok(()));
        assert_eq!(at_most("éééééé", 5), Err(InvalidText::TooLong { max: 5 }));
    }

    #[test]
    fn a_control_character_is_named_in_the_message() {
        assert_eq!(
            InvalidText::ControlCharacter('\u{7}').to_string(),
            "must not contain the control character U+0007"
        );
    }
}
