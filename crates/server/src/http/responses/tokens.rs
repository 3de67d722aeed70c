//! The bodies of responses with tokens.

use engine::tokens::IssuedToken;
use serde::Serialize;
use serde_json::json;
use store::TokenRow;
use utoipa::ToSchema;

use super::{
    describe::{api, api_empty, api_list, described_responses, with_links},
    products::time,
};
use crate::http::{enums, response_headers::TOTAL_COUNT};

/// A token that was just issued.
#[derive(Serialize, ToSchema)]
pub struct NewToken {
    /// Its number.
    #[schema(minimum = 1)]
    id: u64,
    /// The token itself: shown this once, kept only as a hash.
    token: String,
    /// The shop it belongs to.
    #[schema(minimum = 1)]
    shop_id: u64,
    /// What it lets its bearer do.
    #[schema(schema_with = enums::role)]
    role: &'static str,
    /// What its owner called it.
    name: String,
    /// When it was issued.
    #[schema(format = DateTime)]
    created_at: String,
    /// When it stops working; `null` for never.
    #[schema(format = DateTime, required)]
    expires_at: Option<String>,
}

impl From<IssuedToken> for NewToken {
    fn from(issued: IssuedToken) -> Self {
        Self {
            id: issued.id,
            token: issued.token,
            shop_id: issued.shop.get(),
            role: issued.role.as_str(),
            name: issued.name,
            created_at: time(issued.created_at),
            expires_at: issued.expires_at.map(time),
        }
    }
}

/// A token that was issued before.
#[derive(Serialize, ToSchema)]
#[schema(as = Token)]
pub struct TokenBody {
    /// Its number.
    #[schema(minimum = 1)]
    id: u64,
    /// The shop it belongs to.
    #[schema(minimum = 1)]
    shop_id: u64,
    /// What it lets its bearer do.
    #[schema(schema_with = enums::role)]
    role: &'static str,
    /// What its owner called it.
    name: String,
    /// When it was issued.
    #[schema(format = DateTime)]
    created_at: String,
    /// When it stops working; `null` for never.
    #[schema(format = DateTime, required)]
    expires_at: Option<String>,
    /// When it was revoked; `null` if it was not.
    #[schema(format = DateTime, required)]
    revoked_at: Option<String>,
}

impl From<TokenRow> for TokenBody {
    fn from(row: TokenRow) -> Self {
        Self {
            id: row.id,
            shop_id: row.shop.get(),
            role: row.role.as_str(),
            name: row.name,
            created_at: time(row.created_at),
            expires_at: row.expires_at.map(time),
            revoked_at: row.revoked_at.map(time),
        }
    }
}

described_responses!(
    TokenIssued,
    "201" => with_links(
        api::<NewToken>(
            "The token. Its text is shown this once and kept only as a hash.",
            json!({"id": 3, "token": "shk_3_wJ5…", "shop_id": 1, "role": "EDITOR",
                "name": "import job", "created_at": "2026-01-02T03:04:05.678901Z",
                "expires_at": "2026-01-03T03:04:05.678901Z"}),
            &[],
        ),
        &["revoke_token"],
        "token_id",
    )
);

described_responses!(
    TokenList,
    "200" => api_list::<TokenBody>(
        "A page of the shop's tokens, revoked and expired ones included, without their secrets.",
        json!({"id": 3, "shop_id": 1, "role": "EDITOR", "name": "import job",
            "created_at": "2026-01-02T03:04:05.678901Z", "expires_at": null, "revoked_at": null}),
        &[TOTAL_COUNT],
    )
);

described_responses!(
    TokenRevoked,
    "204" => api_empty("The token no longer works, from this moment on.")
);
