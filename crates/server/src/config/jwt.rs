//! The rules between the settings of signed tokens (JWT).

use std::{
    io,
    path::{Path, PathBuf},
    time::Duration,
};

use super::{
    fault::Origin,
    resolve::Resolver,
    secret::{Secret, without_final_line_break},
    settings::{JwtAlgorithm, JwtSettings},
};

/// The shortest secret that HS256 is safe with: as long as its hash.
pub const MIN_SECRET_BYTES: usize = 32;

/// The keys that signatures are checked with. A secret and public keys exclude each other, so that a
/// public key can never be used as a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JwtKeys {
    /// HS256 with this secret.
    Secret(Secret),
    /// HS256 with the secret in this file, which was valid when the configuration was loaded.
    SecretFile(PathBuf),
    /// A file with a JSON Web Key Set, for these algorithms and no others; never HS256, never empty.
    KeySet {
        /// The file.
        path: PathBuf,
        /// The algorithms to accept.
        algorithms: Vec<JwtAlgorithm>,
    },
}

/// How signed tokens are checked and read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JwtConfig {
    /// The `iss` claim that tokens must carry.
    pub issuer: String,
    /// The `aud` claim that tokens must carry.
    pub audience: String,
    /// What signatures are checked with.
    pub keys: JwtKeys,
    /// The claim that names the shop.
    pub shop_claim: String,
    /// The claim that names the role.
    pub role_claim: String,
    /// How far the provider's clock may be off.
    pub leeway: Duration,
    /// How long keys stay trusted while their file cannot be used.
    pub file_grace: Duration,
}

/// Checks the rules between the settings; `None` if signed tokens are off or a rule is broken.
pub(super) fn resolve(
    settings: JwtSettings,
    resolver: &mut Resolver,
    read_file: impl Fn(&Path) -> io::Result<String>,
) -> Option<JwtConfig> {
    let Some(issuer) = settings.issuer.clone() else {
        refuse_half_configured(&settings, resolver);
        return None;
    };
    let keys = keys(&settings, resolver, read_file);
    if settings.audience.is_none() {
        resolver.refuse("jwt.audience", "required because jwt.issuer is set");
    }
    if settings.shop_claim == settings.role_claim {
        resolver.refuse("jwt.role_claim", "must be another claim than jwt.shop_claim");
    }
    Some(JwtConfig {
        issuer,
        audience: settings.audience?,
        keys: keys?,
        shop_claim: settings.shop_claim,
        role_claim: settings.role_claim,
        leeway: settings.leeway,
        file_grace: settings.file_grace,
    })
}

/// Refuses settings that have no effect without an issuer, unless the issuer was unset explicitly.
fn refuse_half_configured(settings: &JwtSettings, resolver: &mut Resolver) {
    if resolver.origin("jwt.issuer") != Origin::Default {
        return;
    }
    let set = [
        ("jwt.audience", settings.audience.is_some()),
        ("jwt.algorithms", !settings.algorithms.is_empty()),
        ("jwt.secret", settings.secret.is_some()),
        ("jwt.secret_file", settings.secret_file.is_some()),
        ("jwt.jwks_file", settings.jwks_file.is_some()),
    ];
    for (key, _) in set.into_iter().filter(|(_, set)| *set) {
        resolver.refuse(key, "has no effect without jwt.issuer");
    }
}

fn keys(
    settings: &JwtSettings,
    resolver: &mut Resolver,
    read_file: impl Fn(&Path) -> io::Result<String>,
) -> Option<JwtKeys> {
    match settings.algorithms.as_slice() {
        [] => {
            resolver.refuse("jwt.algorithms", "required because jwt.issuer is set");
            None
        }
        [JwtAlgorithm::Hs256] => {
            if settings.jwks_file.is_some() {
                resolver
                    .refuse("jwt.jwks_file", "does not go with HS256, which takes a shared secret");
            }
            secret(settings, resolver, read_file)
        }
        algorithms if algorithms.contains(&JwtAlgorithm::Hs256) => {
            resolver.refuse(
                "jwt.algorithms",
                "HS256 must stand alone: a public key could be passed off as its secret",
            );
            None
        }
        algorithms => {
            let unused = [
                ("jwt.secret", settings.secret.is_some()),
                ("jwt.secret_file", settings.secret_file.is_some()),
            ];
            for (key, _) in unused.into_iter().filter(|(_, set)| *set) {
                resolver
                    .refuse(key, "is for HS256 only; RS256, ES256 and EdDSA take jwt.jwks_file");
            }
            if settings.jwks_file.is_none() {
                resolver.refuse("jwt.jwks_file", "required by jwt.algorithms");
            }
            Some(JwtKeys::KeySet {
                path: settings.jwks_file.clone()?,
                algorithms: algorithms.to_vec(),
            })
        }
    }
}

/// The shared secret, or the file that holds it, if it is long enough.
fn secret(
    settings: &JwtSettings,
    resolver: &mut Resolver,
    read_file: impl Fn(&Path) -> io::Result<String>,
) -> Option<JwtKeys> {
    let found = resolver.secret_or_file(
        ("jwt.secret", settings.secret.as_ref()),
        ("jwt.secret_file", settings.secret_file.as_deref()),
        read_file,
    )?;
    let Some((key, secret)) = found else {
        resolver.refuse("jwt.secret_file", "HS256 requires it, or jwt.secret");
        return None;
    };
    if let Err(message) = check_secret(&secret) {
        resolver.refuse(key, message);
        return None;
    }
    Some(match &settings.secret_file {
        Some(path) => JwtKeys::SecretFile(path.clone()),
        None => JwtKeys::Secret(secret),
    })
}

/// The shared secret that a file holds.
///
/// # Errors
/// Says that it is too short.
pub fn secret_in_file(text: &str) -> Result<Secret, String> {
    let secret = Secret::new(without_final_line_break(text).to_owned());
    check_secret(&secret).map(|()| secret)
}

fn check_secret(secret: &Secret) -> Result<(), String> {
    if secret.expose().len() < MIN_SECRET_BYTES {
        return Err(format!(
            "the secret is too short: HS256 requires at least {MIN_SECRET_BYTES} bytes"
        ));
    }
    Ok(())
}
