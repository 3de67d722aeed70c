//! What is said when something goes wrong? One table from every error to its answer.
//!
//! An error travels as an extension of an empty response; the outermost layer writes the body,
//! because only there the request's id is known for certain (see [`super::observe`]).

use std::time::Duration;

use axum::{
    Json,
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use catalog::access::Forbidden;
use engine::{
    EngineError,
    store::{ErrorChain, StoreError, StoreErrorKind},
    tokens::BadToken,
    writer::WriteError,
};
use serde::Serialize;
use thiserror::Error;
use utoipa::ToSchema;

use super::{
    faults::{Faults, MAX_FIELD_CHARS, MAX_MESSAGE_CHARS, cut},
    openapi,
};

/// How long a client that was turned away for overload should wait.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// One thing that is wrong with a request. Names and messages are cut where they are long.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[schema(example = json!({"field": "price", "code": "invalid_price",
    "message": "has no currency; write it with a sign or a code, such as $19.99"}))]
pub struct Fault {
    /// The field at fault, as a path into the request; absent where the whole is at fault.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub field: Option<String>,
    /// What is wrong, for programs.
    #[schema(schema_with = openapi::choices::fault_code)]
    pub code: &'static str,
    /// What is wrong, for people.
    pub message: String,
}

impl Fault {
    pub(crate) fn new(
        field: impl Into<String>,
        code: &'static str,
        message: impl ToString,
    ) -> Self {
        let field = cut(&field.into(), MAX_FIELD_CHARS);
        Self { field: Some(field), ..Self::of_whole(code, message) }
    }

    pub(crate) fn of_whole(code: &'static str, message: impl ToString) -> Self {
        debug_assert!(openapi::errors::is_fault_code(code), "nobody explains {code}");
        Self { field: None, code, message: cut(&message.to_string(), MAX_MESSAGE_CHARS) }
    }
}

/// Everything that can be wrong, as a client is told it.
#[derive(Clone, Debug, Error)]
pub enum ApiError {
    /// The body is not JSON.
    #[error("the body is not valid JSON: {0}")]
    MalformedJson(String),
    /// No token.
    #[error("send a token in the header Authorization: Bearer <token>")]
    MissingToken,
    /// A token that is not, or no longer, good.
    #[error("the token is not valid")]
    InvalidToken,
    /// A token whose time is over.
    #[error("the token has expired")]
    ExpiredToken,
    /// A role that is not enough.
    #[error(transparent)]
    InsufficientRole(#[from] Forbidden),
    /// A web page that nobody lets in.
    #[error("pages of this origin may not call the service; cors.origins lists those that may")]
    OriginNotAllowed,
    /// A version of the Model Context Protocol that nobody here speaks.
    #[error(
        "this version of the Model Context Protocol is not spoken here; initialize names one that is"
    )]
    UnsupportedProtocolVersion,
    /// No such thing for this caller.
    #[error("there is no {0} here")]
    NotFound(&'static str),
    /// Known path, wrong method.
    #[error("this path does not take that method; the Allow header lists those it takes")]
    MethodNotAllowed,
    /// The client took too long to send.
    #[error("the request was not received in time")]
    RequestTimeout,
    /// An idempotency key that stands for another request.
    #[error("this Idempotency-Key was used for another request not long ago")]
    KeyTaken,
    /// The product is no longer the version in `If-Match`.
    #[error("the product has changed; read it again and repeat the change")]
    PreconditionFailed,
    /// The body is over the limit.
    #[error("the body is larger than {limit} bytes")]
    BodyTooLarge {
        /// The limit in force.
        limit: usize,
    },
    /// The address is over the limit.
    #[error("the address is longer than {limit} bytes")]
    UriTooLong {
        /// The limit in force.
        limit: usize,
    },
    /// The headers are over the limit.
    #[error("the headers are larger than {limit} bytes")]
    HeadersTooLarge {
        /// The limit in force.
        limit: usize,
    },
    /// A body of another kind than JSON.
    #[error("send the body with Content-Type: application/json")]
    UnsupportedMediaType,
    /// Well-formed, but it breaks rules.
    #[error("{}", validation_detail(.0))]
    Validation(Faults),
    /// Too many requests by this token.
    #[error("too many requests with this token")]
    RateLimited {
        /// When the next one is welcome.
        retry_after: Duration,
    },
    /// Not now; nothing was done.
    #[error("{0}; try again later")]
    Unavailable(String),
    /// The store was lost while it made the write durable.
    #[error(
        "the store was lost while it confirmed the write, which may or may not have been written; \
         try again later, and repeat a create only with its Idempotency-Key"
    )]
    Unconfirmed,
    /// It was begun and not finished in time.
    #[error(
        "the request took too long; a write may still have happened, so repeat a create only \
         with the same Idempotency-Key"
    )]
    TookTooLong,
    /// Our fault; what exactly is for the log alone.
    #[error("an internal error occurred; the log has it under the request id")]
    Internal,
}

fn validation_detail(faults: &Faults) -> String {
    match &**faults {
        [Fault { field: Some(field), message, .. }] => format!("{field}: {message}"),
        [Fault { field: None, message, .. }] => message.clone(),
        _ => format!("{} things are wrong with the request", faults.count()),
    }
}

impl ApiError {
    /// One fault of the request.
    pub(crate) fn fault(fault: Fault) -> Self {
        Self::Validation(fault.into())
    }

    /// The table: status, code and title of every error. A new error must choose to compile.
    pub(crate) fn table(&self) -> (StatusCode, &'static str, &'static str) {
        use StatusCode as S;
        match self {
            Self::MalformedJson(_) => (S::BAD_REQUEST, "malformed_json", "Malformed JSON"),
            Self::MissingToken => (S::UNAUTHORIZED, "missing_token", "Missing token"),
            Self::InvalidToken => (S::UNAUTHORIZED, "invalid_token", "Invalid token"),
            Self::ExpiredToken => (S::UNAUTHORIZED, "expired_token", "Expired token"),
            Self::InsufficientRole(_) => (S::FORBIDDEN, "insufficient_role", "Insufficient role"),
            Self::OriginNotAllowed => (S::FORBIDDEN, "origin_not_allowed", "Origin not allowed"),
            Self::UnsupportedProtocolVersion => {
                (S::BAD_REQUEST, "unsupported_protocol_version", "Unsupported protocol version")
            }
            Self::NotFound(_) => (S::NOT_FOUND, "not_found", "Not found"),
            Self::MethodNotAllowed => {
                (S::METHOD_NOT_ALLOWED, "method_not_allowed", "Method not allowed")
            }
            Self::RequestTimeout => {
                (S::REQUEST_TIMEOUT, "request_timeout", "Request not received in time")
            }
            Self::KeyTaken => (S::CONFLICT, "conflict", "Conflict"),
            Self::PreconditionFailed => {
                (S::PRECONDITION_FAILED, "precondition_failed", "Precondition failed")
            }
            Self::BodyTooLarge { .. } => (S::PAYLOAD_TOO_LARGE, "body_too_large", "Body too large"),
            Self::UriTooLong { .. } => (S::URI_TOO_LONG, "uri_too_long", "Address too long"),
            Self::HeadersTooLarge { .. } => {
                (S::REQUEST_HEADER_FIELDS_TOO_LARGE, "headers_too_large", "Headers too large")
            }
            Self::UnsupportedMediaType => {
                (S::UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type", "Unsupported media type")
            }
            Self::Validation(_) => {
                (S::UNPROCESSABLE_ENTITY, "validation_failed", "Validation failed")
            }
            Self::RateLimited { .. } => (S::TOO_MANY_REQUESTS, "rate_limited", "Too many requests"),
            Self::Unavailable(_) | Self::Unconfirmed | Self::TookTooLong => {
                (S::SERVICE_UNAVAILABLE, "unavailable", "Unavailable")
            }
            Self::Internal => (S::INTERNAL_SERVER_ERROR, "internal", "Internal error"),
        }
    }

    fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::RateLimited { retry_after } => Some(*retry_after),
            Self::Unavailable(_) | Self::Unconfirmed | Self::TookTooLong => Some(RETRY_AFTER),
            _ => None,
        }
    }

    /// The body, once the request's id is known.
    pub(crate) fn problem(&self, request_id: &str) -> Problem {
        let (status, code, title) = self.table();
        let faults = match self {
            Self::Validation(faults) => Some(faults),
            _ => None,
        };
        Problem {
            kind: format!("/docs#{code}"),
            title,
            status: status.as_u16(),
            detail: self.to_string(),
            code,
            request_id: request_id.to_owned(),
            errors: faults.map(|faults| faults.to_vec()),
            errors_omitted: faults.map(Faults::omitted).filter(|omitted| *omitted > 0),
        }
    }

    /// The answer, once the request's id is known.
    pub(crate) fn into_problem(self, request_id: &str) -> Response {
        let status = self.table().0;
        let problem = self.problem(request_id);
        let mut response = (status, Json(problem)).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, PROBLEM_JSON);
        if status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if let Some(wait) = self.retry_after() {
            // Whole seconds, rounded up: coming back early would be refused again.
            let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
            headers.insert(header::RETRY_AFTER, seconds.max(1).into());
        }
        response
    }
}

/// The media type of every error body.
pub(crate) const PROBLEM_JSON: HeaderValue = HeaderValue::from_static("application/problem+json");

/// The body of every error (RFC 9457).
#[derive(Debug, Serialize, ToSchema)]
pub struct Problem {
    /// Where the kind of problem is described.
    #[serde(rename = "type")]
    #[schema(format = "uri-reference")]
    kind: String,
    /// The kind of problem, for people.
    title: &'static str,
    /// The HTTP status.
    #[schema(minimum = 400, maximum = 599)]
    status: u16,
    /// What went wrong this time.
    detail: String,
    /// The kind of problem, for programs.
    #[schema(schema_with = openapi::choices::problem_code)]
    code: &'static str,
    /// The request's id, also in the header X-Request-Id.
    request_id: String,
    /// The faults of the request, where fields are at fault: all of them, up to 100.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, max_items = 100)]
    errors: Option<Vec<Fault>>,
    /// How many faults there are beside those in `errors`, where there are more.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, minimum = 1)]
    errors_omitted: Option<usize>,
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let mut response = self.table().0.into_response();
        response.extensions_mut().insert(self);
        response
    }
}

impl From<BadToken> for ApiError {
    fn from(bad: BadToken) -> Self {
        match bad {
            BadToken::Invalid => Self::InvalidToken,
            BadToken::Expired => Self::ExpiredToken,
        }
    }
}

/// What the client is told of the store's trouble; the log is told elsewhere.
fn outward(error: &StoreError) -> ApiError {
    if error.kind() == StoreErrorKind::CommitUnknown {
        return ApiError::Unconfirmed;
    }
    if error.kind() == StoreErrorKind::SearchTimeout {
        return ApiError::Unavailable(error.to_string());
    }
    match error.kind().is_transient() {
        true => ApiError::Unavailable(
            "the store cannot be used right now, nothing was written".to_owned(),
        ),
        false => ApiError::Internal,
    }
}

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        tracing::error!(error = %ErrorChain(&error), "the store could not be read");
        outward(&error)
    }
}

impl From<EngineError> for ApiError {
    fn from(error: EngineError) -> Self {
        match error {
            EngineError::Overloaded(overloaded) => Self::Unavailable(overloaded.to_string()),
            EngineError::Write(WriteError::QueueFull | WriteError::Down) => {
                Self::Unavailable(error.to_string())
            }
            // The writer has logged it, once for the whole group.
            EngineError::Write(WriteError::Store(error)) => outward(&error),
            EngineError::Read(error) => error.into(),
            EngineError::Loading => Self::Unavailable(error.to_string()),
        }
    }
}
