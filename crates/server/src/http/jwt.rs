//! Is this signed token good, and whom does it speak for?
//!
//! Algorithms are pinned by the configuration and again by each key's own type, so a public key
//! can never pass for a secret and `none` is never an algorithm.

use std::{
    fs,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use anyhow::Context;
use catalog::{
    access::{Caller, Role},
    product::ShopId,
};
use jsonwebtoken::{
    Algorithm, DecodingKey, Validation, decode, decode_header,
    errors::ErrorKind,
    jwk::{Jwk, JwkSet, KeyAlgorithm, PublicKeyUse},
};
use parking_lot::Mutex;
use serde_json::{Map, Value};

use super::{auth::TokenKey, problem::ApiError};
use crate::config::{JwtAlgorithm, JwtConfig, JwtKeys};

/// How often an unknown key makes us read the key set file again, at the most.
const RELOAD_EVERY: Duration = Duration::from_secs(10);

/// Checks signed tokens of the configured issuer.
pub(crate) struct SignedTokens {
    keys: Keys,
    validation: Validation,
    algorithms: Vec<Algorithm>,
    shop_claim: String,
    role_claim: String,
}

enum Keys {
    Secret(Box<DecodingKey>),
    Set(KeySetFile),
}

/// A key set that is read again when a token names a key it does not have: providers rotate.
struct KeySetFile {
    path: PathBuf,
    read: Mutex<(JwkSet, Instant)>,
}

impl SignedTokens {
    pub(crate) fn new(config: &JwtConfig) -> anyhow::Result<Self> {
        let (keys, algorithms) = match &config.keys {
            JwtKeys::Secret(secret) => {
                let key = DecodingKey::from_secret(secret.expose());
                (Keys::Secret(Box::new(key)), vec![Algorithm::HS256])
            }
            JwtKeys::KeySet { path, algorithms } => {
                let set = read_key_set(path)?;
                let file =
                    KeySetFile { path: path.clone(), read: Mutex::new((set, Instant::now())) };
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

    /// The caller that a token speaks for.
    pub(crate) fn verify(&self, token: &str) -> Result<(Caller, TokenKey), ApiError> {
        let header = decode_header(token).map_err(|_| ApiError::InvalidToken)?;
        // Whoever marks a header as critical wants tokens refused where it is not understood.
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
            Keys::Set(file) => file.keys(header.kid.as_deref(), algorithm),
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
        let shop = match claims.get(&self.shop_claim)? {
            Value::String(text) => text.parse().ok()?,
            number => ShopId::new(number.as_u64()?)?,
        };
        let role = match claims.get(&self.role_claim)? {
            Value::String(name) => name.parse().ok()?,
            // Providers often list several roles, some of them not ours: the strongest counts.
            Value::Array(names) => {
                names.iter().filter_map(|name| name.as_str()?.parse::<Role>().ok()).max()?
            }
            _ => return None,
        };
        let subject = claims.get("sub").and_then(Value::as_str).unwrap_or_default();
        Some((Caller::new(shop, role), TokenKey::Signed(shop.get(), subject.to_owned())))
    }
}

impl KeySetFile {
    /// The keys that may have signed: the named one, or all of the right kind.
    fn keys(&self, name: Option<&str>, algorithm: Algorithm) -> Vec<DecodingKey> {
        let mut read = self.read.lock();
        let known = name.is_none_or(|name| read.0.find(name).is_some());
        if !known && read.1.elapsed() >= RELOAD_EVERY {
            read.1 = Instant::now();
            match read_key_set(&self.path) {
                Ok(set) => read.0 = set,
                Err(error) => tracing::error!("the key set stays as it was: {error:#}"),
            }
        }
        read.0
            .keys
            .iter()
            .filter(|key| name.is_none() || key.common.key_id.as_deref() == name)
            .filter(|key| is_meant_for(key, algorithm))
            .filter_map(|key| DecodingKey::from_jwk(key).ok())
            .filter(|key| key.family() == algorithm.family())
            .collect()
    }
}

/// Whether a key is for signatures with this algorithm, as far as it says what it is for.
fn is_meant_for(key: &Jwk, algorithm: Algorithm) -> bool {
    let signs = |purpose: &PublicKeyUse| *purpose == PublicKeyUse::Signature;
    let same = |named| named == KeyAlgorithm::from(algorithm);
    key.common.public_key_use.as_ref().is_none_or(signs)
        && key.common.key_algorithm.is_none_or(same)
}

fn read_key_set(path: &Path) -> anyhow::Result<JwkSet> {
    let text = fs::read_to_string(path)
        .with_context(|| format!("the key set {} cannot be read", path.display()))?;
    serde_json::from_str(&text)
        .with_context(|| format!("{} is not a JSON Web Key Set", path.display()))
}

fn algorithm(name: JwtAlgorithm) -> Algorithm {
    match name {
        JwtAlgorithm::Hs256 => Algorithm::HS256,
        JwtAlgorithm::Rs256 => Algorithm::RS256,
        JwtAlgorithm::Es256 => Algorithm::ES256,
        JwtAlgorithm::EdDsa => Algorithm::EdDSA,
    }
}
