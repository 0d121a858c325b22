//! Tokens that are good, and those that only look so: their signatures here.

use data_encoding::BASE64URL_NOPAD;
use ring::hmac;
use serde_json::{Value, json};

use super::signing::*;
use super::*;
use crate::{AuthConfig, Authority, Identity, OwnRules, Right, RuleConfig, Voucher};

mod claims;
mod compact;
mod keys;

fn tokens(settings: &JwtConfig) -> Tokens {
    Tokens::new(settings).expect("settings")
}

fn check(settings: &JwtConfig, token: &[u8]) -> Result<Identity, TokenFault> {
    tokens(settings).check(token, NOW_S)
}

fn fault(settings: &JwtConfig, token: &[u8]) -> TokenFault {
    check(settings, token).expect_err("a fault")
}

fn jwks(keys: &[&Value]) -> String {
    json!({"keys": keys}).to_string()
}

/// The key of RFC 7515, A.2.1; its private half is in the RFC.
const RFC_N: &str = "ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ";

/// The examples of RFC 7515, A.1 (HS256), A.2 (RS256) and A.3 (ES256): signed by somebody else.
#[test]
fn signatures_of_others_hold() {
    const CLAIMS: &str =
        "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ";
    let secret = "AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow";
    let secret = data_encoding::BASE64.encode(&BASE64URL_NOPAD.decode(secret.as_bytes()).unwrap());
    let rsa = json!({"kty": "RSA", "n": RFC_N, "e": "AQAB"});
    let ec = json!({"kty": "EC", "crv": "P-256", "x": "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
        "y": "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"});
    for (algorithm, keys, header, signature) in [
        (
            "HS256",
            JwtKeys::Secret(SecretText(secret)),
            "eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9",
            "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk",
        ),
        (
            "RS256",
            JwtKeys::Jwks(jwks(&[&rsa])),
            "eyJhbGciOiJSUzI1NiJ9",
            "cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9uJdbF9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw",
        ),
        (
            "ES256",
            JwtKeys::Jwks(jwks(&[&ec])),
            "eyJhbGciOiJFUzI1NiJ9",
            "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q",
        ),
    ] {
        let settings = JwtConfig { name_claim: "iss".into(), ..settings(&[algorithm], keys) };
        let tokens = tokens(&settings);
        let token = format!("{header}.{CLAIMS}.{signature}");
        let identity = tokens.check(token.as_bytes(), 1_300_819_379).expect(algorithm);
        assert_eq!((identity.name(), identity.voucher()), (Some("joe"), Voucher::Token), "{algorithm}");
        assert_eq!(tokens.check(token.as_bytes(), 1_300_819_380).unwrap_err(), TokenFault::Expired);
        let other = format!("{header}.{}.{signature}", part(&json!({"iss": "eve", "exp": 2_000_000_000})));
        assert_eq!(tokens.check(other.as_bytes(), 1_300_819_379).unwrap_err(), TokenFault::Signature, "{algorithm}");
    }
}

#[test]
fn each_length_of_hash_and_each_curve() {
    for (name, hash) in [("HS256", hmac::HMAC_SHA256), ("HS384", hmac::HMAC_SHA384), ("HS512", hmac::HMAC_SHA512)] {
        let sign = |message: &[u8]| hmac::sign(&hmac::Key::new(hash, SECRET), message).as_ref().to_vec();
        let token = token(&json!({"alg": name}), &claims(json!({})), sign);
        assert_eq!(check(&by_secret(), &token).unwrap().name(), Some("alice"), "{name}");
    }
    let (jwk, sign) = ed25519("k");
    let settings = settings(&["EdDSA"], JwtKeys::Jwks(jwks(&[&jwk])));
    assert!(check(&settings, &token(&json!({"alg": "EdDSA", "kid": "k"}), &claims(json!({})), sign)).is_ok());
}

/// Is a token without a signature refused, however `none` is written, and whatever stands in the third part?
#[test]
fn none_is_no_algorithm() {
    let (jwk, _) = p256("k");
    for settings in [by_secret(), settings(&["ES256"], JwtKeys::Jwks(jwks(&[&jwk])))] {
        for none in ["none", "None", "NONE", "nOnE", "", "HS256 ", "hs256"] {
            let unsigned = token(&json!({"alg": none}), &claims(json!({})), |_| Vec::new());
            assert_eq!(fault(&settings, &unsigned), TokenFault::Algorithm, "{none}");
        }
        for header in [json!({}), json!({"alg": null}), json!({"alg": ["none"]}), json!({"alg": 1})] {
            assert_eq!(fault(&settings, &token(&header, &claims(json!({})), |_| Vec::new())), TokenFault::Malformed);
        }
    }
    for none in ["none", "None"] {
        let error = Tokens::new(&settings(&[none], JwtKeys::Jwks(jwks(&[&jwk])))).err().expect("refused");
        assert!(error.key == "auth.jwt.algorithms", "{error}");
    }
}

/// Is a public key never a secret of HMAC: not as PEM, not as JWK, not by settings, not with the algorithm in the key?
#[test]
fn a_public_key_is_no_secret() {
    let (jwk, _) = p256("k");
    let rsa = json!({"kty": "RSA", "kid": "r", "n": RFC_N, "e": "AQAB", "alg": "HS256"});
    let modulus: &'static [u8] = BASE64URL_NOPAD.decode(RFC_N.as_bytes()).unwrap().leak();
    let document: &'static [u8] = jwks(&[&jwk]).into_bytes().leak();
    let public = settings(&["ES256", "RS256"], JwtKeys::Jwks(jwks(&[&jwk])));
    for secret in [modulus, document, RFC_N.as_bytes(), b""] {
        for header in [json!({"alg": "HS256"}), json!({"alg": "HS256", "kid": "k"})] {
            assert_eq!(fault(&public, &token(&header, &claims(json!({})), hs256(secret))), TokenFault::Algorithm);
        }
    }
    for algorithms in [&["RS256", "HS256"][..], &["HS512"]] {
        assert!(Tokens::new(&settings(algorithms, JwtKeys::Jwks(jwks(&[&jwk])))).is_err(), "{algorithms:?}");
    }
    assert!(Tokens::new(&settings(&["ES256"], by_secret().keys)).is_err(), "nor the other way round");
    assert!(Tokens::new(&settings(&["RS256"], JwtKeys::Jwks(jwks(&[&rsa])))).is_err(), "a key that says it is HMAC's");
    let oct = json!({"kty": "oct", "k": BASE64URL_NOPAD.encode(SECRET)});
    assert!(Tokens::new(&settings(&["ES256"], JwtKeys::Jwks(jwks(&[&oct])))).is_err());
    assert_eq!(tokens(&settings(&["ES256"], JwtKeys::Jwks(jwks(&[&oct, &jwk])))).keys().len(), 1);
    let pem = format!("-----BEGIN PUBLIC KEY-----\n{RFC_N}");
    for text in
        [&pem, &format!("\u{feff}{pem}"), &format!("# of the issuer\n{pem}"), &jwks(&[&jwk]), &format!(" {jwk}\n")]
    {
        let public = SecretText(data_encoding::BASE64.encode(text.as_bytes()));
        assert!(Tokens::new(&settings(&["HS256"], JwtKeys::Secret(public))).is_err(), "{text:?} as secret");
    }
}

/// Does a key check what it is for and nothing else, even where another algorithm would have taken the signature?
#[test]
fn a_key_keeps_to_its_algorithm_and_curve() {
    let (jwk, sign) = p256("k");
    let settings = settings(&["ES256", "ES384", "EdDSA"], JwtKeys::Jwks(jwks(&[&jwk])));
    for algorithm in ["ES384", "EdDSA"] {
        let header = json!({"alg": algorithm, "kid": "k"});
        assert_eq!(fault(&settings, &token(&header, &claims(json!({})), &sign)), TokenFault::UnknownKey, "{algorithm}");
    }
    let other = json!({"alg": "ES256", "kid": "other"});
    assert_eq!(fault(&settings, &token(&other, &claims(json!({})), &sign)), TokenFault::UnknownKey);
    let critical = json!({"alg": "ES256", "kid": "k", "crit": ["b64"], "b64": false});
    assert_eq!(fault(&settings, &token(&critical, &claims(json!({})), &sign)), TokenFault::Algorithm);
}
