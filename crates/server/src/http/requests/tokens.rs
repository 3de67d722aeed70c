//! Requests that issue tokens.

use catalog::{access::Role, text};
use engine::tokens;
use jiff::SignedDuration;
use serde_json::json;

use super::fields::{Fields, Invalid, ObjectDefinition, integer, request_bodies, text};
use crate::http::{
    enums,
    json_schema::{plain_text, string},
};

/// The longest lifetime of a token that expires, in seconds: ten years.
pub const MAX_TOKEN_SECONDS: u64 = 10 * 365 * 24 * 60 * 60;

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
    text::at_most(raw, tokens::MAX_NAME_CHARS)?;
    text::without_control_characters(raw)?;
    Ok(raw.to_owned())
}
