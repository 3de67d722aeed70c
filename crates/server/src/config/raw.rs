//! A value as it was written, before it is parsed by the kind of its setting.

use toml::de::{DeInteger, DeValue};

/// A value as it was written.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Raw {
    /// Untyped text: a flag, an environment variable or a default.
    Text(String),
    /// A TOML string.
    String(String),
    /// A TOML integer.
    Integer(i64),
    /// A TOML float.
    Float(f64),
    /// A TOML boolean.
    Boolean(bool),
    /// A TOML array of strings.
    List(Vec<String>),
    /// A TOML value that no setting accepts, described.
    Other(&'static str),
}

impl Raw {
    /// The trimmed text; `None` if this is not text.
    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) | Self::String(text) => Some(text.trim()),
            _ => None,
        }
    }

    /// The value as an error message quotes it.
    pub(super) fn quoted(&self) -> String {
        match self {
            Self::Text(text) | Self::String(text) => format!("{text:?}"),
            Self::Integer(number) => format!("the integer {number}"),
            Self::Float(number) => format!("the float {number}"),
            Self::Boolean(value) => format!("the boolean {value}"),
            Self::List(items) => format!("the list {items:?}"),
            Self::Other(kind) => (*kind).to_owned(),
        }
    }
}

impl From<&DeValue<'_>> for Raw {
    fn from(value: &DeValue<'_>) -> Self {
        match value {
            DeValue::String(text) => Self::String(text.to_string()),
            DeValue::Integer(number) => {
                integer(number).map_or(Self::Other("an integer too large"), Self::Integer)
            }
            DeValue::Float(number) => {
                number.as_str().parse().map_or(Self::Other("an odd float"), Self::Float)
            }
            DeValue::Boolean(value) => Self::Boolean(*value),
            DeValue::Array(items) => items
                .iter()
                .map(|item| item.get_ref().as_str().map(str::to_owned))
                .collect::<Option<_>>()
                .map_or(Self::Other("an array with other things than strings"), Self::List),
            DeValue::Datetime(_) => Self::Other("a date"),
            DeValue::Table(_) => Self::Other("a table"),
        }
    }
}

fn integer(number: &DeInteger<'_>) -> Option<i64> {
    i64::from_str_radix(number.as_str(), number.radix()).ok()
}
