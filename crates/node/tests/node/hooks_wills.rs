//! Wills that hooks judge.

use lapwing_codec::{QoS, ReasonCode, SubscriptionOptions, WillProperties};
use lapwing_node::{HookAnswer, HookCall, HookMessage, HookName};

use crate::client::Client;
use crate::hook_double::{Double, node};
use crate::packets::{self, ConnectExt, will};
use crate::{connect, eventually, metric};

fn refuse(reason: ReasonCode) -> HookAnswer {
    HookAnswer::Refuse { reason, text: None }
}

/// Is a will judged when it is published, as it is then?
#[test]
fn a_will_is_judged_when_it_is_published() {
    let hooks = Double::new(&[HookName::Publish], |call| {
        let HookCall::Publish { client, message, is_will } = call else { panic!("{call:?}") };
        assert!(*is_will && client.client_id.starts_with("dying"));
        match &*message.topic {
            "wills/no" => refuse(ReasonCode::NotAuthorized),
            _ => HookAnswer::Change(Box::new(HookMessage { payload: b"changed".into(), ..(**message).clone() })),
        }
    });
    let node = node(r#"{"shards": 2}"#, hooks);
    let mut watcher = connect(&node, "watcher");
    watcher.subscribe("wills/#", SubscriptionOptions::new(QoS::AtMostOnce));
    drop(Client::connect_with(&node, &packets::connect("dying-1").with_will(will("wills/no", b"x"))).0);
    eventually("the refusal is counted", || metric(&node, "lapwing_messages_dropped_total", "hook_refused") == 1);
    drop(Client::connect_with(&node, &packets::connect("dying-2").with_will(will("wills/yes", b"x"))).0);
    let received = watcher.receive();
    assert_eq!((&*received.topic, &*received.payload), ("wills/yes", &b"changed"[..]));
    assert_eq!(metric(&node, "lapwing_wills_published_total", ""), 1);
}

/// Is a will that goes out after a start judged like any other: of a session that stays, and of one that has ended with the node?
#[test]
fn a_will_from_before_a_start_is_judged_too() {
    let dir = tempfile::tempdir().unwrap();
    let hooks = || {
        Double::new(&[HookName::Publish], |call| {
            let HookCall::Publish { client, message, is_will } = call else { panic!("{call:?}") };
            if !client.client_id.starts_with("dying") {
                return HookAnswer::Pass;
            }
            assert!(*is_will && client.address.is_empty() && client.version == 0, "{client:?}");
            match &*message.topic {
                "wills/no" => refuse(ReasonCode::NotAuthorized),
                _ => HookAnswer::Change(Box::new(HookMessage { payload: b"changed".into(), ..(**message).clone() })),
            }
        })
    };
    let json = format!(r#"{{"shards": 2, "data_dir": {:?}, "durability": "disk"}}"#, dir.path());
    let before = node(&json, hooks());
    let (mut watcher, _) = Client::connect_with(&before, &packets::lasting("watcher"));
    watcher.subscribe("wills/#", SubscriptionOptions::new(QoS::AtLeastOnce));
    let properties = WillProperties { delay_s: 1, ..WillProperties::default() };
    let stays = |topic| lapwing_codec::Will { properties, ..will(topic, b"stays") };
    let dying = [
        packets::lasting("dying-1").with_will(stays("wills/no")),
        packets::lasting("dying-2").with_will(stays("wills/yes")),
        packets::connect("dying-3").with_will(will("wills/no", b"ends")),
        packets::connect("dying-4").with_will(will("wills/yes", b"ends")),
    ];
    let dying: Vec<_> = dying.iter().map(|packet| Client::connect_with(&before, packet).0).collect();
    drop(before);
    drop(dying);

    let after = node(&json, hooks());
    let (mut watcher, present) = Client::connect_with(&after, &packets::lasting("watcher"));
    assert!(present);
    for _ in 0..2 {
        let received = watcher.receive();
        assert_eq!((&*received.topic, &*received.payload), ("wills/yes", &b"changed"[..]));
        watcher.acknowledge(&received);
    }
    eventually("both refusals are counted", || metric(&after, "lapwing_messages_dropped_total", "hook_refused") == 2);
    assert_eq!(metric(&after, "lapwing_wills_published_total", ""), 2);
}
