//! An example and an explanation of every error, for the OpenAPI document and the page `/docs`.

use std::time::Duration;

use catalog::product::{
    ProductId,
    access::{Forbidden, Role},
    change::Seq,
};
use engine::tokens::TooManyTokens;
use serde_json::{Value, json};
use store::LimitExceeded;

use super::{
    problem::ApiError,
    validation::{ValidationError, ValidationErrors},
};
use crate::http::json_schema::{named_schema, one_of};

/// An example of every error.
pub(crate) fn every_error() -> Vec<ApiError> {
    vec![
        ApiError::InvalidHost,
        ApiError::MalformedJson("EOF while parsing a string at line 1 column 18".to_owned()),
        ApiError::MissingToken,
        ApiError::InvalidToken,
        ApiError::ExpiredToken,
        ApiError::InsufficientRole(Forbidden { needed: Role::Editor, has: Role::Viewer }),
        ApiError::OriginNotAllowed,
        ApiError::UnsupportedProtocolVersion,
        ApiError::NotFound("product"),
        ApiError::MethodNotAllowed,
        ApiError::RequestTimeout,
        ApiError::IdempotencyKeyReused,
        ApiError::KeyTaken(example_id()),
        ApiError::TooManyTokens(TooManyTokens),
        ApiError::ChangesExpired { last: Seq(12) },
        ApiError::LimitExceeded(LimitExceeded::AttributeNames),
        ApiError::LimitExceeded(LimitExceeded::Products { limit: 100_000 }),
        ApiError::LimitExceeded(LimitExceeded::Bytes { limit: 1 << 30 }),
        ApiError::PreconditionFailed,
        ApiError::BodyTooLarge { limit: 4 << 20 },
        ApiError::UriTooLong { limit: 8 << 10 },
        ApiError::UnsupportedMediaType,
        ApiError::Validation(two_errors()),
        ApiError::RateLimited { retry_after: Duration::from_secs(1) },
        ApiError::HeadersTooLarge { limit: 16 << 10 },
        ApiError::Internal,
        ApiError::Unavailable("too many requests are being worked on".to_owned()),
        ApiError::Unconfirmed,
        ApiError::TookTooLong,
    ]
}

fn example_id() -> ProductId {
    ProductId::new(17).unwrap_or_else(|| unreachable!("17 is an id"))
}

fn two_errors() -> ValidationErrors {
    let title = ValidationError::new("title", "required", "is required");
    let mut errors = ValidationErrors::from(title);
    let message = "must not be null; leave the field out instead";
    errors.push(ValidationError::new("price", "wrong_type", message));
    errors
}

/// The cause of an error and what the client can do about it. One arm per error, which makes the
/// function long and the list complete.
pub(crate) fn advice(error: &ApiError) -> &'static str {
    match error {
        ApiError::InvalidHost => {
            "The request has no `Host` header, more than one, or one that is not the name of a host. \
             HTTP libraries send it by themselves: remove the one that you set, or correct the proxy \
             between."
        }
        ApiError::MalformedJson(_) => {
            "The body is not JSON: truncated, not UTF-8, or an object names a field twice. The \
             detail says where. Correct the body; sending it again as it is will fail again."
        }
        ApiError::MissingToken => {
            "The request has no token. Send one in the header `Authorization: Bearer <token>`."
        }
        ApiError::InvalidToken => {
            "The token is not one of this service's, or it was revoked. Ask an ADMIN of the shop \
             for another."
        }
        ApiError::ExpiredToken => {
            "The token's time is over. Ask an ADMIN of the shop, or your identity provider, for \
             a new one."
        }
        ApiError::InsufficientRole(_) => {
            "The token is good but its role is not enough. The detail names the role that is \
             needed; each role includes the ones before: SHOPPER, VIEWER, EDITOR, ADMIN."
        }
        ApiError::OriginNotAllowed => {
            "A web page of another origin has called `/mcp`. Where that is wanted, add the page's \
             origin to `cors.origins`; programs send no `Origin` header."
        }
        ApiError::UnsupportedProtocolVersion => {
            "The header `MCP-Protocol-Version` of a request to `/mcp` names a version that is not \
             spoken here. Send the one that the answer to `initialize` named."
        }
        ApiError::NotFound(_) => {
            "There is no such product, token or address for this token: it never was, it was \
             deleted, it belongs to another shop, or it is hidden from this role."
        }
        ApiError::MethodNotAllowed => {
            "The path exists but does not take this method. The header `Allow` lists those it takes."
        }
        ApiError::RequestTimeout => {
            "The body did not arrive in time. Nothing was done; send the request again."
        }
        ApiError::IdempotencyKeyReused | ApiError::KeyTaken(_) => {
            "The `Idempotency-Key` stands for another request of the last 24 hours: use a new one \
             for a new request, and the same body to repeat one. Or another product of the shop has \
             the product's `key`: the detail names it; change that product, or use another key."
        }
        ApiError::TooManyTokens(_) => {
            "The shop has 10,000 tokens that work, and cannot have more. Revoke those that are not \
             needed, and let new ones expire: `expires_in_seconds`."
        }
        ApiError::LimitExceeded(LimitExceeded::AttributeNames) => {
            "The products of a shop have at most 5,000 distinct attribute names, and this one brings \
             new ones. Use names that other products have, and values for what differs; a name that \
             no product has any more makes room for another."
        }
        ApiError::LimitExceeded(LimitExceeded::Products { .. } | LimitExceeded::Bytes { .. }) => {
            "The shop has as many products, or bytes of products, as its operator allows. The \
             detail names the quota. Deletions and updates that do not grow a product still work; \
             the operator can raise `quota.products` and `quota.bytes`."
        }
        ApiError::ChangesExpired { .. } => {
            "Changes are retained for a limited time, and some after `since` are older; or the shop \
             has no change `since`, because an older state of the store was restored. Read the whole \
             catalog, and then the changes after `last`."
        }
        ApiError::PreconditionFailed => {
            "The product is no longer the version that `If-Match` names. Read it again, apply \
             the change to what is there now, and send the new `ETag`."
        }
        ApiError::BodyTooLarge { .. } => {
            "The body is over the limit (4 MiB unless configured otherwise). Split a bulk request \
             into smaller ones."
        }
        ApiError::UriTooLong { .. } => {
            "The address is over the limit (8 KiB unless configured otherwise). Ask for fewer ids \
             at once."
        }
        ApiError::HeadersTooLarge { .. } => {
            "The headers together are over the limit (16 KiB unless configured otherwise). Send \
             fewer or shorter ones."
        }
        ApiError::UnsupportedMediaType => {
            "The body does not say that it is JSON. Send the header \
             `Content-Type: application/json`."
        }
        ApiError::Validation(_) => {
            "The request is well-formed but breaks rules. `errors` lists up to 100 faults, each with \
             the field, a code and a message; `errors_omitted` counts the others. Nothing was \
             written."
        }
        ApiError::RateLimited { .. } => {
            "This token has made too many requests. Wait as many seconds as `Retry-After` says; \
             the `RateLimit` headers show what is left before it comes to this."
        }
        ApiError::Unavailable(_) | ApiError::Unconfirmed | ApiError::TookTooLong => {
            "The service cannot take the request right now: it is overloaded, stopping, its store \
             cannot be used, or the request took too long. Wait as `Retry-After` says and try \
             again; repeat a create with the same `Idempotency-Key`, so that it happens once."
        }
        ApiError::Internal => {
            "Something broke on our side. The answer never says what; the service's log has it \
             under the request id."
        }
    }
}

named_schema!(
    /// The code of a problem.
    ProblemCode,
    one_of(problem_codes()).description(Some(
        "The kind of a problem, for programs. Later versions may know more."
    ))
);

fn problem_codes() -> Vec<&'static str> {
    let mut codes: Vec<_> = every_error().iter().map(|error| error.table().1).collect();
    codes.dedup();
    codes
}

/// An example of an error's body.
pub(crate) fn problem_example(error: &ApiError) -> Value {
    json!(error.problem("5f0c2b7a9e314d68-2a"))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// The codes in the source of a module. An error that `every_error` leaves out would have
    /// neither an example nor an anchor on the page that its `type` points to.
    fn codes_after(source: &str, before_the_code: &str) -> BTreeSet<String> {
        source
            .split(before_the_code)
            .skip(1)
            .filter_map(|rest| rest.split('"').nth(1))
            .map(str::to_owned)
            .collect()
    }

    #[test]
    fn every_error_of_the_table_is_listed() {
        let listed: BTreeSet<String> =
            every_error().iter().map(|error| error.table().1.to_owned()).collect();
        assert_eq!(codes_after(include_str!("problem.rs"), "(S::"), listed);
    }
}
