//! Builds the successful responses of the OpenAPI document from the types of their bodies.

use serde_json::{Value, json};
use utoipa::{
    ToSchema,
    openapi::{
        RefOr, ResponseBuilder,
        content::{Content, ContentBuilder},
        link::Link,
        schema::{ArrayBuilder, ObjectBuilder, Schema, Type},
    },
};

use crate::http::{
    json_schema::reference,
    response_headers::{
        CATALOG_AGE, CATALOG_SEQ, RATE_LIMIT, RATE_LIMIT_POLICY, REQUEST_ID, with_headers,
    },
};

pub(crate) const JSON: &str = "application/json";

/// Declares a type that stands for responses in the attributes of an operation.
macro_rules! described_responses {
    ($name:ident, $($status:literal => $response:expr),+ $(,)?) => {
        pub(crate) struct $name;

        impl utoipa::IntoResponses for $name {
            fn responses() -> std::collections::BTreeMap<
                String,
                utoipa::openapi::RefOr<utoipa::openapi::Response>,
            > {
                std::collections::BTreeMap::from([
                    $(($status.to_owned(), utoipa::openapi::RefOr::T($response.build()))),+
                ])
            }
        }
    };
}
pub(crate) use described_responses;

/// A response of the API with a JSON body.
pub(crate) fn api<T: ToSchema>(
    description: &str,
    example: Value,
    headers: &[&str],
) -> ResponseBuilder {
    api_headers(open_json::<T>(description, example, headers))
}

/// A response of the API with a JSON array.
pub(crate) fn api_list<T: ToSchema>(
    description: &str,
    example: Value,
    headers: &[&str],
) -> ResponseBuilder {
    let schema = ArrayBuilder::new().items(reference(&T::name())).into();
    api_headers(open(description, JSON, content(schema, json!([example])), headers))
}

/// A response of the API without a body.
pub(crate) fn api_empty(description: &str) -> ResponseBuilder {
    let response = with_headers(ResponseBuilder::new().description(description), &[REQUEST_ID]);
    api_headers(response)
}

/// A response outside the API, without rate limits, with a JSON body.
pub(crate) fn open_json<T: ToSchema>(
    description: &str,
    example: Value,
    headers: &[&str],
) -> ResponseBuilder {
    open(description, JSON, content(reference(&T::name()), example), headers)
}

/// A response outside the API, without rate limits.
pub(crate) fn open(
    description: &str,
    media_type: &str,
    content: Content,
    headers: &[&str],
) -> ResponseBuilder {
    let response = ResponseBuilder::new().description(description).content(media_type, content);
    with_headers(with_headers(response, headers), &[REQUEST_ID])
}

pub(crate) fn content(schema: RefOr<Schema>, example: Value) -> Content {
    ContentBuilder::new().schema(Some(schema)).example(Some(example)).build()
}

/// A body that is text.
pub(crate) fn text(example: &str) -> Content {
    content(ObjectBuilder::new().schema_type(Type::String).into(), json!(example))
}

/// The 304 of a request with `If-None-Match`.
pub(crate) fn not_modified(headers: &[&str]) -> ResponseBuilder {
    let response =
        ResponseBuilder::new().description("The copy that `If-None-Match` names is still good.");
    with_headers(with_headers(response, &[REQUEST_ID]), headers)
}

fn api_headers(response: ResponseBuilder) -> ResponseBuilder {
    with_headers(response, &[CATALOG_AGE, CATALOG_SEQ, RATE_LIMIT, RATE_LIMIT_POLICY])
}

/// Adds links to operations that take the id in this response.
pub(crate) fn with_links(
    response: ResponseBuilder,
    operations: &[&str],
    parameter: &str,
) -> ResponseBuilder {
    operations.iter().fold(response, |response, id| {
        response.link(*id, parameter_link(id, parameter, "$response.body#/id"))
    })
}

/// A link to an operation that takes a value of this response in its path.
pub(crate) fn parameter_link(operation: &str, parameter: &str, value: &str) -> Link {
    Link::builder().operation_id(operation).parameter(parameter, value).build()
}

/// A link to an operation that takes a value of this response in its body.
pub(crate) fn body_link(operation: &str, body: Value) -> Link {
    Link::builder().operation_id(operation).request_body(Some(body)).build()
}
