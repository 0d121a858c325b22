//! Retained messages: kept on the shard of their topic, replayed to new subscriptions on any shard.

use std::collections::BTreeSet;

use lapwing_codec::{Packet, QoS, RetainHandling, SubscriptionOptions};

use crate::client::publish;
use crate::{connect, eventually, ids_on_both_shards, metric, node};

/// Does a new subscription get what is retained, from every shard, and nothing that was deleted?
#[test]
fn a_new_subscription_gets_what_is_retained() {
    let node = node(r#"{"shards": 2}"#);
    let [here, there] = ids_on_both_shards();
    let mut sender = connect(&node, &here);
    for n in 0..50 {
        sender.publish_retained(&format!("r/{n}"), b"old");
        sender.publish_retained(&format!("r/{n}"), format!("new {n}").as_bytes());
    }
    sender.publish_retained("r/7", b"");
    eventually("all is kept", || metric(&node, "lapwing_retained_messages", "") == 49);
    for id in [&here, &there] {
        let mut receiver = connect(&node, &format!("{id}-receiver"));
        receiver.subscribe("r/#", SubscriptionOptions::new(QoS::AtMostOnce));
        let seen: BTreeSet<(String, Vec<u8>)> = (0..49)
            .map(|_| {
                let received = receiver.receive();
                assert!(received.retain);
                (received.topic, received.payload)
            })
            .collect();
        let expected = (0..50).filter(|n| *n != 7).map(|n| (format!("r/{n}"), format!("new {n}").into_bytes()));
        assert_eq!(seen, expected.collect());
        receiver.expect_silence();
    }
}

/// Does a live message lose its RETAIN flag, unless the subscription wants it as published; and are the retain handling
/// options kept?
#[test]
fn options_of_the_subscription_are_kept() {
    let node = node(r#"{"shards": 1}"#);
    let mut sender = connect(&node, "sender");
    sender.publish_retained("r", b"1");
    let mut receiver = connect(&node, "receiver");
    let options =
        |retain_handling| SubscriptionOptions { retain_handling, ..SubscriptionOptions::new(QoS::AtMostOnce) };
    receiver.subscribe("r", options(RetainHandling::DoNotSend));
    receiver.expect_silence();
    receiver.subscribe("r", options(RetainHandling::SendIfNew));
    receiver.expect_silence();
    receiver.subscribe("r", options(RetainHandling::Send));
    assert!(receiver.receive().retain);
    sender.publish_retained("r", b"2");
    assert!(!receiver.receive().retain);
    let as_published = SubscriptionOptions { retain_as_published: true, ..options(RetainHandling::DoNotSend) };
    receiver.subscribe("r", as_published);
    sender.publish_retained("r", b"3");
    assert!(receiver.receive().retain);
}

/// Does a large replay arrive whole although it is larger than the output buffer and every mailbox?
#[test]
fn a_large_replay_arrives_whole() {
    const MESSAGES: u32 = 3_000;
    let node = node(
        r#"{"shards": 2, "limits": {"mailbox_batches": 1, "mailbox_batch_messages": 8,
            "output_high_bytes": 65536, "output_bytes_max": 1000000}}"#,
    );
    let mut sender = connect(&node, "sender");
    let payload = vec![0; 400];
    for n in 0..MESSAGES {
        let topic = format!("r/{n}");
        let packet = lapwing_codec::Publish { retain: true, ..publish(&topic, &payload, QoS::AtMostOnce, None) };
        sender.send(&Packet::Publish(packet));
    }
    eventually("all is kept", || metric(&node, "lapwing_retained_messages", "") == u64::from(MESSAGES));
    let mut receiver = connect(&node, "receiver");
    receiver.subscribe("#", SubscriptionOptions::new(QoS::AtMostOnce));
    let seen: BTreeSet<String> = (0..MESSAGES).map(|_| receiver.receive().topic).collect();
    assert_eq!(seen.len(), MESSAGES as usize);
    assert_eq!(metric(&node, "lapwing_messages_dropped_total", ""), 0);
}
