//! Tokens that are good, and those that only look so.

use data_encoding::BASE64URL_NOPAD;
use ring::hmac;
use serde_json::{Value, json};

use super::signing::*;
use super::*;
use crate::{AuthConfig, Authority, Identity, OwnRules, Right, RuleConfig, Voucher};

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
    let pem = SecretText(data_encoding::BASE64.encode(format!("-----BEGIN PUBLIC KEY-----\n{RFC_N}").as_bytes()));
    assert!(Tokens::new(&settings(&["HS256"], JwtKeys::Secret(pem))).is_err(), "a PEM as secret");
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

#[test]
fn times_issuer_and_audience_are_looked_at() {
    let settings = JwtConfig {
        leeway_s: 10,
        issuer: Some("https://issuer.example".into()),
        audience: vec!["broker".into(), "broker-2".into()],
        ..by_secret()
    };
    let good = json!({"iss": "https://issuer.example", "aud": ["x", "broker-2"]});
    let with = |more: Value| {
        let mut all = good.clone();
        more.as_object().unwrap().iter().for_each(|(name, value)| all[name] = value.clone());
        check(&settings, &hs256_token(all)).map(|_| ())
    };
    let now = NOW_S as f64;
    for (more, expected) in [
        (json!({}), Ok(())),
        (json!({"aud": "broker"}), Ok(())),
        (json!({"exp": NOW_S - 9}), Ok(())),
        (json!({"exp": now + 0.5}), Ok(())),
        (json!({"nbf": NOW_S + 10}), Ok(())),
        (json!({"exp": NOW_S - 10}), Err(TokenFault::Expired)),
        (json!({"exp": null}), Err(TokenFault::Expired)),
        (json!({"exp": "2099"}), Err(TokenFault::Expired)),
        (json!({"exp": -1}), Err(TokenFault::Expired)),
        (json!({"exp": 1e300}), Err(TokenFault::Expired)),
        (json!({"nbf": NOW_S + 11}), Err(TokenFault::NotYet)),
        (json!({"nbf": "0"}), Err(TokenFault::NotYet)),
        (json!({"iss": "https://issuer.example/"}), Err(TokenFault::Issuer)),
        (json!({"iss": ["https://issuer.example"]}), Err(TokenFault::Issuer)),
        (json!({"iss": null}), Err(TokenFault::Issuer)),
        (json!({"aud": "other"}), Err(TokenFault::Audience)),
        (json!({"aud": []}), Err(TokenFault::Audience)),
        (json!({"aud": null}), Err(TokenFault::Audience)),
        (json!({"aud": {"broker": "broker"}}), Err(TokenFault::Audience)),
    ] {
        assert_eq!(with(more.clone()), expected, "{more}");
    }
    let mut bare = claims(json!({}));
    bare.as_object_mut().unwrap().remove("exp");
    let endless = token(&json!({"alg": "HS256"}), &bare, hs256(SECRET));
    assert_eq!(fault(&by_secret(), &endless), TokenFault::Expired, "exp is required");
    let end = check(&settings, &hs256_token(good.clone())).unwrap().grant().unwrap().expires_at_s;
    assert_eq!(end, Some(NOW_S + 60 + 10));
}

#[test]
fn a_name_is_one_that_rules_can_speak_of() {
    let settings = JwtConfig { names: "device-*".into(), ..by_secret() };
    for name in ["alice", "", "device", "device-\0", "device-\n", "device-*"] {
        assert_eq!(fault(&settings, &hs256_token(json!({"sub": name}))), TokenFault::Name, "{name:?}");
    }
    for odd in [json!(null), json!(7), json!(["device-7"]), json!("anonymous")] {
        assert_eq!(fault(&by_secret(), &hs256_token(json!({"sub": odd}))), TokenFault::Name, "{odd}");
    }
    for name in ["device-7", "device-#", "device-+/x"] {
        assert_eq!(check(&settings, &hs256_token(json!({"sub": name}))).unwrap().name(), Some(name));
    }
}

/// Is a megabyte refused before anything of it is decoded, and is what is cut off or of another alphabet no token?
#[test]
fn what_is_no_token_is_refused() {
    let big = [b"eyJ".repeat(1 << 20), b"..".to_vec()].concat();
    assert_eq!(fault(&by_secret(), &big), TokenFault::TooLong);
    let good = hs256_token(json!({}));
    for end in 0..good.len() {
        assert!(check(&by_secret(), &good[..end]).is_err(), "{end}");
    }
    let text = String::from_utf8(good.clone()).unwrap();
    for bad in
        [format!("{text}="), format!("{text}."), format!(" {text}"), text.replace('.', ".."), format!("{text}\0")]
    {
        assert!(check(&by_secret(), bad.as_bytes()).is_err(), "{bad}");
    }
    let deep = format!("{{\"alg\":{}1{}}}", "[".repeat(3000), "]".repeat(3000));
    let deep = format!("{}.e30.AA", BASE64URL_NOPAD.encode(deep.as_bytes()));
    assert_eq!(fault(&by_secret(), deep.as_bytes()), TokenFault::Malformed);
    for last in b'A'..=b'z' {
        let mut other = good.clone();
        let end = other.len() - 1;
        if other[end] != last {
            other[end] = last;
            assert!(check(&by_secret(), &other).is_err(), "each token has one spelling");
        }
    }
}

/// Does nothing that stands in a token get more than the operator's rules or its own say: wildcards, levels, `$`, NUL?
#[test]
fn names_in_tokens_are_no_wildcards() {
    let jwt = JwtConfig { rules_claim: Some("acl".into()), ..by_secret() };
    let own = json!([{"may": ["publish", "subscribe"], "topics": ["d/%u/#", "c/%c"]}]);
    for name in ["+", "#", "a/b", "a+", "/"] {
        let identity = check(&jwt, &hs256_token(json!({"sub": name, "acl": own}))).unwrap();
        let rights = crate::Rules::default().rights(&identity, Some("id")).unwrap();
        assert_eq!(rights.void_patterns(), 1, "{name}");
        assert!(!rights.may_subscribe(&format!("d/{name}/#")) && !rights.may_publish("d/x/y"), "{name}");
        assert!(rights.may_publish("c/id") && !rights.may_publish("c/other"));
    }
}

#[test]
fn rules_in_tokens_are_bounded() {
    let jwt = JwtConfig { rules_claim: Some("acl".into()), ..by_secret() };
    let with = |acl: &Value| check(&jwt, &hs256_token(json!({"acl": acl}))).map(|_| ());
    let rule = |topic: &str| json!({"may": ["publish"], "topics": [topic]});
    assert_eq!(with(&json!([rule("a/+/#"), rule("%c/x")])), Ok(()));
    for bad in [
        json!("publish"),
        json!({"may": ["publish"], "topics": ["a"]}),
        json!([{"may": ["admin"], "topics": ["a"]}]),
        json!([{"may": ["publish", "observe"], "topics": ["a"]}]),
        json!([{"may": ["connect"], "client_ids": ["*"]}]),
        json!([{"may": ["publish"], "topics": ["a"], "identity": "*"}]),
        json!([{"may": ["publish"], "topics": []}]),
        json!([{"may": ["publish"], "topics": ["a/#/b"]}]),
        json!([{"may": ["publish"], "topics": ["a\0b"]}]),
        json!([{"may": ["publish"], "topics": ["$share/g/a"]}]),
        json!([{"may": ["publish"], "topics": ["%x"]}]),
        json!(vec![rule("a"); 65]),
        json!([{"may": ["publish"], "topics": vec!["a"; 257]}]),
        json!(null),
    ] {
        assert_eq!(with(&bad), Err(TokenFault::Claims), "{bad}");
    }
}

/// Do a token's rules permit beside the operator's, does the operator's denial win, and does a token without rules, where they
/// are wanted, permit nothing of its own?
#[test]
fn rules_of_token_and_operator_go_together() {
    let jwt = JwtConfig { rules_claim: Some("acl".into()), ..by_secret() };
    let auth = AuthConfig { jwt: Some(jwt), ..AuthConfig::default() };
    let rules: Vec<RuleConfig> = serde_json::from_value(json!([
        {"identity": "alice", "may": ["publish"], "topics": ["of/rules"]},
        {"identity": "*", "may": ["publish", "subscribe"], "topics": ["secret/#"], "effect": "deny"},
    ]))
    .unwrap();
    let authority = Authority::new(&auth, &rules).unwrap();
    let own = json!([{"may": ["publish", "subscribe"], "topics": ["of/token/#", "secret/x"]}]);
    let identity = |more| authority.check_token(&hs256_token(more), NOW_S).unwrap();
    let rights = authority.rights(&identity(json!({"acl": own})), "c").unwrap();
    assert!(rights.may_publish("of/rules") && rights.may_publish("of/token/x") && rights.may_subscribe("of/token/#"));
    assert!(!rights.may_publish("secret/x") && !rights.may_subscribe("of/rules") && !rights.may_publish("else"));
    let without = authority.rights(&identity(json!({})), "c").unwrap();
    assert!(without.may_publish("of/rules") && !without.may_publish("of/token/x"));
    assert!(!authority.may(&identity(json!({"acl": own})), Right::Admin, ""));
    authority.reload(&auth, &[]).unwrap();
    let alone = authority.rights(&identity(json!({})), "c").expect("nothing permitted, not everything");
    assert!(!alone.may_publish("of/rules"));
    let lost = Identity::granted("alice", Voucher::Token, crate::Grant { rules: OwnRules::Lost, ..Default::default() });
    authority.reload(&auth, &rules).unwrap();
    let lost = authority.rights(&lost, "c").unwrap();
    assert!(lost.may_subscribe("of/token/#") && !lost.may_subscribe("secret/x") && !lost.may_subscribe("#"));
}

#[test]
fn a_client_id_in_a_token_binds() {
    let jwt = JwtConfig { client_id_claim: Some("cid".into()), ..by_secret() };
    let bound = check(&jwt, &hs256_token(json!({"cid": "c1"}))).unwrap();
    assert_eq!(bound.grant().unwrap().client_id.as_deref(), Some("c1"));
    for bad in [json!(null), json!(""), json!(7), json!(["c1"])] {
        assert_eq!(fault(&jwt, &hs256_token(json!({"cid": bad}))), TokenFault::Claims, "{bad}");
    }
}

/// Does an empty set, one that is cut off anywhere, or one without a usable key leave the keys as they were?
#[test]
fn a_set_is_taken_whole_or_not_at_all() {
    let (old, sign_old) = p256("old");
    let (new, sign_new) = p256("new");
    let fetched = FetchedKeys {
        url: "https://issuer.example/jwks".into(),
        ca: None,
        plain: false,
        refresh_ms: 1,
        retry_ms: 1,
        stale_ms_max: 1,
        timeout_ms: 1,
        bytes_max: 1,
    };
    let tokens = tokens(&settings(&["ES256"], JwtKeys::Url(fetched)));
    let of = |kid: &str, sign: &dyn Fn(&[u8]) -> Vec<u8>| {
        token(&json!({"alg": "ES256", "kid": kid}), &claims(json!({})), sign)
    };
    let (old_token, new_token) = (of("old", &sign_old), of("new", &sign_new));
    assert_eq!(tokens.check(&old_token, NOW_S).unwrap_err(), TokenFault::NoKeys);
    let whole = jwks(&[&old]);
    assert_eq!(tokens.take_keys(whole.as_bytes()), Ok((1, 0)));
    for end in 0..whole.len() {
        assert!(tokens.take_keys(&whole.as_bytes()[..end]).is_err(), "{end}");
    }
    let for_another = json!({"kty": "EC", "crv": "P-521", "x": "AA", "y": "AA"});
    let for_encryption = json!({"kty": "EC", "crv": "P-256", "x": old["x"], "y": old["y"], "use": "enc"});
    let weak = json!({"kty": "RSA", "n": BASE64URL_NOPAD.encode(&[0xff; 128]), "e": "AQAB"});
    let many = vec![&old; 65];
    for bad in [
        "{\"keys\":[]}".to_owned(),
        "{}".into(),
        "[]".into(),
        "<html>".into(),
        jwks(&[&for_another, &for_encryption, &weak, &json!(null)]),
        jwks(&many),
    ] {
        let error = tokens.take_keys(bad.as_bytes()).expect_err(&bad);
        assert!(!error.contains(old["x"].as_str().unwrap()), "nothing of a key: {error}");
        assert!(tokens.check(&old_token, NOW_S).is_ok(), "{bad}");
    }
    assert_eq!(tokens.take_keys(jwks(&[&old, &new, &weak]).as_bytes()), Ok((2, 1)));
    assert!(tokens.check(&old_token, NOW_S).is_ok() && tokens.check(&new_token, NOW_S).is_ok());
    assert_eq!(tokens.take_keys(jwks(&[&new]).as_bytes()), Ok((1, 0)));
    assert_eq!(tokens.check(&old_token, NOW_S).unwrap_err(), TokenFault::UnknownKey);
    tokens.forget_keys();
    assert_eq!(tokens.check(&new_token, NOW_S).unwrap_err(), TokenFault::NoKeys);
}

/// Are weak and broken keys refused when they are read, so that nobody learns of them at the first client?
#[test]
fn weak_keys_are_refused() {
    let secret = |bytes: &[u8], name: &str| {
        Tokens::new(&settings(&[name], JwtKeys::Secret(SecretText(data_encoding::BASE64.encode(bytes))))).map(|_| ())
    };
    assert!(secret(&[7; 32], "HS256").is_ok() && secret(&[7; 31], "HS256").is_err());
    assert!(secret(&[7; 63], "HS512").is_err() && secret(b"", "HS256").is_err());
    let rsa = |n: &[u8], e: &str| {
        let jwk = json!({"kty": "RSA", "n": BASE64URL_NOPAD.encode(n), "e": e});
        Tokens::new(&settings(&["RS256"], JwtKeys::Jwks(jwks(&[&jwk])))).map(|_| ())
    };
    assert!(rsa(&[0xff; 256], "AQAB").is_ok());
    assert!(
        rsa(&[0xff; 255], "AQAB").is_err() && rsa(&[0xff; 256], "AQ").is_err() && rsa(&[0xff; 256], "AQAA").is_err()
    );
    assert!(rsa(&[&[0; 64][..], &[0xff; 200]].concat(), "AQAB").is_err(), "zeros in front are no bits");
    for pem in
        ["", "-----BEGIN PUBLIC KEY-----\n", "-----BEGIN RSA PRIVATE KEY-----\nAA==\n-----END RSA PRIVATE KEY-----\n"]
    {
        assert!(Tokens::new(&settings(&["RS256"], JwtKeys::Pem(vec![pem.into()]))).is_err(), "{pem}");
    }
}

/// What `rcgen` writes for a key of P-256.
#[test]
fn public_keys_in_pem() {
    let pair = rcgen::KeyPair::generate().unwrap();
    let pem = pair.public_key_pem();
    assert_eq!(tokens(&settings(&["ES256"], JwtKeys::Pem(vec![pem.clone(), pem.clone()]))).keys().len(), 2);
    assert!(Tokens::new(&settings(&["RS256"], JwtKeys::Pem(vec![pem]))).is_err(), "no key for the algorithm");
}

#[test]
fn what_looks_like_a_token() {
    assert!(is_token_shaped(&hs256_token(json!({}))));
    for other in [&b"correct horse"[..], b"eyJ", b"eyJ.a", b"eyJ.a.b.c", b"eyJ.a.b c", b"", b"eyJ.a.\xff"] {
        assert!(!is_token_shaped(other));
    }
    let (whole, spaced) =
        (String::from_utf8(hs256_token(json!({}))).unwrap(), BASE64URL_NOPAD.encode(b"{ \"alg\": 1}"));
    assert!(is_token_shaped(format!("{spaced}.e30.AA").as_bytes()));
    for hidden in [&whole[..], &whole[..40], &format!("{whole}\n"), &format!("{spaced}.e30.{spaced}")] {
        assert!(may_be_token(hidden), "{hidden}");
    }
    for shown in ["eyre", "ey.re", "device-7.of.a.long.name.with.points", ""] {
        assert!(!may_be_token(shown), "{shown}");
    }
}

#[test]
fn no_secret_is_shown() {
    let shown = format!("{:?} {:?}", by_secret(), tokens(&by_secret()).keys());
    assert!(shown.contains("not shown") && !shown.contains("MDEy") && !shown.contains("0123"), "{shown}");
}
