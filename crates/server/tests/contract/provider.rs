//! An identity provider for tests: keys, the file they are published in, and tokens they sign.

use std::{fs, sync::Arc};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use jsonwebtoken::{Algorithm, Header, jwk::Jwk};
use ring::{
    hmac,
    rand::SystemRandom,
    signature::{
        ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair, RSA_PKCS1_SHA256,
        RsaKeyPair, RsaPublicKeyComponents,
    },
};
use serde_json::{Value, json};
use tempfile::TempDir;
use testkit::TestServer;

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

/// A key that signs tokens.
pub(crate) enum SigningKey {
    Secret(Vec<u8>),
    Rsa(RsaKeyPair),
    Ec(EcdsaKeyPair),
    Ed(Ed25519KeyPair),
}

impl SigningKey {
    pub(crate) fn from_secret(secret: impl AsRef<[u8]>) -> Self {
        Self::Secret(secret.as_ref().to_vec())
    }

    fn sign(&self, algorithm: Algorithm, message: &[u8]) -> Vec<u8> {
        let random = SystemRandom::new();
        match (self, algorithm) {
            (Self::Secret(secret), algorithm) => {
                let hash = match algorithm {
                    Algorithm::HS256 => hmac::HMAC_SHA256,
                    Algorithm::HS384 => hmac::HMAC_SHA384,
                    Algorithm::HS512 => hmac::HMAC_SHA512,
                    _ => panic!("{algorithm:?} takes no secret"),
                };
                hmac::sign(&hmac::Key::new(hash, secret), message).as_ref().to_vec()
            }
            (Self::Rsa(pair), Algorithm::RS256) => {
                let mut signature = vec![0; pair.public().modulus_len()];
                pair.sign(&RSA_PKCS1_SHA256, &random, message, &mut signature).unwrap();
                signature
            }
            (Self::Ec(pair), Algorithm::ES256) => {
                pair.sign(&random, message).unwrap().as_ref().to_vec()
            }
            (Self::Ed(pair), Algorithm::EdDSA) => pair.sign(message).as_ref().to_vec(),
            _ => panic!("the key does not sign with {algorithm:?}"),
        }
    }
}

pub(crate) fn sign(header: &Header, claims: &Value, key: &SigningKey) -> String {
    let header_text = serde_json::to_string(header).unwrap();
    let message = format!("{}.{}", encode(header_text), encode(claims.to_string()));
    let signature = key.sign(header.alg, message.as_bytes());
    format!("{message}.{}", encode(signature))
}

fn encode(bytes: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

pub(crate) fn start(algorithms: &str, flags: &[&str]) -> Arc<TestServer> {
    let always = ["--jwt-issuer", ISSUER, "--jwt-audience", AUDIENCE, "--jwt-algorithms"];
    TestServer::start(&[&always[..], &[algorithms], flags].concat())
}

/// A key pair of the provider, by the name its tokens call it.
pub(crate) struct ProviderKey {
    pub(crate) name: &'static str,
    pub(crate) algorithm: Algorithm,
    pub(crate) private: SigningKey,
    pub(crate) public: Jwk,
    /// The public key in the forms that an attacker could take for a secret.
    pub(crate) public_bytes: Vec<Vec<u8>>,
}

impl ProviderKey {
    fn new(
        name: &'static str,
        algorithm: Algorithm,
        private: SigningKey,
        mut public: Value,
        public_bytes: Vec<Vec<u8>>,
    ) -> Self {
        public["kid"] = json!(name);
        public["alg"] = json!(algorithm);
        let public = serde_json::from_value(public).unwrap();
        Self { name, algorithm, private, public, public_bytes }
    }

    /// Always the same key: `ring` generates no RSA keys.
    pub(crate) fn rsa(name: &'static str) -> Self {
        let pkcs8 = include_bytes!("keys/rsa-test-only.pkcs8.der");
        let pair = RsaKeyPair::from_pkcs8(pkcs8).unwrap();
        let numbers = RsaPublicKeyComponents::<Vec<u8>>::from(pair.public());
        let public = json!({"kty": "RSA", "n": encode(numbers.n), "e": encode(numbers.e)});
        let pkcs1 = pair.public().as_ref().to_vec();
        let x509 = [&X509_RSA_2048[..], &pkcs1].concat();
        Self::new(name, Algorithm::RS256, SigningKey::Rsa(pair), public, vec![pkcs1, x509])
    }

    pub(crate) fn ec(name: &'static str) -> Self {
        let (algorithm, random) = (&ECDSA_P256_SHA256_FIXED_SIGNING, SystemRandom::new());
        let pkcs8 = EcdsaKeyPair::generate_pkcs8(algorithm, &random).unwrap();
        let pair = EcdsaKeyPair::from_pkcs8(algorithm, pkcs8.as_ref(), &random).unwrap();
        let point = pair.public_key().as_ref().to_vec();
        // A byte that says the point is not compressed, then its coordinates.
        let (x, y) = (encode(&point[1..33]), encode(&point[33..]));
        let public = json!({"kty": "EC", "crv": "P-256", "x": x, "y": y});
        Self::new(name, Algorithm::ES256, SigningKey::Ec(pair), public, vec![point])
    }

    pub(crate) fn ed(name: &'static str) -> Self {
        let pkcs8 = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).unwrap();
        let pair = Ed25519KeyPair::from_pkcs8(pkcs8.as_ref()).unwrap();
        let point = pair.public_key().as_ref().to_vec();
        let public = json!({"kty": "OKP", "crv": "Ed25519", "x": encode(&point)});
        Self::new(name, Algorithm::EdDSA, SigningKey::Ed(pair), public, vec![point])
    }

    pub(crate) fn sign(&self, claims: &Value) -> String {
        let mut header = Header::new(self.algorithm);
        header.kid = Some(self.name.to_owned());
        sign(&header, claims, &self.private)
    }
}

/// What X.509 puts before the public numbers of an RSA key of 2048 bits.
const X509_RSA_2048: [u8; 24] = [
    0x30, 0x82, 0x01, 0x22, 0x30, 0x0d, 0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01,
    0x01, 0x05, 0x00, 0x03, 0x82, 0x01, 0x0f, 0x00,
];

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

    pub(crate) fn start(&self, algorithms: &str) -> Arc<TestServer> {
        start(algorithms, &["--jwt-jwks-file", &self.file])
    }
}
