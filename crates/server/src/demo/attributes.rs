//! The attributes column of the demo's tables: `color=navy|white; width_cm=218; washable=true`.

use catalog::{
    product::attributes::{AttributeName, AttributeValue, Attributes, InvalidName, Number},
    text::validation::InvalidText,
};
use thiserror::Error;

/// Why a column is invalid.
#[derive(Debug, Error)]
pub(super) enum InvalidAttributes {
    #[error("an attribute is written as name=value")]
    Shape,
    #[error("an attribute is there twice")]
    Repeated,
    #[error("the name of an attribute")]
    Name(#[from] InvalidName),
    #[error("the value of an attribute")]
    Value(#[from] InvalidText),
}

/// Parses a column. `true`, `false` and numbers have their types; `|` separates several strings.
pub(super) fn parse(column: &str) -> Result<Attributes, InvalidAttributes> {
    let named = column
        .split(';')
        .map(|entry| {
            let (name, value) = entry.split_once('=').ok_or(InvalidAttributes::Shape)?;
            Ok((AttributeName::parse(name.trim())?, parse_value(value.trim())?))
        })
        .collect::<Result<Vec<_>, InvalidAttributes>>()?;
    let count = named.len();
    let attributes = Attributes::new(named);
    if attributes.len() == count { Ok(attributes) } else { Err(InvalidAttributes::Repeated) }
}

fn parse_value(value: &str) -> Result<AttributeValue, InvalidText> {
    if let Ok(boolean) = value.parse() {
        return Ok(AttributeValue::Boolean(boolean));
    }
    if let Some(number) = value.parse().ok().and_then(Number::new) {
        return Ok(AttributeValue::Number(number));
    }
    match value.split('|').map(AttributeValue::parse_text).collect::<Result<Vec<_>, _>>()? {
        mut texts if texts.len() == 1 => Ok(AttributeValue::Text(texts.remove(0))),
        texts => Ok(AttributeValue::Texts(texts.into())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_their_types() {
        let attributes = parse("color=navy|white; width_cm=21.5; washable=true; brand=A & B");
        let attributes = attributes.unwrap();
        let number = Number::new(21.5).unwrap();
        assert_eq!(attributes.len(), 4);
        let texts = AttributeValue::Texts(["navy".into(), "white".into()].into());
        assert_eq!(attributes.get("color"), Some(&texts));
        assert_eq!(attributes.get("width_cm"), Some(&AttributeValue::Number(number)));
        assert_eq!(attributes.get("washable"), Some(&AttributeValue::Boolean(true)));
        assert_eq!(attributes.get("brand"), Some(&AttributeValue::Text("A & B".into())));
    }

    #[test]
    fn a_faulty_column_is_refused() {
        for (column, reason) in [
            ("", "name=value"),
            ("color", "name=value"),
            ("Color=red", "the name"),
            ("price=5", "the name"),
            ("color=", "the value"),
            ("color=red|", "the value"),
            ("color=red; color=blue", "twice"),
        ] {
            let refused = parse(column).unwrap_err().to_string();
            assert!(refused.contains(reason), "{column}: {refused}");
        }
    }
}
