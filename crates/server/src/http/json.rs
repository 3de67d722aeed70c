//! How is a request body read? Whole, bounded in size and time, as strict JSON.

use std::{cell::Cell, fmt, time::Duration};

use axum::{
    body::Body,
    extract::{FromRequest, FromRequestParts, MatchedPath, Request},
    http::{HeaderMap, header},
};
use catalog::product::ShopId;
use http_body_util::BodyExt;
use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use super::{
    App,
    admission::Admission,
    auth::Bearer,
    faults::{MAX_FIELD_CHARS, MAX_MESSAGE_CHARS, cut},
    problem::{ApiError, Fault},
    unsent::Sending,
};

/// Fields of one object in a request, at most.
const MAX_FIELDS: usize = 100;
/// Objects in a request, at most.
const MAX_OBJECTS: usize = 5_000;
/// Values of any kind in a request, at most.
const MAX_VALUES: usize = 100_000;

/// What a body may cost.
#[derive(Clone, Copy, Debug)]
pub struct BodyLimits {
    /// Its largest size.
    pub bytes: usize,
    /// How long it may take to arrive.
    pub read_time: Duration,
}

/// A body that is still to be read, by a handler that has checked all else.
pub(crate) struct Unread {
    app: App,
    headers: HeaderMap,
    admission: Admission,
    /// The shop that may have to read earlier responses before it gets another one.
    must_have_read: Option<ShopId>,
    body: Body,
}

impl FromRequest<App> for Unread {
    type Rejection = ApiError;

    async fn from_request(request: Request, app: &App) -> Result<Self, ApiError> {
        let (mut parts, body) = request.into_parts();
        let admission = Admission::from_request_parts(&mut parts, app).await?;
        let bearer = Bearer::from_request_parts(&mut parts, app).await?;
        let route = parts.extensions.get::<MatchedPath>().map_or("", MatchedPath::as_str);
        let is_always_answered = Sending::of(&parts.method, route) == Sending::Always;
        Ok(Self {
            app: App::clone(app),
            must_have_read: is_always_answered.then(|| bearer.shop()),
            headers: parts.headers,
            admission,
            body,
        })
    }
}

impl Unread {
    /// Reads a JSON body. Too large a one is refused before it is read whole.
    pub(crate) async fn json(self) -> Result<Value, ApiError> {
        parse(&self.bytes().await?)
    }

    /// Reads the bytes of a body that says it is JSON.
    pub(crate) async fn bytes(self) -> Result<Vec<u8>, ApiError> {
        let limits = self.app.body_limits;
        if !says_json(&self.headers) {
            return Err(ApiError::UnsupportedMediaType);
        }
        let announced = announced_length(&self.headers);
        if announced.is_some_and(|length| length > limits.bytes as u64) {
            return Err(ApiError::BodyTooLarge { limit: limits.bytes });
        }
        self.admission.begin_body(&self.app.admissions)?;
        let arriving = read_whole(self.body, limits.bytes, &self.admission);
        let read = tokio::time::timeout(limits.read_time, arriving).await;
        let bytes = read.unwrap_or(Err(ApiError::RequestTimeout))?;
        self.admission.end_body(&self.app.admissions)?;
        if let Some(shop) = self.must_have_read {
            self.app.unsent.check(shop)?;
        }
        Ok(bytes)
    }
}

/// All bytes of a body, in one piece: as many small pieces as a client likes would take more memory.
async fn read_whole(
    mut body: Body,
    limit: usize,
    admission: &Admission,
) -> Result<Vec<u8>, ApiError> {
    let mut whole = Vec::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| ApiError::MalformedJson(error.to_string()))?;
        let Ok(part) = frame.into_data() else { continue };
        if whole.len() + part.len() > limit {
            return Err(ApiError::BodyTooLarge { limit });
        }
        admission.add_to_body(part.len())?;
        whole.extend_from_slice(&part);
    }
    Ok(whole)
}

/// Reads the JSON of a request: no object names a field twice, and its parts are not more than any
/// request needs. What has more is refused before it is read whole.
pub fn parse(bytes: &[u8]) -> Result<Value, ApiError> {
    parse_within(bytes, &Bounds::of_requests())
}

/// Reads JSON that has no bound but its length, such as a record of a file.
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
        None => ApiError::MalformedJson(cut(&error.to_string(), MAX_MESSAGE_CHARS)),
        Some(what) => {
            let (line, column) = (error.line(), error.column());
            let message = format!("has {what}, at line {line} column {column}");
            ApiError::fault(Fault::of_whole("too_many", message))
        }
    })
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

/// How many parts a JSON document may still have. As a tree, small values take many times their
/// length: without bounds, a few megabytes of text would become hundreds.
struct Bounds {
    fields: usize,
    objects: Cell<usize>,
    values: Cell<usize>,
    /// What there was too much of.
    exceeded: Cell<Option<&'static str>>,
}

impl Bounds {
    /// More than a bulk request of 100 products with everything that a product may have.
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

/// Reads a JSON value without repeated fields: the last of two would silently win otherwise.
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
                let name = cut(&name, MAX_FIELD_CHARS);
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

    #[test]
    fn more_parts_than_any_request_needs_are_refused() {
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
            let Err(ApiError::Validation(faults)) = parse(one_more.as_bytes()) else {
                panic!("{what}");
            };
            assert!(faults[0].message.contains(what), "{faults:?}");
            assert!(parse_record(one_more.as_bytes()).is_ok(), "{what}");
        }
        let unfinished = format!("{}, ", fields(MAX_FIELDS + 1).trim_end_matches('}'));
        assert!(matches!(parse(unfinished.as_bytes()), Err(ApiError::Validation(_))));
    }
}
