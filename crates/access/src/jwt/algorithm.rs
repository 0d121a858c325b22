//! Signature algorithms of RFC 7518 and RFC 8037, as far as they are taken.

use ring::{hmac, signature};

/// One algorithm. `none` is no value of this type. ES512 is left out: nothing that checks it is in what we build with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are those of the RFC")]
pub enum Algorithm {
    HS256,
    HS384,
    HS512,
    RS256,
    RS384,
    RS512,
    PS256,
    PS384,
    PS512,
    ES256,
    ES384,
    EdDSA,
}

/// What a key must be for it.
pub(super) enum Needs {
    /// A secret of at least so many bytes.
    Secret(hmac::Algorithm, usize),
    Rsa(&'static signature::RsaParameters),
    /// A point on a curve of that name (RFC 7518, 6.2.1.1; RFC 8037, 2).
    Curve(&'static str, &'static dyn signature::VerificationAlgorithm),
}

impl Algorithm {
    /// Every one.
    pub const ALL: [Algorithm; 12] = {
        use Algorithm::*;
        [HS256, HS384, HS512, RS256, RS384, RS512, PS256, PS384, PS512, ES256, ES384, EdDSA]
    };

    /// As it stands in a token's header.
    pub const fn name(self) -> &'static str {
        match self {
            Algorithm::HS256 => "HS256",
            Algorithm::HS384 => "HS384",
            Algorithm::HS512 => "HS512",
            Algorithm::RS256 => "RS256",
            Algorithm::RS384 => "RS384",
            Algorithm::RS512 => "RS512",
            Algorithm::PS256 => "PS256",
            Algorithm::PS384 => "PS384",
            Algorithm::PS512 => "PS512",
            Algorithm::ES256 => "ES256",
            Algorithm::ES384 => "ES384",
            Algorithm::EdDSA => "EdDSA",
        }
    }

    /// The algorithm of that name, in exactly this spelling.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|algorithm| algorithm.name() == name)
    }

    /// Whether the one who checks could sign as well.
    pub fn is_secret(self) -> bool {
        matches!(self.needs(), Needs::Secret(..))
    }

    pub(super) fn needs(self) -> Needs {
        match self {
            // RFC 7518, 3.2: a secret is as long as the hash at least.
            Algorithm::HS256 => Needs::Secret(hmac::HMAC_SHA256, 32),
            Algorithm::HS384 => Needs::Secret(hmac::HMAC_SHA384, 48),
            Algorithm::HS512 => Needs::Secret(hmac::HMAC_SHA512, 64),
            Algorithm::RS256 => Needs::Rsa(&signature::RSA_PKCS1_2048_8192_SHA256),
            Algorithm::RS384 => Needs::Rsa(&signature::RSA_PKCS1_2048_8192_SHA384),
            Algorithm::RS512 => Needs::Rsa(&signature::RSA_PKCS1_2048_8192_SHA512),
            Algorithm::PS256 => Needs::Rsa(&signature::RSA_PSS_2048_8192_SHA256),
            Algorithm::PS384 => Needs::Rsa(&signature::RSA_PSS_2048_8192_SHA384),
            Algorithm::PS512 => Needs::Rsa(&signature::RSA_PSS_2048_8192_SHA512),
            Algorithm::ES256 => Needs::Curve("P-256", &signature::ECDSA_P256_SHA256_FIXED),
            Algorithm::ES384 => Needs::Curve("P-384", &signature::ECDSA_P384_SHA384_FIXED),
            Algorithm::EdDSA => Needs::Curve("Ed25519", &signature::ED25519),
        }
    }
}
