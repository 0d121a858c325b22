//! Clients that break rules, or do not read: each costs only itself, and is counted.

use lapwing_codec::{Packet, QoS, ReasonCode, SubscriptionOptions, Version};

use crate::client::Client;
use crate::packets::{ConnectExt, connect as plain};
use crate::{connect, eventually, metric, node};

const CLOSED: &str = "lapwing_connections_closed_total";

/// Do bytes that are no packet close that one connection, with the reason code, and nothing else?
#[test]
fn bad_bytes_close_one_connection() {
    let node = node(r#"{"shards": 2, "limits": {"packet_bytes_max": 1000}}"#);
    let mut good = connect(&node, "good");
    let mut bad = connect(&node, "bad");
    bad.send_bytes(&[0x00, 0x00]);
    bad.expect_end(Some(ReasonCode::MalformedPacket));
    let mut bad = connect(&node, "bad");
    bad.send_bytes(&[0x30, 0xff, 0xff, 0xff, 0x7f]);
    bad.expect_end(Some(ReasonCode::PacketTooLarge));
    let mut old = Client::connect_with(&node, &plain("old").in_version(Version::V311)).0;
    old.send_bytes(&[0x00, 0x00]);
    old.expect_end(None);
    let mut twice = connect(&node, "twice");
    twice.send(&Packet::Connect(plain("twice")));
    twice.expect_end(Some(ReasonCode::ProtocolError));
    good.expect_silence();
    eventually("the reasons are counted", || metric(&node, CLOSED, "malformed_packet") == 2);
    assert_eq!(metric(&node, CLOSED, "packet_too_large"), 1);
    assert_eq!(metric(&node, CLOSED, "protocol_error"), 1);
    eventually("one is left", || metric(&node, "lapwing_connections", "") == 1);
}

/// Is a connection without CONNECT, with half a one, or with something else first, closed in time?
#[test]
fn a_connection_without_connect_is_closed() {
    let node = node(r#"{"shards": 1, "limits": {"connect_timeout_ms": 1000}}"#);
    let mut silent = Client::open(&node);
    let mut half = Client::open(&node);
    half.send_bytes(&[0x10, 0x20, 0x00]);
    let mut other = Client::open(&node);
    other.send(&Packet::PingReq);
    other.expect_end(None);
    silent.expect_end(None);
    half.expect_end(None);
    assert_eq!(metric(&node, CLOSED, "connect_timeout"), 2);
}

/// Is one connection too many closed at once, and is there room again when another goes?
#[test]
fn one_connection_too_many_is_refused() {
    let node = node(r#"{"shards": 2, "limits": {"connections_max": 2}}"#);
    let (one, _two) = (connect(&node, "one"), connect(&node, "two"));
    Client::open(&node).expect_end(None);
    one.disconnect();
    eventually("there is room", || metric(&node, "lapwing_connections", "") == 1);
    connect(&node, "three");
    assert_eq!(metric(&node, "lapwing_connections_refused_total", ""), 1);
}

/// Does a client that does not read lose its QoS 0 messages, then its connection, while others go on?
#[test]
fn a_slow_reader_costs_only_itself() {
    let node = node(
        r#"{"shards": 1, "limits": {"output_high_bytes": 100000, "output_bytes_max": 1000000, "output_stall_ms": 300}}"#,
    );
    let mut slow = connect(&node, "slow");
    let mut quick = connect(&node, "quick");
    for client in [&mut slow, &mut quick] {
        client.subscribe("t", SubscriptionOptions::new(QoS::AtMostOnce));
    }
    let mut sender = connect(&node, "sender");
    let payload = vec![1; 10_000];
    let mut sent = 0;
    eventually("the slow one is cut", || {
        for _ in 0..20 {
            sender.publish("t", &payload, QoS::AtMostOnce, None);
            sent += 1;
            assert_eq!(quick.receive().payload.len(), 10_000);
        }
        metric(&node, CLOSED, "slow_reader") == 1
    });
    assert!(metric(&node, "lapwing_messages_dropped_total", "output_full") > 0);
    quick.expect_silence();
    assert_eq!(metric(&node, "lapwing_connections", ""), 2);
}

/// Does a packet that is larger than an output buffer may be arrive whole, live and as retained, and make nobody a slow reader?
#[test]
fn a_large_packet_makes_no_slow_reader() {
    let node = node(
        r#"{"shards": 1, "limits": {"packet_bytes_max": 20000000, "output_high_bytes": 10000, "output_bytes_max": 20000}}"#,
    );
    // More than the kernel's buffers hold.
    let payload = vec![7; 16 << 20];
    let mut live = connect(&node, "live");
    live.subscribe("t", SubscriptionOptions::new(QoS::AtMostOnce));
    let mut sender = connect(&node, "sender");
    sender.publish_retained("t", &payload);
    let mut late = connect(&node, "late");
    late.send_subscribe("t", SubscriptionOptions::new(QoS::AtLeastOnce));
    eventually("the rest waits", || metric(&node, "lapwing_memory_bytes", "buffers") > 4 << 20);
    for reader in [&mut live, &mut late] {
        let received = loop {
            if let Some(received) = reader.receive_or_suback() {
                break received;
            }
        };
        assert_eq!(received.payload.len(), payload.len());
    }
    assert_eq!(metric(&node, CLOSED, "slow_reader"), 0);
}

/// Is a client that asks and asks but never reads an answer not read on?
#[test]
fn a_client_that_never_reads_answers_is_held() {
    let node = node(
        r#"{"shards": 1, "limits": {"output_high_bytes": 1000, "output_bytes_max": 100000, "output_stall_ms": 60000}}"#,
    );
    let mut deaf = connect(&node, "deaf");
    let pings = [0xc0, 0x00].repeat(100_000);
    let thread = std::thread::spawn(move || {
        // More answers than the kernel's buffers and ours hold together; ends when the node does.
        while deaf.try_send_bytes(&pings) {}
    });
    eventually("it is held", || metric(&node, "lapwing_reads_held_total", "") > 0);
    let mut other = connect(&node, "other");
    other.expect_silence();
    assert_eq!(metric(&node, CLOSED, "slow_reader"), 0);
    node.stop().unwrap();
    thread.join().unwrap();
}
