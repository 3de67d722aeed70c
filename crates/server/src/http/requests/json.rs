//! Parses the JSON of a request strictly: no object names a field twice, and the numbers of fields,
//! objects and values are bounded.

use std::{cell::Cell, fmt};

use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use crate::http::errors::{
    ApiError, ValidationError,
    validation::{MAX_FIELD_CHARS, MAX_MESSAGE_CHARS, truncate},
};

/// The most fields of one object in a request.
const MAX_FIELDS: usize = 100;
/// The most objects in a request.
const MAX_OBJECTS: usize = 5_000;
/// The most values of any kind in a request.
const MAX_VALUES: usize = 100_000;

/// Parses the JSON of a request. A document with more parts than any request needs is rejected
/// before it is parsed completely.
pub fn parse(bytes: &[u8]) -> Result<Value, ApiError> {
    parse_within(bytes, &Bounds::of_requests())
}

/// Parses JSON that is bounded by its length alone, such as a record of a file.
pub(crate) fn parse_record(bytes: &[u8]) -> Result<Value, ApiError> {
    parse_within(bytes, &Bounds::none())
}

fn parse_within(bytes: &[u8], bounds: &Bounds) -> Result<Value, ApiError> {
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    let read = Strict(bounds).deserialize(&mut reader).and_then(|value| {
        reader.end()?;
        Ok(value)
    });
    read.map_err(|error| match bounds.exceeded.get() {
        None => ApiError::MalformedJson(truncate(&error.to_string(), MAX_MESSAGE_CHARS)),
        Some(what) => {
            let (line, column) = (error.line(), error.column());
            let message = format!("has {what}, at line {line} column {column}");
            ApiError::invalid(ValidationError::of_whole("too_many", message))
        }
    })
}

/// The parts that a JSON document may still have. Parsed, a small value takes many times the memory
/// of its text: without bounds, a few megabytes of text would become hundreds.
struct Bounds {
    fields: usize,
    objects: Cell<usize>,
    values: Cell<usize>,
    /// The bound that was exceeded.
    exceeded: Cell<Option<&'static str>>,
}

impl Bounds {
    /// More than a bulk request of 100 products needs if each uses every field.
    fn of_requests() -> Self {
        Self::new(MAX_FIELDS, MAX_OBJECTS, MAX_VALUES)
    }

    fn none() -> Self {
        Self::new(usize::MAX, usize::MAX, usize::MAX)
    }

    fn new(fields: usize, objects: usize, values: usize) -> Self {
        let (objects, values) = (Cell::new(objects), Cell::new(values));
        Self { fields, objects, values, exceeded: Cell::new(None) }
    }

    fn exceed<E: de::Error>(&self, what: &'static str) -> E {
        self.exceeded.set(Some(what));
        E::custom(what)
    }

    fn count<E: de::Error>(&self, left: &Cell<usize>, what: &'static str) -> Result<(), E> {
        left.set(left.get().checked_sub(1).ok_or_else(|| self.exceed(what))?);
        Ok(())
    }
}

/// Reads a JSON value and rejects repeated fields, of which the last would silently win.
#[derive(Clone, Copy)]
struct Strict<'b>(&'b Bounds);

impl<'de> DeserializeSeed<'de> for Strict<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        self.0.count(&self.0.values, "more than 100000 values")?;
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Value, E> {
        Number::from_f64(value).map(Value::Number).ok_or_else(|| E::custom("not a finite number"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut array = Vec::new();
        while let Some(item) = items.next_element_seed(self)? {
            array.push(item);
        }
        Ok(Value::Array(array))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Value, A::Error> {
        self.0.count(&self.0.objects, "more than 5000 objects")?;
        let mut object = Map::new();
        while let Some(name) = fields.next_key::<String>()? {
            if object.contains_key(&name) {
                let name = truncate(&name, MAX_FIELD_CHARS);
                return Err(de::Error::custom(format_args!("the field {name:?} occurs twice")));
            }
            if object.len() == self.0.fields {
                return Err(self.0.exceed("an object with more than 100 fields"));
            }
            let value = fields.next_value_seed(self)?;
            object.insert(name, value);
        }
        Ok(Value::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use catalog::product::{attributes, media};

    use super::*;
    use crate::http::requests::{
        MAX_BULK,
        products::{READ_ONLY, SETTABLE},
    };

    fn check(raw: &[u8], expected: Result<Value, &str>) {
        match (parse(raw), expected) {
            (Ok(found), Ok(expected)) => assert_eq!(found, expected),
            (Err(ApiError::MalformedJson(why)), Err(expected)) => {
                assert!(why.contains(expected), "{why}");
            }
            (found, expected) => panic!("{found:?} instead of {expected:?}"),
        }
    }

    #[test]
    fn valid_json_is_parsed() {
        check(
            br#" {"a": [1, -2, 3.5, "x", null, true], "b": {"a": 18446744073709551615}} "#,
            Ok(serde_json::json!({
                "a": [1, -2, 3.5, "x", null, true],
                "b": {"a": 18_446_744_073_709_551_615_u64},
            })),
        );
    }

    #[test]
    fn invalid_json_is_rejected_with_its_position() {
        check(b"", Err("EOF"));
        check(br#"{"a": 1"#, Err("EOF"));
        check(br#"{"a": 1} x"#, Err("trailing characters"));
        check(b"{\"a\": \"\xff\"}", Err("unicode"));
        check(br#""\ud800""#, Err("hex escape"));
        check(br#"{"a": {"b": 1, "b": 1}}"#, Err(r#""b" occurs twice"#));
        check("[".repeat(100_000).as_bytes(), Err("recursion limit"));
    }

    /// A request that uses every limit of the API is within the bounds.
    #[test]
    fn the_largest_bulk_request_is_parsed() {
        let strings: Vec<_> = (0..attributes::MAX_STRINGS).collect();
        let attributes: Map<String, Value> = (0..attributes::MAX_ATTRIBUTES)
            .map(|n| (format!("a{n}"), serde_json::json!(strings)))
            .collect();
        let media = vec![serde_json::json!({"url": "", "type": ""}); media::MAX_ITEMS];
        let mut product = serde_json::json!({"attributes": attributes, "media": media});
        for field in SETTABLE.iter().chain(&READ_ONLY) {
            product.as_object_mut().unwrap().entry(*field).or_insert_with(|| "".into());
        }
        let body = serde_json::json!({"products": vec![product; MAX_BULK]}).to_string();
        assert!(parse(body.as_bytes()).is_ok());
    }

    #[test]
    fn more_parts_than_any_request_needs_are_rejected() {
        let fields = |count: usize| {
            let fields: Vec<_> = (0..count).map(|n| format!("\"{n}\":0")).collect();
            format!("{{{}}}", fields.join(","))
        };
        let array = |count: usize, value: &str| format!("[{}]", vec![value; count].join(","));
        for (what, most, one_more) in [
            ("100 fields", fields(MAX_FIELDS), fields(MAX_FIELDS + 1)),
            ("5000 objects", array(MAX_OBJECTS, "{}"), array(MAX_OBJECTS + 1, "{}")),
            ("100000 values", array(MAX_VALUES - 1, "0"), array(MAX_VALUES, "0")),
        ] {
            assert!(parse(most.as_bytes()).is_ok(), "{what}");
            let Err(ApiError::Validation(errors)) = parse(one_more.as_bytes()) else {
                panic!("{what}");
            };
            assert!(errors[0].message.contains(what), "{errors:?}");
            assert!(parse_record(one_more.as_bytes()).is_ok(), "{what}");
        }
        let unfinished = format!("{}, ", fields(MAX_FIELDS + 1).trim_end_matches('}'));
        assert!(matches!(parse(unfinished.as_bytes()), Err(ApiError::Validation(_))));
    }
}
