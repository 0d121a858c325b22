//! The keys that signatures may be checked with: taken as a whole, or not at all.

use data_encoding::{BASE64, BASE64URL_NOPAD};
use serde::Deserialize;
use serde_json::Value;

use super::algorithm::Algorithm;
use super::compact::Compact;
use super::config::JwtKeys;
use super::fault::TokenFault;
use super::key::Key;
use super::pem;

/// Keys of one set.
const KEYS_MAX: usize = 64;
/// Keys that one token is tried with, where it does not say which: a signature costs some tens of microseconds.
const TRIES_MAX: usize = 8;
/// What editors put in front of a text; readers of JSON may pass over it (RFC 8259, 8.1).
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Some keys; empty where none were fetched yet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeySet {
    keys: Vec<NamedKey>,
    /// Keys of the set that nothing here can be checked with.
    left_out: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct NamedKey {
    /// `None`: it may be any key that a token names.
    id: Option<String>,
    /// `None`: it may be used for every algorithm of its kind.
    algorithm: Option<Algorithm>,
    key: Key,
}

/// A JWK Set, as far as it is looked at.
#[derive(Deserialize)]
struct Jwks {
    keys: Vec<Value>,
}

/// A JWK (RFC 7517, 7518, 8037), as far as it is looked at.
#[derive(Deserialize)]
struct Jwk {
    kty: String,
    kid: Option<String>,
    alg: Option<String>,
    r#use: Option<String>,
    key_ops: Option<Vec<String>>,
    crv: Option<String>,
    n: Option<String>,
    e: Option<String>,
    x: Option<String>,
    y: Option<String>,
}

impl KeySet {
    /// The keys that are configured; none yet where they are to be fetched.
    ///
    /// # Errors
    /// What is wrong; nothing of a key is in it.
    pub(super) fn configured(keys: &JwtKeys, algorithms: &[Algorithm]) -> Result<Self, String> {
        match keys {
            JwtKeys::Secret(secret) => {
                let bytes =
                    BASE64.decode(secret.0.as_bytes()).map_err(|_| "was not handed over in base64".to_owned())?;
                Ok(KeySet::of_one_kind(vec![Key::secret(&bytes, algorithms)?]))
            }
            JwtKeys::Pem(texts) => {
                let mut keys = Vec::new();
                for text in texts {
                    keys.extend(pem::keys(text)?);
                }
                if keys.is_empty() || keys.len() > KEYS_MAX {
                    return Err(format!("has {} keys; taken are 1 to {KEYS_MAX}", keys.len()));
                }
                if !keys.iter().any(|key| algorithms.iter().any(|algorithm| key.suits(*algorithm))) {
                    return Err("has no key for any of the algorithms".into());
                }
                Ok(KeySet::of_one_kind(keys))
            }
            JwtKeys::Jwks(text) => KeySet::from_jwks(text.as_bytes(), algorithms),
            JwtKeys::Url(_) => Ok(KeySet::default()),
        }
    }

    fn of_one_kind(keys: Vec<Key>) -> Self {
        let keys = keys.into_iter().map(|key| NamedKey { id: None, algorithm: None, key }).collect();
        KeySet { keys, left_out: 0 }
    }

    /// Reads a JWK Set. Keys of kinds that are not taken, that are for something else, and secrets are left out.
    ///
    /// # Errors
    /// It is cut off, no JWK Set, has too many keys, or none for `algorithms`; nothing of a key is in it.
    pub fn from_jwks(text: &[u8], algorithms: &[Algorithm]) -> Result<Self, String> {
        let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
        let set: Jwks = serde_json::from_slice(text).map_err(|error| {
            let (line, column) = (error.line(), error.column());
            format!("is no JWK Set, or cut off, at line {line}, column {column}")
        })?;
        if set.keys.len() > KEYS_MAX {
            return Err(format!("has {} keys; taken are at most {KEYS_MAX}", set.keys.len()));
        }
        let (count, mut why) = (set.keys.len(), None);
        let mut keys = Vec::new();
        for value in set.keys {
            match named_key(value) {
                Ok(key) if algorithms.iter().any(|algorithm| key.suits(*algorithm)) => keys.push(key),
                Ok(_) => {}
                Err(what) => why = Some(what),
            }
        }
        if keys.is_empty() {
            let why = why.map(|what| format!("; one {what}")).unwrap_or_default();
            return Err(format!("has {count} keys, and none that signatures can be checked with{why}"));
        }
        Ok(KeySet { left_out: count - keys.len(), keys })
    }

    /// How many keys there are.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// How many of the set were left out.
    pub fn left_out(&self) -> usize {
        self.left_out
    }

    /// Whether the signature of `token` is that of one of these keys.
    pub(super) fn verify(&self, token: &Compact<'_>) -> Result<(), TokenFault> {
        if self.keys.is_empty() {
            return Err(TokenFault::NoKeys);
        }
        let is_meant = |key: &&NamedKey| match (&key.id, &token.key_id) {
            (Some(id), Some(wanted)) => id == wanted,
            _ => true,
        };
        let candidates: Vec<_> =
            self.keys.iter().filter(is_meant).filter(|key| key.suits(token.algorithm)).take(TRIES_MAX).collect();
        if candidates.is_empty() {
            return Err(TokenFault::UnknownKey);
        }
        let is_its = |key: &&NamedKey| key.key.verifies(token.algorithm, token.message, &token.signature);
        if candidates.iter().any(is_its) { Ok(()) } else { Err(TokenFault::Signature) }
    }
}

impl NamedKey {
    fn suits(&self, algorithm: Algorithm) -> bool {
        self.algorithm.is_none_or(|own| own == algorithm) && self.key.suits(algorithm)
    }
}

/// One key of a set; what is wrong with it otherwise, in words that go on from "one".
fn named_key(value: Value) -> Result<NamedKey, String> {
    let jwk: Jwk = serde_json::from_value(value).map_err(|_| "is no JWK".to_owned())?;
    let is_for_signatures = jwk.r#use.as_deref().is_none_or(|usage| usage == "sig")
        && jwk.key_ops.as_ref().is_none_or(|operations| operations.iter().any(|operation| operation == "verify"));
    if !is_for_signatures {
        return Err("is not for signatures".into());
    }
    let algorithm = match &jwk.alg {
        None => None,
        Some(name) => Some(Algorithm::from_name(name).ok_or("is for an algorithm that is not taken")?),
    };
    let key = match jwk.kty.as_str() {
        "RSA" => Key::rsa(&number(&jwk.n)?, &number(&jwk.e)?)?,
        "EC" => {
            let point = [vec![4], number(&jwk.x)?, number(&jwk.y)?].concat();
            Key::point(jwk.crv.as_deref().unwrap_or_default(), &point)?
        }
        "OKP" => Key::point(jwk.crv.as_deref().unwrap_or_default(), &number(&jwk.x)?)?,
        "oct" => return Err("is a secret, which belongs into secret_file and into no JWK Set".into()),
        _ => return Err("is of a kind that is not taken: RSA, EC and OKP are".into()),
    };
    Ok(NamedKey { id: jwk.kid, algorithm, key })
}

fn number(text: &Option<String>) -> Result<Vec<u8>, String> {
    let text = text.as_deref().ok_or("has a number missing")?;
    BASE64URL_NOPAD.decode(text.as_bytes()).map_err(|_| "has a number that is no base64url".into())
}
