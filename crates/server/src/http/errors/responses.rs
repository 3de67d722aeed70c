//! The error responses of the OpenAPI document: one per status, in groups that operations name.

use std::collections::BTreeMap;

use axum::http::StatusCode;
use utoipa::{
    IntoResponses,
    openapi::{
        Ref, RefOr, Response, ResponseBuilder,
        content::ContentBuilder,
        example::{Example, ExampleBuilder},
    },
};

use super::{
    problem::ApiError,
    reference::{every_error, problem_example},
};
use crate::http::{
    json_schema::reference,
    response_headers::{
        ALLOW, RATE_LIMIT, RATE_LIMIT_POLICY, REQUEST_ID, RETRY_AFTER, WWW_AUTHENTICATE,
        with_headers,
    },
};

/// Declares types that stand for groups of statuses in the attributes of operations.
macro_rules! problems {
    ($($(#[$doc:meta])* $name:ident: $($status:ident),+;)+) => {$(
        $(#[$doc])*
        pub(crate) struct $name;

        impl IntoResponses for $name {
            fn responses() -> BTreeMap<String, RefOr<Response>> {
                [$(StatusCode::$status),+].into_iter().map(response_reference).collect()
            }
        }
    )+};
}

problems! {
    /// Errors of any path.
    AnyProblems: INTERNAL_SERVER_ERROR, SERVICE_UNAVAILABLE;
    /// Errors of any path of the API.
    ApiProblems: UNAUTHORIZED, URI_TOO_LONG, TOO_MANY_REQUESTS, REQUEST_HEADER_FIELDS_TOO_LARGE,
        INTERNAL_SERVER_ERROR, SERVICE_UNAVAILABLE;
    /// Errors of operations that need a role.
    RoleProblems: FORBIDDEN;
    /// Errors of operations that need a token only where so configured.
    TokenProblems: UNAUTHORIZED, FORBIDDEN;
    /// Errors of operations with a request body.
    BodyProblems: BAD_REQUEST, REQUEST_TIMEOUT, PAYLOAD_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE,
        UNPROCESSABLE_ENTITY;
    /// Errors of operations with query parameters.
    ParameterProblems: UNPROCESSABLE_ENTITY;
    /// Errors of operations with an id in the path.
    IdProblems: NOT_FOUND, UNPROCESSABLE_ENTITY;
    /// Errors of operations on something that may not exist.
    MissingProblems: NOT_FOUND;
    /// Errors of operations with `If-Match`.
    VersionProblems: PRECONDITION_FAILED;
    /// Errors of operations with an `Idempotency-Key` or the key of a product.
    KeyProblems: CONFLICT;
    /// Errors of operations that create what there can be a limited number of.
    CountProblems: CONFLICT;
    /// Errors of operations on what is kept for a limited time.
    ExpiryProblems: GONE;
}

fn response_reference(status: StatusCode) -> (String, RefOr<Response>) {
    (status.as_str().to_owned(), RefOr::Ref(Ref::from_response_name(name(status))))
}

/// The name of a status under `components`, such as `NotFound`.
fn name(status: StatusCode) -> String {
    status.canonical_reason().unwrap_or_default().replace(' ', "")
}

/// One response for each status, with an example of every error that has it.
pub(crate) fn all() -> Vec<(String, Response)> {
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
        .schema(Some(reference("Problem")))
        .examples_from_iter(examples)
        .build();
    let mut description = titles.clone();
    description.dedup();
    let response = ResponseBuilder::new()
        .description(format!("{}.", description.join(", ")))
        .content("application/problem+json", content);
    with_headers(response, &headers(status)).build()
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
