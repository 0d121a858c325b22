//! Limits of one client and of the whole node: what happens at each, and whether it is counted.

use std::time::{Duration, Instant};

use lapwing_codec::{Packet, Publish, QoS, ReasonCode, SubscriptionOptions, Version};
use lapwing_node::{Handle, Hindrance};

use crate::client::Client;
use crate::packets::{ConnectExt, connect as plain, lasting, publish};
use crate::{connect, eventually, metric, node, shard_of_two};

const DROPPED: &str = "lapwing_messages_dropped_total";

fn at_least_once() -> SubscriptionOptions {
    SubscriptionOptions::new(QoS::AtLeastOnce)
}

/// A session of the client "away" that is subscribed to "t" and has no connection.
fn leave_a_session(node: &Handle) {
    let mut receiver = Client::connect_with(node, &lasting("away")).0;
    receiver.subscribe("t", at_least_once());
    receiver.disconnect();
}

/// The payloads that wait for the client "away".
fn waiting(node: &Handle) -> Vec<Vec<u8>> {
    let mut receiver = Client::connect_with(node, &lasting("away")).0;
    receiver.send(&Packet::PingReq);
    let mut payloads = Vec::new();
    while let Some(received) = receiver.receive_or_pong() {
        receiver.acknowledge(&received);
        payloads.push(received.payload);
    }
    payloads
}

/// Which messages give way in a full queue, as the policy says, and is each counted?
#[test]
fn a_full_queue_follows_its_policy() {
    for (policy, left) in [("drop-oldest", [b"3", b"4"]), ("drop-newest", [b"1", b"2"]), ("disconnect", [b"1", b"2"])] {
        let limits = format!(r#"{{"queue_messages_max": 2, "queue_policy": "{policy}"}}"#);
        let node = node(&format!(r#"{{"shards": 1, "limits": {limits}}}"#));
        leave_a_session(&node);
        let mut sender = connect(&node, "sender");
        for payload in [b"1", b"2", b"3", b"4"] {
            sender.publish_acked("t", payload);
        }
        eventually("the drops are counted", || metric(&node, DROPPED, "queue_full") == 2);
        assert_eq!(waiting(&node), left, "{policy}");
    }
}

/// Is a message dropped that has waited for longer than it may, by the time at which it came, before the restart, and no other?
#[test]
fn a_message_grows_old_over_a_restart() {
    let dir = tempfile::tempdir().unwrap();
    let kept = |queue_age_ms_max: u64| {
        let limits = format!(r#"{{"queue_age_ms_max": {queue_age_ms_max}}}"#);
        node(&format!(r#"{{"shards": 1, "durability": "disk", "data_dir": {:?}, "limits": {limits}}}"#, dir.path()))
    };
    let node = kept(3_600_000);
    leave_a_session(&node);
    ["1", "2"].iter().for_each(|payload| connect(&node, "sender").publish_acked("t", payload.as_bytes()));
    node.stop().unwrap();
    let node = kept(3_600_000);
    let mut receiver = Client::connect_with(&node, &lasting("away")).0;
    assert_eq!([receiver.receive().payload, receiver.receive().payload], [b"1", b"2"]);
    receiver.disconnect();
    assert_eq!(metric(&node, DROPPED, "queue_age"), 0);
    node.stop().unwrap();
    // A start takes longer than a millisecond, and reading a message from the log and sending it does not.
    let node = kept(1);
    let mut receiver = Client::connect_with(&node, &lasting("away")).0;
    eventually("both are dropped", || metric(&node, DROPPED, "queue_age") == 2);
    receiver.expect_silence();
}

/// Is a client that lets its queue overflow sent away under the policy that says so, with the reason, and others not?
#[test]
fn an_overflow_may_disconnect() {
    let node = node(
        r#"{"shards": 1, "limits": {"queue_messages_max": 2, "queue_policy": "disconnect", "inflight_messages_max": 1}}"#,
    );
    let mut lazy = connect(&node, "lazy");
    lazy.subscribe("t", at_least_once());
    let mut sender = connect(&node, "sender");
    for _ in 0..4 {
        sender.publish_acked("t", b"x");
    }
    assert_eq!(lazy.receive().payload, b"x");
    lazy.expect_end(Some(ReasonCode::QuotaExceeded));
    assert_eq!(metric(&node, "lapwing_connections_closed_total", "quota_exceeded"), 1);
    sender.expect_silence();
}

/// How long a client needs to have `count` messages acknowledged.
fn time_to_publish(node: &Handle, id: &str, count: u16, payload: &[u8]) -> Duration {
    let mut sender = connect(node, id);
    let begun = Instant::now();
    for n in 1..=count {
        sender.publish("t", payload, QoS::AtLeastOnce, Some(n));
    }
    (1..=count).for_each(|n| sender.expect_ack(n));
    begun.elapsed()
}

/// Is a client slowed to its rate of messages beyond a burst, without losing one, and is nobody else?
#[test]
fn messages_have_a_rate() {
    let node = node(r#"{"shards": 1, "limits": {"messages_per_s_max": 100, "rate_burst_ms": 200}}"#);
    time_to_publish(&node, "modest", 10, b"x");
    assert_eq!(metric(&node, "lapwing_rate_limited_total", "messages"), 0);
    // 20 at once, 80 more at 100 a second.
    let took = time_to_publish(&node, "eager", 100, b"x");
    assert!(took >= Duration::from_millis(750), "{took:?}");
    assert!(metric(&node, "lapwing_rate_limited_total", "messages") > 0);
    assert_eq!(metric(&node, "lapwing_rate_limited_total", "bytes"), 0);
    assert_eq!(metric(&node, "lapwing_messages_received_total", "1"), 110);
}

/// The same for bytes, with one packet that is larger than the burst.
#[test]
fn bytes_have_a_rate() {
    let node = node(r#"{"shards": 1, "limits": {"bytes_per_s_max": 100000, "rate_burst_ms": 100}}"#);
    time_to_publish(&node, "modest", 5, &[1; 1000]);
    assert_eq!(metric(&node, "lapwing_rate_limited_total", "bytes"), 0);
    let took = time_to_publish(&node, "eager", 1, &[1; 60_000]);
    assert!(took >= Duration::from_millis(450), "{took:?}");
    assert!(metric(&node, "lapwing_rate_limited_total", "bytes") > 0);
    assert_eq!(metric(&node, "lapwing_rate_limited_total", "messages"), 0);
}

/// Above the first mark of memory: are new connections and QoS 0 refused, in both versions, does everything else go on,
/// and are all served again when memory is free?
#[test]
fn the_high_mark_of_memory() {
    let node = node(r#"{"shards": 2, "limits": {"memory_high_bytes": 1000000, "memory_max_bytes": 100000000}}"#);
    leave_a_session(&node);
    let mut sender = connect(&node, "sender");
    let mut reader = connect(&node, "reader");
    reader.subscribe("t", at_least_once());
    assert_eq!(node.hindrance(), None);
    eventually("the mark is reached", || {
        sender.publish_acked("t", &[1; 50_000]);
        assert_eq!(reader.receive().payload.len(), 50_000);
        metric(&node, "lapwing_memory_marks_reached_total", "high") == 1
    });
    assert!(metric(&node, "lapwing_memory_bytes", "") > 1_000_000);
    assert!(node.take_notices().iter().any(|notice| notice.contains("memory_high_bytes = 1000000")));
    assert_eq!(node.hindrance(), Some(Hindrance::MemoryHigh), "nobody is sent to who refuses him");
    // Each shard looks once per turn: until both have seen it somebody may still get in.
    eventually("connections are refused", || Client::try_connect(&node, &plain("late")) == ReasonCode::QuotaExceeded);
    assert_eq!(Client::try_connect(&node, &plain("old").in_version(Version::V311)), ReasonCode::ServerUnavailable);
    assert!(metric(&node, "lapwing_connections_refused_memory_total", "") >= 2);
    sender.publish("t", b"qos 0", QoS::AtMostOnce, None);
    sender.publish_acked("t", b"qos 1");
    assert_eq!(reader.receive().payload, b"qos 1");
    assert_eq!(metric(&node, DROPPED, "memory_high"), 1);
    assert_eq!(metric(&node, "lapwing_memory_marks_reached_total", "max"), 0);
}

/// Above the second mark: is nothing more kept for a client that is away, or as retained, while a reader gets its own? Who is
/// told of it keeps the value from before; of who cannot be told it is forgotten, or it would pose as the newest.
#[test]
fn the_second_mark_of_memory() {
    let node = node(r#"{"shards": 1, "limits": {"memory_high_bytes": 500000, "memory_max_bytes": 1000000}}"#);
    leave_a_session(&node);
    let mut sender = connect(&node, "sender");
    let mut reader = connect(&node, "reader");
    reader.subscribe("live", at_least_once());
    let mut untold = Client::connect_with(&node, &plain("untold").in_version(Version::V311)).0;
    let mut kept = 0;
    sender.publish_retained("r", b"before");
    sender.publish_retained("old", b"before");
    eventually("the mark is reached", || {
        sender.publish_acked("t", &[1; 50_000]);
        kept += 1;
        metric(&node, "lapwing_memory_marks_reached_total", "max") == 1
    });
    let message = Publish { retain: true, ..publish("r", &[1; 100], QoS::AtLeastOnce, Some(3)) };
    sender.send(&Packet::Publish(message));
    let answer = sender.expect("PUBACK", |packet| match packet {
        Packet::PubAck(ack) => Some(ack.reason),
        _ => None,
    });
    assert_eq!(answer, ReasonCode::QuotaExceeded);
    untold.publish_retained("old", &[1; 100]);
    sender.publish_acked("t", b"not kept");
    sender.publish_acked("live", b"delivered");
    assert_eq!(reader.receive().payload, b"delivered");
    eventually("both are counted", || metric(&node, DROPPED, "memory_full") >= 3);
    assert_eq!(metric(&node, "lapwing_retained_messages", ""), 1);
    assert!(metric(&node, "lapwing_memory_bytes", "messages") < 1_200_000, "{kept} kept");
}

/// Does memory that a session held count as free when the session ends, and is the way back open then?
#[test]
fn memory_comes_back() {
    let node = node(r#"{"shards": 2, "limits": {"memory_high_bytes": 1000000, "session_expiry_s_max": 5}}"#);
    leave_a_session(&node);
    let mut sender = connect(&node, "sender");
    eventually("the mark is reached", || {
        sender.publish_acked("t", &[1; 50_000]);
        metric(&node, "lapwing_memory_marks_reached_total", "high") == 1
    });
    eventually("the session expires and its memory is free", || {
        metric(&node, "lapwing_memory_bytes", "messages") < 100_000
    });
    eventually("clients are let in again", || Client::try_connect(&node, &plain("late")) == ReasonCode::Success);
    sender.send(&Packet::Publish(publish("t", b"", QoS::AtMostOnce, None)));
    sender.expect_silence();
    let parts = ["waiting", "buffers", "subscriptions"].map(|part| metric(&node, "lapwing_memory_bytes", part));
    assert_eq!(parts[0], 0);
    assert_eq!(parts[2], 0);
}

/// A topic of each shard of two, beginning with `prefix`.
fn topics_of_both_shards(prefix: &str) -> [String; 2] {
    [0, 1].map(|shard| {
        let mut names = (0..).map(|n| format!("{prefix}{n}"));
        names.find(|name| shard_of_two(name) == shard).expect("endless")
    })
}

fn publish_retained(client: &mut Client, topic: &str, payload: &[u8]) -> ReasonCode {
    let packet = publish(topic, payload, QoS::AtLeastOnce, Some(5));
    client.send(&Packet::Publish(Publish { retain: true, ..packet }));
    client.expect("PUBACK", |packet| match packet {
        Packet::PubAck(ack) => Some(ack.reason),
        _ => None,
    })
}

/// Is a publisher of 5.0 told that there is no room for a retained message, wherever its topic lives; is the message then
/// delivered to nobody; and does a topic that has a value get its next one?
#[test]
fn no_room_for_a_retained_message() {
    let node = node(r#"{"shards": 2, "sys": {"interval_ms": 0}, "limits": {"retained_messages_max": 2}}"#);
    let [first, second] = [topics_of_both_shards("first"), topics_of_both_shards("second")];
    let mut sender = connect(&node, "sender");
    let mut reader = connect(&node, "reader");
    reader.subscribe("#", at_least_once());
    for topic in &first {
        assert_eq!(publish_retained(&mut sender, topic, b"1"), ReasonCode::Success);
        assert_eq!(reader.receive().payload, b"1");
    }
    // The other shard has the second one as soon as it has read its mail, which is after the acknowledgement.
    eventually("both are kept", || metric(&node, "lapwing_retained_messages", "") == 2);
    for (topic, other) in first.iter().zip(&second) {
        assert_eq!(publish_retained(&mut sender, other, b"refused"), ReasonCode::QuotaExceeded, "{other}");
        assert_eq!(publish_retained(&mut sender, topic, b"2"), ReasonCode::Success);
        assert_eq!(reader.receive().payload, b"2");
        assert_eq!(publish_retained(&mut sender, other, b""), ReasonCode::Success, "a deletion needs no room");
        assert_eq!(reader.receive().payload, b"");
    }
    assert_eq!(metric(&node, DROPPED, "retained_full"), 2);
    let mut old = Client::connect_with(&node, &plain("old").in_version(Version::V311)).0;
    for other in &second {
        assert_eq!(publish_retained(&mut old, other, b"live"), ReasonCode::Success);
        assert_eq!(reader.receive().payload, b"live");
    }
    eventually("these are counted too", || metric(&node, DROPPED, "retained_full") == 4);
    assert_eq!(metric(&node, "lapwing_retained_messages", ""), 2);
    // What is deleted makes room again.
    assert_eq!(publish_retained(&mut sender, &first[1], b""), ReasonCode::Success);
    assert_eq!(reader.receive().payload, b"");
    eventually("one is left", || metric(&node, "lapwing_retained_messages", "") == 1);
    assert_eq!(publish_retained(&mut sender, &second[1], b"3"), ReasonCode::Success);
}
