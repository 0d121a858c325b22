//! Handshakes of TLS: who does not finish theirs, or begins ever new ones, costs only itself.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use lapwing_codec::ReasonCode;
use lapwing_node::Handle;

use crate::tls_peer::{Authority, TlsClient, hello, is_closed, open};
use crate::{eventually, metric};

const OPEN: &str = "lapwing_handshakes_open";
const REFUSED: &str = "lapwing_handshakes_refused_total";

/// So many connections that each send `bytes` and then nothing.
fn silent(node: &Handle, count: usize, bytes: &[u8]) -> Vec<TcpStream> {
    let mut peers: Vec<TcpStream> = (0..count).map(|_| open(node)).collect();
    peers.iter_mut().for_each(|peer| peer.write_all(bytes).expect("the node reads"));
    peers
}

/// Does a handshake lead to MQTT, also where the CONNECT comes with its last bytes, and on either shard?
#[test]
fn a_handshake_leads_to_mqtt() {
    let authority = Authority::new();
    let node = authority.node(r#"{"shards": 2}"#, |_| {});
    let config = authority.client();
    let mut clients: Vec<TlsClient> =
        (0..8).map(|n| TlsClient::connect(&node, &config, 1, &format!("client-{n}"))).collect();
    for client in &mut clients {
        assert_eq!(client.connack(), ReasonCode::Success);
    }
    assert_eq!(metric(&node, "lapwing_connections", ""), 8);
    assert_eq!(metric(&node, "lapwing_connections_accepted_total", ""), 8);
    assert_eq!(metric(&node, "lapwing_handshakes_total", ""), 8);
    assert_eq!(metric(&node, OPEN, ""), 0);
    drop(clients);
    eventually("all are gone", || metric(&node, "lapwing_connections", "") == 0);
}

/// One address holds all its places and says nothing more: does the oldest go for whoever comes, counted and told once, and
/// does a client come in, from there and from elsewhere?
#[test]
fn silent_peers_keep_nobody_out() {
    let authority = Authority::new();
    let node = authority.node(r#"{"shards": 2, "limits": {"handshakes_per_address_max": 5}}"#, |_| {});
    let config = authority.client();
    let mut held = silent(&node, 5, &hello(&config));
    // Who has an answer waits for us no longer.
    held.iter_mut().for_each(|peer| peer.read_exact(&mut [0]).expect("it is answered"));
    assert_eq!(TlsClient::connect(&node, &config, 1, "same").connack(), ReasonCode::Success);
    assert!(is_closed(&mut held[0]));
    assert_eq!(TlsClient::connect(&node, &config, 2, "other").connack(), ReasonCode::Success);
    let _newer: Vec<TcpStream> = (0..20).map(|_| open(&node)).collect();
    eventually("one has found a place, and the others those of older ones", || {
        metric(&node, REFUSED, "handshakes_per_address_max") == 20
    });
    assert!(held[1..].iter_mut().all(is_closed));
    let told: Vec<String> = node.take_notices().into_iter().filter(|notice| notice.contains("handshakes")).collect();
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].contains("handshakes_per_address_max = 5") && told[0].contains("127.0.0.1"), "{told:?}");
}

/// Is the bound in all one too, and is a place free again as soon as its peer has gone?
#[test]
fn all_places_together_are_bounded() {
    let authority = Authority::new();
    let node = authority.node(r#"{"shards": 1, "limits": {"handshakes_max": 3}}"#, |_| {});
    let mut held = silent(&node, 3, &[]);
    eventually("all places are taken", || metric(&node, OPEN, "") == 3);
    let _fourth = open(&node);
    assert!(is_closed(&mut held[0]));
    assert_eq!(metric(&node, REFUSED, "handshakes_max"), 1);
    held.pop();
    eventually("there is a place", || metric(&node, OPEN, "") == 2);
    assert_eq!(TlsClient::connect(&node, &authority.client(), 1, "c").connack(), ReasonCode::Success);
    assert_eq!(metric(&node, REFUSED, "handshakes_max"), 1);
}

/// Does a ClientHello that never ends get no more memory than a whole handshake may take?
#[test]
fn an_endless_hello_is_refused() {
    let authority = Authority::new();
    let node = authority.node(r#"{"shards": 1}"#, |_| {});
    let mut peer = open(&node);
    // A handshake message of nearly 64 KiB, in records of 16 KiB.
    let mut hello = vec![0x16, 3, 1, 0x40, 0, 1, 0, 0xff, 0xf0, 3, 3];
    hello.resize(5 + 0x4000, 0);
    for _ in 0..3 {
        let _ = peer.write_all(&hello);
        hello.splice(5..11, [0; 6]);
    }
    assert!(is_closed(&mut peer));
    eventually("it is counted", || metric(&node, "lapwing_connections_refused_total", "tls") == 1);
    eventually("it is gone", || metric(&node, OPEN, "") == 0);
}

/// Are unfinished handshakes over when their time is, and counted?
#[test]
fn a_handshake_has_its_time() {
    let authority = Authority::new();
    let node = authority.node(r#"{"shards": 1, "limits": {"connect_timeout_ms": 300}}"#, |_| {});
    let mut held = silent(&node, 2, &hello(&authority.client()));
    held.push(open(&node));
    assert!(held.iter_mut().all(is_closed));
    eventually("they are counted", || metric(&node, "lapwing_connections_closed_total", "connect_timeout") == 3);
    assert_eq!((metric(&node, OPEN, ""), metric(&node, "lapwing_connections", "")), (0, 0));
}

/// Is whom a proxy names the one whose places are counted?
#[test]
fn behind_a_proxy_its_clients_are_counted() {
    let authority = Authority::new();
    let node = authority.node(r#"{"shards": 1, "limits": {"handshakes_per_address_max": 1}}"#, |listener| {
        listener.proxy_protocol_from = vec!["127.0.0.0/8".into()];
    });
    let of = |client: &str| {
        let mut peer = open(&node);
        peer.write_all(format!("PROXY TCP4 {client} 10.0.0.1 5000 8883\r\n").as_bytes()).expect("the node reads");
        peer
    };
    let _first = of("192.0.2.1");
    eventually("its place is taken", || metric(&node, OPEN, "") == 1);
    let _other = of("192.0.2.2");
    eventually("another one's too", || metric(&node, OPEN, "") == 2);
    // Which of the two connections of one client was named first is the node's business.
    let _again = of("192.0.2.1");
    eventually("one too many is refused", || metric(&node, REFUSED, "handshakes_per_address_max") == 1);
    assert_eq!(metric(&node, OPEN, ""), 2);
}

/// Does a node with unfinished handshakes drain, and stop?
#[test]
fn a_drain_does_not_wait_for_handshakes() {
    let authority = Authority::new();
    let node = authority.node(r#"{"shards": 2}"#, |_| {});
    let config = authority.client();
    let mut held = silent(&node, 4, &hello(&config));
    let mut client = TlsClient::connect(&node, &config, 1, "c");
    assert_eq!(client.connack(), ReasonCode::Success);
    eventually("they are begun", || metric(&node, OPEN, "") == 4);
    node.drain(Duration::from_secs(30)).unwrap();
    assert!(held.iter_mut().all(is_closed));
    node.stop().unwrap();
}
