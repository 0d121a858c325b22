//! Hooks that judge messages and subscriptions, and those that watch.

use std::sync::{Arc, Mutex};

use lapwing_codec::{
    Packet, Publish, PublishProperties, QoS, ReasonCode, Subscribe, SubscribeFiltersBuf, SubscribeProperties,
    SubscriptionOptions, Version,
};
use lapwing_node::{HookAnswer, HookCall, HookMessage, HookName};

use crate::client::Client;
use crate::hook_double::{Double, message, node};
use crate::packets::{self, ConnectExt, id, publish};
use crate::{connect, eventually, ids_on_both_shards, metric};

const QOS0: SubscriptionOptions = SubscriptionOptions::new(QoS::AtMostOnce);

fn refuse(reason: ReasonCode) -> HookAnswer {
    HookAnswer::Refuse { reason, text: None }
}

/// Is a message passed, changed or refused as the hook says, in every QoS, acknowledged with the reason in 5.0 and
/// plainly in 3.1.1, and is each refusal counted?
#[test]
fn a_message_is_passed_changed_or_refused() {
    let hooks = Double::new(&[HookName::Publish], |call| match &*message(call).topic {
        "no" => refuse(ReasonCode::PayloadFormatInvalid),
        "old" => HookAnswer::Change(Box::new(HookMessage {
            topic: "new".into(),
            payload: [b"changed ", &*message(call).payload].concat(),
            retain: true,
            user_properties: vec![("seen".into(), "yes".into())],
            ..message(call).clone()
        })),
        _ => HookAnswer::Pass,
    });
    let node = node(r#"{"shards": 2}"#, hooks);
    let mut receiver = connect(&node, "receiver");
    receiver.subscribe("#", QOS0);
    for version in [Version::V5, Version::V311] {
        let mut sender = Client::connect_with(&node, &packets::connect("sender").in_version(version)).0;
        for qos in [QoS::AtMostOnce, QoS::AtLeastOnce, QoS::ExactlyOnce] {
            let packet_id = (qos != QoS::AtMostOnce).then_some(7 + qos as u16);
            for topic in ["no", "old", "yes"] {
                sender.publish(topic, b"1", qos, packet_id);
                if qos != QoS::AtMostOnce {
                    let reason = acknowledged(&mut sender);
                    let refused = topic == "no" && version == Version::V5;
                    assert_eq!(reason == ReasonCode::PayloadFormatInvalid, refused, "{topic} {qos:?} {version:?}");
                    assert_eq!(reason.is_error(), refused);
                }
            }
            let changed = receiver.receive();
            assert_eq!((&*changed.topic, &*changed.payload, changed.qos), ("new", &b"changed 1"[..], QoS::AtMostOnce));
            assert_eq!(receiver.receive().topic, "yes");
        }
    }
    receiver.expect_silence();
    assert_eq!(metric(&node, "lapwing_messages_dropped_total", "hook_refused"), 6);
    assert_eq!(metric(&node, "lapwing_hook_refusals_total", "on_publish"), 6);
    assert_eq!(metric(&node, "lapwing_retained_messages", ""), 1, "the hook has set RETAIN");
    assert_eq!(metric(&node, "lapwing_hook_calls_total", "on_publish"), 18);
}

/// The reason in the next PUBACK, or in PUBREC with the rest of that exchange.
fn acknowledged(client: &mut Client) -> ReasonCode {
    let (reason, packet_id, is_received) = client.expect("PUBACK or PUBREC", |packet| match packet {
        Packet::PubAck(ack) => Some((ack.reason, ack.packet_id, false)),
        Packet::PubRec(ack) => Some((ack.reason, ack.packet_id, true)),
        _ => None,
    });
    if is_received && !reason.is_error() {
        client.send(&Packet::PubRel(lapwing_codec::Ack::new(packet_id, ReasonCode::Success)));
        client.expect("PUBCOMP", |packet| matches!(packet, Packet::PubComp(_)).then_some(()));
    }
    reason
}

/// Is the order of a client's packets kept over thousands of messages, with packets between them that no hook judges?
#[test]
fn the_order_is_kept() {
    const MESSAGES: u32 = 6000;
    let node = node(
        r#"{"shards": 2}"#,
        Double::new(&[HookName::Publish], |call| {
            // Every third is changed, so that changed and unchanged ones could overtake each other.
            let number = u32::from_be_bytes(*message(call).payload.first_chunk().unwrap());
            if !number.is_multiple_of(3) {
                return HookAnswer::Pass;
            }
            HookAnswer::Change(Box::new(HookMessage {
                payload: [&number.to_be_bytes()[..], b"!"].concat(),
                ..message(call).clone()
            }))
        }),
    );
    let [here, there] = ids_on_both_shards();
    let mut receiver = connect(&node, &here);
    receiver.subscribe("t", QOS0);
    let mut sender = connect(&node, &there);
    let mut bytes = Vec::new();
    for number in 0..MESSAGES {
        let payload = number.to_be_bytes();
        let qos = if number % 2 == 0 { QoS::AtMostOnce } else { QoS::AtLeastOnce };
        let packet_id = (qos == QoS::AtLeastOnce).then_some(1 + (number % 1000) as u16);
        Packet::Publish(publish("t", &payload, qos, packet_id)).encode(Version::V5, &mut bytes).unwrap();
        if number % 7 == 0 {
            Packet::PingReq.encode(Version::V5, &mut bytes).unwrap();
        }
        if bytes.len() > 5000 || number == MESSAGES - 1 {
            sender.send_bytes(&std::mem::take(&mut bytes));
        }
    }
    for number in 0..MESSAGES {
        let received = receiver.receive();
        assert_eq!(received.payload[..4], number.to_be_bytes(), "message {number}");
        assert_eq!(received.payload.len(), if number % 3 == 0 { 5 } else { 4 });
    }
    let (mut acks, mut pongs) = (0, 0);
    for number in 0..MESSAGES {
        if number % 2 == 1 {
            sender.expect_ack(1 + (number % 1000) as u16);
            acks += 1;
        }
        if number % 7 == 0 {
            sender.expect("PINGRESP in its place", |packet| matches!(packet, Packet::PingResp).then_some(()));
            pongs += 1;
        }
    }
    assert_eq!((acks, pongs), (3000, 858));
}

/// Does a hook see the topic where the client sent an alias, also one that the same read brought?
#[test]
fn topic_aliases_are_resolved() {
    let topics = Arc::new(Mutex::new(Vec::new()));
    let seen = topics.clone();
    let node = node(
        r#"{"shards": 1}"#,
        Double::new(&[HookName::Publish], move |call| {
            seen.lock().unwrap().push(message(call).topic.clone());
            HookAnswer::Pass
        }),
    );
    let mut client = connect(&node, "one");
    client.subscribe("#", QOS0);
    let aliased = |topic, alias| {
        let properties = PublishProperties { topic_alias: Some(alias), ..PublishProperties::EMPTY };
        Packet::Publish(Publish { properties, ..Publish::qos0(topic, b"") })
    };
    let mut bytes = Vec::new();
    for packet in [aliased("a", 1), aliased("", 1), aliased("b", 1), aliased("", 1)] {
        packet.encode(Version::V5, &mut bytes).unwrap();
    }
    client.send_bytes(&bytes);
    for topic in ["a", "a", "b", "b"] {
        assert_eq!(client.receive().topic, topic);
    }
    client.send(&aliased("", 1));
    assert_eq!(client.receive().topic, "b");
    assert_eq!(*topics.lock().unwrap(), ["a", "a", "b", "b", "b"]);
    client.send(&aliased("", 2));
    client.expect_end(Some(ReasonCode::ProtocolError));
    assert_eq!(topics.lock().unwrap().len(), 5, "what breaks the protocol no hook is asked about");
}

/// Is each filter of a SUBSCRIBE judged for itself: granted, lowered, refused, in both versions?
#[test]
fn each_filter_is_judged() {
    let hooks = Double::new(&[HookName::Subscribe], |call| {
        let HookCall::Subscribe(call) = call else { panic!("{call:?}") };
        match &*call.filter {
            "no/#" => refuse(ReasonCode::NotAuthorized),
            "low" => HookAnswer::Grant(SubscriptionOptions { qos: QoS::AtMostOnce, ..call.options }),
            _ => HookAnswer::Pass,
        }
    });
    let node = node(r#"{"shards": 2}"#, hooks);
    let mut sender = connect(&node, "sender");
    for (version, refused) in [(Version::V5, ReasonCode::NotAuthorized), (Version::V311, ReasonCode::UnspecifiedError)]
    {
        let mut client = Client::connect_with(&node, &packets::connect("one").in_version(version)).0;
        let mut filters = SubscribeFiltersBuf::new();
        for filter in ["no/#", "low", "high", "no/#"] {
            filters.push(filter, SubscriptionOptions::new(QoS::AtLeastOnce)).unwrap();
        }
        let properties = SubscribeProperties::default();
        client.send(&Packet::Subscribe(Subscribe { packet_id: id(5), properties, filters: filters.as_ref() }));
        let reasons = client.expect("SUBACK", |packet| match packet {
            Packet::SubAck(ack) => Some(ack.reasons.to_vec()),
            _ => None,
        });
        assert_eq!(reasons, [refused, ReasonCode::Success, ReasonCode::GrantedQoS1, refused]);
        for topic in ["no/1", "low", "high"] {
            sender.publish_acked(topic, b"");
        }
        for (topic, qos) in [("low", QoS::AtMostOnce), ("high", QoS::AtLeastOnce)] {
            let received = client.receive();
            assert_eq!((&*received.topic, received.qos), (topic, qos));
            client.acknowledge(&received);
        }
        client.expect_silence();
    }
    assert_eq!(metric(&node, "lapwing_hook_refusals_total", "on_subscribe"), 4);
}

/// Do the hooks that watch hear what has happened, each client's in order, and nothing that was refused?
#[test]
fn what_happened_is_told() {
    let told = Arc::new(Mutex::new(Vec::new()));
    let seen = told.clone();
    let watching = HookName::ALL.into_iter().filter(|hook| !hook.decides() || *hook == HookName::Publish);
    let node = node(
        r#"{"shards": 2}"#,
        Double::new(&watching.collect::<Vec<_>>(), move |call| {
            let what = match call {
                HookCall::Publish { message, .. } if message.topic == "no" => return refuse(ReasonCode::NotAuthorized),
                HookCall::Connected { client, session_present } => {
                    format!("{} connected {session_present}", client.client_id)
                }
                HookCall::Disconnected { reason, .. } => format!("disconnected {reason:?}"),
                HookCall::Subscribed { filter, qos, .. } => format!("subscribed {filter} {qos}"),
                HookCall::Unsubscribed { filter, .. } => format!("unsubscribed {filter}"),
                HookCall::Published { message, .. } => format!("published {}", message.topic),
                _ => return HookAnswer::Pass,
            };
            seen.lock().unwrap().push(what);
            HookAnswer::Pass
        }),
    );
    let mut client = connect(&node, "one");
    client.subscribe("a/#", SubscriptionOptions::new(QoS::AtLeastOnce));
    client.publish("no", b"", QoS::AtMostOnce, None);
    client.publish("yes", b"", QoS::AtMostOnce, None);
    client.unsubscribe("a/#");
    client.disconnect();
    let expected =
        ["one connected false", "subscribed a/# 1", "published yes", "unsubscribed a/#", "disconnected Some(Success)"];
    eventually("everything is told", || told.lock().unwrap().len() == expected.len());
    assert_eq!(*told.lock().unwrap(), expected);
}

/// Is a subscription to a group told when the group has taken it, on whatever shard it lives, and not when it refuses?
#[test]
fn what_a_group_refuses_is_not_told() {
    let told = Arc::new(Mutex::new(Vec::new()));
    let seen = told.clone();
    let hooks = Double::new(&[HookName::Subscribed], move |call| {
        if let HookCall::Subscribed { client, filter, qos } = call {
            seen.lock().unwrap().push(format!("{} {filter} {qos}", client.client_id));
        }
        HookAnswer::Pass
    });
    let node = node(r#"{"shards": 2, "dispatch": {"members_per_group_max": 1}}"#, hooks);
    let [here, there] = ids_on_both_shards();
    let mut expected = Vec::new();
    for (n, (taken, refused)) in [(&here, &there), (&there, &here)].into_iter().enumerate() {
        let filter = format!("$share/g{n}/t");
        let (mut member, mut other) = (connect(&node, taken), connect(&node, refused));
        assert_eq!(subscribe(&mut member, &["plain", &filter]), [ReasonCode::GrantedQoS1; 2]);
        let answer = subscribe(&mut other, &[&filter, "plain"]);
        assert_eq!(answer, [ReasonCode::QuotaExceeded, ReasonCode::GrantedQoS1]);
        // Told behind whatever was told of the one before.
        assert_eq!(subscribe(&mut other, &["last"]), [ReasonCode::GrantedQoS1]);
        expected.extend([format!("{taken} plain 1"), format!("{taken} {filter} 1")]);
        expected.extend([format!("{refused} plain 1"), format!("{refused} last 1")]);
    }
    eventually("everything is told", || told.lock().unwrap().len() >= expected.len());
    let mut told = told.lock().unwrap().clone();
    told.sort();
    expected.sort();
    assert_eq!(told, expected);
}

/// Subscribes with QoS 1; what the SUBACK says.
fn subscribe(client: &mut Client, filters: &[&str]) -> Vec<ReasonCode> {
    let mut wanted = SubscribeFiltersBuf::new();
    filters.iter().for_each(|filter| wanted.push(filter, SubscriptionOptions::new(QoS::AtLeastOnce)).expect("short"));
    let (properties, filters) = (SubscribeProperties::default(), wanted.as_ref());
    client.send(&Packet::Subscribe(Subscribe { packet_id: id(1), properties, filters }));
    client.expect("SUBACK", |packet| match packet {
        Packet::SubAck(ack) => Some(ack.reasons.to_vec()),
        _ => None,
    })
}
