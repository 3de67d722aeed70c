//! Verifies signed tokens (JWT) of the configured issuer.
//!
//! Algorithms are pinned by the configuration and again by each key's own type, so a public key
//! can never be used as a shared secret, and the algorithm `none` is never accepted.

use std::{sync::Arc, time::Instant};

use anyhow::{Context, anyhow};
use catalog::product::{
    ShopId,
    access::{Caller, Role},
};
use jsonwebtoken::{
    Algorithm, DecodingKey, Validation, decode, decode_header,
    errors::ErrorKind,
    jwk::{Jwk, JwkSet, KeyAlgorithm, PublicKeyUse},
};
use serde::Deserialize;
use serde_json::{Map, Value};
use tokio::time::{MissedTickBehavior, interval};

use super::{
    jwt_signatures,
    key_file::{CHECK_INTERVAL, KeyFile},
};
use crate::{
    config::{JwtAlgorithm, JwtConfig, JwtKeys, secret_in_file},
    http::{caller::TokenKey, errors::ApiError},
};

/// Verifies signed tokens of the configured issuer.
pub(crate) struct SignedTokens {
    keys: Keys,
    validation: Validation,
    algorithms: Vec<Algorithm>,
    shop_claim: String,
    role_claim: String,
}

enum Keys {
    Secret(Box<DecodingKey>),
    SecretFile(KeyFile<DecodingKey>),
    Set(KeyFile<JwkSet>),
}

impl SignedTokens {
    pub(crate) fn new(config: &JwtConfig) -> anyhow::Result<Self> {
        jwt_signatures::install();
        let (grace, now) = (config.file_grace, Instant::now());
        let (keys, algorithms) = match &config.keys {
            JwtKeys::Secret(secret) => {
                let key = DecodingKey::from_secret(secret.expose());
                (Keys::Secret(Box::new(key)), vec![Algorithm::HS256])
            }
            JwtKeys::SecretFile(path) => {
                let file = KeyFile::open(path, grace, parse_secret, now)?;
                (Keys::SecretFile(file), vec![Algorithm::HS256])
            }
            JwtKeys::KeySet { path, algorithms } => {
                let file = KeyFile::open(path, grace, parse_key_set, now)?;
                (Keys::Set(file), algorithms.iter().map(|name| algorithm(*name)).collect())
            }
        };
        let mut validation = Validation::new(Algorithm::HS256);
        validation.leeway = config.leeway.as_secs();
        validation.validate_nbf = true;
        validation.set_audience(&[&config.audience]);
        validation.set_issuer(&[&config.issuer]);
        validation.set_required_spec_claims(&["exp", "aud", "iss"]);
        Ok(Self {
            keys,
            validation,
            algorithms,
            shop_claim: config.shop_claim.clone(),
            role_claim: config.role_claim.clone(),
        })
    }

    /// Verifies a token and returns its caller.
    pub(crate) fn verify(&self, token: &str) -> Result<(Caller, TokenKey), ApiError> {
        let header = decode_header(token).map_err(|_| ApiError::InvalidToken)?;
        // RFC 7515: a token with a critical header that is not understood must be rejected.
        if header.crit.is_some() {
            return Err(ApiError::InvalidToken);
        }
        let algorithm = self
            .algorithms
            .iter()
            .copied()
            .find(|allowed| *allowed == header.alg)
            .ok_or(ApiError::InvalidToken)?;
        let mut validation = self.validation.clone();
        validation.algorithms = vec![algorithm];
        let candidates = match &self.keys {
            Keys::Secret(key) => vec![(**key).clone()],
            Keys::SecretFile(file) => {
                file.keys(Instant::now()).map(|key| (*key).clone()).into_iter().collect()
            }
            Keys::Set(file) => match file.keys(Instant::now()) {
                Some(set) => candidates(&set, header.kid.as_deref(), algorithm),
                None => vec![],
            },
        };
        let mut refusal = ApiError::InvalidToken;
        for key in candidates {
            match decode::<Map<String, Value>>(token, &key, &validation) {
                Ok(data) => return self.caller(&data.claims).ok_or(ApiError::InvalidToken),
                Err(error) if matches!(error.kind(), ErrorKind::ExpiredSignature) => {
                    refusal = ApiError::ExpiredToken;
                }
                Err(_) => {}
            }
        }
        Err(refusal)
    }

    fn caller(&self, claims: &Map<String, Value>) -> Option<(Caller, TokenKey)> {
        // RFC 7519: one string. The library accepts an array that has the issuer among others.
        claims.get("iss")?.as_str()?;
        let shop = match claims.get(&self.shop_claim)? {
            Value::String(text) => text.parse().ok()?,
            number => ShopId::new(number.as_u64()?)?,
        };
        let role = match claims.get(&self.role_claim)? {
            Value::String(name) => name.parse().ok()?,
            // Providers often list several roles, some unknown here: the strongest known counts.
            Value::Array(names) => {
                names.iter().filter_map(|name| name.as_str()?.parse::<Role>().ok()).max()?
            }
            _ => return None,
        };
        let subject = claims.get("sub").and_then(Value::as_str).unwrap_or_default();
        Some((Caller::new(shop, role), TokenKey::Signed(shop.get(), subject.to_owned())))
    }
}

/// Watches the file that the keys come from, where there is one, until the runtime stops.
pub(crate) fn watch_keys(tokens: Arc<SignedTokens>) {
    if matches!(tokens.keys, Keys::Secret(_)) {
        return;
    }
    tokio::spawn(async move {
        let mut checks = interval(CHECK_INTERVAL);
        checks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            checks.tick().await;
            let tokens = Arc::clone(&tokens);
            // A check that panics is repeated at the next tick; unconfirmed keys expire.
            let _ = tokio::task::spawn_blocking(move || tokens.refresh()).await;
        }
    });
}

impl SignedTokens {
    fn refresh(&self) {
        match &self.keys {
            Keys::Secret(_) => {}
            Keys::SecretFile(file) => file.refresh(Instant::now()),
            Keys::Set(file) => file.refresh(Instant::now()),
        }
    }
}

/// The keys that may have signed a token: the named one, or all of the right kind.
fn candidates(set: &JwkSet, name: Option<&str>, algorithm: Algorithm) -> Vec<DecodingKey> {
    set.keys
        .iter()
        .filter(|key| name.is_none() || key.common.key_id.as_deref() == name)
        .filter(|key| is_meant_for(key, algorithm))
        .filter_map(|key| DecodingKey::from_jwk(key).ok())
        .filter(|key| key.family() == algorithm.family())
        .collect()
}

/// Whether a key may verify signatures of this algorithm; keys without a stated use may.
fn is_meant_for(key: &Jwk, algorithm: Algorithm) -> bool {
    let signs = |purpose: &PublicKeyUse| *purpose == PublicKeyUse::Signature;
    let same = |named| named == KeyAlgorithm::from(algorithm);
    key.common.public_key_use.as_ref().is_none_or(signs)
        && key.common.key_algorithm.is_none_or(same)
}

/// The keys of a set, without those of an unknown kind: providers add new kinds.
fn parse_key_set(text: &str) -> anyhow::Result<JwkSet> {
    #[derive(Deserialize)]
    struct RawKeySet {
        keys: Vec<Value>,
    }
    let set: RawKeySet = serde_json::from_str(text).context("it is not a JSON Web Key Set")?;
    let known = |key| serde_json::from_value::<Jwk>(key).ok();
    Ok(JwkSet { keys: set.keys.into_iter().filter_map(known).collect() })
}

fn parse_secret(text: &str) -> anyhow::Result<DecodingKey> {
    let secret = secret_in_file(text).map_err(|why| anyhow!(why))?;
    Ok(DecodingKey::from_secret(secret.expose()))
}

fn algorithm(name: JwtAlgorithm) -> Algorithm {
    match name {
        JwtAlgorithm::Hs256 => Algorithm::HS256,
        JwtAlgorithm::Rs256 => Algorithm::RS256,
        JwtAlgorithm::Es256 => Algorithm::ES256,
        JwtAlgorithm::EdDsa => Algorithm::EdDSA,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_key_does_not_invalidate_the_set() {
        let set = parse_key_set(
            r#"{"keys": [
                {"kty": "EC", "crv": "secp256k1", "kid": "k", "x": "eA", "y": "eQ"},
                {"kty": "OKP", "crv": "Ed25519", "kid": "d", "x": "eA"},
                {"kty": "OKP", "crv": "Ed25519", "kid": 7, "x": "eA"},
                "not a key"
            ]}"#,
        );
        assert!(set.unwrap().find("d").is_some());
        for bad in ["", "{", "[]", "{}", r#"{"keys": {}}"#] {
            assert!(parse_key_set(bad).is_err(), "{bad}");
        }
    }
}
