//! API tokens: their format and their verification.
//!
//! A token reads `shk_<id>_<secret>`: the id selects its row, the secret is 256 random bits of
//! which the store keeps only a SHA-256 digest. A digest of that much entropy cannot be inverted
//! by brute force, so no slow password hash is needed.

use std::fmt;

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use catalog::product::{
    ShopId,
    access::{Caller, Role},
};
use jiff::Timestamp;
use ring::digest;
use store::TokenRow;
use subtle::ConstantTimeEq;

use crate::system::RandomSource;

/// The prefix of every opaque token, by which scanners recognise leaked ones.
pub const PREFIX: &str = "shk_";
/// The maximum length of a token's name, in characters.
pub const MAX_NAME_CHARS: usize = 200;

/// How many tokens of a shop can work at the same time.
pub const MAX_WORKING_TOKENS: usize = 10_000;
/// How many tokens of a shop that no longer work are kept. Older ones are removed as others are
/// issued, so that issuing and revoking tokens does not fill the store.
pub(crate) const MAX_ENDED_TOKENS: usize = 10_000;

const SECRET_BYTES: usize = 32;

/// The secret part of a token.
#[derive(Clone)]
pub struct Secret([u8; SECRET_BYTES]);

impl Secret {
    /// Generates a secret.
    pub fn generate(random: &RandomSource) -> Self {
        let mut bytes = [0; SECRET_BYTES];
        random(&mut bytes);
        Self(bytes)
    }

    pub(crate) fn hash(&self) -> Vec<u8> {
        digest::digest(&digest::SHA256, &self.0).as_ref().to_vec()
    }

    pub(crate) fn as_token(&self, id: u64) -> String {
        format!("{PREFIX}{id}_{}", URL_SAFE_NO_PAD.encode(self.0))
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// A token that was just issued: the only time that its text is available.
pub struct IssuedToken {
    /// The id, by which it is listed and revoked.
    pub id: u64,
    /// The text, with the secret.
    pub token: String,
    /// The only shop that the token gives access to.
    pub shop: ShopId,
    /// The role of its bearer.
    pub role: Role,
    /// A label chosen by the issuer; may be empty.
    pub name: String,
    /// When it was issued.
    pub created_at: Timestamp,
    /// The first moment at which it is not accepted; `None` if it does not expire.
    pub expires_at: Option<Timestamp>,
}

/// Why a token was not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadToken {
    /// Malformed, unknown, or revoked.
    Invalid,
    /// Expired.
    Expired,
}

/// A token was not issued, because the shop has as many as it may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the shop has {MAX_WORKING_TOKENS} tokens that work, as many as it may have; revoke those that \
     are not needed"
)]
pub struct TooManyTokens;

/// The id and the secret of a token.
pub(crate) fn parse(token: &str) -> Option<(u64, Secret)> {
    let (id, secret) = token.strip_prefix(PREFIX)?.split_once('_')?;
    let bytes = URL_SAFE_NO_PAD.decode(secret).ok()?;
    Some((id.parse().ok()?, Secret(bytes.try_into().ok()?)))
}

/// Whether a text has the form of an opaque token.
pub fn looks_like_ours(token: &str) -> bool {
    token.starts_with(PREFIX)
}

/// The caller that a token with this row authenticates, and the id of the token.
pub(crate) fn verify(
    row: Option<&TokenRow>,
    secret: &Secret,
    now: Timestamp,
) -> Result<(Caller, u64), BadToken> {
    let row = row.ok_or(BadToken::Invalid)?;
    check(row, secret, now).map(|()| (Caller::new(row.shop, row.role), row.id))
}

fn check(row: &TokenRow, secret: &Secret, now: Timestamp) -> Result<(), BadToken> {
    if !bool::from(row.secret_hash.ct_eq(&secret.hash())) {
        return Err(BadToken::Invalid);
    }
    if row.revoked_at.is_some() {
        return Err(BadToken::Invalid);
    }
    match row.expires_at {
        Some(end) if end <= now => Err(BadToken::Expired),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn counting() -> RandomSource {
        Arc::new(|bytes| bytes.iter_mut().enumerate().for_each(|(i, b)| *b = i as u8))
    }

    #[test]
    fn a_token_round_trips() {
        let secret = Secret::generate(&counting());
        let token = secret.as_token(17);
        assert!(token.starts_with("shk_17_"));
        let (id, read) = parse(&token).unwrap();
        assert_eq!((id, read.0), (17, secret.0));
    }

    #[test]
    fn malformed_tokens_are_rejected() {
        let good = Secret::generate(&counting()).as_token(1);
        for bad in ["", "shk_", "shk_1", "shk_1_", "shk_x_abc", &good[4..], &good[..good.len() - 1]]
        {
            assert!(parse(bad).is_none(), "{bad}");
        }
    }
}
