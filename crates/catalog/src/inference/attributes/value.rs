//! A text that is nothing but a value.

use super::reading::Reading;
use crate::product::inferred::Attribute;

/// The values that a text names, a bit each, as in a filter or a merchant's attribute, where no word is
/// ambiguous: `emerald` is green, `unisex` is women and men. Zero if it names none.
pub fn parse_value(attribute: Attribute, text: &str) -> u64 {
    let reading = Reading::of(text);
    let mut all = 0;
    for found in reading.matches_of(|meaning| meaning.is(attribute)) {
        if attribute != Attribute::Color || !reading.is_a_shade(&found) {
            all |= found.meaning.values.get(attribute);
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_parsed_with_its_shades() {
        let green = Attribute::Color.bit("green").unwrap();
        assert_eq!(parse_value(Attribute::Color, "Emerald"), green);
        assert_eq!(parse_value(Attribute::Color, "mint green"), green);
        assert_eq!(parse_value(Attribute::Color, "polka dot"), 0);
        assert_eq!(parse_value(Attribute::Audience, "Unisex"), 0b11);
        assert_eq!(parse_value(Attribute::Pattern, "Polka Dots"), 0b1000);
        for attribute in Attribute::ALL {
            for value in attribute.values() {
                assert_eq!(parse_value(attribute, value), attribute.bit(value).unwrap(), "{value}");
            }
        }
    }
}
