//! Retained messages that a kept session was promised: a restart amid their replay takes none of them.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use lapwing_codec::{Connect, ConnectProperties, Packet, Publish, QoS, RetainHandling, SubscriptionOptions};
use lapwing_ledger::{DataGroupState, Entry};
use lapwing_node::Handle;
use lapwing_store::disk::OsDisk;
use lapwing_store::journal::{Journal, JournalConfig};

use crate::client::Client;
use crate::packets::{lasting, publish};
use crate::{connect, node};

/// More than a session's queue takes of a replay.
const TOPICS: usize = 600;
const QOS1: SubscriptionOptions = SubscriptionOptions::new(QoS::AtLeastOnce);
/// In the grant of a logged subscription: retained messages are owed.
const OWED_BIT: u64 = 1 << 6;

fn on_disk(dir: &Path, shards: u32) -> Handle {
    node(&format!(r#"{{"shards": {shards}, "data_dir": {dir:?}, "durability": "disk"}}"#))
}

/// Each of the topics has a retained message.
fn retain(node: &Handle) -> BTreeSet<String> {
    let topics: Vec<String> = (0..TOPICS).map(|n| format!("r/{n}")).collect();
    let mut sender = connect(node, "sender");
    for some in topics.chunks(100) {
        for topic in some {
            let packet = Publish { retain: true, ..publish(topic, b"x", QoS::AtLeastOnce, Some(1)) };
            sender.send(&Packet::Publish(packet));
        }
        some.iter().for_each(|_| sender.expect_ack(1));
    }
    topics.into_iter().collect()
}

/// A client of a kept session that takes so few that its replay cannot come to its end.
fn slow(node: &Handle) -> Client {
    let ConnectProperties { session_expiry_s, .. } = lasting("keeper").properties;
    let properties = ConnectProperties { session_expiry_s, receive_max: 5, ..ConnectProperties::default() };
    Client::connect_with(node, &Connect { properties, ..lasting("keeper") }).0
}

/// The client comes back to its session.
fn back(node: &Handle) -> Client {
    let (client, is_present) = Client::connect_with(node, &lasting("keeper"));
    assert!(is_present);
    client
}

/// Takes messages until each of these topics was there.
fn take(client: &mut Client, topics: &BTreeSet<String>) {
    let mut missing = topics.clone();
    while !missing.is_empty() {
        let message = client.receive();
        client.acknowledge(&message);
        assert!(message.retain);
        missing.remove(&message.topic);
    }
}

/// What a stopped node's log says: filters that are owed their retained messages, and how many entries spoke of subscriptions.
fn logged(dir: &Path) -> (Vec<String>, usize) {
    let (_, reader) = Journal::open_on(Arc::new(OsDisk), dir, &JournalConfig::default()).unwrap();
    let mut states: Vec<DataGroupState> = (0..16).map(|_| DataGroupState::new()).collect();
    let mut entries = 0;
    let replayed = reader.replay(&[1; 16], &mut |entry| {
        entries += usize::from(matches!(Entry::decode(entry.body), Ok(Entry::Subscribed(_))));
        states[usize::from(entry.group.0)].apply(entry.index, entry.body).unwrap();
        ControlFlow::Continue(())
    });
    replayed.unwrap();
    let all = states.iter().flat_map(DataGroupState::sessions).flat_map(|session| session.subscriptions());
    let owed = all.filter(|one| one.grant & OWED_BIT != 0).map(|one| one.filter.to_owned());
    (owed.collect(), entries)
}

/// Does a session that is there again get the rest of a replay, however often the node has gone in its midst?
#[test]
fn a_replay_begins_anew_when_the_node_does() {
    for shards in [1, 2] {
        let dir = tempfile::tempdir().unwrap();
        let node = on_disk(dir.path(), shards);
        let topics = retain(&node);
        slow(&node).subscribe("r/#", QOS1);
        node.stop().unwrap();
        assert_eq!(logged(dir.path()).0, ["r/#"]);
        // Once more, without anybody there.
        on_disk(dir.path(), shards).stop().unwrap();
        let node = on_disk(dir.path(), shards);
        take(&mut back(&node), &topics);
    }
}

/// Does a SUBSCRIBE that asks for no retained messages leave what is owed from the one before?
#[test]
fn another_subscribe_does_not_count_as_done() {
    for retain_handling in [RetainHandling::SendIfNew, RetainHandling::DoNotSend] {
        let dir = tempfile::tempdir().unwrap();
        let node = on_disk(dir.path(), 2);
        let topics = retain(&node);
        let mut client = slow(&node);
        client.subscribe("r/#", QOS1);
        client.subscribe("r/#", SubscriptionOptions { retain_handling, ..QOS1 });
        drop(client);
        node.stop().unwrap();
        let node = on_disk(dir.path(), 2);
        let mut client = back(&node);
        client.send_subscribe("r/#", SubscriptionOptions { retain_handling, ..QOS1 });
        let mut missing = topics;
        while !missing.is_empty() {
            let Some(message) = client.receive_or_suback() else { continue };
            client.acknowledge(&message);
            missing.remove(&message.topic);
        }
    }
}

/// Does nothing come again of a replay that has come whole, and is nothing written twice where a single shard has nothing to send?
#[test]
fn nothing_is_owed_when_all_has_come() {
    for (shards, entries) in [(1, 3), (2, 4)] {
        let dir = tempfile::tempdir().unwrap();
        let node = on_disk(dir.path(), shards);
        let topics = retain(&node);
        let mut client = Client::connect_with(&node, &lasting("keeper")).0;
        client.subscribe("nothing/#", QOS1);
        client.subscribe("r/#", QOS1);
        take(&mut client, &topics);
        client.expect_silence();
        client.disconnect();
        node.stop().unwrap();
        assert_eq!(logged(dir.path()), (vec![], entries));
        let node = on_disk(dir.path(), shards);
        back(&node).expect_silence();
    }
}

/// Is nothing owed to who has asked for nothing, has unsubscribed, or has begun anew?
#[test]
fn what_is_owed_goes_with_its_subscription() {
    let dir = tempfile::tempdir().unwrap();
    let node = on_disk(dir.path(), 2);
    retain(&node);
    let mut client = slow(&node);
    client.subscribe("r/+", SubscriptionOptions { retain_handling: RetainHandling::DoNotSend, ..QOS1 });
    client.subscribe("r/#", QOS1);
    client.send_unsubscribe("r/#");
    while client.receive_or_unsuback().is_some() {}
    let (mut other, _) = Client::connect_with(&node, &lasting("other"));
    other.subscribe("r/#", QOS1);
    drop(Client::connect_with(&node, &Connect { clean_start: true, ..lasting("other") }));
    node.stop().unwrap();
    assert_eq!(logged(dir.path()).0, [""; 0]);
}
