//! Shared subscriptions: each message to one member, wherever it lives.

use lapwing_codec::{QoS, SubscriptionOptions};

use crate::client::{Client, lasting};
use crate::{connect, eventually, ids_on_both_shards, metric, node};

/// Do members on both shards take turns, and does a plain subscriber still get everything?
#[test]
fn members_take_turns() {
    let node = node(r#"{"shards": 2}"#);
    let [here, there] = ids_on_both_shards();
    let (mut one, mut two) = (connect(&node, &here), connect(&node, &there));
    for member in [&mut one, &mut two] {
        member.subscribe("$share/g/t/+", SubscriptionOptions::new(QoS::AtMostOnce));
    }
    let mut plain = connect(&node, "plain");
    plain.subscribe("t/#", SubscriptionOptions::new(QoS::AtMostOnce));
    let mut sender = connect(&node, "sender");
    for n in 0..100_u32 {
        sender.publish("t/x", &n.to_be_bytes(), QoS::AtMostOnce, None);
    }
    for n in 0..100_u32 {
        assert_eq!(plain.receive().payload, n.to_be_bytes());
    }
    let mut seen: Vec<Vec<u8>> = (0..50).flat_map(|_| [one.receive().payload, two.receive().payload]).collect();
    seen.sort();
    assert_eq!(seen, (0..100_u32).map(|n| n.to_be_bytes().to_vec()).collect::<Vec<_>>());
    one.expect_silence();
    two.expect_silence();
}

/// Is a member without connection passed over while another has one, and kept for when all are away?
#[test]
fn the_absent_are_passed_over() {
    let node = node(r#"{"shards": 2}"#);
    let [here, there] = ids_on_both_shards();
    let mut absent = Client::connect_with(&node, &lasting(&here)).0;
    absent.subscribe("$share/g/t", SubscriptionOptions::new(QoS::AtLeastOnce));
    let mut present = connect(&node, &there);
    present.subscribe("$share/g/t", SubscriptionOptions::new(QoS::AtLeastOnce));
    absent.disconnect();
    let mut sender = connect(&node, "sender");
    eventually("the group knows who is away", || {
        (0..4).for_each(|_| sender.publish_acked("t", b"x"));
        let seen = (0..4).all(|_| {
            present.send(&lapwing_codec::Packet::PingReq);
            present.expect("PUBLISH or PINGRESP", |p| Some(matches!(p, lapwing_codec::Packet::Publish(_))))
        });
        (0..4).for_each(|_| drop(present.expect("anything", |p| Some(format!("{p:?}")))));
        seen
    });
    present.disconnect();
    eventually("the member has left", || metric(&node, "lapwing_subscriptions", "") == 1);
    sender.publish_acked("t", b"kept");
    let (mut absent, _) = Client::connect_with(&node, &lasting(&here));
    let mut last = absent.receive();
    while last.payload != b"kept" {
        last = absent.receive();
    }
}
