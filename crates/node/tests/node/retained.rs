//! Retained messages: kept on the shard of their topic, replayed to new subscriptions on any shard.

use std::collections::{BTreeMap, BTreeSet};

use lapwing_codec::{Packet, QoS, RetainHandling, SubscriptionOptions};

use crate::client::Client;
use crate::packets::{lasting, publish};
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

/// Fills topics `r/0`.. with `payload`, and waits until all are kept.
fn retain(node: &lapwing_node::Handle, topics: u32, payload: &[u8]) {
    let mut sender = connect(node, "retainer");
    for n in 0..topics {
        let topic = format!("r/{n}");
        let packet = lapwing_codec::Publish { retain: true, ..publish(&topic, payload, QoS::AtLeastOnce, Some(1)) };
        sender.send(&Packet::Publish(packet));
        if n % 100 == 99 {
            (0..100).for_each(|_| sender.expect_ack(1));
        }
    }
    eventually("all is kept", || metric(node, "lapwing_retained_messages", "") == u64::from(topics));
}

/// Do all messages reach a subscriber that acknowledges, though they are more than its window and queue may hold?
#[test]
fn a_replay_larger_than_window_and_queue_arrives_whole() {
    const TOPICS: u32 = 2_000;
    for shards in [1, 2] {
        let node = node(&format!(
            r#"{{"shards": {shards}, "limits": {{"inflight_messages_max": 20, "queue_messages_max": 50}}}}"#
        ));
        retain(&node, TOPICS, b"x");
        let mut receiver = connect(&node, "receiver");
        receiver.subscribe("r/#", SubscriptionOptions::new(QoS::AtLeastOnce));
        let mut seen = BTreeSet::new();
        for _ in 0..TOPICS {
            let received = receiver.receive();
            receiver.acknowledge(&received);
            seen.insert(received.topic);
        }
        assert_eq!(seen.len(), TOPICS as usize);
        receiver.expect_silence();
        assert_eq!(metric(&node, "lapwing_messages_dropped_total", ""), 0);
    }
}

/// Is the last value that a slow reader sees of each topic the newest, though it changed while the replay was under way,
/// and is a deleted one not brought back?
#[test]
fn the_last_value_seen_is_the_newest() {
    const TOPICS: u32 = 2_000;
    for shards in [1, 2] {
        let limits = r#"{"output_high_bytes": 65536, "queue_messages_max": 100000}"#;
        let node = node(&format!(r#"{{"shards": {shards}, "limits": {limits}}}"#));
        retain(&node, TOPICS, &[b'o'; 4000]);
        let mut receiver = connect(&node, "receiver");
        receiver.subscribe("r/#", SubscriptionOptions::new(QoS::AtLeastOnce));
        let mut writer = connect(&node, "writer");
        for n in (0..TOPICS).step_by(10) {
            let payload: &[u8] = if n % 20 == 0 { b"new" } else { b"" };
            writer.publish_retained(&format!("r/{n}"), payload);
        }
        let mut last = BTreeMap::new();
        // Those deleted before the replay came to them are seen once, as the empty message that deleted them.
        while last.len() < TOPICS as usize {
            let received = receiver.receive();
            receiver.acknowledge(&received);
            last.insert(received.topic, received.payload);
        }
        // What is still under way goes out before the answer to a question about nothing.
        let mut probe = connect(&node, "probe");
        probe.publish_acked("r/end", b"");
        while {
            let received = receiver.receive();
            receiver.acknowledge(&received);
            let is_end = received.topic == "r/end";
            last.insert(received.topic, received.payload);
            !is_end
        } {}
        for n in (0..TOPICS).step_by(10) {
            let expected: &[u8] = if n % 20 == 0 { b"new" } else { b"" };
            assert_eq!(last[&format!("r/{n}")], expected, "r/{n} with {shards} shards");
        }
    }
}

/// Do many subscribers, each subscribing while every topic changes all the time, see each value once at most, live or as
/// retained, none behind a newer one, and the newest of each topic, wherever they, the writers and the topics live; also those
/// whose sessions are taken over meanwhile, and those that subscribe again?
#[test]
fn each_value_comes_once_and_in_order() {
    for shards in [1, 2, 3] {
        let node = node(&format!(
            r#"{{"shards": {shards}, "limits": {{"mailbox_batches": 2, "mailbox_batch_messages": 4}}}}"#
        ));
        let shared = &node;
        std::thread::scope(|scope| {
            let write = |writer| scope.spawn(move || change_all_the_time(shared, writer));
            let writers: Vec<_> = (0..WRITERS).map(write).collect();
            let mut watchers = Vec::new();
            while writers.iter().any(|writer| !writer.is_finished()) && watchers.len() < 40 {
                watchers.push(Watcher::begin(&node, watchers.len()));
                std::thread::yield_now();
            }
            writers.into_iter().for_each(|writer| writer.join().expect("the writer finishes"));
            watchers.iter_mut().for_each(Watcher::see_the_newest);
        });
        assert_eq!(metric(&node, "lapwing_messages_dropped_total", ""), 0);
    }
}

const WRITERS: usize = 3;
const CHANGING: usize = 40;
const ROUNDS: u32 = 20;

/// Each writer has topics of its own, so that one value is the newest.
fn change_all_the_time(node: &lapwing_node::Handle, writer: usize) {
    let mut client = connect(node, &format!("writer-{writer}"));
    for round in 0..ROUNDS {
        for n in 0..CHANGING {
            client.publish_retained(&format!("r/{writer}/{n}"), format!("{round:04}").as_bytes());
        }
    }
}

/// Somebody who subscribes in the midst of it.
struct Watcher {
    client: Client,
    last: BTreeMap<String, Vec<u8>>,
    /// Its last SUBSCRIBE is not answered yet.
    awaits_suback: bool,
}

impl Watcher {
    /// Every third is taken over once it has its SUBACK, every third subscribes again for what is new.
    fn begin(node: &lapwing_node::Handle, n: usize) -> Self {
        let (id, options) = (format!("watcher-{n}"), SubscriptionOptions::new(QoS::AtLeastOnce));
        let client = Client::connect_with(node, &lasting(&id)).0;
        let mut watcher = Watcher { client, last: BTreeMap::new(), awaits_suback: true };
        watcher.client.send_subscribe("r/#", options);
        if n.is_multiple_of(3) {
            return watcher;
        }
        while watcher.awaits_suback {
            watcher.take_next();
        }
        if n % 3 == 1 {
            watcher.client = Client::connect_with(node, &lasting(&id)).0;
        } else {
            let options = SubscriptionOptions { retain_handling: RetainHandling::SendIfNew, ..options };
            watcher.client.send_subscribe("r/#", options);
            watcher.awaits_suback = true;
        }
        watcher
    }

    fn take_next(&mut self) {
        match self.client.receive_or_suback() {
            Some(received) => self.see(&received),
            None => self.awaits_suback = false,
        }
    }

    fn see(&mut self, received: &crate::client::Received) {
        self.client.acknowledge(received);
        let before = self.last.insert(received.topic.clone(), received.payload.clone());
        // What an earlier connection had not acknowledged comes again, and says so.
        let is_in_order =
            |before: &Vec<u8>| *before < received.payload || (received.dup && *before == received.payload);
        assert!(before.as_ref().is_none_or(is_in_order), "{received:?} came behind {before:?}");
    }

    fn see_the_newest(&mut self) {
        let newest = format!("{:04}", ROUNDS - 1).into_bytes();
        let is_done = |last: &BTreeMap<String, Vec<u8>>| {
            last.values().filter(|value| **value == newest).count() == WRITERS * CHANGING
        };
        while self.awaits_suback || !is_done(&self.last) {
            self.take_next();
        }
        self.client.expect_silence();
    }
}

/// Is nothing sent for a subscription that was cancelled at once, and is the SUBACK the first answer?
#[test]
fn a_subscription_cancelled_at_once_gets_nothing() {
    for shards in [1, 2] {
        let node = node(&format!(r#"{{"shards": {shards}}}"#));
        retain(&node, 100, b"x");
        let mut receiver = connect(&node, "receiver");
        let mut both = Vec::new();
        both.extend_from_slice(b"\x82\x09\x00\x01\x00\x00\x03r/#\x00");
        both.extend_from_slice(b"\xa2\x08\x00\x02\x00\x00\x03r/#");
        receiver.send_bytes(&both);
        receiver.expect("SUBACK", |packet| matches!(packet, Packet::SubAck(_)).then_some(()));
        // The subscription was in force in between: what was on its way by then may come, nothing after the UNSUBACK.
        while receiver.expect("UNSUBACK", |packet| match packet {
            Packet::Publish(_) => Some(true),
            Packet::UnsubAck(_) => Some(false),
            _ => None,
        }) {}
        eventually("the node has nothing more to do", || {
            receiver.expect_silence();
            metric(&node, "lapwing_subscriptions", "") == 0
        });
        receiver.expect_silence();
    }
}

/// Does No Local keep a client's own retained messages from it, whichever shard they live on, and only those?
#[test]
fn no_local_concerns_retained_messages_too() {
    for shards in [1, 2] {
        let node = node(&format!(r#"{{"shards": {shards}}}"#));
        let mut both = connect(&node, "both");
        let mut other = connect(&node, "other");
        for n in 0..10 {
            both.publish_retained(&format!("own/{n}"), b"own");
            other.publish_retained(&format!("other/{n}"), b"other");
        }
        eventually("all is kept", || metric(&node, "lapwing_retained_messages", "") == 20);
        let no_local = SubscriptionOptions { no_local: true, ..SubscriptionOptions::new(QoS::AtMostOnce) };
        // It is the client that counts, not its session.
        both.disconnect();
        let mut both = connect(&node, "both");
        both.subscribe("#", no_local);
        for _ in 0..10 {
            assert_eq!(both.receive().payload, b"other");
        }
        both.expect_silence();
    }
}

/// Does a session that lost its connection in the middle of a replay get the rest on its next one?
#[test]
fn a_replay_goes_on_with_the_session() {
    const TOPICS: u32 = 1_000;
    for shards in [1, 2] {
        let node = node(&format!(r#"{{"shards": {shards}, "limits": {{"inflight_messages_max": 10}}}}"#));
        retain(&node, TOPICS, b"x");
        let (mut receiver, _) = Client::connect_with(&node, &lasting("receiver"));
        receiver.subscribe("r/#", SubscriptionOptions::new(QoS::AtLeastOnce));
        let mut seen: BTreeSet<String> = (0..5).map(|_| receiver.receive().topic).collect();
        drop(receiver);
        let (mut receiver, present) = Client::connect_with(&node, &lasting("receiver"));
        assert!(present);
        while seen.len() < TOPICS as usize {
            let received = receiver.receive();
            receiver.acknowledge(&received);
            seen.insert(received.topic);
        }
    }
}
