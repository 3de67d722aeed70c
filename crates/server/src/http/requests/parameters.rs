//! Query parameters: one definition reads them, collects all errors, and describes them for the
//! OpenAPI document.

use std::ops::RangeInclusive;

use serde_json::{Value, json};
use utoipa::openapi::{
    Required,
    path::{Parameter, ParameterBuilder, ParameterIn},
    schema::ObjectBuilder,
};

use super::fields::Invalid;
use crate::http::{
    errors::{ValidationError, ValidationErrors},
    json_schema,
};

/// The most query parameters that are read: more than any path takes.
const MAX_PARAMETERS: usize = 50;

type ReadParameter<T> = dyn Fn(&mut T, &str) -> Result<(), Invalid>;

/// One query parameter of a request that is read into `T`.
pub(crate) struct QueryParameter<T> {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) schema: ObjectBuilder,
    pub(crate) example: Value,
    pub(crate) read: Box<ReadParameter<T>>,
}

impl<T> QueryParameter<T> {
    /// The same parameter with a documented default and an example.
    pub(crate) fn default(self, default: impl Into<Value>, example: impl Into<Value>) -> Self {
        let schema = self.schema.default(Some(default.into()));
        Self { schema, example: example.into(), ..self }
    }
}

/// An integer in a range.
pub(crate) fn integer<T>(
    name: &'static str,
    about: &'static str,
    range: RangeInclusive<usize>,
    set: impl Fn(&mut T, usize) + 'static,
) -> QueryParameter<T> {
    let (min, max) = (*range.start(), *range.end());
    let read = move |target: &mut T, raw: &str| match raw.parse() {
        Ok(number) if range.contains(&number) => {
            set(target, number);
            Ok(())
        }
        _ if is_integer(raw) => {
            Err(Invalid::new("out_of_range", format_args!("must be between {min} and {max}")))
        }
        _ => Err(Invalid::new("wrong_type", "must be an integer")),
    };
    let schema = json_schema::integer("", min as u64, max as u64);
    QueryParameter { name, about, schema, example: Value::Null, read: Box::new(read) }
}

/// `true` or `false`.
pub(crate) fn boolean<T>(
    name: &'static str,
    about: &'static str,
    set: impl Fn(&mut T, bool) + 'static,
) -> QueryParameter<T> {
    let read = move |target: &mut T, raw: &str| {
        let wrong_type = |_| Invalid::new("wrong_type", "must be true or false");
        set(target, raw.parse().map_err(wrong_type)?);
        Ok(())
    };
    let schema = json_schema::boolean("", None);
    QueryParameter { name, about, schema, example: Value::Null, read: Box::new(read) }
}

/// Whether a text is an integer of any size.
pub(crate) fn is_integer(raw: &str) -> bool {
    let digits = raw.strip_prefix(['-', '+']).unwrap_or(raw);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// Reads a query string in its own order. A parameter that is unknown or repeated is an error.
pub(crate) fn read<T: Default>(
    query: Option<&str>,
    parameters: &[QueryParameter<T>],
) -> Result<T, ValidationErrors> {
    let mut target = T::default();
    let mut errors = ValidationErrors::default();
    let mut seen = Vec::new();
    for (name, value) in url::form_urlencoded::parse(query.unwrap_or_default().as_bytes()) {
        if seen.len() == MAX_PARAMETERS {
            let message = format!("has more than {MAX_PARAMETERS} parameters");
            errors.push(ValidationError::of_whole("too_many", message));
            break;
        }
        let known = parameters.iter().find(|parameter| parameter.name == name);
        let outcome = match known {
            _ if seen.contains(&name) => Err(Invalid::new("repeated", "must be given once")),
            Some(parameter) => (parameter.read)(&mut target, &value),
            None => {
                let names: Vec<_> = parameters.iter().map(|parameter| parameter.name).collect();
                let message = format!("unknown parameter; expected one of {}", names.join(", "));
                Err(Invalid::new("unknown_parameter", message))
            }
        };
        if let Err(Invalid { code, message, .. }) = outcome {
            errors.push(ValidationError::new(name.as_ref(), code, message));
        }
        seen.push(name);
    }
    if errors.is_empty() { Ok(target) } else { Err(errors) }
}

/// The parameters for the OpenAPI document.
pub(crate) fn describe<T>(
    parameters: impl IntoIterator<Item = QueryParameter<T>>,
) -> Vec<Parameter> {
    parameters
        .into_iter()
        .map(|QueryParameter { name, about, schema, example, .. }| {
            parameter(ParameterIn::Query, name, about, schema, example)
        })
        .collect()
}

/// Declares a type that stands for parameters in the attributes of an operation.
macro_rules! described_parameters {
    ($(#[$meta:meta])* $name:ident, $($parameter:expr),+ $(,)?) => {
        $(#[$meta])*
        pub(crate) struct $name;

        impl utoipa::IntoParams for $name {
            fn into_params(
                _: impl Fn() -> Option<utoipa::openapi::path::ParameterIn>,
            ) -> Vec<utoipa::openapi::path::Parameter> {
                vec![$($parameter),+]
            }
        }
    };
}
pub(crate) use described_parameters;

described_parameters!(
    /// The id of a product, in the path.
    ProductIdParameter,
    path("product_id", "The product's id.", json_schema::id(""), json!(17))
);

described_parameters!(
    /// The id of a token, in the path.
    TokenIdParameter,
    path("token_id", "The token's number.", json_schema::id(""), json!(3))
);

described_parameters!(
    /// The version and name of a page's file, in the path.
    AssetParameters,
    path(
        "version",
        "The version of the pages, as they name it.",
        json_schema::string(""),
        json!("5f0c2b7a9e314d68"),
    ),
    path("file", "The file's name.", json_schema::string(""), json!("shop.js")),
);

fn path(name: &str, about: &str, schema: ObjectBuilder, example: Value) -> Parameter {
    parameter(ParameterIn::Path, name, about, schema, example)
}

/// A parameter for the OpenAPI document. Those in the path are required.
pub(super) fn parameter(
    location: ParameterIn,
    name: &str,
    about: &str,
    schema: ObjectBuilder,
    example: Value,
) -> Parameter {
    let required = if location == ParameterIn::Path { Required::True } else { Required::False };
    ParameterBuilder::new()
        .name(name)
        .parameter_in(location)
        .required(required)
        .description(Some(about))
        .schema(Some(schema))
        .example(Some(example))
        .build()
}
