//! Request headers and path segments that handlers read, with their descriptions.

use std::convert::Infallible;

use axum::{
    RequestPartsExt,
    extract::{FromRequestParts, Path},
    http::{HeaderMap, HeaderValue, header, request::Parts},
};
use catalog::product::{ProductId, change::Seq};
use engine::writes::Precondition;
use serde_json::json;
use utoipa::openapi::{path::ParameterIn, schema::ObjectBuilder};

use super::{
    fields::Invalid,
    parameters::{described_parameters, is_integer, parameter},
};
use crate::http::{
    errors::{ApiError, ValidationError},
    headers::IDEMPOTENCY_KEY,
    json_schema::{formatted, header_text, string},
};

/// The longest idempotency key.
pub(crate) const MAX_KEY_BYTES: usize = 255;

described_parameters!(
    /// The header `If-Match`.
    IfMatch,
    parameter(
        ParameterIn::Header,
        "If-Match",
        "The product's `ETag` as it was read: if it has changed since, nothing is written and the \
         answer is 412. `*` takes any version.",
        formatted("etag", ""),
        json!("\"42\""),
    )
);

described_parameters!(
    /// The header `If-None-Match`.
    IfNoneMatch,
    parameter(
        ParameterIn::Header,
        "If-None-Match",
        "The `ETag` of a copy: if it is still good, the answer is 304 without a body.",
        formatted("etag", ""),
        json!("\"42\""),
    )
);

described_parameters!(
    /// The header `Idempotency-Key`.
    IdempotencyKey,
    parameter(
        ParameterIn::Header,
        "Idempotency-Key",
        "Your own name for this request, which makes it safe to repeat: the same key and body give \
         the first answer again for 24 hours, the same key with another body gives 409.",
        key_schema("").pattern(Some(header_text())),
        json!("order-import-2026-01-02/17"),
    )
);

/// The schema of an idempotency key.
pub(crate) fn key_schema(about: &str) -> ObjectBuilder {
    string(about).min_length(Some(1)).max_length(Some(MAX_KEY_BYTES))
}

/// Parses an idempotency key: visible ASCII and spaces, not only spaces.
pub(crate) fn parse_key(raw: &str) -> Result<&str, Invalid> {
    let is_visible = |byte: u8| byte == b' ' || byte.is_ascii_graphic();
    let is_valid = (1..=MAX_KEY_BYTES).contains(&raw.len())
        && raw.bytes().all(is_visible)
        && raw.bytes().any(|byte| byte != b' ');
    if is_valid {
        return Ok(raw);
    }
    let message = format!("must be 1 to {MAX_KEY_BYTES} visible ASCII characters");
    Err(Invalid::new("invalid_key", message))
}

/// The header `Idempotency-Key`, if there is one.
pub(crate) fn idempotency_key(headers: &HeaderMap) -> Result<Option<&str>, ApiError> {
    let Some(key) = headers.get(IDEMPOTENCY_KEY) else { return Ok(None) };
    let key = parse_key(key.to_str().unwrap_or_default());
    key.map(Some).map_err(|Invalid { code, message, .. }| {
        ApiError::invalid(ValidationError::new("Idempotency-Key", code, message))
    })
}

/// The precondition that `If-Match` sets.
pub(crate) fn precondition(headers: &HeaderMap) -> Precondition {
    let lists = || headers.get_all(header::IF_MATCH).iter();
    if lists().next().is_none() || lists().any(|tags| tags == "*") {
        return Precondition::Exists;
    }
    Precondition::IsVersion(lists().flat_map(|tags| versions(tags, WeakTags::Differ)).collect())
}

/// Whether `If-None-Match` names this version of a product.
pub(crate) fn client_has_version(headers: &HeaderMap, version: Seq) -> bool {
    headers
        .get_all(header::IF_NONE_MATCH)
        .iter()
        .any(|tags| tags == "*" || versions(tags, WeakTags::Match).contains(&version))
}

/// Whether a weak tag can match a strong one: for `If-None-Match` yes, for `If-Match` never
/// (RFC 9110, 13.1).
#[derive(Clone, Copy, PartialEq, Eq)]
enum WeakTags {
    Match,
    Differ,
}

/// The versions that a list of entity tags names. Tags of another form name none.
fn versions(tags: &HeaderValue, weak: WeakTags) -> Vec<Seq> {
    let tags = tags.to_str().unwrap_or_default();
    tags.split(',')
        .filter_map(|tag| {
            let tag = tag.trim();
            let tag = match (tag.strip_prefix("W/"), weak) {
                (Some(opaque), WeakTags::Match) => opaque,
                (Some(_), WeakTags::Differ) => return None,
                (None, _) => tag,
            };
            tag.strip_prefix('"')?.strip_suffix('"')?.parse().ok().map(Seq)
        })
        .collect()
}

/// The variable segment of a path as text, which the handler parses after its other checks. A
/// segment that is not UTF-8 becomes empty, and is rejected like any other that is not a number.
pub(crate) struct PathText(pub(crate) String);

impl<S: Send + Sync> FromRequestParts<S> for PathText {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        let path = parts.extract::<Path<String>>().await;
        Ok(Self(path.map_or_else(|_| String::new(), |Path(text)| text)))
    }
}

/// The product that a path names.
pub(crate) fn product_id(raw: &str) -> Result<ProductId, ApiError> {
    match raw.parse() {
        Ok(id) => Ok(id),
        // An integer that is no valid id cannot name a product, like an unknown id.
        Err(_) if is_integer(raw) => Err(ApiError::NotFound("product")),
        Err(why) => Err(ApiError::invalid(ValidationError::new("product_id", "wrong_type", why))),
    }
}

/// The token that a path names.
pub(crate) fn token_id(raw: &str) -> Result<u64, ApiError> {
    match raw.parse() {
        Ok(id) => Ok(id),
        Err(_) if is_integer(raw) => Err(ApiError::NotFound("token")),
        Err(_) => {
            let message = "must be a positive integer";
            Err(ApiError::invalid(ValidationError::new("token_id", "wrong_type", message)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The documented pattern of a key: visible ASCII, with spaces only inside.
    #[test]
    fn a_key_is_visible_ascii() {
        let longest = "k".repeat(MAX_KEY_BYTES);
        for (key, good) in [
            ("order 17", true),
            (longest.as_str(), true),
            (&format!("{longest}k"), false),
            ("", false),
            (" ", false),
            ("a\tb", false),
            ("\u{e9}", false),
        ] {
            assert_eq!(parse_key(key).is_ok(), good, "{key:?}");
        }
    }
}
