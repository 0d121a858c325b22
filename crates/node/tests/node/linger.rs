//! Last words: what the node says before it closes reaches a peer that is still sending.

use lapwing_codec::ReasonCode;

use crate::client::Client;
use crate::{connect, eventually, metric, node};

/// Does a peer in the middle of a large send still read why it was closed, instead of a reset?
#[test]
fn the_last_words_arrive_while_the_peer_sends() {
    let node = node(r#"{"shards": 1, "limits": {"close_linger_ms": 60000}}"#);
    for n in 0..20 {
        let mut client = connect(&node, &format!("talker-{n}"));
        let mut bytes = vec![0x00, 0x00];
        bytes.resize(4 << 20, 0xff);
        // More than the kernel's buffers hold: it is still being sent when the node has seen what is wrong with it.
        assert!(client.try_send_bytes(&bytes), "reset while sending, {n}");
        client.expect_end(Some(ReasonCode::MalformedPacket));
    }
    eventually("all are gone", || metric(&node, "lapwing_connections_lingering", "") == 0);
    assert_eq!(metric(&node, "lapwing_connections_linger_cut_total", ""), 0);
}

/// Does a peer that never ends its side, or sends without end, hold its socket for a bounded time?
#[test]
fn a_peer_that_stays_is_cut() {
    let node = node(r#"{"shards": 1, "limits": {"close_linger_ms": 100}}"#);
    let mut silent = connect(&node, "silent");
    silent.send_bytes(&[0x00, 0x00]);
    silent.expect_end(Some(ReasonCode::MalformedPacket));
    eventually("for the protocol it is over", || metric(&node, "lapwing_connections", "") == 0);
    eventually("the silent one is cut", || metric(&node, "lapwing_connections_linger_cut_total", "") == 1);
    let mut endless = connect(&node, "endless");
    endless.send_bytes(&[0x00, 0x00]);
    while endless.try_send_bytes(&[0xff; 65536]) {}
    eventually("the endless one is cut", || metric(&node, "lapwing_connections_linger_cut_total", "") == 2);
    assert_eq!(metric(&node, "lapwing_connections_lingering", ""), 0);
}

/// Does a drain not wait for peers that have been told and do not go?
#[test]
fn a_drain_does_not_wait_for_lingering_peers() {
    let node = node(r#"{"shards": 2, "limits": {"close_linger_ms": 60000}}"#);
    let clients: Vec<Client> = (0..10).map(|n| connect(&node, &format!("client-{n}"))).collect();
    node.drain(std::time::Duration::from_secs(30)).expect("drained at once");
    node.stop().unwrap();
    for mut client in clients {
        client.expect_end(Some(ReasonCode::ServerShuttingDown));
    }
}
