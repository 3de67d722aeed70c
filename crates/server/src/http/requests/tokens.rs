//! Requests that issue and list tokens.

use catalog::{product::access::Role, text::validation};
use engine::tokens;
use jiff::SignedDuration;
use serde_json::json;
use utoipa::{
    IntoParams,
    openapi::path::{Parameter, ParameterIn},
};

use super::{
    fields::{Fields, Invalid, ObjectDefinition, integer, request_bodies, text},
    parameters::{self, QueryParameter},
};
use crate::http::{
    enums,
    errors::ValidationErrors,
    json_schema::{plain_text, string},
};

/// The longest lifetime of a token that expires, in seconds: ten years.
pub const MAX_TOKEN_SECONDS: u64 = 10 * 365 * 24 * 60 * 60;

/// The most tokens on one page.
pub(crate) const MAX_TOKENS: usize = 1000;
/// The tokens on one page by default.
pub(crate) const DEFAULT_TOKENS: usize = 100;

/// A token to issue.
pub struct TokenRequest;

request_bodies!(TokenRequest);

/// What a [`TokenRequest`] is read into.
#[derive(Debug)]
pub struct TokenOptions {
    /// The role of the token.
    pub role: Role,
    /// The owner's name for the token; may be empty.
    pub name: String,
    /// The lifetime of the token; `None` if it does not expire.
    pub lifetime: Option<SignedDuration>,
}

impl<'a> ObjectDefinition<'a> for TokenRequest {
    type Value = TokenOptions;

    fn define(fields: &mut Fields<'a>) -> Option<TokenOptions> {
        fields.about("A token to issue.", || {
            Some(json!({"role": "EDITOR", "name": "import job", "expires_in_seconds": 86400}))
        });
        let role = |raw: &str| raw.parse().map_err(|why| Invalid::new("unknown_role", why));
        let role = fields.required("role", text(role, enums::role));
        let name = text(token_name, || {
            string("What you call it, to recognise it in the list.")
                .max_length(Some(tokens::MAX_NAME_CHARS))
                .pattern(Some(plain_text()))
                .default(Some("".into()))
        });
        let name = fields.optional("name", name);
        let about = "How long it works; for ever if left out.";
        let seconds = integer(about, 1, MAX_TOKEN_SECONDS, None);
        let seconds = fields.optional("expires_in_seconds", seconds);
        Some(TokenOptions {
            role: role?,
            name: name.unwrap_or_default(),
            lifetime: seconds.map(|seconds| SignedDuration::from_secs(seconds as i64)),
        })
    }
}

fn token_name(raw: &str) -> Result<String, Invalid> {
    validation::at_most(raw, tokens::MAX_NAME_CHARS)?;
    validation::without_control_characters(raw)?;
    Ok(raw.to_owned())
}

/// The query parameters of a list of tokens.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TokenListParameters {
    pub(crate) limit: usize,
    pub(crate) offset: usize,
}

impl Default for TokenListParameters {
    fn default() -> Self {
        Self { limit: DEFAULT_TOKENS, offset: 0 }
    }
}

impl TokenListParameters {
    fn define() -> [QueryParameter<Self>; 2] {
        let (limit, offset) = ("How many tokens to return at most.", "How many tokens to skip.");
        [
            parameters::integer("limit", limit, 1..=MAX_TOKENS, |read: &mut Self, limit| {
                read.limit = limit;
            })
            .default(DEFAULT_TOKENS, 20),
            parameters::integer(
                "offset",
                offset,
                0..=i64::MAX as usize,
                |read: &mut Self, skip| {
                    read.offset = skip;
                },
            )
            .default(0, 0),
        ]
    }

    pub(crate) fn read(query: Option<&str>) -> Result<Self, ValidationErrors> {
        parameters::read(query, &Self::define())
    }
}

impl IntoParams for TokenListParameters {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        parameters::describe(Self::define())
    }
}
