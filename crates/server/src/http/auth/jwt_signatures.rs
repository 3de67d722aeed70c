//! Verifies the signatures of JSON Web Tokens with `ring`: HS256, RS256, ES256 and EdDSA.
//!
//! A key verifies only algorithms of its own family. Nothing is ever signed here.

use jsonwebtoken::{
    Algorithm, AlgorithmFamily, DecodingKey, DecodingKeyKind,
    crypto::{CryptoProvider, JwtVerifier, KeyUtils},
    errors::{Error, ErrorKind},
    signature,
};
use ring::{
    error::Unspecified,
    hmac,
    signature::{
        ECDSA_P256_SHA256_FIXED, ED25519, RSA_PKCS1_2048_8192_SHA256, RsaPublicKeyComponents,
        UnparsedPublicKey, VerificationAlgorithm,
    },
};

/// Makes this the process's provider for `jsonwebtoken`. Further calls change nothing.
pub(super) fn install() {
    static PROVIDER: CryptoProvider = CryptoProvider {
        signer_factory: |_, _| Err(ErrorKind::UnsupportedAlgorithm.into()),
        verifier_factory: |algorithm, key| Ok(Box::new(Verifier::new(*algorithm, key)?)),
        key_utils: KeyUtils::new_unimplemented(),
    };
    let _ = PROVIDER.install_default();
}

struct Verifier {
    algorithm: Algorithm,
    key: DecodingKey,
}

impl Verifier {
    fn new(algorithm: Algorithm, key: &DecodingKey) -> Result<Self, Error> {
        let family = match algorithm {
            Algorithm::HS256 => AlgorithmFamily::Hmac,
            Algorithm::RS256 => AlgorithmFamily::Rsa,
            Algorithm::ES256 => AlgorithmFamily::Ec,
            Algorithm::EdDSA => AlgorithmFamily::Ed,
            _ => return Err(ErrorKind::UnsupportedAlgorithm.into()),
        };
        if key.family() != family {
            return Err(ErrorKind::InvalidKeyFormat.into());
        }
        Ok(Self { algorithm, key: key.clone() })
    }

    fn check(&self, message: &[u8], signature: &[u8]) -> Result<(), Unspecified> {
        let unparsed = |algorithm: &'static dyn VerificationAlgorithm, key: &[u8]| {
            UnparsedPublicKey::new(algorithm, key).verify(message, signature)
        };
        match (self.algorithm, self.key.kind()) {
            (Algorithm::HS256, DecodingKeyKind::SecretOrDer(secret)) => {
                hmac::verify(&hmac::Key::new(hmac::HMAC_SHA256, secret), message, signature)
            }
            (Algorithm::RS256, DecodingKeyKind::RsaModulusExponent { n, e }) => {
                let (n, e) = (without_leading_zeros(n), without_leading_zeros(e));
                let key = RsaPublicKeyComponents { n, e };
                key.verify(&RSA_PKCS1_2048_8192_SHA256, message, signature)
            }
            (Algorithm::RS256, DecodingKeyKind::SecretOrDer(key)) => {
                unparsed(&RSA_PKCS1_2048_8192_SHA256, key)
            }
            (Algorithm::ES256, DecodingKeyKind::SecretOrDer(key)) => {
                unparsed(&ECDSA_P256_SHA256_FIXED, key)
            }
            (Algorithm::EdDSA, DecodingKeyKind::SecretOrDer(key)) => unparsed(&ED25519, key),
            _ => Err(Unspecified),
        }
    }
}

/// Some providers publish numbers with the zero byte that keeps them positive in Java.
fn without_leading_zeros(number: &[u8]) -> &[u8] {
    let start = number.iter().position(|byte| *byte != 0).unwrap_or(number.len());
    &number[start..]
}

impl signature::Verifier<Vec<u8>> for Verifier {
    fn verify(&self, message: &[u8], signature: &Vec<u8>) -> Result<(), signature::Error> {
        self.check(message, signature).map_err(|_| signature::Error::new())
    }
}

impl JwtVerifier for Verifier {
    fn algorithm(&self) -> Algorithm {
        self.algorithm
    }
}
