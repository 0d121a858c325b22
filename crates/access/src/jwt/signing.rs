//! Signs tokens, for tests.

use data_encoding::{BASE64, BASE64URL_NOPAD};
use ring::hmac;
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair};
use serde_json::{Value, json};

use super::config::{JwtConfig, JwtKeys, SecretText};

pub(crate) const SECRET: &[u8] = b"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
pub(crate) const NOW_S: u64 = 1_800_000_000;

/// Settings that take HMAC under [`SECRET`].
pub(crate) fn by_secret() -> JwtConfig {
    settings(&["HS256", "HS384", "HS512"], JwtKeys::Secret(SecretText(BASE64.encode(SECRET))))
}

pub(crate) fn settings(algorithms: &[&str], keys: JwtKeys) -> JwtConfig {
    JwtConfig {
        algorithms: algorithms.iter().map(|name| (*name).to_owned()).collect(),
        keys,
        issuer: None,
        audience: Vec::new(),
        leeway_s: 0,
        name_claim: "sub".into(),
        names: "*".into(),
        client_id_claim: None,
        rules_claim: None,
        token_bytes_max: 8192,
    }
}

/// Claims of alice that are good for a minute; `more` replaces and adds.
pub(crate) fn claims(more: Value) -> Value {
    let mut claims = json!({"sub": "alice", "exp": NOW_S + 60});
    for (name, value) in more.as_object().expect("a table") {
        claims[name] = value.clone();
    }
    claims
}

pub(crate) fn part(value: &Value) -> String {
    BASE64URL_NOPAD.encode(value.to_string().as_bytes())
}

pub(crate) fn token(header: &Value, claims: &Value, sign: impl Fn(&[u8]) -> Vec<u8>) -> Vec<u8> {
    let message = format!("{}.{}", part(header), part(claims));
    format!("{message}.{}", BASE64URL_NOPAD.encode(&sign(message.as_bytes()))).into_bytes()
}

pub(crate) fn hs256(secret: &'static [u8]) -> impl Fn(&[u8]) -> Vec<u8> {
    move |message| hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, secret), message).as_ref().to_vec()
}

/// A good token of HS256.
pub(crate) fn hs256_token(more: Value) -> Vec<u8> {
    token(&json!({"alg": "HS256"}), &claims(more), hs256(SECRET))
}

/// A key of P-256 with its JWK, under that name.
pub(crate) fn p256(kid: &str) -> (Value, impl Fn(&[u8]) -> Vec<u8>) {
    let random = SystemRandom::new();
    let pkcs8 = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random).expect("a key");
    let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, pkcs8.as_ref(), &random).expect("a key");
    let point = pair.public_key().as_ref().to_vec();
    let [x, y] = [&point[1..33], &point[33..]].map(|half| BASE64URL_NOPAD.encode(half));
    let jwk = json!({"kty": "EC", "crv": "P-256", "kid": kid, "x": x, "y": y});
    (jwk, move |message| pair.sign(&random, message).expect("a signature").as_ref().to_vec())
}

/// A key of Ed25519 with its JWK, under that name.
pub(crate) fn ed25519(kid: &str) -> (Value, impl Fn(&[u8]) -> Vec<u8>) {
    let pkcs8 = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).expect("a key");
    let pair = Ed25519KeyPair::from_pkcs8(pkcs8.as_ref()).expect("a key");
    let jwk =
        json!({"kty": "OKP", "crv": "Ed25519", "kid": kid, "x": BASE64URL_NOPAD.encode(pair.public_key().as_ref())});
    (jwk, move |message| pair.sign(message).as_ref().to_vec())
}
