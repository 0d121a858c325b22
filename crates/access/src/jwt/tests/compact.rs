//! What has the form of a token.

use super::*;

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
