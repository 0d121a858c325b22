//! A client that comes again under its own id while something for its former connection is on its way.

use lapwing_codec::{ConnAck, Packet, QoS, ReasonCode, SubscriptionOptions, Version};

use crate::client::Client;
use crate::node;
use crate::packets::{ConnectExt, lasting};

/// So many are enough to hit the moment between a SUBSCRIBE and its SUBACK: the node once ended at the sixth.
const TRIES: usize = 60;

/// Subscribes, comes again before the SUBACK is out, and asks whether the node is there.
fn come_again(node: &lapwing_node::Handle, id: &str, version: Version, filter: &str) {
    let connect = lasting(id).in_version(version);
    let (mut former, _) = Client::connect_with(node, &connect);
    let mut again = Client::open(node);
    again.version = version;
    former.send_subscribe(filter, SubscriptionOptions::new(QoS::AtMostOnce));
    again.send(&Packet::Connect(connect));
    let connack = again.expect("CONNACK", |packet| match packet {
        Packet::ConnAck(ConnAck { reason, session_present, .. }) => Some((*reason, *session_present)),
        _ => None,
    });
    assert_eq!(connack, (ReasonCode::Success, true));
    for _ in 0..3 {
        again.send(&Packet::PingReq);
        again.expect("PINGRESP", |packet| matches!(packet, Packet::PingResp).then_some(()));
    }
}

/// The SUBACK of a connection that was taken over belongs to nobody. Does what the next connection is sent leave whole, in
/// order, and the node stay, when the subscription reaches the disk only afterwards?
#[test]
fn a_suback_that_comes_too_late_for_its_connection_holds_nothing_of_the_next_one() {
    for (shards, version, filter) in [
        (1, Version::V5, "$share/g/x"),
        (2, Version::V5, "$share/g/x"),
        (2, Version::V311, "$share/g/x"),
        (2, Version::V5, "x"),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let node = node(&format!(r#"{{"shards": {shards}, "data_dir": {:?}, "durability": "disk"}}"#, dir.path()));
        for n in 0..TRIES {
            come_again(&node, &format!("c{n}"), version, filter);
        }
        node.stop().expect("no shard has panicked");
    }
}
