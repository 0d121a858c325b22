//! Going down in order.

use std::time::{Duration, Instant};

use lapwing_codec::{QoS, ReasonCode, SubscriptionOptions, Version};
use lapwing_node::{Config, Handle};

use crate::client::Client;
use crate::packets::{ConnectExt, connect as plain};
use crate::{connect, node};

/// Are clients told, is what was sent before written out, and is nobody let in any more?
#[test]
fn a_drain_sends_clients_away_in_order() {
    let node = node(r#"{"shards": 2}"#);
    let mut five = connect(&node, "five");
    five.subscribe("t", SubscriptionOptions::new(QoS::AtMostOnce));
    let mut old = Client::connect_with(&node, &plain("old").in_version(Version::V311)).0;
    old.publish_acked("t", b"last");
    assert!(node.ready());
    node.drain(Duration::from_secs(30)).unwrap();
    assert!(!node.ready());
    assert_eq!(five.receive().payload, b"last");
    five.expect_end(Some(ReasonCode::ServerShuttingDown));
    old.expect_end(None);
    let address: std::net::SocketAddr = node.listeners()[0].trim_start_matches("tcp://").parse().unwrap();
    assert!(std::net::TcpStream::connect(address).is_err(), "the listener is closed");
    node.stop().unwrap();
}

/// Does a node end at once when nobody is connected? Each of its shards slept for a second before it said so.
#[test]
fn who_has_no_clients_drains_at_once() {
    let begun = Instant::now();
    for _ in 0..12 {
        let node = node(r#"{"shards": 2}"#);
        node.drain(Duration::from_secs(30)).unwrap();
        node.stop().unwrap();
    }
    assert!(begun.elapsed() < Duration::from_secs(11), "twelve times {:?}", begun.elapsed() / 12);
}

/// Does a port in use name address and remedy, and does nothing stay open?
#[test]
fn a_port_in_use_is_named() {
    let first = node(r#"{"shards": 1}"#);
    let url = first.listeners()[0].clone();
    let config = Config { listen: vec!["tcp://127.0.0.1:0".into(), url.clone()], shards: 1, ..Config::default() };
    let error = Handle::start(config).err().unwrap();
    assert_eq!(error.code(), "address_in_use");
    assert!(error.to_string().contains(&url), "{error}");
}
