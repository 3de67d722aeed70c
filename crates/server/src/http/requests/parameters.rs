//! Query parameters: one definition reads them, collects all errors, and describes them for the
//! OpenAPI document.

use std::ops::RangeInclusive;

use serde_json::{Value, json};
use url::form_urlencoded;
use utoipa::openapi::{
    RefOr, Required, Schema,
    path::{Parameter, ParameterBuilder, ParameterIn},
    schema::ObjectBuilder,
};

use super::{MAX_BULK, fields::Invalid};
use crate::http::{
    errors::{ValidationError, ValidationErrors},
    json_schema,
};

/// The most query parameters that are read: more than any path takes.
const MAX_PARAMETERS: usize = MAX_BULK + 10;

type ReadParameter<T> = dyn Fn(&mut T, &ParameterValue<'_>) -> Result<(), Invalid>;

/// The value of a query parameter, as sent.
pub(crate) struct ParameterValue<'q>(&'q str);

impl<'q> ParameterValue<'q> {
    /// The decoded value.
    pub(crate) fn text(&self) -> String {
        decoded(self.0)
    }

    /// The parts between commas, each decoded: an encoded comma belongs to its part.
    pub(crate) fn parts(&self) -> impl Iterator<Item = String> {
        self.0.split(',').map(decoded)
    }
}

/// Decodes a name or value of a query string.
fn decoded(raw: &str) -> String {
    // A pair without a name, whose value is all of the text.
    let pair = format!("={raw}");
    let value = form_urlencoded::parse(pair.as_bytes()).next().map(|(_, value)| value.into_owned());
    value.unwrap_or_default()
}

/// One query parameter of a request that is read into `T`.
pub(crate) struct QueryParameter<T> {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) schema: ObjectBuilder,
    pub(crate) example: Value,
    /// How often it may be given.
    pub(crate) most: usize,
    pub(crate) read: Box<ReadParameter<T>>,
}

/// A parameter that `read` reads.
pub(crate) fn new<T>(
    name: &'static str,
    about: &'static str,
    schema: ObjectBuilder,
    read: impl Fn(&mut T, &ParameterValue<'_>) -> Result<(), Invalid> + 'static,
) -> QueryParameter<T> {
    QueryParameter { name, about, schema, example: Value::Null, most: 1, read: Box::new(read) }
}

impl<T> QueryParameter<T> {
    /// The same parameter, which may be given up to `most` times; the schema is that of one value.
    pub(crate) fn repeatable(self, most: usize) -> Self {
        Self { most, ..self }
    }

    /// The same parameter with an example.
    pub(crate) fn example(self, example: impl Into<Value>) -> Self {
        Self { example: example.into(), ..self }
    }

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
    let read = move |target: &mut T, value: &ParameterValue<'_>| match value.text().parse() {
        Ok(number) if range.contains(&number) => {
            set(target, number);
            Ok(())
        }
        _ if is_integer(&value.text()) => {
            Err(Invalid::new("out_of_range", format_args!("must be between {min} and {max}")))
        }
        _ => Err(Invalid::new("wrong_type", "must be an integer")),
    };
    new(name, about, json_schema::integer("", min as u64, max as u64), read)
}

/// `true` or `false`.
pub(crate) fn boolean<T>(
    name: &'static str,
    about: &'static str,
    set: impl Fn(&mut T, bool) + 'static,
) -> QueryParameter<T> {
    let read = move |target: &mut T, value: &ParameterValue<'_>| {
        let wrong_type = |_| Invalid::new("wrong_type", "must be true or false");
        set(target, value.text().parse().map_err(wrong_type)?);
        Ok(())
    };
    new(name, about, json_schema::boolean("", None), read)
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
    let pairs = query.unwrap_or_default().split('&').filter(|pair| !pair.is_empty());
    for (name, value) in pairs.map(|pair| pair.split_once('=').unwrap_or((pair, ""))) {
        let name = decoded(name);
        if seen.len() == MAX_PARAMETERS {
            let message = format!("has more than {MAX_PARAMETERS} parameters");
            errors.push(ValidationError::of_whole("too_many", message));
            break;
        }
        let known = parameters.iter().find(|parameter| parameter.name == name);
        let most = known.map_or(1, |parameter| parameter.most);
        let outcome = match known {
            _ if seen.iter().filter(|seen| **seen == name).count() == most => Err(Invalid::new(
                "repeated",
                match most {
                    1 => "must be given once".to_owned(),
                    most => format!("must be given at most {most} times"),
                },
            )),
            Some(parameter) => (parameter.read)(&mut target, &ParameterValue(value)),
            None => {
                let names: Vec<_> = parameters.iter().map(|parameter| parameter.name).collect();
                let message = format!("unknown parameter; expected one of {}", names.join(", "));
                Err(Invalid::new("unknown_parameter", message))
            }
        };
        if let Err(Invalid { code, message, .. }) = outcome {
            errors.push(ValidationError::new(name.as_str(), code, message));
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
        .map(|QueryParameter { name, about, schema, example, most, .. }| match most {
            1 => parameter(ParameterIn::Query, name, about, schema, example),
            most => {
                let values = json_schema::array("", schema, 0, most);
                parameter(ParameterIn::Query, name, about, values, example)
            }
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
    schema: impl Into<RefOr<Schema>>,
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
