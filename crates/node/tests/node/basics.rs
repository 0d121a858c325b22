//! One message from one client to another, in every QoS and version.

use lapwing_codec::{Ack, Packet, QoS, ReasonCode, SubscriptionOptions, Version};

use crate::client::Client;
use crate::packets::{self, ConnectExt, id};
use crate::{connect, node};

/// Does a message arrive, on one shard and on two, in both versions, with each QoS?
#[test]
fn a_message_arrives() {
    for json in [r#"{"shards": 1}"#, r#"{"shards": 2}"#] {
        let node = node(json);
        for version in [Version::V311, Version::V5] {
            let mut receiver = Client::connect_with(&node, &packets::connect("receiver").in_version(version)).0;
            let mut sender = Client::connect_with(&node, &packets::connect("sender").in_version(version)).0;
            receiver.subscribe("a/+", SubscriptionOptions::new(QoS::ExactlyOnce));
            sender.publish("a/b", b"zero", QoS::AtMostOnce, None);
            assert_eq!(receiver.receive().payload, b"zero");
            sender.publish_acked("a/b", b"one");
            let one = receiver.receive();
            assert_eq!((&one.payload[..], one.qos), (&b"one"[..], QoS::AtLeastOnce));
            receiver.acknowledge(&one);
            exactly_once(&mut sender, &mut receiver);
            receiver.expect_silence();
        }
        node.stop().unwrap();
    }
}

fn exactly_once(sender: &mut Client, receiver: &mut Client) {
    sender.publish("a/b", b"two", QoS::ExactlyOnce, Some(3));
    sender.expect("PUBREC", |packet| matches!(packet, Packet::PubRec(ack) if ack.packet_id == id(3)).then_some(()));
    sender.send(&Packet::PubRel(Ack::new(id(3), ReasonCode::Success)));
    sender.expect("PUBCOMP", |packet| matches!(packet, Packet::PubComp(_)).then_some(()));
    let two = receiver.receive();
    assert_eq!((&two.payload[..], two.qos), (&b"two"[..], QoS::ExactlyOnce));
    let packet_id = two.id.unwrap();
    receiver.send(&Packet::PubRec(Ack::new(packet_id, ReasonCode::Success)));
    receiver.expect("PUBREL", |packet| matches!(packet, Packet::PubRel(_)).then_some(()));
    receiver.send(&Packet::PubComp(Ack::new(packet_id, ReasonCode::Success)));
}

/// Does a client that subscribes to what it publishes get it, unless it asked for No Local?
#[test]
fn a_client_hears_itself_unless_it_asks_not_to() {
    let node = node(r#"{"shards": 1}"#);
    let mut one = connect(&node, "one");
    one.subscribe("loud", SubscriptionOptions::new(QoS::AtMostOnce));
    one.subscribe("quiet", SubscriptionOptions { no_local: true, ..SubscriptionOptions::new(QoS::AtMostOnce) });
    one.publish("quiet", b"x", QoS::AtMostOnce, None);
    one.publish("loud", b"x", QoS::AtMostOnce, None);
    assert_eq!(one.receive().topic, "loud");
    one.expect_silence();
}

/// Does a client without id get one, and one that stays on the shard that accepted it?
#[test]
fn a_client_without_id_gets_one() {
    let node = node(r#"{"shards": 2}"#);
    let mut ids = Vec::new();
    for _ in 0..8 {
        let mut client = Client::open(&node);
        client.send(&Packet::Connect(packets::connect("")));
        ids.push(client.expect("CONNACK", |packet| match packet {
            Packet::ConnAck(ack) => ack.properties.assigned_client_id.map(str::to_owned),
            _ => None,
        }));
    }
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 8);
    assert_eq!(crate::metric(&node, "lapwing_connections_moved_total", ""), 0);
}

/// Does a message much larger than the read buffer pass whole?
#[test]
fn a_large_message_passes() {
    let node = node(r#"{"shards": 2, "limits": {"packet_bytes_max": 4000000, "read_bytes_per_turn": 65536}}"#);
    let mut client = connect(&node, "one");
    client.subscribe("big", SubscriptionOptions::new(QoS::AtMostOnce));
    let payload: Vec<u8> = (0..3_000_000_u32).map(|n| n as u8).collect();
    client.publish("big", &payload, QoS::AtMostOnce, None);
    assert_eq!(client.receive().payload, payload);
}
