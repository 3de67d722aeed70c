//! Attributes: what a merchant states about a product besides its texts, by name.

use std::{
    borrow::Borrow,
    fmt,
    hash::{Hash, Hasher},
};

use thiserror::Error;

use crate::text::validation::{self, InvalidText};

/// The most attributes of a product.
pub const MAX_ATTRIBUTES: usize = 40;
/// The most distinct names of all products of a shop.
pub const MAX_SHOP_NAMES: u64 = 5_000;
/// The longest name, in characters.
pub const MAX_NAME_CHARS: usize = 40;
/// The longest string value, in characters.
pub const MAX_VALUE_CHARS: usize = 200;
/// The most strings of one value.
pub const MAX_STRINGS: usize = 20;
/// Names that have another meaning in filters, facets and sort orders.
pub const RESERVED_NAMES: [&str; 7] = ["id", "price", "hidden", "category", "query", "sort", "not"];

/// The name of an attribute: `a-z`, `0-9` and `_`, starting with a letter.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AttributeName(Box<str>);

/// Why a name is invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum InvalidName {
    /// Breaks the rule for characters or length.
    #[error(
        "an attribute's name has 1 to {MAX_NAME_CHARS} characters of a-z, 0-9 and _, the first a letter"
    )]
    Malformed,
    /// One of [`RESERVED_NAMES`].
    #[error("this name is reserved")]
    Reserved,
}

impl AttributeName {
    /// Validates a name that a product may use.
    pub fn parse(raw: &str) -> Result<Self, InvalidName> {
        let name = Self::parse_any(raw)?;
        if RESERVED_NAMES.contains(&raw) { Err(InvalidName::Reserved) } else { Ok(name) }
    }

    /// Validates a name as [`Self::parse`] does, reserved ones included: those match no product.
    pub fn parse_any(raw: &str) -> Result<Self, InvalidName> {
        let is_valid = raw.len() <= MAX_NAME_CHARS
            && raw.starts_with(|c: char| c.is_ascii_lowercase())
            && raw.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
        if is_valid { Ok(Self(raw.into())) } else { Err(InvalidName::Malformed) }
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Borrow<str> for AttributeName {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for AttributeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A finite number, a 64-bit float: 15 significant decimal digits are kept.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Number(f64);

impl Number {
    /// `None` if the number is not finite. There is one zero.
    pub fn new(number: f64) -> Option<Self> {
        number.is_finite().then_some(Self(number + 0.0))
    }

    /// The number.
    pub fn get(self) -> f64 {
        self.0
    }
}

// Finite, with one zero: equal numbers have equal bits, and the order is total.
impl Eq for Number {}

impl Hash for Number {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.to_bits().hash(state);
    }
}

impl Ord for Number {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// The value of an attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AttributeValue {
    /// A string.
    Text(Box<str>),
    /// Several distinct strings.
    Texts(Box<[Box<str>]>),
    /// A number.
    Number(Number),
    /// A boolean.
    Boolean(bool),
}

impl AttributeValue {
    /// Validates a string value: 1 to [`MAX_VALUE_CHARS`] characters, no control characters.
    pub fn parse_text(raw: &str) -> Result<Box<str>, InvalidText> {
        if raw.is_empty() {
            return Err(InvalidText::Blank);
        }
        validation::at_most(raw, MAX_VALUE_CHARS)?;
        validation::without_control_characters(raw)?;
        Ok(raw.into())
    }

    /// The strings of the value.
    pub fn texts(&self) -> &[Box<str>] {
        match self {
            Self::Text(text) => std::slice::from_ref(text),
            Self::Texts(texts) => texts,
            Self::Number(_) | Self::Boolean(_) => &[],
        }
    }
}

/// The attributes of a product, sorted by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Attributes(Vec<(AttributeName, AttributeValue)>);

impl Attributes {
    /// The attributes with these names, which are distinct.
    pub fn new(mut named: Vec<(AttributeName, AttributeValue)>) -> Self {
        named.sort_by(|(one, _), (other, _)| one.cmp(other));
        named.dedup_by(|(one, _), (other, _)| one == other);
        Self(named)
    }

    /// No attributes.
    pub fn none() -> &'static Self {
        static NONE: Attributes = Attributes(Vec::new());
        &NONE
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Names and values, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&AttributeName, &AttributeValue)> {
        self.0.iter().map(|(name, value)| (name, value))
    }

    /// The names, sorted.
    pub fn names(&self) -> impl Iterator<Item = &AttributeName> {
        self.0.iter().map(|(name, _)| name)
    }

    /// The value of an attribute.
    pub fn get(&self, name: &str) -> Option<&AttributeValue> {
        let found = self.0.binary_search_by(|(one, _)| one.as_str().cmp(name)).ok()?;
        Some(&self.0[found].1)
    }

    /// All strings, a line each: what is searched for words.
    pub fn text(&self) -> String {
        let texts = self.0.iter().flat_map(|(_, value)| value.texts());
        let mut joined = String::new();
        for text in texts {
            if !joined.is_empty() {
                joined.push('\n');
            }
            joined.push_str(text);
        }
        joined
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_lowercase_identifiers_and_some_are_reserved() {
        for good in ["color", "size_eu", "a", "x9"] {
            assert_eq!(AttributeName::parse(good).unwrap().as_str(), good);
        }
        let long = "a".repeat(MAX_NAME_CHARS + 1);
        for bad in ["", "Color", "9x", "_x", "größe", "a-b", "a b", &long] {
            assert_eq!(AttributeName::parse(bad), Err(InvalidName::Malformed), "{bad}");
        }
        for reserved in RESERVED_NAMES {
            assert_eq!(AttributeName::parse(reserved), Err(InvalidName::Reserved));
            assert!(AttributeName::parse_any(reserved).is_ok());
        }
    }

    #[test]
    fn a_number_is_finite_and_has_one_zero() {
        assert_eq!(Number::new(f64::NAN), None);
        assert_eq!(Number::new(f64::INFINITY), None);
        assert_eq!(Number::new(-0.0).unwrap().get().to_bits(), 0);
    }

    #[test]
    fn attributes_are_found_by_name_and_their_strings_are_text() {
        let name = |raw| AttributeName::parse(raw).unwrap();
        let attributes = Attributes::new(vec![
            (name("size"), AttributeValue::Number(Number::new(42.0).unwrap())),
            (name("color"), AttributeValue::Texts(["red".into(), "sky blue".into()].into())),
            (name("brand"), AttributeValue::Text("Acme".into())),
        ]);
        let names: Vec<_> = attributes.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["brand", "color", "size"]);
        assert_eq!(attributes.get("brand"), Some(&AttributeValue::Text("Acme".into())));
        assert_eq!(attributes.get("colour"), None);
        assert_eq!(attributes.text(), "Acme\nred\nsky blue");
    }
}
