//! What crosses shards: order, back-pressure with the smallest mailboxes, everyone talking to everyone.

use std::collections::HashMap;

use lapwing_codec::{QoS, SubscriptionOptions};

use crate::{connect, eventually, ids_on_both_shards, metric, node};

/// Is what a client publishes after another one's SUBACK always seen, across shards?
#[test]
fn what_is_published_after_a_suback_is_seen() {
    let node = node(r#"{"shards": 2}"#);
    let [here, there] = ids_on_both_shards();
    let (mut receiver, mut sender) = (connect(&node, &here), connect(&node, &there));
    for n in 0..200_u32 {
        let topic = format!("t/{n}");
        receiver.subscribe(&topic, SubscriptionOptions::new(QoS::AtMostOnce));
        sender.publish(&topic, &n.to_be_bytes(), QoS::AtMostOnce, None);
        assert_eq!(receiver.receive().payload, n.to_be_bytes());
    }
}

/// Does a second subscriber to a filter that is still being announced wait as well, and does the interest end with the
/// last one?
#[test]
fn interest_begins_with_the_first_and_ends_with_the_last() {
    let node = node(r#"{"shards": 2}"#);
    let [here, there] = ids_on_both_shards();
    let mut sender = connect(&node, &there);
    let (mut one, mut two) = (connect(&node, &here), connect(&node, "another"));
    one.send_subscribe("t", SubscriptionOptions::new(QoS::AtMostOnce));
    two.subscribe("t", SubscriptionOptions::new(QoS::AtMostOnce));
    one.expect("SUBACK", |packet| matches!(packet, lapwing_codec::Packet::SubAck(_)).then_some(()));
    sender.publish_acked("t", b"x");
    assert_eq!((one.receive().payload, two.receive().payload), (b"x".to_vec(), b"x".to_vec()));
    one.disconnect();
    sender.publish_acked("t", b"y");
    assert_eq!(two.receive().payload, b"y");
    two.disconnect();
    let forwarded = || metric(&node, "lapwing_messages_forwarded_total", "");
    eventually("the interest is withdrawn", || {
        let before = forwarded();
        sender.publish_acked("t", b"z");
        forwarded() == before
    });
}

/// With mailboxes of one batch of one message, and everyone talking to everyone: does everything arrive, in order?
#[test]
fn all_to_all_through_mailboxes_of_one() {
    const CLIENTS: u32 = 8;
    const MESSAGES: u32 = 200;
    let node = node(
        r#"{"shards": 4, "limits": {"mailbox_batches": 1, "mailbox_batch_messages": 1, "output_high_bytes": 8000000}}"#,
    );
    let clients: Vec<_> = (0..CLIENTS)
        .map(|n| {
            let mut client = connect(&node, &format!("c{n}"));
            client.subscribe("all/+", SubscriptionOptions::new(QoS::AtMostOnce));
            client
        })
        .collect();
    let threads: Vec<_> = (0..CLIENTS)
        .zip(clients)
        .map(|(n, mut client)| {
            std::thread::spawn(move || {
                let topic = format!("all/{n}");
                (0..MESSAGES).for_each(|m| client.publish(&topic, &m.to_be_bytes(), QoS::AtMostOnce, None));
                let mut next: HashMap<String, u32> = HashMap::new();
                for _ in 0..CLIENTS * MESSAGES {
                    let received = client.receive();
                    let expected = next.entry(received.topic).or_default();
                    assert_eq!(received.payload, expected.to_be_bytes());
                    *expected += 1;
                }
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    assert!(metric(&node, "lapwing_reads_held_total", "") > 0, "the mailboxes were never full");
}
