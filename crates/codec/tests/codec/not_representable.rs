//! Packets that no bytes can stand for are refused when they are written, and nothing of them is.

use lapwing_codec::*;

fn refused(packet: Packet<'_>, version: Version) -> &'static str {
    let mut out = vec![0xAA];
    let error = packet.encode(version, &mut out).unwrap_err();
    assert_eq!(out, [0xAA], "{packet:?}");
    match error {
        EncodeError::NotRepresentable { what, version: told } => {
            assert_eq!(told, version);
            what
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn connack() {
    let plain = ConnAckProperties::default();
    let connack = |reason, properties| Packet::ConnAck(ConnAck { session_present: false, reason, properties });
    let receive_max = ConnAckProperties { receive_max: 0, ..plain };
    let packet_bytes_max = ConnAckProperties { packet_bytes_max: Some(0), ..plain };
    let auth_data = ConnAckProperties { auth_data: Some(b"x"), ..plain };
    for (properties, what) in [
        (receive_max, "a maximum of zero"),
        (packet_bytes_max, "a maximum of zero"),
        (auth_data, "authentication data without a method"),
    ] {
        assert_eq!(refused(connack(ReasonCode::Success, properties), Version::V5), what);
    }
    let present = ConnAck { session_present: true, reason: ReasonCode::NotAuthorized, properties: plain };
    assert_eq!(refused(Packet::ConnAck(present), Version::V5), "a refusal with a session present");
    let too_new = connack(ReasonCode::PacketTooLarge, plain);
    assert_eq!(refused(too_new, Version::V311), "this reason code as a return code");
}

#[test]
fn connect() {
    let connect = |version, properties| Connect {
        version,
        is_bridge: false,
        clean_start: true,
        keep_alive_s: 0,
        client_id: "c",
        will: None,
        username: None,
        password: None,
        properties,
    };
    let plain = ConnectProperties::default();
    let receive_max = ConnectProperties { receive_max: 0, ..plain };
    let packet_bytes_max = ConnectProperties { packet_bytes_max: Some(0), ..plain };
    let auth_data = ConnectProperties { auth_data: Some(b"x"), ..plain };
    for (properties, what) in [
        (receive_max, "a maximum of zero"),
        (packet_bytes_max, "a maximum of zero"),
        (auth_data, "authentication data without a method"),
    ] {
        assert_eq!(refused(Packet::Connect(connect(Version::V5, properties)), Version::V5), what);
    }
    let nameless = Connect { password: Some(b"p"), ..connect(Version::V311, plain) };
    assert_eq!(refused(Packet::Connect(nameless), Version::V311), "a password without a user name");
    let nameless = Connect { password: Some(b"p"), ..connect(Version::V5, plain) };
    assert!(Packet::Connect(nameless).encode(Version::V5, &mut Vec::new()).is_ok(), "5.0 allows it");
}

/// The error of flags that are reserved points at them.
#[test]
fn the_place_of_a_reserved_flag_is_told() {
    let error = decode(b"\x20\x03\x02\0\0", Version::V5, &Limits::default()).unwrap_err();
    assert_eq!((error.reason, error.at), (ReasonCode::MalformedPacket, 2));
}

fn subscribe(filters: SubscribeFilters<'_>) -> Packet<'_> {
    Packet::Subscribe(Subscribe { packet_id: PacketId::MIN, properties: SubscribeProperties::default(), filters })
}

#[test]
fn subscribe_filters() {
    let mut filters = SubscribeFiltersBuf::new();
    assert_eq!(refused(subscribe(filters.as_ref()), Version::V5), "a SUBSCRIBE without filters");
    filters.push("a", SubscriptionOptions { no_local: true, ..SubscriptionOptions::new(QoS::AtMostOnce) }).unwrap();
    assert_eq!(refused(subscribe(filters.as_ref()), Version::V311), "a subscription option other than QoS");
    assert!(subscribe(filters.as_ref()).encode(Version::V5, &mut Vec::new()).is_ok());
}

/// Filters know how many are left, and what a log would show of them.
#[test]
fn filters_are_counted_and_shown() {
    let mut filters = SubscribeFiltersBuf::new();
    filters.push("a/+", SubscriptionOptions::new(QoS::AtLeastOnce)).unwrap();
    filters.push("b", SubscriptionOptions::new(QoS::AtMostOnce)).unwrap();
    let mut left = filters.as_ref().iter();
    assert_eq!((filters.as_ref().is_empty(), left.len()), (false, 2));
    left.next();
    assert_eq!((left.len(), left.size_hint()), (1, (1, Some(1))));
    let shown = format!("{:?}", filters.as_ref());
    assert!(shown.contains("a/+") && shown.contains("AtLeastOnce"), "{shown}");
    let packet_id = PacketId::new(7).unwrap();
    assert_eq!((format!("{packet_id:?}"), packet_id.to_string()), ("PacketId(7)".to_owned(), "7".to_owned()));
}
