//! Hooks that judge who comes in.

use std::sync::{Arc, Mutex};

use lapwing_codec::{Connect, Packet, ReasonCode, Version};
use lapwing_node::{HookAnswer, HookCall, HookName};

use crate::client::{self, Client, ConnectExt, lasting};
use crate::hook_double::{Barrier, Double, node};
use crate::{ids_on_both_shards, metric};

/// Sends a CONNECT; the reason in the CONNACK.
fn knock(node: &lapwing_node::Handle, packet: &Connect<'_>) -> (Client, ReasonCode) {
    let mut client = Client::open(node);
    client.version = packet.version;
    client.send(&Packet::Connect(*packet));
    let reason = client.expect("CONNACK", |packet| match packet {
        Packet::ConnAck(ack) => Some(ack.reason),
        _ => None,
    });
    (client, reason)
}

fn with_name<'a>(id: &'a str, name: &'a str) -> Connect<'a> {
    Connect { username: Some(name), password: Some(b"secret"), ..client::connect(id) }
}

/// Is a client let in, named or refused as the hook says, on either shard and in both versions?
#[test]
fn a_client_is_let_in_or_refused() {
    let names = Arc::new(Mutex::new(Vec::new()));
    let seen = names.clone();
    let hooks = Double::new(&[HookName::Connect, HookName::Connected], move |call| match call {
        HookCall::Connect(call) => match call.username.as_deref() {
            Some("eve") => HookAnswer::Refuse { reason: ReasonCode::Banned, text: Some("not you".into()) },
            Some(name) if call.password.as_deref() == Some(b"secret") => HookAnswer::Admit(Some(name.into())),
            _ => HookAnswer::Pass,
        },
        HookCall::Connected { client, .. } => {
            seen.lock().unwrap().push(client.identity.as_deref().map(str::to_owned));
            HookAnswer::Pass
        }
        other => panic!("{other:?}"),
    });
    let node = node(r#"{"shards": 2}"#, hooks);
    for id in ids_on_both_shards() {
        for (version, refused) in [(Version::V5, ReasonCode::Banned), (Version::V311, ReasonCode::NotAuthorized)] {
            let (mut eve, reason) = knock(&node, &with_name(&id, "eve").in_version(version));
            assert_eq!(reason, refused, "{version:?}");
            eve.expect_end(None);
            assert_eq!(knock(&node, &with_name(&id, "bob").in_version(version)).1, ReasonCode::Success);
            assert_eq!(knock(&node, &client::connect(&id).in_version(version)).1, ReasonCode::Success);
        }
    }
    crate::eventually("all are told", || names.lock().unwrap().len() == 8);
    assert_eq!(names.lock().unwrap().iter().flatten().filter(|name| **name == "bob").count(), 4);
    assert_eq!(metric(&node, "lapwing_hook_refusals_total", "on_connect"), 4);
}

/// Has a client without an id the one that the hook was told, and what follows its CONNECT at once waits in order?
#[test]
fn an_assigned_id_is_the_one_that_was_judged() {
    let ids = Arc::new(Mutex::new(Vec::new()));
    let seen = ids.clone();
    let node = node(
        r#"{"shards": 2}"#,
        Double::new(&[HookName::Connect], move |call| {
            let HookCall::Connect(call) = call else { panic!("{call:?}") };
            seen.lock().unwrap().push(call.client.client_id.to_string());
            HookAnswer::Pass
        }),
    );
    for n in 0..8 {
        let mut client = Client::open(&node);
        let mut bytes = Vec::new();
        Packet::Connect(client::connect("")).encode(Version::V5, &mut bytes).unwrap();
        Packet::PingReq.encode(Version::V5, &mut bytes).unwrap();
        client.send_bytes(&bytes);
        let id = client.expect("CONNACK", |packet| match packet {
            Packet::ConnAck(ack) => ack.properties.assigned_client_id.map(str::to_owned),
            _ => None,
        });
        client.expect("PINGRESP", |packet| matches!(packet, Packet::PingResp).then_some(()));
        assert_eq!(ids.lock().unwrap()[n], id);
        assert_eq!(ids.lock().unwrap().len(), n + 1, "asked once");
    }
}

/// Does a client keep its connection and session while somebody with its id is judged, and for good if he is refused?
#[test]
fn nothing_is_taken_over_before_the_verdict() {
    let barrier = Barrier::default();
    let held = barrier.clone();
    let node = node(
        r#"{"shards": 2, "hooks": {"timeout_ms": 60000}}"#,
        Double::new(&[HookName::Connect], move |call| {
            let HookCall::Connect(call) = call else { panic!("{call:?}") };
            match call.username.as_deref() {
                Some("thief") => {
                    held.pass();
                    HookAnswer::Refuse { reason: ReasonCode::NotAuthorized, text: None }
                }
                _ => HookAnswer::Pass,
            }
        }),
    );
    let (mut owner, reason) = knock(&node, &lasting("x"));
    assert_eq!(reason, ReasonCode::Success);
    let mut thief = Client::open(&node);
    thief.send(&Packet::Connect(Connect { clean_start: true, ..with_name("x", "thief") }));
    barrier.somebody_waits();
    owner.publish_acked("t", b"");
    barrier.open();
    assert_eq!(
        thief.expect("CONNACK", |packet| match packet {
            Packet::ConnAck(ack) => Some(ack.reason),
            _ => None,
        }),
        ReasonCode::NotAuthorized
    );
    owner.publish_acked("t", b"");
}

/// Does the time for a CONNECT cover the wait for its verdict, however patient the hooks are?
#[test]
fn the_connect_timeout_covers_the_wait() {
    let barrier = Barrier::default();
    let held = barrier.clone();
    let json = r#"{"shards": 1, "limits": {"connect_timeout_ms": 200}, "hooks": {"timeout_ms": 60000}}"#;
    let node = node(
        json,
        Double::new(&[HookName::Connect], move |_| {
            held.pass();
            HookAnswer::Pass
        }),
    );
    let mut client = Client::open(&node);
    client.send(&Packet::Connect(client::connect("x")));
    client.expect_end(None);
    assert_eq!(metric(&node, "lapwing_connections_closed_total", "connect_timeout"), 1);
    barrier.open();
    assert_eq!(knock(&node, &client::connect("y")).1, ReasonCode::Success, "its late answer concerns nobody else");
}
