//! Shared subscriptions: each message to one member, wherever it lives.

use lapwing_codec::{QoS, SubscriptionOptions};

use crate::client::Client;
use crate::packets::lasting;
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
    let mut round = 0_u8;
    eventually("the group knows who is away", || {
        round = round.wrapping_add(1);
        (0..4).for_each(|_| sender.publish_acked("t", &[round]));
        present.send(&lapwing_codec::Packet::PingReq);
        let mut seen = 0;
        while let Some(received) = present.receive_or_pong() {
            present.acknowledge(&received);
            seen += usize::from(received.payload == [round]);
        }
        seen == 4
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

/// A node that stops and starts again, with other shards each time: are the queues of a declared group and of one with a
/// kept member there, with the message that the member had, and nothing that was finished?
#[test]
fn kept_groups_are_there_after_a_stop() {
    let dir = tempfile::tempdir().unwrap();
    let start = |shards: u32| {
        let groups = r#"{"declared": {"filters": ["t"]}}"#;
        node(&format!(r#"{{"shards": {shards}, "data_dir": {:?}, "groups": {groups}}}"#, dir.path()))
    };
    let queued = |node: &lapwing_node::Handle| metric(node, "lapwing_journal_queued_messages", "");
    let node = start(1);
    let mut member = Client::connect_with(&node, &lasting("member")).0;
    member.subscribe("$share/company/t", SubscriptionOptions::new(QoS::AtLeastOnce));
    let mut sender = connect(&node, "sender");
    for payload in [b"1", b"2", b"3"] {
        sender.publish_acked("t", payload);
    }
    let first = member.receive();
    member.acknowledge(&first);
    eventually("the end is told", || queued(&node) == 5);
    node.stop().unwrap();

    let node = start(3);
    assert_eq!(queued(&node), 5);
    let (mut member, is_present) = Client::connect_with(&node, &lasting("member"));
    assert!(is_present);
    let mut other = connect(&node, "other");
    other.subscribe("$share/declared/t", SubscriptionOptions::new(QoS::AtLeastOnce));
    for (client, payloads) in [(&mut member, &[b"2", b"3"][..]), (&mut other, &[b"1", b"2", b"3"][..])] {
        for payload in payloads {
            let received = client.receive();
            assert_eq!(received.payload, *payload);
            client.acknowledge(&received);
        }
        client.expect_silence();
    }
    eventually("all ends are told", || queued(&node) == 0);
    node.stop().unwrap();
    assert_eq!(queued(&start(2)), 0);
}
