//! Users with passwords: checked where nobody waits, known ones at once, floods bounded.

use std::sync::LazyLock;

use lapwing_codec::{Connect, Packet, QoS, ReasonCode, SubscriptionOptions, Version};
use lapwing_node::Handle;

use crate::client::Client;
use crate::packets::{self, ConnectExt, lasting};
use crate::{eventually, ids_on_both_shards, metric, node};

/// Hashing is costly by design: once for all tests.
static HASH: LazyLock<String> = LazyLock::new(|| lapwing_access::hash_password(b"right").expect("it can be hashed"));

/// A node that knows alice; `rest` goes on in JSON.
fn guarded(rest: &str) -> Handle {
    node(&format!(r#"{{"auth": {{"users": [{{"name": "alice", "password": "{}"}}]}}{rest}}}"#, *HASH))
}

fn with<'a>(id: &'a str, name: &'a str, password: &'a [u8]) -> Connect<'a> {
    Connect { username: Some(name), password: Some(password), ..packets::connect(id) }
}

fn knock(node: &Handle, packet: &Connect<'_>) -> Client {
    let mut client = Client::open(node);
    client.version = packet.version;
    client.send(&Packet::Connect(*packet));
    client
}

fn reason(client: &mut Client) -> ReasonCode {
    client.expect("CONNACK", |packet| match packet {
        Packet::ConnAck(ack) => Some(ack.reason),
        _ => None,
    })
}

/// Does who knows the password come in, on either shard and in both versions, and nobody else?
#[test]
fn the_right_password_lets_in() {
    let node = guarded(r#", "shards": 2"#);
    let bad = ReasonCode::BadUserNameOrPassword;
    for id in ids_on_both_shards() {
        for version in [Version::V5, Version::V311] {
            for (name, password, expected) in
                [("alice", "right", ReasonCode::Success), ("alice", "wrong", bad), ("eve", "right", bad)]
            {
                let packet = with(&id, name, password.as_bytes()).in_version(version);
                assert_eq!(reason(&mut knock(&node, &packet)), expected, "{name} {password} {version:?}");
            }
        }
    }
    assert_eq!(metric(&node, "lapwing_not_authorized_total", "connect"), 8);
}

/// Is a password that was verified known from then on, so that coming back costs nothing, whatever waits to be checked?
#[test]
fn a_known_password_is_not_checked_again() {
    let node = guarded(r#", "shards": 2"#);
    assert_eq!(reason(&mut knock(&node, &with("first", "alice", b"right"))), ReasonCode::Success);
    assert_eq!(metric(&node, "lapwing_password_checks_total", ""), 1);
    let mut guesses: Vec<Client> = (0..4).map(|n| knock(&node, &with(&format!("guess-{n}"), "alice", b"x"))).collect();
    for n in 0..10 {
        assert_eq!(reason(&mut knock(&node, &with(&format!("back-{n}"), "alice", b"right"))), ReasonCode::Success);
    }
    for guess in &mut guesses {
        assert_eq!(reason(guess), ReasonCode::BadUserNameOrPassword);
    }
    assert_eq!(metric(&node, "lapwing_password_checks_total", ""), 5, "ten came in without a check");
    assert_eq!(metric(&node, "lapwing_password_checks_wrong_total", ""), 4);
}

/// Is one password too many refused at once, counted, while those before it get their answer?
#[test]
fn a_flood_of_guesses_is_bounded() {
    let node = guarded(r#", "shards": 1, "limits": {"password_checks_max": 2, "connect_timeout_ms": 600000}"#);
    let mut guesses: Vec<Client> = (0..20).map(|n| knock(&node, &with(&format!("guess-{n}"), "alice", b"x"))).collect();
    let answers: Vec<ReasonCode> = guesses.iter_mut().map(reason).collect();
    let refused = answers.iter().filter(|answer| **answer == ReasonCode::QuotaExceeded).count();
    let wrong = answers.iter().filter(|answer| **answer == ReasonCode::BadUserNameOrPassword).count();
    assert_eq!(refused + wrong, 20);
    assert!(refused > 0 && wrong >= 2, "{refused} refused, {wrong} checked");
    assert_eq!(metric(&node, "lapwing_password_checks_refused_total", ""), refused as u64);
    eventually("nothing waits", || metric(&node, "lapwing_password_checks_waiting", "") == 0);
    assert_eq!(reason(&mut knock(&node, &with("alice", "alice", b"right"))), ReasonCode::Success);
}

/// Does somebody who guesses passwords disturb neither the connection nor the session of the client he says he is?
#[test]
fn a_guess_takes_nothing_over() {
    let node = guarded(r#", "shards": 2"#);
    let own = Connect { username: Some("alice"), password: Some(b"right"), ..lasting("x") };
    let mut alice = Client::connect_with(&node, &own).0;
    alice.subscribe("t", SubscriptionOptions::new(QoS::AtMostOnce));
    assert_eq!(reason(&mut knock(&node, &with("x", "alice", b"wrong"))), ReasonCode::BadUserNameOrPassword);
    alice.expect_silence();
    drop(alice);
    assert_eq!(reason(&mut knock(&node, &with("x", "alice", b"wrong"))), ReasonCode::BadUserNameOrPassword);
    assert!(Client::connect_with(&node, &own).1, "the session is still there");
}

/// Does the time for a CONNECT cover the wait, and is what nobody waits for any more not checked?
#[test]
fn who_waits_too_long_is_closed_and_not_checked() {
    let node = guarded(r#", "shards": 1, "limits": {"connect_timeout_ms": 1}"#);
    let mut waiting: Vec<Client> = (0..20).map(|n| knock(&node, &with(&format!("late-{n}"), "alice", b"x"))).collect();
    for client in &mut waiting {
        client.expect_end_anyhow();
    }
    eventually("nothing waits", || metric(&node, "lapwing_password_checks_waiting", "") == 0);
    assert!(metric(&node, "lapwing_connections_closed_total", "connect_timeout") > 0);
    // How many are depends on how long the threads of this test are without a core.
    assert!(metric(&node, "lapwing_password_checks_total", "") < 20);
}
