//! Message Expiry Intervals that the node gives, or lowers: who hears of them.

use lapwing_codec::{Packet, PublishProperties, QoS, SubscriptionOptions, Version, Will, WillProperties};
use lapwing_node::Handle;

use crate::client::Client;
use crate::packets::{ConnectExt, connect as plain, id, lasting, publish, will};
use crate::{connect, eventually, ids_on_both_shards, metric, node};

const RULES: &str = r#"{"shards": 2, "limits": {"message_expiry_s_max": 600},
    "topics": {"a/#": {"message_expiry_s_default": 60}, "a/long/#": {"message_expiry_s_max": 0}}}"#;
/// A machine may be busy, and seconds pass.
const LATE_S: u32 = 30;

/// The Message Expiry Interval of the next message, whose topic is given.
fn expiry_of_next(client: &mut Client, topic: &str) -> Option<u32> {
    client.expect("PUBLISH", |packet| match packet {
        Packet::Publish(publish) if publish.topic == topic => Some(publish.properties.message_expiry_s),
        _ => None,
    })
}

fn is_about(found: Option<u32>, expected: Option<u32>) -> bool {
    match (found, expected) {
        (Some(found), Some(expected)) => found <= expected && found + LATE_S > expected,
        (found, expected) => found == expected,
    }
}

fn say(client: &mut Client, topic: &str, expiry_s: Option<u32>, retain: bool) {
    let properties = PublishProperties { message_expiry_s: expiry_s, ..PublishProperties::default() };
    let packet = publish(topic, b"x", QoS::AtLeastOnce, Some(1));
    client.send(&Packet::Publish(lapwing_codec::Publish { properties, retain, ..packet }));
    client.expect_ack(id(1).get());
}

/// Is each message given the expiry of its topic's rule, and of the limits, on its own shard and on another one, at once and
/// when it has waited?
#[test]
fn messages_live_as_long_as_the_rules_say() {
    let node = node(RULES);
    let [near, far] = ids_on_both_shards();
    let cases = [
        ("x", None, Some(600)),
        ("x", Some(9_999), Some(600)),
        ("x", Some(100), Some(100)),
        ("a/b", None, Some(60)),
        ("a/b", Some(9_999), Some(600)),
        ("a/long/b", None, Some(60)),
        ("a/long/b", Some(9_999), Some(9_999)),
    ];
    let mut away = Client::connect_with(&node, &lasting(&far)).0;
    away.subscribe("#", SubscriptionOptions::new(QoS::AtLeastOnce));
    away.disconnect();
    let mut there = connect(&node, "there");
    there.subscribe("#", SubscriptionOptions::new(QoS::AtMostOnce));
    let mut sender = connect(&node, &near);
    for (topic, said, expected) in cases {
        say(&mut sender, topic, said, false);
        let found = expiry_of_next(&mut there, topic);
        assert!(is_about(found, expected), "{topic}, {said:?}: {found:?}");
    }
    assert_eq!(metric(&node, "lapwing_messages_expiry_set_total", ""), 5);
    let mut away = Client::connect_with(&node, &lasting(&far)).0;
    for (topic, said, expected) in cases {
        let found = expiry_of_next(&mut away, topic);
        assert!(is_about(found, expected), "{topic}, {said:?}, waited: {found:?}");
    }
}

/// Do retained messages and wills, also those of 3.1.1, live as long?
#[test]
fn retained_messages_and_wills_live_as_long() {
    let node = node(RULES);
    retain_and_leave(&node);
    let mut receiver = connect(&node, "late");
    receiver.subscribe("a/retained", SubscriptionOptions::new(QoS::AtMostOnce));
    let found = expiry_of_next(&mut receiver, "a/retained");
    assert!(is_about(found, Some(60)), "{found:?}");
    receiver.subscribe("a/will", SubscriptionOptions::new(QoS::AtMostOnce));
    let found = expiry_of_next(&mut receiver, "a/will");
    assert!(is_about(found, Some(60)), "{found:?}");
    receiver.subscribe("a/long/will", SubscriptionOptions::new(QoS::AtMostOnce));
    let found = expiry_of_next(&mut receiver, "a/long/will");
    assert!(is_about(found, Some(700)), "{found:?}");
}

/// Leaves two retained wills and a retained message behind.
fn retain_and_leave(node: &Handle) {
    let retained = |topic| Will { retain: true, ..will(topic, b"gone") };
    let packet = plain("old").in_version(Version::V311).with_will(retained("a/will"));
    let mut old = Client::connect_with(node, &packet).0;
    let packet = lapwing_codec::Publish { retain: true, ..publish("a/retained", b"x", QoS::AtLeastOnce, Some(1)) };
    old.send(&Packet::Publish(packet));
    old.expect_ack(1);
    let properties = WillProperties { message_expiry_s: Some(700), ..WillProperties::default() };
    let packet = plain("new").with_will(Will { properties, ..retained("a/long/will") });
    drop((old, Client::connect_with(node, &packet).0));
    eventually("all is kept", || metric(node, "lapwing_retained_messages", "") == 3);
}
