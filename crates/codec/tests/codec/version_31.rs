//! Where MQTT 3.1 differs from 3.1.1 on the wire.

use crate::bytes::bytes;
use lapwing_codec::*;

fn decoded(wire: &str) -> Result<String, ReasonCode> {
    let wire = bytes(wire);
    match decode(&wire, Version::V31, &Limits::default()) {
        Ok(Some((packet, len))) if len == wire.len() => Ok(packet.name().to_owned()),
        Ok(other) => panic!("{other:?}"),
        Err(error) => Err(error.reason),
    }
}

/// The flags may announce a user name and password that the packet is too short for: then there are none.
#[test]
fn user_name_and_password_may_be_missing() {
    for (wire, username, password) in [
        ("10 0F 0006 'MQIsdp' 03 C2 003C 0001 'c'", None, None),
        ("10 12 0006 'MQIsdp' 03 C2 003C 0001 'c' 0001 'u'", Some("u"), None),
        ("10 15 0006 'MQIsdp' 03 C2 003C 0001 'c' 0001 'u' 0001 'p'", Some("u"), Some(&b"p"[..])),
    ] {
        let wire = bytes(wire);
        let Ok(Some((Packet::Connect(connect), _))) = decode(&wire, Version::V5, &Limits::default()) else {
            panic!("{wire:x?}")
        };
        assert_eq!((connect.version, connect.username, connect.password), (Version::V31, username, password));
        let mut out = Vec::new();
        Packet::Connect(connect).encode(Version::V31, &mut out).unwrap();
        assert_eq!(decode(&out, Version::V31, &Limits::default()), Ok(Some((Packet::Connect(connect), out.len()))));
    }
}

/// Requests that are sent again have DUP, and PUBREL too; their other flags, and those of other packets, are as ever.
#[test]
fn repeated_requests_have_dup() {
    for (wire, name) in
        [("6A 02 0001", "PUBREL"), ("8A 06 0001 0001 'a' 01", "SUBSCRIBE"), ("AA 05 0001 0001 'a'", "UNSUBSCRIBE")]
    {
        assert_eq!(decoded(wire), Ok(name.to_owned()));
        let malformed = |error: ProtocolError| error.reason == ReasonCode::MalformedPacket;
        assert!(decode(&bytes(wire), Version::V311, &Limits::default()).is_err_and(malformed), "{wire} in 3.1.1");
    }
    for wire in ["63 02 0001", "60 02 0001", "66 02 0001", "48 02 0001", "C8 00", "F0 00", "08 00"] {
        assert_eq!(decoded(wire), Err(ReasonCode::MalformedPacket), "{wire}");
    }
}

/// CONNACK has no Session Present: the byte is written as 0 and not looked at.
#[test]
fn connack_has_no_session_present() {
    let connack =
        ConnAck { session_present: true, reason: ReasonCode::Success, properties: ConnAckProperties::default() };
    let mut out = Vec::new();
    Packet::ConnAck(connack).encode(Version::V31, &mut out).unwrap();
    assert_eq!(out, [0x20, 2, 0, 0]);
    for first in [0, 1, 0xFF] {
        let wire = [0x20, 2, first, 0];
        let read = decode(&wire, Version::V31, &Limits::default());
        assert_eq!(read, Ok(Some((Packet::ConnAck(ConnAck { session_present: false, ..connack }), 4))));
    }
}

/// Level, name and what people call it belong together.
#[test]
fn versions_have_names_and_levels() {
    for (version, level, protocol, name) in
        [(Version::V31, 3, "MQIsdp", "3.1"), (Version::V311, 4, "MQTT", "3.1.1"), (Version::V5, 5, "MQTT", "5.0")]
    {
        assert_eq!((version.level(), version.protocol_name(), version.name()), (level, protocol, name));
        assert_eq!(Version::from_level(level), Some(version));
        assert_eq!(version.has_properties(), level == 5);
    }
    assert_eq!([0, 1, 2, 6, 0x83].map(Version::from_level), [None; 5]);
}
