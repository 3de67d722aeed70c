//! The table from every error to its response (RFC 9457).
//!
//! A handler's error travels as an extension of an empty response. The outermost layer writes the
//! body, because it knows the request's id (see [`crate::http::request_log`]).

use std::time::Duration;

use axum::{
    Json,
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use catalog::product::{ProductId, access::Forbidden, change::Seq};
use engine::{
    EngineError,
    tokens::{BadToken, TooManyTokens},
    writer::WriteError,
};
use serde::Serialize;
use store::{ErrorChain, LimitExceeded, StoreError, StoreErrorKind};
use thiserror::Error;
use utoipa::{ToSchema, openapi::Ref};

use super::validation::{ValidationError, ValidationErrors};
use crate::http::json_schema::described_reference;

/// `Retry-After` of responses that reject a request for overload.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// Every error that a client can receive. Its `Display` is the `detail` of the response.
#[derive(Clone, Debug, Error)]
pub enum ApiError {
    /// The `Host` header is missing, repeated or malformed.
    #[error("send one Host header with the name of the server")]
    InvalidHost,
    /// The body is not valid JSON.
    #[error("the body is not valid JSON: {0}")]
    MalformedJson(String),
    /// The request has no token.
    #[error("send a token in the header Authorization: Bearer <token>")]
    MissingToken,
    /// The token is unknown, malformed or revoked.
    #[error("the token is not valid")]
    InvalidToken,
    /// The token has expired.
    #[error("the token has expired")]
    ExpiredToken,
    /// The token's role does not allow the operation.
    #[error(transparent)]
    InsufficientRole(#[from] Forbidden),
    /// The `Origin` header names a page that is not in `cors.origins`.
    #[error("pages of this origin may not call the service; cors.origins lists those that may")]
    OriginNotAllowed,
    /// The requested version of the Model Context Protocol is not supported.
    #[error(
        "this version of the Model Context Protocol is not spoken here; initialize names one that is"
    )]
    UnsupportedProtocolVersion,
    /// The resource does not exist for this caller.
    #[error("there is no {0} here")]
    NotFound(&'static str),
    /// The path exists and does not accept the method.
    #[error("this path does not take that method; the Allow header lists those it takes")]
    MethodNotAllowed,
    /// The body did not arrive in time.
    #[error("the request was not received in time")]
    RequestTimeout,
    /// The idempotency key was used for a different request.
    #[error("this Idempotency-Key was used for another request not long ago")]
    IdempotencyKeyReused,
    /// Another product of the shop has the key.
    #[error("product {0} has this key")]
    KeyTaken(ProductId),
    /// The shop has as many tokens as it may have.
    #[error(transparent)]
    TooManyTokens(#[from] TooManyTokens),
    /// Changes after the requested one are no longer retained, or the shop has no such change.
    #[error(
        "the changes after this one are not known here; read the whole catalog again, and then the \
         changes after {last}"
    )]
    ChangesExpired {
        /// The shop's last change.
        last: Seq,
    },
    /// The shop would exceed a limit.
    #[error(transparent)]
    LimitExceeded(#[from] LimitExceeded),
    /// The product's version is not one of those in `If-Match`.
    #[error("the product has changed; read it again and repeat the change")]
    PreconditionFailed,
    /// The body exceeds the limit.
    #[error("the body is larger than {limit} bytes")]
    BodyTooLarge {
        /// The configured limit in bytes.
        limit: usize,
    },
    /// The request target exceeds the limit.
    #[error("the address is longer than {limit} bytes")]
    UriTooLong {
        /// The configured limit in bytes.
        limit: usize,
    },
    /// The headers together exceed the limit.
    #[error("the headers are larger than {limit} bytes")]
    HeadersTooLarge {
        /// The configured limit in bytes.
        limit: usize,
    },
    /// The body is not declared as JSON.
    #[error("send the body with Content-Type: application/json")]
    UnsupportedMediaType,
    /// The request is well-formed and breaks validation rules.
    #[error("{}", validation_detail(.0))]
    Validation(ValidationErrors),
    /// The token exceeded its rate limit.
    #[error("too many requests with this token")]
    RateLimited {
        /// The time until the next request is accepted.
        retry_after: Duration,
    },
    /// The service cannot take the request now. Nothing was written.
    #[error("{0}; try again later")]
    Unavailable(String),
    /// The connection to the store was lost during the commit; its outcome is unknown.
    #[error(
        "the store was lost while it confirmed the write, which may or may not have been written; \
         try again later, and repeat a create only with its Idempotency-Key"
    )]
    Unconfirmed,
    /// The request did not finish in time; a write may have been committed.
    #[error(
        "the request took too long; a write may still have happened, so repeat a create only \
         with the same Idempotency-Key"
    )]
    TookTooLong,
    /// An internal error. The details are only logged.
    #[error("an internal error occurred; the log has it under the request id")]
    Internal,
}

fn validation_detail(errors: &ValidationErrors) -> String {
    match &**errors {
        [ValidationError { field: Some(field), message, .. }] => format!("{field}: {message}"),
        [ValidationError { field: None, message, .. }] => message.clone(),
        _ => format!("{} things are wrong with the request", errors.count()),
    }
}

impl ApiError {
    /// A single validation error.
    pub(crate) fn invalid(error: ValidationError) -> Self {
        Self::Validation(error.into())
    }

    /// Status, code and title of every error. The match is exhaustive: a new error must choose.
    pub(crate) fn table(&self) -> (StatusCode, &'static str, &'static str) {
        use StatusCode as S;
        match self {
            Self::InvalidHost => (S::BAD_REQUEST, "invalid_host", "Invalid Host header"),
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
            Self::IdempotencyKeyReused | Self::KeyTaken(_) => (S::CONFLICT, "conflict", "Conflict"),
            Self::TooManyTokens(_) => (S::CONFLICT, "too_many_tokens", "Too many tokens"),
            Self::ChangesExpired { .. } => (S::GONE, "changes_expired", "Changes expired"),
            Self::LimitExceeded(LimitExceeded::AttributeNames) => {
                (S::CONFLICT, "attribute_names_exhausted", "Attribute names exhausted")
            }
            Self::LimitExceeded(LimitExceeded::Products { .. } | LimitExceeded::Bytes { .. }) => {
                (S::CONFLICT, "quota_exhausted", "Quota exhausted")
            }
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

    /// The response body.
    pub(crate) fn problem(&self, request_id: &str) -> Problem {
        let (status, code, title) = self.table();
        let errors = match self {
            Self::Validation(errors) => Some(errors),
            _ => None,
        };
        Problem {
            kind: format!("/docs#{code}"),
            title,
            status: status.as_u16(),
            detail: self.to_string(),
            code,
            request_id: request_id.to_owned(),
            errors: errors.map(|errors| errors.to_vec()),
            errors_omitted: errors.map(ValidationErrors::omitted).filter(|omitted| *omitted > 0),
            last: match self {
                Self::ChangesExpired { last } => Some(last.0),
                _ => None,
            },
        }
    }

    /// The whole response.
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
            // Whole seconds, rounded up: an earlier retry would be rejected again.
            let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
            headers.insert(header::RETRY_AFTER, seconds.max(1).into());
        }
        response
    }
}

/// The media type of every error body.
pub(crate) const PROBLEM_JSON: HeaderValue = HeaderValue::from_static("application/problem+json");

/// The schema of the field `code`.
fn code_field() -> Ref {
    described_reference("ProblemCode", "The kind of problem, for programs.")
}

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
    #[schema(schema_with = code_field)]
    code: &'static str,
    /// The request's id, also in the header X-Request-Id.
    request_id: String,
    /// The faults of the request, where fields are at fault: all of them, up to 100.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, max_items = 100)]
    errors: Option<Vec<ValidationError>>,
    /// How many faults there are beside those in `errors`, where there are more.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, minimum = 1)]
    errors_omitted: Option<usize>,
    /// Where changes have expired: the last change of the shop.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, minimum = 0)]
    last: Option<u64>,
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

/// Maps a store error to the error that the client receives. Does not log.
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
        tracing::error!(error = %ErrorChain(&error), "store read failed");
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
            // The writer has logged it once for the whole group of writes.
            EngineError::Write(WriteError::Store(error)) => outward(&error),
            EngineError::Read(error) => error.into(),
            EngineError::Loading => Self::Unavailable(error.to_string()),
        }
    }
}
