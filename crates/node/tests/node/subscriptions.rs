//! Packets of many filters: done by parts, answered once.

use lapwing_codec::{
    Packet, QoS, ReasonCode, Subscribe, SubscribeFiltersBuf, SubscriptionOptions, Unsubscribe, UnsubscribeFiltersBuf,
};

use crate::client::Client;
use crate::packets::{id, lasting};
use crate::{connect, ids_on_both_shards, metric, node};

/// Is a packet of more filters than one turn takes answered once, in order, and in force, whoever owns its groups?
#[test]
fn a_packet_of_many_filters_is_done_by_parts_and_answered_once() {
    let node = node(r#"{"shards": 2}"#);
    let [here, there] = ids_on_both_shards();
    let (mut many, mut sender) = (connect(&node, &here), connect(&node, &there));
    let names: Vec<String> =
        (0..1_000).map(|n| if n % 100 == 7 { format!("$share/g{n}/m/{n}") } else { format!("m/{n}") }).collect();
    let at_most_once = SubscriptionOptions::new(QoS::AtMostOnce);
    let mut filters = SubscribeFiltersBuf::new();
    let mut unwanted = UnsubscribeFiltersBuf::new();
    for (n, name) in names.iter().enumerate() {
        let qos = if n == 999 { QoS::AtLeastOnce } else { QoS::AtMostOnce };
        filters.push(name, SubscriptionOptions::new(qos)).unwrap();
        unwanted.push(name).unwrap();
    }
    many.send(&Packet::Subscribe(Subscribe {
        packet_id: id(5),
        properties: Default::default(),
        filters: filters.as_ref(),
    }));
    let granted = many.expect("SUBACK", |packet| match packet {
        Packet::SubAck(ack) => Some(ack.reasons.to_vec()),
        _ => None,
    });
    let mut expected = vec![ReasonCode::Success; 1_000];
    expected[999] = ReasonCode::GrantedQoS1;
    assert_eq!(granted, expected);
    for n in [0, 7, 255, 256, 907, 999] {
        let topic = format!("m/{n}");
        sender.publish_acked(&topic, b"");
        let received = many.receive();
        assert_eq!(received.topic, topic);
        many.acknowledge(&received);
    }
    many.send(&Packet::Unsubscribe(Unsubscribe {
        packet_id: id(6),
        user: Default::default(),
        filters: unwanted.as_ref(),
    }));
    let answers = many.expect("UNSUBACK", |packet| match packet {
        Packet::UnsubAck(ack) => Some(ack.reasons.to_vec()),
        _ => None,
    });
    assert_eq!(answers, [ReasonCode::Success; 1_000]);
    assert_eq!(metric(&node, "lapwing_subscriptions", ""), 0);
    many.subscribe("m/0", at_most_once);
}

/// Does a client that goes in the middle of a large SUBSCRIBE find its session whole, and its next answers in order?
#[test]
fn a_connection_may_end_in_the_middle_of_a_large_subscribe() {
    let node = node(r#"{"shards": 2}"#);
    let [here, there] = ids_on_both_shards();
    let mut sender = connect(&node, &there);
    let mut filters = SubscribeFiltersBuf::new();
    for n in 0..1_000 {
        filters.push(&format!("$share/g/e/{n}"), SubscriptionOptions::new(QoS::AtMostOnce)).unwrap();
    }
    let packet =
        Packet::Subscribe(Subscribe { packet_id: id(5), properties: Default::default(), filters: filters.as_ref() });
    for _ in 0..20 {
        let mut gone = Client::connect_with(&node, &lasting(&here)).0;
        gone.send(&packet);
        drop(gone);
    }
    let mut back = Client::connect_with(&node, &lasting(&here)).0;
    back.send(&packet);
    let granted = back.expect("SUBACK", |packet| match packet {
        Packet::SubAck(ack) => Some(ack.reasons.len()),
        _ => None,
    });
    assert_eq!(granted, 1_000);
    sender.publish_acked("e/999", b"");
    assert_eq!(back.receive().topic, "e/999");
    back.expect_silence();
    assert_eq!(metric(&node, "lapwing_subscriptions", ""), 1_000);
}
