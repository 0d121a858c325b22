//! One message or packet that is beyond a limit of its own: who stays, who is told, what the operator hears.

use lapwing_codec::{
    Ack, Packet, Publish, PublishProperties, QoS, ReasonCode, SubscriptionOptions, UserPropertiesBuf, Version,
};
use lapwing_node::{Handle, HookAnswer, HookName};

use crate::client::Client;
use crate::hook_double::{self, Double, message};
use crate::packets::{ConnectExt, connect as plain, publish, will};
use crate::{connect, eventually, metric, node};

const LIMITS: &str =
    r#"{"shards": 2, "limits": {"topic_bytes_max": 20, "topic_levels_max": 3, "user_properties_max": 2}}"#;
/// A topic, user properties, and what is said of it.
const MESSAGES: [(&str, usize, Option<ReasonCode>); 6] = [
    ("exactly/twenty/bytes", 0, None),
    ("one/byte/more/than/20", 0, Some(ReasonCode::TopicNameInvalid)),
    ("a/b/c", 2, None),
    ("a/b/c/d", 0, Some(ReasonCode::TopicNameInvalid)),
    ("/", 3, Some(ReasonCode::ImplementationSpecificError)),
    ("//", 0, None),
];

fn told(node: &Handle, words: &[&str]) -> bool {
    node.take_notices().iter().any(|notice| words.iter().all(|word| notice.contains(word)))
}

/// The reason in the next PUBACK, or in PUBREC with the rest of that exchange, and whether there are words with it.
fn acknowledged(client: &mut Client) -> (ReasonCode, bool) {
    let (reason, packet_id, is_received, has_words) = client.expect("PUBACK or PUBREC", |packet| match packet {
        Packet::PubAck(ack) => Some((ack.reason, ack.packet_id, false, ack.properties.reason_string.is_some())),
        Packet::PubRec(ack) => Some((ack.reason, ack.packet_id, true, ack.properties.reason_string.is_some())),
        _ => None,
    });
    if is_received && !reason.is_error() {
        client.send(&Packet::PubRel(Ack::new(packet_id, ReasonCode::Success)));
        client.expect("PUBCOMP", |packet| matches!(packet, Packet::PubComp(_)).then_some(()));
    }
    (reason, has_words)
}

fn send(client: &mut Client, topic: &str, properties: PublishProperties<'_>, qos: QoS) {
    let packet_id = qos.is_acknowledged().then_some(5);
    client.send(&Packet::Publish(Publish { properties, ..publish(topic, b"x", qos, packet_id) }));
}

/// Is each message that is just within its limits delivered, and each that is just beyond refused alone: with the code in 5.0,
/// acknowledged and dropped in 3.1.1, without a word with QoS 0; with and without a hook, which is not asked about it?
#[test]
fn a_message_beyond_a_limit_is_refused_and_its_client_stays() {
    let hooks = Double::new(&[HookName::Publish], |call| {
        let message = message(call);
        let is_of_topic = |reason: &Option<ReasonCode>| *reason == Some(ReasonCode::TopicNameInvalid);
        assert!(MESSAGES.iter().any(|(topic, _, reason)| **topic == *message.topic && !is_of_topic(reason)));
        assert!(message.user_properties.len() < 3);
        HookAnswer::Pass
    });
    for node in [node(LIMITS), hook_double::node(LIMITS, hooks)] {
        let mut reader = connect(&node, "reader");
        reader.subscribe("#", SubscriptionOptions::new(QoS::AtMostOnce));
        let mut refused = 0;
        for version in [Version::V5, Version::V311, Version::V31] {
            let (mut client, _) = Client::connect_with(&node, &plain("sender").in_version(version));
            for qos in [QoS::AtMostOnce, QoS::AtLeastOnce, QoS::ExactlyOnce] {
                for (topic, pairs, reason) in MESSAGES {
                    let is_v5 = version == Version::V5;
                    let mut user = UserPropertiesBuf::new();
                    (0..pairs).for_each(|_| user.push("name", "value").expect("short"));
                    let properties = PublishProperties { user: user.as_ref(), ..PublishProperties::EMPTY };
                    let reason = reason.filter(|reason| is_v5 || *reason == ReasonCode::TopicNameInvalid);
                    send(&mut client, topic, if is_v5 { properties } else { PublishProperties::EMPTY }, qos);
                    if qos.is_acknowledged() {
                        let said = reason.filter(|_| is_v5);
                        let expected = (said.unwrap_or(ReasonCode::Success), said.is_some());
                        assert_eq!(acknowledged(&mut client), expected, "{topic} {qos:?} {version:?}");
                    }
                    match reason {
                        None => assert_eq!(reader.receive().topic, topic, "{qos:?} {version:?}"),
                        Some(_) => refused += 1,
                    }
                }
            }
            client.expect_silence();
        }
        reader.expect_silence();
        assert_eq!(metric(&node, "lapwing_messages_dropped_total", "beyond_limit"), refused);
        assert_eq!(metric(&node, "lapwing_connections_closed_total", "topic_name_invalid"), 0);
        assert!(told(&node, &["sender", "127.0.0.1", "21 bytes", "limits.topic_bytes_max = 20"]));
    }
}

/// What an alias is worth that was given to a topic that is refused: is it known, and refused too, until it has another topic?
#[test]
fn an_alias_of_a_refused_topic() {
    let hooks = Double::new(&[HookName::Publish], |call| {
        assert!(matches!(&*message(call).topic, "good" | "/"));
        HookAnswer::Pass
    });
    for node in [node(LIMITS), hook_double::node(LIMITS, hooks)] {
        let mut reader = connect(&node, "reader");
        reader.subscribe("#", SubscriptionOptions::new(QoS::AtMostOnce));
        let mut client = connect(&node, "sender");
        let mut user = UserPropertiesBuf::new();
        (0..3).for_each(|_| user.push("name", "value").expect("short"));
        let alias = PublishProperties { topic_alias: Some(1), ..PublishProperties::EMPTY };
        let too_many = PublishProperties { user: user.as_ref(), ..alias };
        for (topic, properties, delivered) in [
            ("much/too/deep/topic", alias, None),
            ("", alias, None),
            ("", alias, None),
            ("good", alias, Some("good")),
            ("", alias, Some("good")),
            ("/", too_many, None),
            ("", alias, Some("/")),
        ] {
            send(&mut client, topic, properties, QoS::AtLeastOnce);
            let (reason, _) = acknowledged(&mut client);
            assert_eq!(reason.is_error(), delivered.is_none(), "{topic}");
            if let Some(delivered) = delivered {
                assert_eq!(reader.receive().topic, delivered);
            }
        }
        reader.expect_silence();
        assert!(told(&node, &["sender", "alias"]));
    }
}

/// Of a client of 5.0 who sends a packet that is larger than he was told it may be, and of any packet but a PUBLISH: does the
/// operator hear who, how large, and which setting; and does a packet of just the size come in?
#[test]
fn a_packet_beyond_its_limit_is_named() {
    let node = node(r#"{"shards": 2, "limits": {"packet_bytes_max": 1000}}"#);
    // Fixed header 3, length of the topic 2, topic 1, packet id 2, length of the properties 1.
    let mut client = connect(&node, "sender");
    client.publish("t", &[0; 991], QoS::AtLeastOnce, Some(5));
    assert!(!acknowledged(&mut client).0.is_error());
    client.publish("t", &[0; 992], QoS::AtLeastOnce, Some(5));
    client.expect_end(Some(ReasonCode::PacketTooLarge));
    let (mut older, _) = Client::connect_with(&node, &plain("sender").in_version(Version::V311));
    older.send_subscribe(&"long/".repeat(200), SubscriptionOptions::new(QoS::AtMostOnce));
    older.expect_end(None);
    eventually("the operator hears of it", || {
        told(&node, &["sender", "127.0.0.1", "closed", "1001 bytes", "limits.packet_bytes_max = 1000"])
    });
    assert_eq!(metric(&node, "lapwing_connections_closed_total", "packet_too_large"), 2);
}

/// Before 5.0 nobody knows how large a packet may be, and who is cut off sends it again: is such a message acknowledged and
/// dropped, however large and in whatever pieces it comes, what stands behind it heard, and what was retained still there?
#[test]
fn an_older_client_s_message_beyond_the_largest_packet_is_skipped() {
    let node = node(r#"{"shards": 2, "limits": {"packet_bytes_max": 1000}}"#);
    let mut reader = connect(&node, "reader");
    reader.subscribe("#", SubscriptionOptions::new(QoS::AtMostOnce));
    let mut refused = 0;
    for version in [Version::V311, Version::V31] {
        let (mut client, _) = Client::connect_with(&node, &plain("sender").in_version(version));
        client.send(&Packet::Publish(Publish { retain: true, ..publish("t", b"kept", QoS::AtMostOnce, None) }));
        assert_eq!(reader.receive().payload, b"kept");
        for qos in [QoS::AtMostOnce, QoS::AtLeastOnce, QoS::ExactlyOnce] {
            for payload_bytes in [995, 3_000_000] {
                let packet_id = qos.is_acknowledged().then_some(5);
                let payload = vec![0; payload_bytes];
                let large = Publish { retain: true, ..publish("t", &payload, qos, packet_id) };
                client.send(&Packet::Publish(large));
                client.publish("behind", b"x", QoS::AtMostOnce, None);
                if qos.is_acknowledged() {
                    assert_eq!(acknowledged(&mut client), (ReasonCode::Success, false), "{qos:?} {version:?}");
                }
                assert_eq!(reader.receive().topic, "behind", "{qos:?} {version:?}");
                refused += 1;
            }
        }
        client.expect_silence();
    }
    assert_eq!(metric(&node, "lapwing_messages_dropped_total", "beyond_limit"), refused);
    assert_eq!(metric(&node, "lapwing_connections_closed_total", "packet_too_large"), 0);
    assert!(told(&node, &["sender", "127.0.0.1", "limits.packet_bytes_max = 1000", "\"t\""]));
    let mut late = connect(&node, "late");
    late.subscribe("t", SubscriptionOptions::new(QoS::AtMostOnce));
    assert_eq!(late.receive().payload, b"kept");
}

/// The head of what is skipped comes in pieces, and its payload too: is it acknowledged at its end, and not before; and again
/// when it is sent again, as QoS 2 wants it?
#[test]
fn what_is_skipped_is_acknowledged_at_its_end() {
    let node = node(r#"{"limits": {"packet_bytes_max": 100}}"#);
    let (mut client, _) = Client::connect_with(&node, &plain("sender").in_version(Version::V311));
    let mut bytes = Vec::new();
    let large = Packet::Publish(publish("topic", &[7; 200], QoS::ExactlyOnce, Some(9)));
    large.encode(Version::V311, &mut bytes).expect("a packet");
    let dropped = || metric(&node, "lapwing_messages_dropped_total", "beyond_limit");
    let received = || metric(&node, "lapwing_bytes_received_total", "");
    let mut all = received();
    let (end, begin) = (bytes.len() - 1, [0, 1, 4, 11, 12, 100]);
    for (from, to) in begin.into_iter().zip([1, 4, 11, 12, 100, end]) {
        client.send_bytes(&bytes[from..to]);
        all += (to - from) as u64;
        eventually("the piece is read", || received() == all);
        assert_eq!(dropped(), 0);
    }
    client.send_bytes(&bytes[end..]);
    client.expect("PUBREC", |packet| matches!(packet, Packet::PubRec(_)).then_some(()));
    client.send_bytes(&bytes);
    assert_eq!(acknowledged(&mut client), (ReasonCode::Success, false));
    client.expect_silence();
    assert_eq!(dropped(), 2);
}

/// A will is judged with its CONNECT: is one beyond a limit refused there?
#[test]
fn a_will_beyond_a_limit_is_refused_with_its_connect() {
    let node = node(LIMITS);
    for (topic, expected) in [("a/b/c", ReasonCode::Success), ("a/b/c/d", ReasonCode::TopicNameInvalid)] {
        assert_eq!(Client::try_connect(&node, &plain("mourned").with_will(will(topic, b"gone"))), expected);
    }
}
