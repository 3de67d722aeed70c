//! Which errors can an operation give? One response per status, and groups of them by what a
//! request goes through.

use std::collections::BTreeMap;

use axum::http::StatusCode;
use serde_json::{Value, json};
use utoipa::{
    IntoResponses,
    openapi::{
        Ref, RefOr, Response, ResponseBuilder,
        content::ContentBuilder,
        example::{Example, ExampleBuilder},
    },
};

use super::{
    errors::every_error,
    headers::{
        ALLOW, RATE_LIMIT, RATE_LIMIT_POLICY, REQUEST_ID, RETRY_AFTER, WWW_AUTHENTICATE, carrying,
    },
    vocabulary::schema_named,
};
use crate::http::problem::ApiError;

/// A group of statuses with the name of its type.
macro_rules! problems {
    ($(#[$doc:meta])* $name:ident: $($status:ident),+) => {
        $(#[$doc])*
        pub(crate) struct $name;

        impl IntoResponses for $name {
            fn responses() -> BTreeMap<String, RefOr<Response>> {
                [$(StatusCode::$status),+].into_iter().map(reference).collect()
            }
        }
    };
}

problems! {
    /// What any address may answer.
    AnyProblems: INTERNAL_SERVER_ERROR, SERVICE_UNAVAILABLE
}
problems! {
    /// What any address of the API may answer.
    ApiProblems: UNAUTHORIZED, URI_TOO_LONG, TOO_MANY_REQUESTS, REQUEST_HEADER_FIELDS_TOO_LARGE,
        INTERNAL_SERVER_ERROR, SERVICE_UNAVAILABLE
}
problems! {
    /// What may come of asking for more than the token's role allows.
    RoleProblems: FORBIDDEN
}
problems! {
    /// What may be wrong with a token that is only asked for where so configured.
    TokenProblems: UNAUTHORIZED, FORBIDDEN
}
problems! {
    /// What may be wrong with a body.
    BodyProblems: BAD_REQUEST, REQUEST_TIMEOUT, PAYLOAD_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE,
        UNPROCESSABLE_ENTITY
}
problems! {
    /// What may be wrong with parameters.
    ParameterProblems: UNPROCESSABLE_ENTITY
}
problems! {
    /// What may be wrong with an id in the address.
    IdProblems: NOT_FOUND, UNPROCESSABLE_ENTITY
}
problems! {
    /// What may come of asking for something that is not there.
    MissingProblems: NOT_FOUND
}
problems! {
    /// What may come of `If-Match`.
    VersionProblems: PRECONDITION_FAILED
}
problems! {
    /// What may come of `Idempotency-Key`.
    KeyProblems: CONFLICT
}

fn reference(status: StatusCode) -> (String, RefOr<Response>) {
    (status.as_str().to_owned(), RefOr::Ref(Ref::from_response_name(name(status))))
}

/// The status as components are named: `NotFound`.
fn name(status: StatusCode) -> String {
    status.canonical_reason().unwrap_or_default().replace(' ', "")
}

/// One response for each status that an error has, with an example of each such error.
pub(super) fn all() -> Vec<(String, Response)> {
    let mut by_status: BTreeMap<StatusCode, Vec<ApiError>> = BTreeMap::new();
    for error in every_error() {
        by_status.entry(error.table().0).or_default().push(error);
    }
    by_status
        .into_iter()
        .map(|(status, errors)| (name(status), response(status, &errors)))
        .collect()
}

fn response(status: StatusCode, errors: &[ApiError]) -> Response {
    let titles: Vec<&str> = errors.iter().map(|error| error.table().2).collect();
    let examples = errors.iter().enumerate().map(|(nth, error)| {
        let (_, code, title) = error.table();
        let key = if nth > 0 && titles[..nth].contains(&title) {
            format!("{code}_{nth}")
        } else {
            code.to_owned()
        };
        (key, example(error, title))
    });
    let content = ContentBuilder::new()
        .schema(Some(schema_named("Problem")))
        .examples_from_iter(examples)
        .build();
    let mut description = titles.clone();
    description.dedup();
    let response = ResponseBuilder::new()
        .description(format!("{}.", description.join(", ")))
        .content("application/problem+json", content);
    carrying(response, &headers(status)).build()
}

fn headers(status: StatusCode) -> Vec<&'static str> {
    let mut names = vec![REQUEST_ID];
    match status {
        StatusCode::UNAUTHORIZED => names.push(WWW_AUTHENTICATE),
        StatusCode::METHOD_NOT_ALLOWED => names.push(ALLOW),
        StatusCode::TOO_MANY_REQUESTS => {
            names.extend([RETRY_AFTER, RATE_LIMIT, RATE_LIMIT_POLICY]);
        }
        StatusCode::SERVICE_UNAVAILABLE => names.push(RETRY_AFTER),
        _ => {}
    }
    names
}

fn example(error: &ApiError, title: &str) -> Example {
    ExampleBuilder::new().summary(title).value(Some(problem_example(error))).build()
}

/// An error's body, as it is answered.
pub(crate) fn problem_example(error: &ApiError) -> Value {
    json!(error.problem("5f0c2b7a9e314d68-2a"))
}
