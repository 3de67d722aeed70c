//! What may stand in an address or a header? The parameters that operations share.

use catalog::query::{DEFAULT_LIMIT, MAX_LIMIT};
use serde_json::{Value, json};
use utoipa::{
    IntoParams,
    openapi::{
        Required,
        path::{Parameter, ParameterBuilder, ParameterIn},
        schema::ObjectBuilder,
    },
};

use super::vocabulary::{boolean, comma_separated, formatted, header_text, id, integer, string};
use crate::http::requests::{DEFAULT_PAGE, MAX_BULK, MAX_KEY_BYTES, MAX_PAGE};

/// A set of parameters with the name of its type.
macro_rules! parameters {
    ($name:ident, $($parameter:expr),+ $(,)?) => {
        pub(crate) struct $name;

        impl IntoParams for $name {
            fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
                vec![$($parameter),+]
            }
        }
    };
}

parameters!(ProductId, path("product_id", "The product's id.", json!(17)));

parameters!(TokenId, path("token_id", "The token's number.", json!(3)));

parameters!(
    AssetName,
    parameter(
        ParameterIn::Path,
        "version",
        "The version of the pages, as they name it.",
        string(""),
        json!("5f0c2b7a9e314d68"),
    ),
    parameter(ParameterIn::Path, "file", "The file's name.", string(""), json!("shop.js")),
);

parameters!(
    ListParameters,
    query(
        "ids",
        "Comma-separated product ids: those products in that order, each once, unknown ones left \
         out. At most 100.",
        string("").pattern(Some(comma_separated(MAX_BULK))),
        json!("17,18"),
    ),
    query(
        "limit",
        "How many products to return at most; with `ids`, all of them unless this is given.",
        integer("", 1, MAX_PAGE).default(Some(DEFAULT_PAGE.into())),
        json!(20),
    ),
    query(
        "offset",
        "How many products to skip.",
        integer("", 0, i64::MAX as usize).default(Some(0.into())),
        json!(0),
    ),
);

parameters!(
    SimilarParameters,
    query(
        "limit",
        "How many products to return at most.",
        integer("", 1, MAX_LIMIT).default(Some(DEFAULT_LIMIT.into())),
        json!(4),
    ),
    query(
        "include_hidden",
        "Whether hidden products are looked at too; needs the role VIEWER.",
        boolean("", false),
        json!(false),
    ),
);

parameters!(
    IfMatch,
    header(
        "If-Match",
        "The product's `ETag` as it was read: if it has changed since, nothing is written and the \
         answer is 412. `*` takes any version.",
        formatted("etag", ""),
        json!("\"42\""),
    )
);

parameters!(
    IfNoneMatch,
    header(
        "If-None-Match",
        "The `ETag` of a copy: if it is still good, the answer is 304 without a body.",
        formatted("etag", ""),
        json!("\"42\""),
    )
);

parameters!(
    IdempotencyKey,
    header(
        "Idempotency-Key",
        "Your own name for this request, which makes it safe to repeat: the same key and body give \
         the first answer again for 24 hours, the same key with another body gives 409.",
        string("").min_length(Some(1)).max_length(Some(MAX_KEY_BYTES)).pattern(Some(header_text())),
        json!("order-import-2026-01-02/17"),
    )
);

fn path(name: &str, description: &str, example: Value) -> Parameter {
    parameter(ParameterIn::Path, name, description, id(""), example)
}

fn query(name: &str, description: &str, schema: ObjectBuilder, example: Value) -> Parameter {
    parameter(ParameterIn::Query, name, description, schema, example)
}

fn header(name: &str, description: &str, schema: ObjectBuilder, example: Value) -> Parameter {
    parameter(ParameterIn::Header, name, description, schema, example)
}

fn parameter(
    place: ParameterIn,
    name: &str,
    description: &str,
    schema: ObjectBuilder,
    example: Value,
) -> Parameter {
    let required = if place == ParameterIn::Path { Required::True } else { Required::False };
    ParameterBuilder::new()
        .name(name)
        .parameter_in(place)
        .required(required)
        .description(Some(description))
        .schema(Some(schema))
        .example(Some(example))
        .build()
}
