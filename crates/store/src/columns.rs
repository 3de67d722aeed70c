//! The encoding of media and attributes in a column.

use std::{borrow::Cow, fmt};

use catalog::product::{
    attributes::{AttributeName, AttributeValue, Attributes, Number},
    media::Media,
};
use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{IgnoredAny, MapAccess, SeqAccess, Visitor},
    ser::SerializeMap,
};

use super::StoreError;

/// Whole numbers below this are written without a fraction: 2⁵³, up to which `f64` has them all.
const WHOLE_BELOW: f64 = 9_007_199_254_740_992.0;

/// A media item in the JSON of the `media` column.
#[derive(Serialize, Deserialize)]
struct StoredMedia<'a> {
    #[serde(borrow)]
    url: Cow<'a, str>,
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
}

/// The stored form of pictures and other media.
pub fn media_column(media: &[Media]) -> String {
    if media.is_empty() {
        return "[]".to_owned();
    }
    let stored: Vec<_> = media
        .iter()
        .map(|item| StoredMedia { url: item.url().into(), kind: item.kind().as_str().into() })
        .collect();
    serde_json::to_string(&stored).unwrap_or_else(|_| unreachable!("strings always serialise"))
}

/// The media in a column; `None` if it cannot be parsed.
pub(super) fn media_from_column(column: &str) -> Option<Vec<Media>> {
    if column == "[]" {
        return Some(Vec::new());
    }
    let stored: Vec<StoredMedia<'_>> = serde_json::from_str(column).ok()?;
    let item = |item: StoredMedia<'_>| Media::from_stored(item.url.into_owned(), &item.kind);
    Some(stored.into_iter().map(item).collect())
}

/// Serialises attributes as a JSON object, in the order of their names.
pub struct AttributesJson<'a>(pub &'a Attributes);

impl Serialize for AttributesJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in self.0.iter() {
            object.serialize_entry(name.as_str(), &ValueJson(value))?;
        }
        object.end()
    }
}

struct ValueJson<'a>(&'a AttributeValue);

impl Serialize for ValueJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            AttributeValue::Text(text) => serializer.serialize_str(text),
            AttributeValue::Texts(texts) => {
                serializer.collect_seq(texts.iter().map(|text| &**text))
            }
            AttributeValue::Boolean(boolean) => serializer.serialize_bool(*boolean),
            AttributeValue::Number(number) => NumberJson(number.get()).serialize(serializer),
        }
    }
}

/// Serialises a finite number, without a fraction if it is whole.
#[derive(Debug)]
pub struct NumberJson(pub f64);

impl Serialize for NumberJson {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            whole if whole.fract() == 0.0 && whole.abs() < WHOLE_BELOW => {
                serializer.serialize_i64(whole as i64)
            }
            number => serializer.serialize_f64(number),
        }
    }
}

/// The `attributes` column; `None` without attributes.
pub fn attributes_column(attributes: &Attributes) -> Option<String> {
    let json = || serde_json::to_string(&AttributesJson(attributes));
    (!attributes.is_empty())
        .then(|| json().unwrap_or_else(|_| unreachable!("finite numbers always serialise")))
}

/// The attributes in a column, and whether all of it could be decoded.
pub(super) fn attributes_from_column(column: Option<&str>) -> (Attributes, bool) {
    let Some(column) = column.filter(|column| !matches!(*column, "" | "{}")) else {
        return (Attributes::default(), true);
    };
    match serde_json::from_str(column) {
        Ok(StoredAttributes { named, is_complete }) => (Attributes::new(named), is_complete),
        Err(_) => (Attributes::default(), false),
    }
}

/// The attributes that can be decoded, and whether these are all.
struct StoredAttributes {
    named: Vec<(AttributeName, AttributeValue)>,
    is_complete: bool,
}

impl<'de> Deserialize<'de> for StoredAttributes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Object;

        impl<'de> Visitor<'de> for Object {
            type Value = StoredAttributes;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut named = Vec::new();
                let mut is_complete = true;
                while let Some(name) = map.next_key::<Cow<'de, str>>()? {
                    let StoredValue(value) = map.next_value()?;
                    match AttributeName::parse_any(&name).ok().zip(value) {
                        Some(attribute) => named.push(attribute),
                        None => is_complete = false,
                    }
                }
                Ok(StoredAttributes { named, is_complete })
            }
        }

        deserializer.deserialize_map(Object)
    }
}

/// A value; `None` if it is of a kind that attributes do not have.
struct StoredValue(Option<AttributeValue>);

impl<'de> Deserialize<'de> for StoredValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyValue).map(Self)
    }
}

struct AnyValue;

impl<'de> Visitor<'de> for AnyValue {
    type Value = Option<AttributeValue>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Some(AttributeValue::Text(text.into())))
    }

    fn visit_bool<E>(self, boolean: bool) -> Result<Self::Value, E> {
        Ok(Some(AttributeValue::Boolean(boolean)))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Self::Value, E> {
        Ok(Number::new(number as f64).map(AttributeValue::Number))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Self::Value, E> {
        Ok(Number::new(number as f64).map(AttributeValue::Number))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Self::Value, E> {
        Ok(Number::new(number).map(AttributeValue::Number))
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    /// An array with anything but strings is not a value.
    fn visit_seq<A: SeqAccess<'de>>(self, mut array: A) -> Result<Self::Value, A::Error> {
        let (mut texts, mut are_texts) = (Vec::new(), true);
        while let Some(StoredValue(element)) = array.next_element()? {
            match element {
                Some(AttributeValue::Text(text)) => texts.push(text),
                _ => are_texts = false,
            }
        }
        Ok(are_texts.then(|| AttributeValue::Texts(texts.into())))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(None)
    }
}

pub(super) fn unexpected(why: impl fmt::Display) -> StoreError {
    StoreError::unexpected(why.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(name: &str, value: AttributeValue) -> (AttributeName, AttributeValue) {
        (AttributeName::parse(name).unwrap(), value)
    }

    fn number(number: f64) -> AttributeValue {
        AttributeValue::Number(Number::new(number).unwrap())
    }

    #[test]
    fn attributes_are_read_as_they_were_written() {
        let attributes = Attributes::new(vec![
            named("brand", AttributeValue::Text("Acmé \"1\"".into())),
            named("color", AttributeValue::Texts(["red".into(), "sky\nblue".into()].into())),
            named("waterproof", AttributeValue::Boolean(true)),
            named("stock", number(42.0)),
            named("depth", number(-0.0)),
            named("width", number(0.1 + 0.2)),
            named("tiny", number(5e-324)),
            named("huge", number(f64::MAX)),
            named("whole", number(WHOLE_BELOW - 1.0)),
            named("beyond", number(WHOLE_BELOW)),
        ]);
        let column = attributes_column(&attributes).unwrap();
        for whole in [r#""stock":42,"#, r#""depth":0,"#, r#""whole":9007199254740991,"#] {
            assert!(column.contains(whole), "{whole} in {column}");
        }
        assert_eq!(attributes_from_column(Some(&column)), (attributes, true));
        assert_eq!(attributes_column(&Attributes::default()), None);
        for empty in [None, Some(""), Some("{}"), Some("{ }")] {
            assert_eq!(attributes_from_column(empty), (Attributes::default(), true), "{empty:?}");
        }
    }

    #[test]
    fn odd_attributes_do_not_affect_others() {
        let odd = r#"{"size": 4, "Größe": 5, "a": null, "b": {"c": [1]}, "d": ["x", 1], "e": [],
                      "category": "kept"}"#;
        let (found, is_complete) = attributes_from_column(Some(odd));
        let names: Vec<_> = found.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!((names, is_complete), (vec!["category", "e", "size"], false));
        for nonsense in ["nonsense", "[]", "3", r#"{"a":"#] {
            assert_eq!(attributes_from_column(Some(nonsense)), (Attributes::default(), false));
        }
    }
}
