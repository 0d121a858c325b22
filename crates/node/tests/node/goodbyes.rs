//! Clients that say goodbye: what they said before counts, wherever the broker was looking just then.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use lapwing_codec::{
    Connect, Disconnect, Limits, Packet, Publish, QoS, ReasonCode, Subscribe, SubscribeFiltersBuf, SubscribeProperties,
    SubscriptionOptions, Version, decode,
};

use crate::client::Client;
use crate::packets::{ConnectExt, connect, id, publish, will};
use crate::{eventually, metric, node};

/// So many come, say goodbye and come again.
const CLIENTS: usize = 6;
/// So many times the moment is tried in which a client closes and is written to.
const TRIES: usize = 600;

/// Messages, and DISCONNECT behind them.
fn last_words(messages: &[Publish<'_>], version: Version) -> Vec<u8> {
    let goodbye = Packet::Disconnect(Disconnect::new(ReasonCode::Success));
    let packets = messages.iter().map(|publish| Packet::Publish(*publish)).chain([goodbye]);
    packets.flat_map(|packet| bytes_of(&packet, version)).collect()
}

/// The last words in one write, then the connection ends.
fn say_goodbye(mut client: Client, messages: &[Publish<'_>]) {
    client.send_bytes(&last_words(messages, client.version));
}

/// A client over a Unix socket that has subscribed to one filter with QoS 0.
fn subscribed(path: &Path, connect: &Connect<'_>, filter: &str) -> UnixStream {
    let mut stream = UnixStream::connect(path).expect("the node listens");
    stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a socket");
    let mut filters = SubscribeFiltersBuf::new();
    filters.push(filter, SubscriptionOptions::new(QoS::AtMostOnce)).expect("a short filter");
    let (properties, filters) = (SubscribeProperties::default(), filters.as_ref());
    let subscribe = Packet::Subscribe(Subscribe { packet_id: id(1), properties, filters });
    for packet in [Packet::Connect(*connect), subscribe] {
        stream.write_all(&bytes_of(&packet, connect.version)).expect("the node reads");
    }
    let (mut bytes, mut is_subscribed) = (Vec::new(), false);
    while !is_subscribed {
        let mut byte = [0];
        stream.read_exact(&mut byte).expect("the node answers");
        bytes.extend(byte);
        if let Some((packet, _)) = decode(&bytes, connect.version, &Limits::PROTOCOL).expect("the node speaks MQTT") {
            is_subscribed = matches!(packet, Packet::SubAck(_));
            bytes.clear();
        }
    }
    stream
}

fn bytes_of(packet: &Packet<'_>, version: Version) -> Vec<u8> {
    let mut bytes = Vec::new();
    packet.encode(version, &mut bytes).expect("a short packet");
    bytes
}

/// Everything that `watcher` hears, up to so many messages; a will is none of them.
fn hear(watcher: &mut Client, count: usize) -> Vec<String> {
    let mut heard: Vec<String> = (0..count)
        .map(|_| {
            let received = watcher.receive();
            watcher.acknowledge(&received);
            assert!(!received.topic.starts_with("will/"), "{} of a client that said goodbye", received.topic);
            received.topic
        })
        .collect();
    heard.sort();
    heard
}

/// One that hears what the clients publish, and their wills.
fn watcher(node: &lapwing_node::Handle) -> Client {
    let (mut watcher, _) = Client::connect(node, "watcher");
    watcher.subscribe("said/#", SubscriptionOptions::new(QoS::AtLeastOnce));
    watcher.subscribe("will/#", SubscriptionOptions::new(QoS::AtLeastOnce));
    watcher
}

/// A client that says goodbye and comes again at once, while its former connection is not read because it has sent more than its
/// share: is all that it said there, and its will not told, whichever shard its CONNECT came in at?
#[test]
fn a_client_that_waits_for_its_share_is_heard_before_it_comes_again() {
    for (shards, version) in [(1, Version::V5), (2, Version::V5), (2, Version::V311)] {
        let limits = r#"{"messages_per_s_max": 1000, "rate_burst_ms": 10, "takeover_wait_ms": 60000, "connect_timeout_ms": 120000}"#;
        let node = node(&format!(r#"{{"shards": {shards}, "limits": {limits}}}"#));
        let mut watcher = watcher(&node);
        let mut topics = Vec::new();
        for n in 0..CLIENTS {
            let (id, told, behind) = (format!("c{n}"), format!("will/{n}"), format!("said/{n}/behind"));
            let connect: Connect<'_> = connect(&id).in_version(version).with_will(will(&told, b""));
            let (former, _) = Client::connect_with(&node, &connect);
            let said: Vec<String> = (0..30).map(|m| format!("said/{n}/{m}")).collect();
            let messages: Vec<_> = said.iter().map(|topic| publish(topic, b"", QoS::AtMostOnce, None)).collect();
            say_goodbye(former, &messages);
            let (mut again, _) = Client::connect_with(&node, &connect);
            // Told by the same shard as the will would be, and after it.
            again.publish_acked(&behind, b"");
            say_goodbye(again, &[]);
            topics.extend(said);
            topics.push(behind);
        }
        topics.sort();
        assert_eq!(hear(&mut watcher, topics.len()), topics, "{shards} shards, {version:?}");
        watcher.expect_silence();
        assert_eq!(metric(&node, "lapwing_connections_ended_unread_total", ""), 0);
        node.stop().expect("no shard has panicked");
    }
}

/// One that goes on sending behind its share for longer than a CONNECT waits is taken over all the same, and that is counted.
#[test]
fn a_former_connection_that_has_more_to_say_than_it_may_does_not_keep_its_client_out() {
    for wait_ms in [0, 100] {
        let limits = format!(r#"{{"messages_per_s_max": 1, "rate_burst_ms": 1, "takeover_wait_ms": {wait_ms}}}"#);
        let node = node(&format!(r#"{{"shards": 1, "limits": {limits}}}"#));
        let (mut former, _) = Client::connect(&node, "c");
        for _ in 0..100 {
            former.publish("said/more", b"", QoS::AtMostOnce, None);
        }
        let (mut again, _) = Client::connect(&node, "c");
        again.expect_silence();
        former.expect_end(Some(ReasonCode::SessionTakenOver));
        assert_eq!(metric(&node, "lapwing_connections_ended_unread_total", ""), 1, "{wait_ms} ms");
    }
}

/// A client over a Unix socket is gone for whoever writes in the moment in which it closes: is the goodbye before that heard?
#[test]
fn who_says_goodbye_while_something_is_on_its_way_to_it_has_no_will_told() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("mqtt");
    let node = node(&format!(
        r#"{{"shards": 1, "listeners": [{{"url": "tcp://127.0.0.1:0"}}, {{"url": "unix://{}"}}]}}"#,
        path.display()
    ));
    let mut watcher = watcher(&node);
    let (mut loud, _) = Client::connect(&node, "loud");
    for n in 0..TRIES {
        let (id, told, said) = (format!("c{n}"), format!("will/{n}"), format!("said/{n}"));
        let mut client = subscribed(&path, &connect(&id).with_will(will(&told, b"")), "loud");
        loud.publish("loud", b"", QoS::AtMostOnce, None);
        client.write_all(&last_words(&[publish(&said, b"", QoS::AtMostOnce, None)], Version::V5)).unwrap();
        drop(client);
        assert_eq!(hear(&mut watcher, 1), [said]);
    }
    eventually("the connections are over", || metric(&node, "lapwing_connections", "") == 2);
    watcher.expect_silence();
}
