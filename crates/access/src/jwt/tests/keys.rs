//! Keys that are taken, and those that are not.

use super::*;

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

/// Are the marks of encoding that editors write none of a text, at its beginning and where two were put together?
#[test]
fn marks_of_encoding_hide_no_key() {
    let pem = format!("\u{feff}{}", rcgen::KeyPair::generate().unwrap().public_key_pem());
    assert_eq!(tokens(&settings(&["ES256"], JwtKeys::Pem(vec![pem.repeat(2)]))).keys().len(), 2);
    let (jwk, _) = p256("one");
    let marked = format!("\u{feff}{}", jwks(&[&jwk]));
    assert_eq!(tokens(&settings(&["ES256"], JwtKeys::Jwks(marked))).keys().len(), 1);
}

#[test]
fn no_secret_is_shown() {
    let shown = format!("{:?} {:?}", by_secret(), tokens(&by_secret()).keys());
    assert!(shown.contains("not shown") && !shown.contains("MDEy") && !shown.contains("0123"), "{shown}");
}
