//! Each field of each packet, valid and not, sent to a broker: it answers as the specification says, or goes on.

#[path = "../../../codec/tests/codec/bytes.rs"]
mod bytes;
#[path = "../../../codec/tests/codec/cases.rs"]
mod cases;

use cases::{Case, assemble, cases};
use lapwing_codec::{Packet, ReasonCode, Version};
use lapwing_node::Handle;

use crate::client::Client;
use crate::node;
use crate::packets::{ConnectExt, lasting};

/// What only servers send, and AUTH where no method was agreed upon: refused however well it is made.
const NEVER: [&str; 5] = ["CONNACK", "SUBACK", "UNSUBACK", "PINGRESP", "AUTH"];

/// Does the broker judge what comes behind a CONNECT as the decoder does, say so in 5.0, and go on after what is legal?
#[test]
fn each_field_is_answered() {
    let node = node(r#"{"shards": 1}"#);
    for case in cases().iter().filter(|case| case.packet != "CONNECT") {
        for version in case.versions.bytes().filter_map(|digit| Version::from_level(digit - b'0')) {
            println!("{} of {}, {}: {}", case.packet, version.name(), case.field, case.wire);
            check(&node, case, version);
        }
    }
}

fn check(node: &Handle, case: &Case<'_>, version: Version) {
    let (mut client, _) = Client::connect_with(node, &lasting("fields").in_version(version));
    client.send_bytes(&assemble(case.wire));
    let is_unset_alias = case.packet == "PUBLISH" && case.wire.contains("0000 {23");
    let reason = match u8::from_str_radix(case.verdict, 16).ok().and_then(ReasonCode::from_u8) {
        None if NEVER.contains(&case.packet) || is_unset_alias => ReasonCode::ProtocolError,
        None if case.packet == "DISCONNECT" => return client.expect_end(None),
        None => return goes_on(&mut client),
        Some(reason) => reason,
    };
    if reason == ReasonCode::PacketTooLarge && !version.has_properties() {
        return; // its payload is waited for, and thrown away: `beyond.rs`
    }
    client.expect_end(version.has_properties().then_some(reason));
}

/// What was asked is answered, and a PINGREQ after it.
fn goes_on(client: &mut Client) {
    client.send(&Packet::PingReq);
    while !client.expect("anything", |packet| Some(matches!(packet, Packet::PingResp))) {}
}

/// Is a CONNECT that is legal not called malformed, and is one that is not refused with its reason, in its own version, or
/// without a word?
#[test]
fn each_field_of_a_connect_is_answered() {
    let node = node(r#"{"shards": 1}"#);
    for case in cases().iter().filter(|case| case.packet == "CONNECT") {
        for version in case.versions.bytes().filter_map(|digit| Version::from_level(digit - b'0')) {
            println!("CONNECT of {}, {}: {}", version.name(), case.field, case.wire);
            let mut client = Client::open(&node);
            client.version = version;
            client.send_bytes(&assemble(case.wire));
            let answer = client.connack();
            match u8::from_str_radix(case.verdict, 16).ok().and_then(ReasonCode::from_u8) {
                None => assert!(answer.is_some_and(|reason| reason != ReasonCode::MalformedPacket)),
                Some(expected) => {
                    assert!(answer.is_none_or(|reason| reason == expected), "{answer:?}");
                    client.expect_end(None);
                }
            }
        }
    }
}
