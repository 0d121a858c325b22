//! Clients with tokens (JWT): who comes in, as whom, for how long, with which rights.

use std::time::{SystemTime, UNIX_EPOCH};

use data_encoding::{BASE64, BASE64URL_NOPAD};
use lapwing_codec::{Connect, Packet, QoS, ReasonCode, SubscriptionOptions, Version};
use lapwing_node::Handle;
use ring::hmac;
use serde_json::{Value, json};

use crate::client::Client;
use crate::packets::{self, ConnectExt, lasting};
use crate::{eventually, ids_on_both_shards, metric, node};

pub const SECRET: &[u8] = b"a secret of thirty-two bytes, at least";
const AT_MOST_ONCE: SubscriptionOptions = SubscriptionOptions::new(QoS::AtMostOnce);
const BAD: ReasonCode = ReasonCode::BadUserNameOrPassword;

pub fn now_s() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs()
}

/// Settings of tokens under [`SECRET`], with `more`.
fn by_secret(more: Value) -> Value {
    let keys = json!({"secret": BASE64.encode(SECRET)});
    settings(json!(["HS256"]), keys, more)
}

pub fn settings(algorithms: Value, keys: Value, more: Value) -> Value {
    let mut jwt = json!({"algorithms": algorithms, "keys": keys, "leeway_s": 0, "name_claim": "sub", "names": "*",
        "token_bytes_max": 8192});
    more.as_object().unwrap().iter().for_each(|(name, value)| jwt[name] = value.clone());
    jwt
}

fn start(jwt: Value, more: Value) -> Handle {
    let mut config = json!({"shards": 2, "auth": {"jwt": jwt}});
    more.as_object().unwrap().iter().for_each(|(name, value)| config[name] = value.clone());
    node(&config.to_string())
}

/// A token of HS256 for alice and an hour, with `more`.
fn token(more: Value) -> String {
    signed(&json!({"alg": "HS256"}), more, |message| {
        hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, SECRET), message).as_ref().to_vec()
    })
}

pub fn signed(header: &Value, more: Value, sign: impl Fn(&[u8]) -> Vec<u8>) -> String {
    let mut claims = json!({"sub": "alice", "exp": now_s() + 3600});
    more.as_object().unwrap().iter().for_each(|(name, value)| claims[name] = value.clone());
    let part = |value: &Value| BASE64URL_NOPAD.encode(value.to_string().as_bytes());
    let message = format!("{}.{}", part(header), part(&claims));
    format!("{message}.{}", BASE64URL_NOPAD.encode(&sign(message.as_bytes())))
}

/// A CONNECT with a token, under a user name that means nothing.
pub fn with<'a>(packet: Connect<'a>, token: &'a str) -> Connect<'a> {
    Connect { username: Some("whoever"), password: Some(token.as_bytes()), ..packet }
}

/// The answer to a CONNECT that may be refused.
pub fn knock(node: &Handle, packet: &Connect<'_>) -> ReasonCode {
    let mut client = Client::open(node);
    client.version = packet.version;
    client.send(&Packet::Connect(*packet));
    client.expect("CONNACK", |packet| match packet {
        Packet::ConnAck(ack) => Some(ack.reason),
        _ => None,
    })
}

/// Does a token let its bearer in, on either shard, in each version, with any user name or none; and nothing but a token?
#[test]
fn a_token_lets_in() {
    let node = start(by_secret(json!({})), json!({}));
    let good = token(json!({}));
    for id in ids_on_both_shards() {
        for version in [Version::V5, Version::V311] {
            let packet = with(packets::connect(&id), &good).in_version(version);
            assert_eq!(knock(&node, &packet), ReasonCode::Success, "{version:?}");
        }
        let nameless = Connect { username: None, ..with(packets::connect(&id), &good) };
        assert_eq!(knock(&node, &nameless), ReasonCode::Success);
        let none = signed(&json!({"alg": "none"}), json!({}), |_| Vec::new());
        let other = signed(&json!({"alg": "HS256"}), json!({}), |_| vec![0; 32]);
        for bad in ["a password", "", &none, &other, &token(json!({"exp": now_s()}))] {
            assert_eq!(knock(&node, &with(packets::connect(&id), bad)), BAD, "{bad}");
        }
        assert_eq!(knock(&node, &Connect { password: None, ..with(packets::connect(&id), "") }), BAD);
    }
    assert_eq!(metric(&node, "lapwing_tokens_accepted_total", ""), 6);
    for (reason, count) in [("algorithm", 2), ("signature", 2), ("expired", 2), ("audience", 0)] {
        assert_eq!(metric(&node, "lapwing_tokens_refused_total", reason), count, "{reason}");
    }
}

/// Does whoever floods with bad tokens bar neither others of his address nor those with good ones, and is nothing of a token in
/// what the operator hears, wherever a client has written it?
#[test]
fn bad_tokens_bar_nobody_and_are_not_told() {
    let node =
        start(by_secret(json!({})), json!({"guesses": {"failures_max": 3, "bar_local": true, "delay_ms_max": 0}}));
    let (good, over) = (token(json!({})), token(json!({"exp": 1})));
    for _ in 0..10 {
        assert_eq!(knock(&node, &with(packets::connect("x"), &over)), BAD);
    }
    assert_eq!(knock(&node, &with(packets::connect("x"), &good)), ReasonCode::Success);
    assert_eq!(metric(&node, "lapwing_bars_total", ""), 0);
    for _ in 0..4 {
        let as_name = Connect { username: Some(&good), password: Some(b""), ..packets::connect("x") };
        assert_ne!(knock(&node, &as_name), ReasonCode::Success);
    }
    let (bearer, ours) = (format!("Bearer {good}"), "lapwing_0123456789abcdefghijklmnopq");
    for (client_id, name) in [(&*good, &*bearer), (ours, ours)] {
        let misplaced = Connect { username: Some(name), ..packets::connect(client_id) };
        assert_ne!(knock(&node, &misplaced), ReasonCode::Success);
    }
    eventually("passwords that are none are guesses", || metric(&node, "lapwing_bars_total", "") == 1);
    assert_eq!(knock(&node, &with(packets::connect("x"), &good)), ReasonCode::Success, "a token cannot be guessed");
    let mut told = String::new();
    eventually("the refusals are told", || {
        told += &node.take_notices().join("\n");
        told.contains("tokens refused: ")
            && told.contains("for \"***\"")
            && told.contains("client \"***\"")
            && told.contains("\"Bearer ***\"")
    });
    assert!(!told.contains("eyJ") && !told.contains("0123456789"), "{told}");
}

/// Does the connection end with the token, told so, while the session stays for the next one?
#[test]
fn a_connection_ends_with_its_token() {
    let node = start(by_secret(json!({})), json!({}));
    let brief = token(json!({"exp": now_s() + 3}));
    let (mut client, _) = Client::connect_with(&node, &with(lasting("d"), &brief));
    client.subscribe("t", AT_MOST_ONCE);
    client.expect_end(Some(ReasonCode::NotAuthorized));
    assert_eq!(knock(&node, &with(lasting("d"), &brief)), BAD);
    let (_, present) = Client::connect_with(&node, &with(lasting("d"), &token(json!({}))));
    assert!(present);
    assert_eq!(metric(&node, "lapwing_tokens_expired_total", ""), 1);
}

/// Has a token with a client id that one only, whatever id the broker would have given?
#[test]
fn a_client_id_in_a_token_binds() {
    let node = start(by_secret(json!({"client_id_claim": "cid"})), json!({}));
    let bound = token(json!({"cid": "device-1"}));
    assert_eq!(knock(&node, &with(packets::connect("device-1"), &bound)), ReasonCode::Success);
    for other in ["device-2", ""] {
        let refused = knock(&node, &with(packets::connect(other), &bound));
        assert_eq!(refused, ReasonCode::ClientIdentifierNotValid, "{other}");
    }
    assert_eq!(knock(&node, &with(packets::connect("device-1"), &token(json!({})))), BAD);
}

/// Do the rights of a client follow its newest token, also for subscriptions that an older one permitted; and after a restart
/// the old ones stay until it comes, but for what the operator forbids by then?
#[test]
fn rights_follow_the_newest_token() {
    let dir = tempfile::tempdir().unwrap();
    let kept = |rules: Value| {
        let more = json!({"data_dir": dir.path(), "durability": "disk", "rules": rules});
        start(by_secret(json!({"rules_claim": "acl"})), more)
    };
    let acl = |topics: &[&str]| token(json!({"acl": [{"may": ["publish", "subscribe"], "topics": topics}]}));
    let (wide, narrow) = (acl(&["a/#", "b/#"]), acl(&["a/#"]));
    let before = kept(json!([]));
    let (mut client, _) = Client::connect_with(&before, &with(lasting("d"), &wide));
    client.subscribe("a/1", AT_MOST_ONCE);
    client.subscribe("b/1", AT_MOST_ONCE);
    assert_eq!(client.try_subscribe("c/1", AT_MOST_ONCE), ReasonCode::NotAuthorized);
    drop(client);
    before.stop().unwrap();

    let after = kept(json!([{"identity": "*", "may": ["subscribe"], "topics": ["a/1"], "effect": "deny"}]));
    let everything = acl(&["#"]);
    let (mut other, _) = Client::connect_with(&after, &with(packets::connect("other"), &everything));
    let again = Connect { clean_start: false, ..with(lasting("d"), &wide) };
    let (mut client, present) = Client::connect_with(&after, &again);
    assert!(present);
    other.publish_acked("a/1", b"forbidden");
    other.publish_acked("b/1", b"kept");
    assert_eq!(client.receive().payload, b"kept");
    drop(client);
    let (mut client, present) = Client::connect_with(&after, &with(lasting("d"), &narrow));
    assert!(present);
    other.publish_acked("b/1", b"not any more");
    client.subscribe("a/2", AT_MOST_ONCE);
    other.publish_acked("a/2", b"this");
    assert_eq!(client.receive().payload, b"this");
    after.stop().unwrap();
}

/// Does a reload with an empty set, or one that is cut off, change nothing; and one without tokens send their bearers away?
#[test]
fn a_reload_is_whole_or_not_at_all() {
    let set = json!({"keys": [{"kty": "EC", "crv": "P-256",
        "x": "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU", "y": "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}]})
    .to_string();
    let node = start(by_secret(json!({})), json!({}));
    let good = token(json!({}));
    let (mut client, _) = Client::connect_with(&node, &with(packets::connect("d"), &good));
    let reload = |jwt: Value| node.reload(&json!({"access": {"auth": {"jwt": jwt}}}).to_string());
    for bad in ["", "{}", "{\"keys\": []}", &set[..set.len() / 2]] {
        let error = reload(settings(json!(["ES256"]), json!({"jwks": bad}), json!({}))).expect_err(bad);
        assert!(error.to_string().contains("auth.jwt.jwks_file"), "{error}");
        assert_eq!(knock(&node, &with(packets::connect("x"), &good)), ReasonCode::Success, "{bad}");
    }
    reload(settings(json!(["ES256"]), json!({"jwks": set}), json!({}))).unwrap();
    assert_eq!(knock(&node, &with(packets::connect("x"), &good)), BAD);
    reload(json!(null)).unwrap();
    client.expect_end(Some(ReasonCode::NotAuthorized));
}
