//! Client certificates that are not good any more end the connections that they have opened.

use std::time::{Duration, SystemTime};

use lapwing_codec::{Packet, ReasonCode};

use crate::tls_peer::{Authority, TlsClient};
use crate::{eventually, metric};

const LAPSED: &str = "lapwing_certificates_lapsed_total";
const YEAR: Duration = Duration::from_secs(365 * 24 * 3600);

/// Is a client whose certificate was revoked sent away when the list is read again, told and counted, and the other one not?
/// And does the list also hold for who comes again, until the authority's word is another one?
#[test]
fn who_is_revoked_is_sent_away() {
    let authority = Authority::new();
    authority.revoke(&[]);
    let node = authority.node(r#"{"shards": 2}"#, |listener| authority.require(listener));
    let configs = [1, 2].map(|serial| authority.client_numbered(serial, YEAR));
    let mut clients = [0, 1].map(|n| TlsClient::connect(&node, &configs[n], 1, &format!("c{n}")));
    for client in &mut clients {
        assert_eq!(client.connack(), ReasonCode::Success);
    }
    authority.revoke(&[2]);
    assert_eq!(node.reload("{}").unwrap(), 1);
    assert_eq!(clients[1].disconnected(), Some(ReasonCode::NotAuthorized));
    assert_eq!(metric(&node, LAPSED, "revoked"), 1);
    let told: Vec<String> = node.take_notices().into_iter().filter(|line| line.contains("certificates")).collect();
    assert!(told.len() == 1 && told[0].starts_with("1 connections ended"), "{told:?}");
    assert!(TlsClient::try_connect(&node, &configs[1], "again").is_err());
    eventually("it is counted", || metric(&node, "lapwing_connections_refused_total", "tls") == 1);
    clients[0].send(&Packet::PingReq);
    clients[0].expect_pong();
    authority.revoke(&[]);
    node.reload("{}").unwrap();
    assert_eq!(TlsClient::connect(&node, &configs[1], 1, "back").connack(), ReasonCode::Success);
}

/// Does a connection end when the certificate does that opened it?
#[test]
fn a_certificate_that_expires_ends_its_connection() {
    let authority = Authority::new();
    authority.revoke(&[]);
    let node = authority.node(r#"{"shards": 1}"#, |listener| authority.require(listener));
    let good_for = Duration::from_secs(15);
    let begun = SystemTime::now();
    let mut client = TlsClient::connect(&node, &authority.client_numbered(1, good_for), 1, "c");
    assert_eq!(client.connack(), ReasonCode::Success);
    assert_eq!(client.disconnected(), Some(ReasonCode::NotAuthorized));
    // Certificates count whole seconds.
    assert!(begun.elapsed().unwrap() >= good_for - Duration::from_secs(1));
    assert_eq!(metric(&node, LAPSED, "expired"), 1);
}
