//! Bytes that are legal but not the shortest form, or not in our order: what do they decode to, and do they come back
//! as an equal packet?

use crate::bytes::bytes;
use lapwing_codec::*;

fn check(version: Version, wire: &str, packet: Packet<'_>) {
    let wire = bytes(wire);
    assert_eq!(decode(&wire, version, &Limits::default()), Ok(Some((packet, wire.len()))));
    let mut out = Vec::new();
    decode(&wire, version, &Limits::default()).unwrap().unwrap().0.encode(version, &mut out).unwrap();
    assert!(out.len() <= wire.len());
    assert_eq!(decode(&out, version, &Limits::default()), Ok(Some((packet, out.len()))));
}

#[test]
fn a_padded_remaining_length_is_311s_right() {
    check(Version::V311, "30 83 80 00 0001 'a'", Packet::Publish(Publish::qos0("a", b"")));
    let connect = bytes("10 8D 00 0004 'MQTT' 04 02 003C 0001 'c'");
    assert!(matches!(decode(&connect, Version::V5, &Limits::default()), Ok(Some((Packet::Connect(_), 16)))));
}

#[test]
fn success_may_be_spelled_out() {
    let ack = Packet::PubAck(Ack::success(PacketId::MIN));
    check(Version::V5, "40 03 0001 00", ack);
    check(Version::V5, "40 04 0001 00 00", ack);
    check(Version::V5, "E0 01 00", Packet::Disconnect(Disconnect::default()));
    check(Version::V5, "E0 02 00 00", Packet::Disconnect(Disconnect::default()));
}

#[test]
fn user_properties_and_identifiers_may_stand_anywhere() {
    let mut user = UserPropertiesBuf::new();
    user.push("a", "1").unwrap();
    user.push("b", "2").unwrap();
    let ids = [1, 200].map(|id| SubscriptionId::new(id).unwrap());
    let properties = PublishProperties {
        content_type: Some("t"),
        correlation_data: Some(b"\x26\x0B"),
        subscription_ids: SubscriptionIds::from_slice(&ids),
        user: user.as_ref(),
        ..PublishProperties::default()
    };
    let publish = Publish { properties, ..Publish::qos0("a", b"") };
    check(
        Version::V5,
        "30 20 0001 'a' 1C 03 0001 't' 26 0001 'a' 0001 '1' 0B 01 09 0002 260B 0B C801 26 0001 'b' 0001 '2'",
        Packet::Publish(publish),
    );
}

#[test]
fn a_default_that_is_sent_equals_one_that_is_not() {
    let wire = bytes("10 1D 0004 'MQTT' 05 02 003C 0F 11 00000000 21 FFFF 22 0000 19 00 17 01 0001 'c'");
    let Ok(Some((Packet::Connect(connect), _))) = decode(&wire, Version::V5, &Limits::default()) else {
        panic!("a CONNECT")
    };
    assert_eq!(connect.properties, ConnectProperties::default());
}
