//! One key, of one kind; it checks signatures of that kind and no other.

use std::fmt;

use ring::signature::{RsaPublicKeyComponents, UnparsedPublicKey};
use ring::{hmac, signature};
use serde_json::{Map, Value};

use super::algorithm::{Algorithm, Needs};

/// What is public, and no secret of anybody's.
const BEGIN: &[u8] = b"-----BEGIN";
/// As ring takes them.
const RSA_BITS: std::ops::RangeInclusive<usize> = 2048..=8192;

/// A key that was looked at: long enough, and whole.
#[derive(Clone, PartialEq, Eq)]
pub(super) enum Key {
    /// For HMAC; whoever has it can sign.
    Secret(Box<[u8]>),
    /// Modulus and exponent, big-endian, without leading zeros.
    Rsa { n: Box<[u8]>, e: Box<[u8]> },
    /// A point: uncompressed on P-256 and P-384, 32 bytes on Ed25519.
    Point { curve: &'static str, point: Box<[u8]> },
}

impl Key {
    /// A secret, at least as long as `algorithms` want it.
    pub(super) fn secret(bytes: &[u8], algorithms: &[Algorithm]) -> Result<Self, String> {
        // Wherever it begins: behind a mark of encoding, a comment.
        if bytes.windows(BEGIN.len()).any(|window| window == BEGIN) {
            return Err("is a PEM, which is no secret".into());
        }
        if serde_json::from_slice::<Map<String, Value>>(bytes)
            .is_ok_and(|json| json.contains_key("keys") || json.contains_key("kty"))
        {
            return Err("is a JWK or a set of them, which is no secret: name it in jwks_file".into());
        }
        for algorithm in algorithms {
            if let Needs::Secret(_, bytes_min) = algorithm.needs()
                && bytes.len() < bytes_min
            {
                let (name, len) = (algorithm.name(), bytes.len());
                return Err(format!("has {len} bytes, and {name} wants {bytes_min} at least"));
            }
        }
        Ok(Key::Secret(bytes.into()))
    }

    pub(super) fn rsa(n: &[u8], e: &[u8]) -> Result<Self, String> {
        let [n, e] = [n, e].map(|number| &number[number.iter().take_while(|byte| **byte == 0).count()..]);
        let bits = n.first().map_or(0, |first| n.len() * 8 - first.leading_zeros() as usize);
        if !RSA_BITS.contains(&bits) {
            return Err(format!("is an RSA key of {bits} bits; taken are {} to {}", RSA_BITS.start(), RSA_BITS.end()));
        }
        // ring takes 3 and more, and at most 33 bits; an even one is no exponent.
        let is_exponent = (1..=5).contains(&e.len()) && e.last().is_some_and(|last| last & 1 == 1) && e != [1];
        if !is_exponent || n.last().is_some_and(|last| last & 1 == 0) {
            return Err("is no RSA key: its modulus or exponent cannot be one".into());
        }
        Ok(Key::Rsa { n: n.into(), e: e.into() })
    }

    pub(super) fn point(curve: &str, point: &[u8]) -> Result<Self, String> {
        let (curve, is_right) = match curve {
            "P-256" => ("P-256", point.len() == 65 && point[0] == 4),
            "P-384" => ("P-384", point.len() == 97 && point[0] == 4),
            "Ed25519" => ("Ed25519", point.len() == 32),
            _ => return Err("is on a curve that is not taken; taken are P-256, P-384 and Ed25519".into()),
        };
        if !is_right {
            return Err(format!("is no point of {curve}"));
        }
        Ok(Key::Point { curve, point: point.into() })
    }

    /// Whether signatures of that kind are this key's at all.
    pub(super) fn suits(&self, algorithm: Algorithm) -> bool {
        match (algorithm.needs(), self) {
            (Needs::Secret(_, bytes_min), Key::Secret(bytes)) => bytes.len() >= bytes_min,
            (Needs::Rsa(_), Key::Rsa { .. }) => true,
            (Needs::Curve(wanted, _), Key::Point { curve, .. }) => wanted == *curve,
            _ => false,
        }
    }

    /// Whether `signature` is this key's of `message`. A key of another kind says no.
    pub(super) fn verifies(&self, algorithm: Algorithm, message: &[u8], signature: &[u8]) -> bool {
        match (algorithm.needs(), self) {
            (Needs::Secret(hash, bytes_min), Key::Secret(bytes)) if bytes.len() >= bytes_min => {
                hmac::verify(&hmac::Key::new(hash, bytes), message, signature).is_ok()
            }
            (Needs::Rsa(parameters), Key::Rsa { n, e }) => rsa_verifies(n, e, parameters, message, signature),
            (Needs::Curve(wanted, how), Key::Point { curve, point }) if wanted == *curve => {
                UnparsedPublicKey::new(how, point).verify(message, signature).is_ok()
            }
            _ => false,
        }
    }
}

fn rsa_verifies(
    n: &[u8],
    e: &[u8],
    parameters: &'static signature::RsaParameters,
    message: &[u8],
    signature: &[u8],
) -> bool {
    RsaPublicKeyComponents { n, e }.verify(parameters, message, signature).is_ok()
}

impl fmt::Debug for Key {
    /// Without its bytes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Key::Secret(_) => "Key(secret)",
            Key::Rsa { .. } => "Key(RSA)",
            Key::Point { curve, .. } => curve,
        })
    }
}
