//! Definitions of JSON objects that requests send: one definition reads an object, collects all of
//! its errors, and describes it for the OpenAPI document.
//!
//! [`ObjectDefinition::define`] declares fields on [`Fields`], which run in one of two modes. While
//! reading, each declaration reads the field's value or records its errors. While describing, it
//! adds the field's schema. A [`Rule`] has both halves for one value.

use catalog::{product::attributes::Number, text::validation::InvalidText};
use serde_json::{Map, Value};
use utoipa::openapi::{RefOr, Schema, schema::ObjectBuilder};

use crate::http::{
    errors::{ValidationError, ValidationErrors, validation::Capped},
    json_schema::{self, any_property_of, any_value, closed_object},
};

/// Why a value is invalid; the reader of the object adds the name of its field.
pub(crate) struct Invalid {
    /// The path inside the value, such as `[2].url`; empty for the value itself.
    pub(crate) path: String,
    pub(crate) code: &'static str,
    pub(crate) message: String,
}

impl Invalid {
    pub(crate) fn new(code: &'static str, message: impl ToString) -> Self {
        Self { path: String::new(), code, message: message.to_string() }
    }

    /// The same error of a value that is found at `place` in another one.
    fn within(self, place: impl std::fmt::Display) -> Self {
        Self { path: format!("{place}{}", self.path), ..self }
    }

    pub(super) fn wrong_type(expected: &str, found: &Value) -> Self {
        match found {
            Value::Null => Self::new("wrong_type", "must not be null; leave the field out instead"),
            _ => Self::new("wrong_type", format_args!("must be {expected}")),
        }
    }
}

impl From<InvalidText> for Invalid {
    fn from(invalid: InvalidText) -> Self {
        let code = match invalid {
            InvalidText::Blank => "blank",
            InvalidText::TooLong { .. } => "too_long",
            InvalidText::ControlCharacter(_) => "control_character",
        };
        Self::new(code, invalid)
    }
}

/// The value that was read, or all of its errors.
pub(crate) type Read<T> = Result<T, Capped<Invalid>>;

/// How one value is read and described.
pub(crate) struct Rule<'a, T> {
    pub(crate) read: Box<dyn Fn(&'a Value) -> Read<T> + 'a>,
    pub(crate) schema: Box<dyn Fn() -> RefOr<Schema> + 'a>,
}

impl<'a, T> Rule<'a, T> {
    pub(crate) fn new<S: Into<RefOr<Schema>>>(
        read: impl Fn(&'a Value) -> Read<T> + 'a,
        schema: impl Fn() -> S + 'a,
    ) -> Self {
        Self { read: Box::new(read), schema: Box::new(move || schema().into()) }
    }
}

/// An object that requests send, as a type without values.
pub trait ObjectDefinition<'a> {
    /// What the object is read into.
    type Value;

    /// Declares the fields in order. `None` if a required field is missing or invalid, and while
    /// describing.
    fn define(fields: &mut Fields<'a>) -> Option<Self::Value>;

    /// Reads an object, or lists everything that is wrong with it.
    fn read(value: &'a Value) -> Result<Self::Value, ValidationErrors> {
        let Value::Object(object) = value else {
            let message = "must be a JSON object";
            return Err(ValidationError::of_whole("wrong_type", message).into());
        };
        let mut fields = Fields { reading: Some(object), ..Fields::default() };
        let read = Self::define(&mut fields);
        fields.finish()?;
        Ok(read.unwrap_or_else(|| unreachable!("a field that is missing or invalid is an error")))
    }

    /// The object's schema.
    fn describe() -> ObjectBuilder {
        let mut fields = Fields::default();
        Self::define(&mut fields);
        let object = match fields.one_of {
            [] => fields.schema,
            names => fields.schema.extensions(Some(any_property_of(names))),
        };
        let position = |name: &&str| fields.schema_order.iter().position(|other| other == name);
        fields.required.sort_by_key(position);
        fields.required.iter().fold(object, |object, name| object.required(*name))
    }
}

/// The fields of one object, while it is read or described.
#[derive(Default)]
pub struct Fields<'a> {
    /// The object to read; `None` while describing.
    reading: Option<&'a Map<String, Value>>,
    known: Vec<&'static str>,
    /// At least one of these must be present.
    one_of: &'static [&'static str],
    changes_one_of: bool,
    errors: ValidationErrors,
    schema: ObjectBuilder,
    required: Vec<&'static str>,
    schema_order: &'static [&'static str],
}

impl<'a> Fields<'a> {
    /// Describes the object as a whole, with an example.
    pub(crate) fn about(&mut self, description: &str, example: impl FnOnce() -> Option<Value>) {
        if self.reading.is_none() {
            self.schema = closed_object(description).examples(example());
        }
    }

    /// Fixes the order of properties in the schema, where fields are read in another.
    pub(crate) fn schema_order(&mut self, names: &'static [&'static str]) {
        self.schema_order = names;
        names.iter().for_each(|name| self.property(name, any_value("")));
    }

    /// Declares a field that may be left out.
    pub(crate) fn optional<T>(&mut self, name: &'static str, rule: Rule<'a, T>) -> Option<T> {
        self.known.push(name);
        let Some(object) = self.reading else {
            self.property(name, (rule.schema)());
            return None;
        };
        match (rule.read)(object.get(name)?) {
            Ok(value) => Some(value),
            Err(invalid) => {
                self.errors.append(invalid.map(|invalid| {
                    let field = format!("{name}{}", invalid.path);
                    ValidationError::new(field, invalid.code, invalid.message)
                }));
                None
            }
        }
    }

    /// Declares a field that must be present.
    pub(crate) fn required<T>(&mut self, name: &'static str, rule: Rule<'a, T>) -> Option<T> {
        self.required.push(name);
        if self.reading.is_some_and(|object| !object.contains_key(name)) {
            self.errors.push(ValidationError::new(name, "required", "is required"));
        }
        self.optional(name, rule)
    }

    /// Declares a field that must be present unless another one is.
    pub(crate) fn required_unless<T>(
        &mut self,
        other: &str,
        name: &'static str,
        rule: Rule<'a, T>,
    ) -> Option<T> {
        match self.reading.is_some() && !self.has(other) {
            true => self.required(name, rule),
            false => self.optional(name, rule),
        }
    }

    /// Declares fields that are accepted and have no effect.
    pub(crate) fn ignored(&mut self, names: &[&'static str]) {
        self.known.extend(names);
        if self.reading.is_none() {
            for name in names {
                let about = "Ignored, so that what was read can be edited and sent back.";
                self.property(name, any_value(about));
            }
        }
    }

    /// Requires a change of at least one of these fields.
    pub(crate) fn changes_one_of(&mut self, names: &'static [&'static str]) {
        self.describe_one_of(names);
        self.changes_one_of = true;
    }

    /// Describes that at least one of these fields must be present, which the definition checks.
    pub(crate) fn describe_one_of(&mut self, names: &'static [&'static str]) {
        self.one_of = names;
    }

    /// Whether the object that is read has a field.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.reading.is_some_and(|object| object.contains_key(name))
    }

    /// Rejects a field for a reason that its rule does not know.
    pub(crate) fn reject(&mut self, name: &str, invalid: Invalid) {
        let Invalid { code, message, .. } = invalid;
        self.errors.push(ValidationError::new(name, code, message));
    }

    fn property(&mut self, name: &str, schema: impl Into<RefOr<Schema>>) {
        if self.reading.is_none() {
            self.schema = std::mem::take(&mut self.schema).property(name, schema);
        }
    }

    /// All errors of the object that was read, unknown fields last.
    fn finish(mut self) -> Result<(), ValidationErrors> {
        let object = self.reading.into_iter().flatten();
        let mut has_unknown = false;
        for (name, _) in object.filter(|(name, _)| !self.known.contains(&name.as_str())) {
            has_unknown = true;
            self.errors.push_with(|| {
                let message = format!("unknown field; expected one of {}", self.known.join(", "));
                ValidationError::new(name.as_str(), "unknown_field", message)
            });
        }
        let names = self.one_of;
        if self.changes_one_of && !has_unknown && !names.iter().any(|name| self.has(name)) {
            let message = format!("names no field to change; expected one of {}", names.join(", "));
            self.errors.push(ValidationError::of_whole("no_change", message));
        }
        if self.errors.is_empty() { Ok(()) } else { Err(self.errors) }
    }
}

/// A string that `parse` accepts.
pub(crate) fn text<'a, T, E: Into<Invalid>, S: Into<RefOr<Schema>>>(
    parse: impl Fn(&str) -> Result<T, E> + 'a,
    schema: impl Fn() -> S + 'a,
) -> Rule<'a, T> {
    let read = move |value: &Value| match value {
        Value::String(raw) => parse(raw).map_err(|error| Capped::from(error.into())),
        other => Err(Invalid::wrong_type("a string", other).into()),
    };
    Rule::new(read, schema)
}

/// `true` or `false`.
pub(crate) fn boolean(about: &str, default: Option<bool>) -> Rule<'_, bool> {
    let read = |value: &Value| {
        value.as_bool().ok_or_else(|| Invalid::wrong_type("true or false", value).into())
    };
    Rule::new(read, move || json_schema::boolean(about, default))
}

/// An integer from `min` to `max`. `10.0` is one: JSON has one type of numbers.
pub(crate) fn integer(about: &str, min: u64, max: u64, default: Option<u64>) -> Rule<'_, u64> {
    let schema = move || json_schema::integer(about, min, max).default(default.map(Value::from));
    Rule::new(move |value| read_integer(value, min, max), schema)
}

pub(super) fn read_integer(value: &Value, min: u64, max: u64) -> Read<u64> {
    let out_of_range = || {
        let message = format!("must be between {min} and {max}");
        Capped::from(Invalid::new("out_of_range", message))
    };
    let Value::Number(number) = value else {
        return Err(Invalid::wrong_type("an integer", value).into());
    };
    match (number.as_u64(), number.as_f64()) {
        (Some(whole), _) if (min..=max).contains(&whole) => Ok(whole),
        (Some(_), _) => Err(out_of_range()),
        (None, Some(float)) if float.fract() != 0.0 => {
            Err(Invalid::wrong_type("an integer", value).into())
        }
        (None, Some(float)) if float >= min as f64 && float <= max as f64 => Ok(float as u64),
        (None, _) => Err(out_of_range()),
    }
}

/// A number of any size that a 64-bit float can express.
pub(crate) fn number(about: &str) -> Rule<'_, Number> {
    Rule::new(read_number, move || json_schema::number(about))
}

pub(super) fn read_number(value: &Value) -> Read<Number> {
    let number = value.as_f64().and_then(Number::new);
    number.ok_or_else(|| Invalid::wrong_type("a number", value).into())
}

/// An array of `min` to `max` elements, which are read later, each on its own.
pub(crate) fn elements<'a>(
    about: &'a str,
    min: usize,
    max: usize,
    item: impl Fn() -> RefOr<Schema> + 'a,
) -> Rule<'a, &'a Vec<Value>> {
    let read = move |value: &'a Value| match value {
        Value::Array(items) if items.len() < min => {
            Err(Invalid::new("empty", "must have at least one element").into())
        }
        Value::Array(items) if items.len() > max => {
            Err(Invalid::new("too_many", format_args!("must have at most {max} elements")).into())
        }
        Value::Array(items) => Ok(items),
        other => Err(Invalid::wrong_type("an array", other).into()),
    };
    Rule::new(read, move || json_schema::array(about, item(), min, max))
}

/// An array of `min` to `max` elements; every error names the index of its element.
pub(crate) fn list<'a, T: 'a>(
    about: &'a str,
    min: usize,
    max: usize,
    item: Rule<'a, T>,
) -> Rule<'a, Vec<T>> {
    let Rule { read: read_items, schema } = elements(about, min, max, item.schema);
    let read = move |value: &'a Value| {
        let items = read_items(value)?;
        let items = items.iter().enumerate();
        read_all(items.map(|(index, element)| (format!("[{index}]"), (item.read)(element))))
    };
    Rule { read: Box::new(read), schema }
}

/// An object with free names, at most `max` of them: `entry` reads a name with its value, and every
/// error names its entry.
pub(crate) fn entries<'a, T: 'a, S: Into<RefOr<Schema>>>(
    max: usize,
    entry: impl Fn(&'a str, &'a Value) -> Read<T> + 'a,
    schema: impl Fn() -> S + 'a,
) -> Rule<'a, Vec<T>> {
    let read = move |value: &'a Value| match value {
        Value::Object(object) if object.len() > max => {
            Err(Invalid::new("too_many", format_args!("must have at most {max} entries")).into())
        }
        Value::Object(object) => {
            read_all(object.iter().map(|(name, value)| (format!(".{name}"), entry(name, value))))
        }
        other => Err(Invalid::wrong_type("an object", other).into()),
    };
    Rule::new(read, schema)
}

/// All values, or all errors with the places of their values.
fn read_all<T>(parts: impl Iterator<Item = (String, Read<T>)>) -> Read<Vec<T>> {
    let (mut values, mut all_invalid) = (Vec::new(), Capped::default());
    for (place, read) in parts {
        match read {
            Ok(value) => values.push(value),
            Err(invalid) => all_invalid.append(invalid.map(|invalid| invalid.within(&place))),
        }
    }
    if all_invalid.is_empty() { Ok(values) } else { Err(all_invalid) }
}

/// Both values, or the errors of both.
pub(crate) fn both<A, B>(one: Read<A>, other: Read<B>) -> Read<(A, B)> {
    match (one, other) {
        (Ok(one), Ok(other)) => Ok((one, other)),
        (Err(mut invalid), Err(more)) => {
            invalid.append(more);
            Err(invalid)
        }
        (Err(invalid), Ok(_)) | (Ok(_), Err(invalid)) => Err(invalid),
    }
}

/// An object inside a field; its errors name the inner field. `name` is its schema under
/// `components`.
pub(crate) fn object<'a, D: ObjectDefinition<'a> + 'a>(name: &'static str) -> Rule<'a, D::Value> {
    let read = |value: &'a Value| {
        D::read(value).map_err(|errors| {
            errors.map(|error| Invalid {
                path: error.field.map(|field| format!(".{field}")).unwrap_or_default(),
                code: error.code,
                message: error.message,
            })
        })
    };
    Rule::new(read, move || json_schema::reference(name))
}

/// Makes definitions usable as request bodies in the attributes of operations.
macro_rules! request_bodies {
    ($($name:ident),+ $(,)?) => {$(
        impl utoipa::PartialSchema for $name {
            fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::Schema> {
                <$name as crate::http::requests::fields::ObjectDefinition>::describe().into()
            }
        }

        impl utoipa::ToSchema for $name {}
    )+};
}
pub(crate) use request_bodies;

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    struct Sample;

    impl<'a> ObjectDefinition<'a> for Sample {
        type Value = String;

        fn define(fields: &mut Fields<'a>) -> Option<String> {
            fields.about("A sample.", || None);
            let string = || json_schema::string("Words.");
            let query =
                fields.required("query", text(|raw| Ok::<_, Invalid>(raw.to_owned()), string));
            fields.optional("limit", integer("A limit.", 1, 50, Some(10)));
            fields.required("shop", boolean("A flag.", None));
            fields.ignored(&["id"]);
            query
        }
    }

    #[test]
    fn every_error_is_listed_once() {
        let errors = Sample::read(&json!({"limit": 99, "query": null, "ofset": 1})).unwrap_err();
        let found: Vec<_> =
            errors.iter().map(|error| (error.field.as_deref().unwrap(), error.code)).collect();
        assert_eq!(
            found,
            [
                ("query", "wrong_type"),
                ("limit", "out_of_range"),
                ("shop", "required"),
                ("ofset", "unknown_field"),
            ]
        );
        let body = json!({"query": "sofa", "shop": true, "id": 1});
        assert_eq!(Sample::read(&body), Ok("sofa".to_owned()));
    }

    #[test]
    fn a_number_is_an_integer_by_its_value() {
        let read = |value| read_integer(&value, 1, 50).map_err(|invalid| invalid[0].code);
        assert_eq!(read(json!(10)), Ok(10));
        assert_eq!(read(json!(10.0)), Ok(10));
        assert_eq!(read(json!(10.5)), Err("wrong_type"));
        assert_eq!(read(json!("10")), Err("wrong_type"));
        assert_eq!(read(json!(true)), Err("wrong_type"));
        assert_eq!(read(json!(0)), Err("out_of_range"));
        assert_eq!(read(json!(-1)), Err("out_of_range"));
        assert_eq!(read(json!(1e300)), Err("out_of_range"));
    }
}
