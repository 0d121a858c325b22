//! Connections without a CONNECT: what they can take up, who of them goes, and that no client hears of it.

use lapwing_codec::{Connect, Packet, QoS, ReasonCode, SubscriptionOptions, Version};
use lapwing_node::{Handle, HookAnswer, HookName, ListenerConfig};

use crate::client::Client;
use crate::hook_double::{self, Barrier, Double};
use crate::packets::{self, ConnectExt, will};
use crate::{connect, eventually, ids_on_both_shards, metric, node};

const REFUSED: &str = "lapwing_strangers_refused_total";
/// What a stranger cannot outwait in a test.
const PATIENT: &str = r#""connect_timeout_ms": 600000"#;

fn encoded(packet: &Connect<'_>) -> Vec<u8> {
    let mut bytes = Vec::new();
    Packet::Connect(*packet).encode(packet.version, &mut bytes).expect("it can be written");
    bytes
}

/// A CONNECT of 60,000 bytes, most of them its will's.
fn large_connect(id: &str) -> Vec<u8> {
    encoded(&packets::connect(id).with_will(will("w", &[7; 60_000])))
}

/// A connection from `source` that has sent `bytes`, or what of them was taken before it was ended.
fn stranger(url: &str, source: &str, bytes: &[u8]) -> Client {
    let mut client = Client::open_from(url, source);
    client.try_send_bytes(bytes);
    client
}

/// Comes in from `source` with `bytes`, and goes again.
fn comes_in(url: &str, source: &str, bytes: &[u8]) {
    let mut client = Client::open_from(url, source);
    client.send_bytes(bytes);
    assert_eq!(client.connack(), Some(ReasonCode::Success), "from {source}");
    client.disconnect();
}

/// A node with this one listener, and its address.
fn node_at(json: &str, listener: ListenerConfig) -> (Handle, String) {
    let mut config = crate::config(json);
    config.listen = Vec::new();
    config.listeners = vec![listener];
    let node = Handle::start(config).expect("the node starts");
    let url = node.listeners()[0].replace("ws://", "tcp://").replace("/mqtt", "");
    (node, url)
}

fn memory(node: &Handle) -> u64 {
    metric(node, "lapwing_memory_bytes", "buffers") + metric(node, "lapwing_memory_bytes", "clients")
}

/// Eighty who hold back the last byte of a large CONNECT, more than the mark of memory in all: do QoS 0 messages go on, does a
/// known client come in with a large CONNECT, from the same address too, and are the bytes bounded, counted apart and told of?
#[test]
fn most_of_eighty_connects_stops_nobody() {
    let node = node(&format!(r#"{{"shards": 2, "limits": {{"memory_high_bytes": 4000000, {PATIENT}}}}}"#));
    let url = node.listeners()[0].clone();
    let [mut sender, mut reader] = ids_on_both_shards().map(|id| connect(&node, &id));
    reader.subscribe("t", SubscriptionOptions::new(QoS::AtMostOnce));
    let before = memory(&node);
    let most = large_connect("stranger");
    let strangers: Vec<Client> = (0..80).map(|_| stranger(&url, "127.0.0.2", &most[..most.len() - 1])).collect();
    eventually("they are as many as may be", || metric(&node, REFUSED, "bytes") >= 60);
    eventually("those are gone", || metric(&node, "lapwing_connections", "") <= 22);
    for n in 0..20u8 {
        sender.publish("t", &[n], QoS::AtMostOnce, None);
        assert_eq!(reader.receive().payload, [n]);
        comes_in(&url, ["127.0.0.1", "127.0.0.2"][usize::from(n % 2)], &large_connect(&format!("known-{n}")));
    }
    assert!(metric(&node, "lapwing_strangers_bytes", "") <= 1_000_000, "a quarter of the mark");
    assert_eq!(metric(&node, "lapwing_memory_marks_reached_total", ""), 0);
    assert_eq!(metric(&node, "lapwing_messages_dropped_total", ""), 0);
    let told = node.take_notices().into_iter().filter(|line| line.contains("strangers_bytes_max")).collect::<Vec<_>>();
    assert!(told.len() == 1 && told[0].contains("the oldest of 127.0.0.2"), "{told:?}");
    drop(strangers);
    eventually("nothing is left of them", || metric(&node, "lapwing_strangers", "") == 0);
    assert_eq!(metric(&node, "lapwing_strangers_bytes", ""), 0);
    eventually("nor anywhere else", || memory(&node) <= before + 10_000);
}

/// Does one address more than its share lose its own oldest, on whichever shard that is, and does who means to connect come
/// in from there all the same?
#[test]
fn an_address_has_so_many() {
    let node = node(&format!(r#"{{"shards": 2, "limits": {{"strangers_per_address_max": 3, {PATIENT}}}}}"#));
    let url = node.listeners()[0].clone();
    let mut other = stranger(&url, "127.0.0.3", b"\x10");
    let mut oldest_first: Vec<Client> = Vec::new();
    for n in 1..=3 {
        oldest_first.push(stranger(&url, "127.0.0.2", b"\x10"));
        eventually("it is taken", || metric(&node, "lapwing_strangers", "") == 1 + n);
    }
    for n in 1..=5 {
        oldest_first.push(stranger(&url, "127.0.0.2", b""));
        oldest_first.remove(0).expect_end_anyhow();
        assert_eq!(metric(&node, REFUSED, "per_address"), n);
    }
    for id in ids_on_both_shards() {
        comes_in(&url, "127.0.0.2", &encoded(&packets::connect(&id)));
    }
    eventually("those three are left", || metric(&node, "lapwing_strangers", "") <= 4);
    // Somebody else's is as it was: what is missing of its CONNECT comes late, and in time.
    other.send_bytes(&encoded(&packets::connect("other"))[1..]);
    assert_eq!(other.connack(), Some(ReasonCode::Success));
}

/// Where strangers have all connections of a node, or of a listener: does a client come in, and stay, whoever comes then?
#[test]
fn clients_find_a_connection() {
    for limits in [r#""strangers_max": 3"#, r#""connections_max": 4"#, ""] {
        let comma = if limits.is_empty() { "" } else { ", " };
        let json = format!(r#"{{"shards": 2, "limits": {{{PATIENT}{comma}{limits}}}}}"#);
        let connections_max = if limits.is_empty() { 4 } else { 0 };
        let listener = ListenerConfig { connections_max, ..ListenerConfig::at("tcp://127.0.0.1:0") };
        let (node, url) = node_at(&json, listener);
        let mut clients = Vec::new();
        for n in 0..3 {
            // Each from an address of its own.
            let _strangers: Vec<Client> =
                (2..12).map(|source| stranger(&url, &format!("127.0.{n}.{source}"), b"\x10")).collect();
            let mut client = Client::open(&node);
            client.send(&Packet::Connect(packets::connect(&format!("client-{n}"))));
            assert_eq!(client.connack(), Some(ReasonCode::Success), "{limits}");
            clients.push(client);
        }
        let _strangers: Vec<Client> = (2..12).map(|source| stranger(&url, &format!("127.0.9.{source}"), b"")).collect();
        for client in &mut clients {
            client.send(&Packet::PingReq);
            assert!(client.receive_or_pong().is_none(), "it is still there: {limits}");
        }
        let counted = metric(&node, REFUSED, "count") + metric(&node, REFUSED, "connections_max");
        assert!(counted > 0, "{limits}");
    }
}

/// Is what is no CONNECT refused at the byte that shows it, with the answer that the specification has, however long it says it
/// is, and counted and told of?
#[test]
fn the_first_bytes_decide() {
    let node = node(&format!(r#"{{"shards": 2, "limits": {{{PATIENT}, "connect_bytes_max": 1000}}}}"#));
    let unsupported = Some(ReasonCode::UnsupportedProtocolVersion);
    let cases: [(&str, &[u8], Option<ReasonCode>); 11] = [
        ("PUBLISH", b"\x30", None),
        ("SUBSCRIBE", b"\x82", None),
        ("AUTH", b"\xf0", None),
        ("HTTP", b"G", None),
        ("TLS", b"\x16", None),
        ("2 MiB", b"\x10\xff\xff\x7f", None),
        ("a byte more than may be", b"\x10\xe6\x07", None),
        ("another protocol", b"\x10\x7f\x00\x05", None),
        ("level 6", b"\x10\x7f\x00\x04MQTT\x06", unsupported),
        ("level 3", b"\x10\x7f\x00\x04MQTT\x03", unsupported),
        ("reserved flag", b"\x10\x7f\x00\x04MQTT\x05\x03", Some(ReasonCode::MalformedPacket)),
    ];
    for (what, bytes, answer) in cases {
        let mut client = Client::open(&node);
        client.send_bytes(bytes);
        assert_eq!(client.connack(), answer, "{what}");
        client.expect_end_anyhow();
    }
    assert_eq!(metric(&node, REFUSED, "no_connect"), 6);
    assert_eq!(metric(&node, REFUSED, "connect_bytes"), 2);
    assert_eq!(metric(&node, REFUSED, "protocol"), 3);
    let told = node.take_notices().into_iter().filter(|line| line.contains("CONNECT")).collect::<Vec<_>>();
    assert!(told.len() == 3 && told[0].contains("127.0.0.1:") && told[0].contains("0x82"), "{told:?}");
}

/// Is each way to end below MQTT, or before it, told with who and where; and a second one within the minute counted only?
#[test]
fn who_ends_below_mqtt_is_told_of() {
    let proxied = ListenerConfig {
        proxy_protocol_from: vec!["127.0.0.0/8".into()],
        anonymous: Some(true),
        ..ListenerConfig::at("ws://127.0.0.1:0/mqtt")
    };
    let (node, url) = node_at(r#"{"shards": 1, "limits": {"connect_timeout_ms": 300}}"#, proxied);
    let header = b"PROXY TCP4 203.0.113.9 192.0.2.1 4000 1883\r\n";
    for _ in 0..2 {
        for sent in [&b"\x10\x0c"[..], &[&header[..], b"POST / HTTP/1.1\r\n\r\n"].concat(), header] {
            let mut client = stranger(&url, "127.0.0.1", sent);
            client.expect_end_anyhow();
        }
    }
    let told = node.take_notices();
    let place = "at ws://127.0.0.1:";
    for (who, what) in [
        ("127.0.0.1:", "sent no PROXY header in order"),
        ("203.0.113.9:4000", "sent no upgrade to a WebSocket"),
        ("203.0.113.9:4000", "was no client within limits.connect_timeout"),
    ] {
        let lines: Vec<_> = told.iter().filter(|line| line.contains(what)).collect();
        assert!(lines.len() == 1 && lines[0].starts_with(who) && lines[0].contains(place), "{what}: {told:?}");
    }
}

/// Does the limit of a CONNECT take in its will, is it answered in either version, and does a client send larger packets
/// right behind its CONNECT?
#[test]
fn a_connect_has_a_limit_of_its_own() {
    let node = node(&format!(r#"{{"shards": 2, "limits": {{{PATIENT}, "connect_bytes_max": 2000}}}}"#));
    for (version, refusal) in [(Version::V5, Some(ReasonCode::PacketTooLarge)), (Version::V311, None)] {
        let connect = packets::connect("client").in_version(version);
        let mut large = Client::open(&node);
        large.send_bytes(&encoded(&connect.with_will(will("w", &[7; 2000]))));
        assert_eq!(large.connack(), refusal);
        large.expect_end_anyhow();
    }
    for id in ids_on_both_shards() {
        let mut reader = connect(&node, "reader");
        reader.subscribe("t", SubscriptionOptions::new(QoS::AtMostOnce));
        let mut bytes = encoded(&packets::connect(&id).with_will(will("w", &[7; 1900])));
        let publish = Packet::Publish(packets::publish("t", &[1; 300_000], QoS::AtMostOnce, None));
        publish.encode(Version::V5, &mut bytes).unwrap();
        let mut client = Client::open(&node);
        client.send_bytes(&bytes);
        assert_eq!(client.connack(), Some(ReasonCode::Success));
        assert_eq!(reader.receive().payload.len(), 300_000);
    }
}

/// Who waits for a hook has done its part: is it let in although more strangers of its address come than may be?
#[test]
fn who_waits_for_a_verdict_stays() {
    let barrier = Barrier::default();
    let hooks = Double::new(&[HookName::Connect], {
        let barrier = barrier.clone();
        move |_| {
            barrier.pass();
            HookAnswer::Pass
        }
    });
    let json = format!(r#"{{"shards": 2, "limits": {{"strangers_per_address_max": 2, {PATIENT}}}}}"#);
    let node = hook_double::node(&json, hooks);
    let url = node.listeners()[0].clone();
    let mut waiting = stranger(&url, "127.0.0.2", &encoded(&packets::connect("waiting")));
    barrier.somebody_waits();
    let _others: Vec<Client> = (0..10).map(|_| stranger(&url, "127.0.0.2", b"\x10")).collect();
    eventually("all but one of them go", || metric(&node, REFUSED, "per_address") == 9);
    barrier.open();
    assert_eq!(waiting.connack(), Some(ReasonCode::Success));
}

/// Is it the address that a PROXY header names which has its share, and not the proxy?
#[test]
fn a_proxys_clients_have_their_own_share() {
    let json = format!(r#"{{"shards": 2, "limits": {{"strangers_per_address_max": 2, {PATIENT}}}}}"#);
    let proxied = ListenerConfig {
        proxy_protocol_from: vec!["127.0.0.0/8".into()],
        anonymous: Some(true),
        ..ListenerConfig::at("tcp://127.0.0.1:0")
    };
    let (node, url) = node_at(&json, proxied);
    let header = |source: &str| format!("PROXY TCP4 {source} 192.0.2.1 4000 1883\r\n\x10").into_bytes();
    let headless: Vec<Client> = (0..5).map(|_| stranger(&url, "127.0.0.1", b"PROXY ")).collect();
    // So many are there, and so many of them have sent a byte behind their header.
    let named = |strangers: u64, headers: u64| {
        eventually("they are there", || {
            let there = metric(&node, "lapwing_strangers", "");
            (there, metric(&node, "lapwing_bytes_received_total", "")) == (strangers, headers)
        });
    };
    named(5, 0);
    let mut first = stranger(&url, "127.0.0.1", &header("203.0.113.1"));
    named(6, 1);
    let mut others: Vec<Client> =
        (2..6).map(|n| stranger(&url, "127.0.0.1", &header(&format!("203.0.113.{n}")))).collect();
    others.push(stranger(&url, "127.0.0.1", &header("203.0.113.1")));
    named(11, 6);
    assert_eq!(metric(&node, REFUSED, "per_address"), 0);
    let third = stranger(&url, "127.0.0.1", &header("203.0.113.1"));
    first.expect_end_anyhow();
    assert_eq!(metric(&node, REFUSED, "per_address"), 1);
    // Nobody else has gone.
    named(11, 7);
    drop((headless, others, third));
}

mod over_web_socket {
    use super::*;

    const UPGRADE: &[u8] = b"GET /mqtt HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
        Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Protocol: mqtt\r\n";

    /// `payload` in a binary frame, under a mask of zeros.
    fn frame(payload: &[u8]) -> Vec<u8> {
        let short = u8::try_from(payload.len()).unwrap();
        assert!(short < 126);
        [&[0x82, 0x80 | short, 0, 0, 0, 0], payload].concat()
    }

    fn web(limits: &str) -> (Handle, String) {
        let json = format!(r#"{{"shards": 2, "limits": {{{limits}}}}}"#);
        node_at(&json, ListenerConfig::at("ws://127.0.0.1:0"))
    }

    /// The status of the HTTP answer, and what came behind its head by then.
    fn status(client: &mut Client) -> String {
        let head = client.raw_until(b"\r\n\r\n");
        String::from_utf8_lossy(&head).lines().next().unwrap_or_default().to_owned()
    }

    /// Two hundred heads without their end: are they counted and bounded, and does a client come in beside them?
    #[test]
    fn half_heads_are_strangers() {
        let (node, url) = web(&format!(r#""strangers_bytes_max": 400000, {PATIENT}"#));
        let half = [UPGRADE, b"X: ", &[b'x'; 7000]].concat();
        let _flood: Vec<Client> = (0..200).map(|_| stranger(&url, "127.0.0.2", &half)).collect();
        eventually("the first ones go", || metric(&node, REFUSED, "bytes") > 100);
        assert!(metric(&node, "lapwing_strangers_bytes", "") <= 400_000);
        for source in ["127.0.0.1", "127.0.0.2"] {
            let mut client = stranger(&url, source, &[UPGRADE, b"\r\n"].concat());
            assert_eq!(status(&mut client), "HTTP/1.1 101 Switching Protocols");
            client.send_bytes(&frame(&encoded(&packets::connect("web"))));
            assert_eq!(client.raw_until(b"\x20").first(), Some(&0x82), "a CONNACK in a frame");
        }
    }

    /// Has half a head the time of a CONNECT, and no more?
    #[test]
    fn half_a_head_has_a_deadline() {
        let (node, url) = web(r#""connect_timeout_ms": 200"#);
        let mut client = stranger(&url, "127.0.0.1", &UPGRADE[..100]);
        client.expect_end_anyhow();
        assert_eq!(metric(&node, "lapwing_connections_closed_total", "connect_timeout"), 1);
        eventually("its place is free", || metric(&node, "lapwing_strangers", "") == 0);
    }

    /// Do the first bytes decide there too?
    #[test]
    fn the_first_payload_decides() {
        let (node, url) = web(PATIENT);
        let mut client = stranger(&url, "127.0.0.1", &[UPGRADE, b"\r\n", &frame(b"\x30")].concat());
        client.expect_end_anyhow();
        assert_eq!(metric(&node, REFUSED, "no_connect"), 1);
    }
}
