//! Limits of one client and of the whole node: what happens at each, and whether it is counted.

use std::time::{Duration, Instant};

use lapwing_codec::{Packet, QoS, ReasonCode, SubscriptionOptions, Version};
use lapwing_node::Handle;

use crate::client::{Client, ConnectExt, connect as plain, lasting, publish};
use crate::{connect, eventually, metric, node};

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
    assert!(time_to_publish(&node, "modest", 20, b"x") < Duration::from_millis(200));
    // 20 at once, 80 more at 100 a second.
    let took = time_to_publish(&node, "eager", 100, b"x");
    assert!(took >= Duration::from_millis(750), "{took:?}");
    assert!(metric(&node, "lapwing_rate_limited_total", "messages") > 0);
    assert_eq!(metric(&node, "lapwing_rate_limited_total", "bytes"), 0);
    assert_eq!(metric(&node, "lapwing_messages_received_total", "1"), 120);
}

/// The same for bytes, with one packet that is larger than the burst.
#[test]
fn bytes_have_a_rate() {
    let node = node(r#"{"shards": 1, "limits": {"bytes_per_s_max": 100000, "rate_burst_ms": 100}}"#);
    assert!(time_to_publish(&node, "modest", 5, &[1; 1000]) < Duration::from_millis(90));
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
    eventually("the mark is reached", || {
        sender.publish_acked("t", &[1; 50_000]);
        assert_eq!(reader.receive().payload.len(), 50_000);
        metric(&node, "lapwing_memory_marks_reached_total", "high") == 1
    });
    assert!(metric(&node, "lapwing_memory_bytes", "") > 1_000_000);
    assert!(node.take_notices().iter().any(|notice| notice.contains("memory_high_bytes = 1000000")));
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

/// Above the second mark: is nothing more kept for a client that is away, or as retained, while a reader gets its own?
#[test]
fn the_second_mark_of_memory() {
    let node = node(r#"{"shards": 1, "limits": {"memory_high_bytes": 500000, "memory_max_bytes": 1000000}}"#);
    leave_a_session(&node);
    let mut sender = connect(&node, "sender");
    let mut reader = connect(&node, "reader");
    reader.subscribe("live", at_least_once());
    let mut kept = 0;
    eventually("the mark is reached", || {
        sender.publish_acked("t", &[1; 50_000]);
        kept += 1;
        metric(&node, "lapwing_memory_marks_reached_total", "max") == 1
    });
    sender.publish_retained("r", &[1; 100]);
    sender.publish_acked("t", b"not kept");
    sender.publish_acked("live", b"delivered");
    assert_eq!(reader.receive().payload, b"delivered");
    eventually("both are counted", || metric(&node, DROPPED, "memory_full") >= 2);
    assert_eq!(metric(&node, "lapwing_retained_messages", ""), 0);
    assert!(metric(&node, "lapwing_memory_bytes", "messages") < 1_200_000, "{kept} kept");
}

/// Does memory that a session held count as free when the session ends, and is the way back open then?
#[test]
fn memory_comes_back() {
    let node = node(r#"{"shards": 2, "limits": {"memory_high_bytes": 1000000, "session_expiry_s_max": 1}}"#);
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
