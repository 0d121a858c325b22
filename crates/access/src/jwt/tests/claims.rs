//! What a token says of its bearer, and what that is good for.

use super::*;

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
    let may = |right| authority.may(&identity(json!({"acl": own})), right, "");
    assert!(!may(Right::Envelope) && !may(Right::Bridge) && !alone.is_bridge(), "without rules of the operator's too");
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
