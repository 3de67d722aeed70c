//! How is a request body read? Whole, bounded in size and time, as strict JSON.

use std::{fmt, time::Duration};

use axum::{
    body::{Body, Bytes},
    http::{HeaderMap, header},
};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use super::problem::ApiError;

/// What a body may cost.
#[derive(Clone, Copy, Debug)]
pub struct BodyLimits {
    /// Its largest size.
    pub bytes: usize,
    /// How long it may take to arrive.
    pub read_time: Duration,
}

/// Reads a JSON body. Too large a one is refused before it is read whole.
pub(crate) async fn read(
    headers: &HeaderMap,
    body: Body,
    limits: BodyLimits,
) -> Result<Value, ApiError> {
    parse(&read_bytes(headers, body, limits).await?)
}

/// Reads the bytes of a body that says it is JSON.
pub(crate) async fn read_bytes(
    headers: &HeaderMap,
    body: Body,
    limits: BodyLimits,
) -> Result<Bytes, ApiError> {
    if !says_json(headers) {
        return Err(ApiError::UnsupportedMediaType);
    }
    let too_large = ApiError::BodyTooLarge { limit: limits.bytes };
    if announced_length(headers).is_some_and(|length| length > limits.bytes as u64) {
        return Err(too_large);
    }
    let arriving = Limited::new(body, limits.bytes).collect();
    match tokio::time::timeout(limits.read_time, arriving).await {
        Err(_) => Err(ApiError::RequestTimeout),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(too_large),
        Ok(Err(error)) => Err(ApiError::MalformedJson(error.to_string())),
        Ok(Ok(whole)) => Ok(whole.to_bytes()),
    }
}

/// Reads JSON in which no object names a field twice.
pub fn parse(bytes: &[u8]) -> Result<Value, ApiError> {
    let strict: Strict = serde_json::from_slice(bytes)
        .map_err(|error| ApiError::MalformedJson(error.to_string()))?;
    Ok(strict.0)
}

fn says_json(headers: &HeaderMap) -> bool {
    headers
        .get(header::CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.split(';').next())
        .is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json"))
}

fn announced_length(headers: &HeaderMap) -> Option<u64> {
    headers.get(header::CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

/// A JSON value without repeated fields: the last of two would silently win otherwise.
struct Strict(Value);

impl<'de> Deserialize<'de> for Strict {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(StrictVisitor).map(Self)
    }
}

struct StrictVisitor;

impl<'de> Visitor<'de> for StrictVisitor {
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
        while let Some(Strict(item)) = items.next_element()? {
            array.push(item);
        }
        Ok(Value::Array(array))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(name) = fields.next_key::<String>()? {
            if object.contains_key(&name) {
                return Err(de::Error::custom(format_args!("the field {name:?} occurs twice")));
            }
            let Strict(value) = fields.next_value()?;
            object.insert(name, value);
        }
        Ok(Value::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn json_is_read_as_it_is() {
        check(
            br#" {"a": [1, -2, 3.5, "x", null, true], "b": {"a": 18446744073709551615}} "#,
            Ok(serde_json::json!({
                "a": [1, -2, 3.5, "x", null, true],
                "b": {"a": 18_446_744_073_709_551_615_u64},
            })),
        );
    }

    #[test]
    fn what_is_not_json_is_refused_with_the_place() {
        check(b"", Err("EOF"));
        check(br#"{"a": 1"#, Err("EOF"));
        check(br#"{"a": 1} x"#, Err("trailing characters"));
        check(b"{\"a\": \"\xff\"}", Err("unicode"));
        check(br#""\ud800""#, Err("hex escape"));
        check(br#"{"a": {"b": 1, "b": 1}}"#, Err(r#""b" occurs twice"#));
        check("[".repeat(100_000).as_bytes(), Err("recursion limit"));
    }
}
