//! An identity provider for tests: keys, the file they are published in, and tokens they sign.

use std::{fs, sync::Arc};

use aws_lc_rs::{
    encoding::{AsDer, Pkcs8V1Der, PublicKeyX509Der},
    rand::SystemRandom,
    rsa::KeySize,
    signature::{
        ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair, RsaKeyPair,
    },
};
use jsonwebtoken::{Algorithm, EncodingKey, Header, encode, jwk::Jwk};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::shop::Server;

pub(crate) const ISSUER: &str = "https://id.example.com/";
pub(crate) const AUDIENCE: &str = "shopkeeper";
pub(crate) const HOUR: i64 = 3600;

pub(crate) fn now() -> i64 {
    jiff::Timestamp::now().as_second()
}

/// The claims of a good token for an editor of shop 7.
pub(crate) fn claims() -> Value {
    json!({"iss": ISSUER, "aud": AUDIENCE, "exp": now() + HOUR, "shop": 7, "role": "EDITOR"})
}

pub(crate) fn sign(header: &Header, claims: &Value, key: &EncodingKey) -> String {
    encode(header, claims, key).unwrap()
}

pub(crate) fn start(algorithms: &str, flags: &[&str]) -> Arc<Server> {
    let always = ["--jwt-issuer", ISSUER, "--jwt-audience", AUDIENCE, "--jwt-algorithms"];
    Server::start(&[&always[..], &[algorithms], flags].concat())
}

/// A key pair of the provider, by the name its tokens call it.
pub(crate) struct ProviderKey {
    pub(crate) name: &'static str,
    pub(crate) algorithm: Algorithm,
    pub(crate) private: EncodingKey,
    pub(crate) public: Jwk,
    /// The public key in the forms that an attacker could take for a secret.
    pub(crate) public_bytes: Vec<Vec<u8>>,
}

impl ProviderKey {
    fn new(
        name: &'static str,
        algorithm: Algorithm,
        private: EncodingKey,
        public: Jwk,
        public_bytes: Vec<Vec<u8>>,
    ) -> Self {
        let mut public = public;
        public.common.key_id = Some(name.to_owned());
        Self { name, algorithm, private, public, public_bytes }
    }

    pub(crate) fn rsa(name: &'static str) -> Self {
        let pair = RsaKeyPair::generate(KeySize::Rsa2048).unwrap();
        let pkcs8: Pkcs8V1Der<'_> = pair.as_der().unwrap();
        let private = EncodingKey::from_rsa_der(inner_rsa_key(pkcs8.as_ref()));
        let public = Jwk::from_encoding_key(&private, Algorithm::RS256).unwrap();
        let x509: PublicKeyX509Der<'_> = pair.public_key().as_der().unwrap();
        let bytes = vec![pair.public_key().as_ref().to_vec(), x509.as_ref().to_vec()];
        Self::new(name, Algorithm::RS256, private, public, bytes)
    }

    pub(crate) fn ec(name: &'static str) -> Self {
        let pair = EcdsaKeyPair::generate(&ECDSA_P256_SHA256_FIXED_SIGNING).unwrap();
        let private = EncodingKey::from_ec_der(pair.to_pkcs8v1().unwrap().as_ref());
        let public = Jwk::from_encoding_key(&private, Algorithm::ES256).unwrap();
        let bytes = vec![pair.public_key().as_ref().to_vec()];
        Self::new(name, Algorithm::ES256, private, public, bytes)
    }

    pub(crate) fn ed(name: &'static str) -> Self {
        let pkcs8 = Ed25519KeyPair::generate_pkcs8v1(&SystemRandom::new()).unwrap();
        let pair = Ed25519KeyPair::from_pkcs8_maybe_unchecked(pkcs8.as_ref()).unwrap();
        let private = EncodingKey::from_ed_der(pkcs8.as_ref());
        let public = Jwk::from_encoding_key(&private, Algorithm::EdDSA).unwrap();
        let bytes = vec![pair.public_key().as_ref().to_vec()];
        Self::new(name, Algorithm::EdDSA, private, public, bytes)
    }

    pub(crate) fn sign(&self, claims: &Value) -> String {
        let mut header = Header::new(self.algorithm);
        header.kid = Some(self.name.to_owned());
        sign(&header, claims, &self.private)
    }
}

/// The RSA private key inside a PKCS #8 wrapping: the last thing in it.
fn inner_rsa_key(pkcs8: &[u8]) -> &[u8] {
    // OCTET STRING, two length bytes, then SEQUENCE, two length bytes, INTEGER 0.
    let is_start = |window: &[u8]| {
        window[..2] == [0x04, 0x82] && window[4..6] == [0x30, 0x82] && window[8..] == [2, 1, 0]
    };
    let start = pkcs8.windows(11).position(is_start).unwrap();
    &pkcs8[start + 4..]
}

/// A provider with one key of each kind, and its key set file.
pub(crate) struct Provider {
    pub(crate) keys: [ProviderKey; 3],
    _folder: TempDir,
    pub(crate) file: String,
}

impl Provider {
    pub(crate) fn new() -> Self {
        let keys = [ProviderKey::rsa("r"), ProviderKey::ec("e"), ProviderKey::ed("d")];
        let folder = TempDir::new().unwrap();
        let file = folder.path().join("jwks.json").to_str().unwrap().to_owned();
        let provider = Self { keys, _folder: folder, file };
        provider.publish(&provider.keys.each_ref());
        provider
    }

    /// Puts these keys into the file, at one stroke.
    pub(crate) fn publish(&self, keys: &[&ProviderKey]) {
        let set: Vec<_> = keys.iter().map(|key| &key.public).collect();
        let draft = format!("{}.new", self.file);
        fs::write(&draft, json!({"keys": set}).to_string()).unwrap();
        fs::rename(draft, &self.file).unwrap();
    }

    pub(crate) fn start(&self, algorithms: &str) -> Arc<Server> {
        start(algorithms, &["--jwt-jwks-file", &self.file])
    }
}
