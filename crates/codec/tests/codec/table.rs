//! Are these bytes this packet, and is this packet these bytes? Both ways, and cut at every place.

use crate::both_ways::check;
use lapwing_codec::*;

const V31: Version = Version::V31;
const V311: Version = Version::V311;
const V5: Version = Version::V5;

fn user(pairs: &[(&str, &str)]) -> UserPropertiesBuf {
    let mut buf = UserPropertiesBuf::new();
    pairs.iter().for_each(|(name, value)| buf.push(name, value).unwrap());
    buf
}

fn id(id: u16) -> PacketId {
    PacketId::new(id).unwrap()
}

fn connect(version: Version) -> Connect<'static> {
    Connect {
        version,
        is_bridge: false,
        clean_start: true,
        keep_alive_s: 60,
        client_id: "c",
        will: None,
        username: None,
        password: None,
        properties: ConnectProperties::default(),
    }
}

fn will<'a>() -> Will<'a> {
    let properties = WillProperties::default();
    Will { topic: "w", payload: b"bye", qos: QoS::AtLeastOnce, retain: true, properties }
}

#[test]
fn connect_311() {
    check(V311, "10 0D 0004 'MQTT' 04 02 003C 0001 'c'", Packet::Connect(connect(V311)));
    let anonymous = Connect { client_id: "", keep_alive_s: 0, ..connect(V311) };
    check(V311, "10 0C 0004 'MQTT' 04 02 0000 0000", Packet::Connect(anonymous));
    let everything = Connect {
        clean_start: false,
        will: Some(will()),
        username: Some("u"),
        password: Some(b"\x00\xFF"),
        ..connect(V311)
    };
    check(
        V311,
        "10 1C 0004 'MQTT' 04 EC 003C 0001 'c' 0001 'w' 0003 'bye' 0001 'u' 0002 00FF",
        Packet::Connect(everything),
    );
}

/// 3.1 has a name of its own, and is otherwise written as 3.1.1.
#[test]
fn connect_31() {
    check(V31, "10 0F 0006 'MQIsdp' 03 02 003C 0001 'c'", Packet::Connect(connect(V31)));
    check(V31, "10 0F 0006 'MQIsdp' 83 02 003C 0001 'c'", Packet::Connect(Connect { is_bridge: true, ..connect(V31) }));
    check(V311, "10 0D 0004 'MQTT' 84 02 003C 0001 'c'", Packet::Connect(Connect { is_bridge: true, ..connect(V311) }));
    let named = Connect { username: Some("u"), password: Some(b"p"), ..connect(V31) };
    check(V311, "10 15 0006 'MQIsdp' 03 C2 003C 0001 'c' 0001 'u' 0001 'p'", Packet::Connect(named));
}

#[test]
fn connect_5() {
    check(V5, "10 0E 0004 'MQTT' 05 02 003C 00 0001 'c'", Packet::Connect(connect(V5)));
    // A password without a user name is 5.0's own; the connection's version does not matter to a CONNECT.
    let token = Connect { password: Some(b"t"), ..connect(V5) };
    check(V311, "10 11 0004 'MQTT' 05 42 003C 00 0001 'c' 0001 't'", Packet::Connect(token));
}

#[test]
fn connect_5_with_every_property() {
    let (pairs, will_pairs) = (user(&[("k", "v"), ("k", "w")]), user(&[("a", "")]));
    let properties = ConnectProperties {
        session_expiry_s: u32::MAX,
        receive_max: 20,
        packet_bytes_max: Some(65_536),
        topic_alias_max: 10,
        request_response_information: true,
        request_problem_information: false,
        user: pairs.as_ref(),
        auth_method: Some("m"),
        auth_data: Some(b"\x01"),
    };
    let will_properties = WillProperties {
        delay_s: 5,
        payload_is_utf8: Some(true),
        message_expiry_s: Some(9),
        content_type: Some("t"),
        response_topic: Some("r"),
        correlation_data: Some(b"c"),
        user: will_pairs.as_ref(),
    };
    let will = Some(Will { qos: QoS::ExactlyOnce, retain: false, properties: will_properties, ..will() });
    let packet = Connect { properties, will, ..connect(V5) };
    check(
        V5,
        "10 5F 0004 'MQTT' 05 16 003C
         2A 11 FFFFFFFF 21 0014 27 00010000 22 000A 19 01 17 00
            26 0001 'k' 0001 'v' 26 0001 'k' 0001 'w' 15 0001 'm' 16 0001 01
         0001 'c'
         1E 18 00000005 01 01 02 00000009 03 0001 't' 08 0001 'r' 09 0001 'c' 26 0001 'a' 0000
         0001 'w' 0003 'bye'",
        Packet::Connect(packet),
    );
}

#[test]
fn connack() {
    let plain =
        ConnAck { session_present: true, reason: ReasonCode::Success, properties: ConnAckProperties::default() };
    check(V311, "20 02 01 00", Packet::ConnAck(plain));
    check(V5, "20 03 01 00 00", Packet::ConnAck(plain));
    let refused = ConnAck { session_present: false, reason: ReasonCode::NotAuthorized, ..plain };
    check(V311, "20 02 00 05", Packet::ConnAck(refused));
    check(V5, "20 03 00 87 00", Packet::ConnAck(refused));
}

#[test]
fn connack_with_every_property() {
    let pairs = user(&[("k", "v")]);
    let properties = ConnAckProperties {
        session_expiry_s: Some(0),
        receive_max: 7,
        qos_max: QoS::AtLeastOnce,
        retain_available: false,
        packet_bytes_max: Some(1),
        assigned_client_id: Some("i"),
        topic_alias_max: 3,
        reason_string: Some("s"),
        user: pairs.as_ref(),
        wildcard_available: false,
        subscription_ids_available: false,
        shared_available: false,
        server_keep_alive_s: Some(30),
        response_information: Some("r"),
        server_reference: Some("h"),
        auth_method: Some("m"),
        auth_data: Some(b""),
    };
    check(
        V5,
        "20 3E 00 00 3B
         11 00000000 21 0007 24 01 25 00 27 00000001 12 0001 'i' 22 0003 1F 0001 's' 26 0001 'k' 0001 'v'
         28 00 29 00 2A 00 13 001E 1A 0001 'r' 1C 0001 'h' 15 0001 'm' 16 0000",
        Packet::ConnAck(ConnAck { session_present: false, reason: ReasonCode::Success, properties }),
    );
}

#[test]
fn publish() {
    let qos0 = Publish::qos0("a/b", b"hi");
    check(V311, "30 07 0003 'a/b' 'hi'", Packet::Publish(qos0));
    check(V5, "30 08 0003 'a/b' 00 'hi'", Packet::Publish(qos0));
    let empty = Publish { retain: true, payload: b"", ..qos0 };
    check(V311, "31 05 0003 'a/b'", Packet::Publish(empty));
    let qos1 = Publish { qos: QoS::AtLeastOnce, packet_id: Some(id(10)), ..qos0 };
    check(V311, "32 09 0003 'a/b' 000A 'hi'", Packet::Publish(qos1));
    let qos2 = Publish { dup: true, qos: QoS::ExactlyOnce, packet_id: Some(PacketId::MAX), ..qos0 };
    check(V5, "3C 0A 0003 'a/b' FFFF 00 'hi'", Packet::Publish(qos2));
    // A name with two-, three- and four-byte characters.
    check(V311, "30 0F 000B C3B6 '/' E69F94 '/' F09F90A6 'hi'", Packet::Publish(Publish { topic: "ö/柔/🐦", ..qos0 }));
}

#[test]
fn publish_with_every_property() {
    let pairs = user(&[("k", "v"), ("", "")]);
    let ids = [1, 268_435_455].map(|id| SubscriptionId::new(id).unwrap());
    let properties = PublishProperties {
        payload_is_utf8: Some(false),
        message_expiry_s: Some(3600),
        topic_alias: Some(1),
        response_topic: Some("r"),
        correlation_data: Some(b"\x00"),
        content_type: Some("t"),
        subscription_ids: SubscriptionIds::from_slice(&ids),
        user: pairs.as_ref(),
    };
    check(
        V5,
        "30 2E 0000 29 01 00 02 00000E10 23 0001 08 0001 'r' 09 0001 00 03 0001 't' 0B 01 0B FFFFFF7F
         26 0001 'k' 0001 'v' 26 0000 0000 'hi'",
        Packet::Publish(Publish { topic: "", properties, ..Publish::qos0("", b"hi") }),
    );
}

#[test]
fn acknowledgements() {
    let plain = Ack::success(id(0x1234));
    for (wire, packet) in [
        ("40 02 1234", Packet::PubAck(plain)),
        ("50 02 1234", Packet::PubRec(plain)),
        ("62 02 1234", Packet::PubRel(plain)),
        ("70 02 1234", Packet::PubComp(plain)),
    ] {
        check(V311, wire, packet);
        check(V5, wire, packet);
    }
    check(V5, "40 03 1234 10", Packet::PubAck(Ack::new(id(0x1234), ReasonCode::NoMatchingSubscribers)));
    check(V5, "62 03 1234 92", Packet::PubRel(Ack::new(id(0x1234), ReasonCode::PacketIdentifierNotFound)));
    let pairs = user(&[("k", "v")]);
    let properties = ReasonProperties { reason_string: Some("s"), user: pairs.as_ref() };
    check(
        V5,
        "50 0F 1234 97 0B 1F 0001 's' 26 0001 'k' 0001 'v'",
        Packet::PubRec(Ack { reason: ReasonCode::QuotaExceeded, properties, ..plain }),
    );
    check(
        V5,
        "70 08 1234 00 04 1F 0001 's'",
        Packet::PubComp(Ack { properties: ReasonProperties { user: UserProperties::EMPTY, ..properties }, ..plain }),
    );
}

#[test]
fn subscribe() {
    let mut filters = SubscribeFiltersBuf::new();
    filters.push("a/+", SubscriptionOptions::new(QoS::AtLeastOnce)).unwrap();
    filters.push("#", SubscriptionOptions::new(QoS::AtMostOnce)).unwrap();
    let properties = SubscribeProperties::default();
    let packet = Subscribe { packet_id: id(1), properties, filters: filters.as_ref() };
    check(V311, "82 0C 0001 0003 'a/+' 01 0001 '#' 00", Packet::Subscribe(packet));
    check(V5, "82 0D 0001 00 0003 'a/+' 01 0001 '#' 00", Packet::Subscribe(packet));

    let mut filters = SubscribeFiltersBuf::new();
    let retain_handling = RetainHandling::DoNotSend;
    let options =
        SubscriptionOptions { qos: QoS::ExactlyOnce, no_local: true, retain_as_published: true, retain_handling };
    filters.push("a", options).unwrap();
    filters.push("$share/g/a/#", SubscriptionOptions { no_local: false, ..options }).unwrap();
    let pairs = user(&[("k", "v")]);
    let properties = SubscribeProperties { subscription_id: SubscriptionId::new(128), user: pairs.as_ref() };
    check(
        V5,
        "82 20 0002 0A 0B 8001 26 0001 'k' 0001 'v' 0001 'a' 2E 000C '$share/g/a/#' 2A",
        Packet::Subscribe(Subscribe { packet_id: id(2), properties, filters: filters.as_ref() }),
    );
}

#[test]
fn suback() {
    let reasons = [ReasonCode::Success, ReasonCode::GrantedQoS2, ReasonCode::UnspecifiedError];
    let packet = SubAck { packet_id: id(1), properties: ReasonProperties::EMPTY, reasons: &reasons };
    check(V311, "90 05 0001 00 02 80", Packet::SubAck(packet));
    check(V5, "90 06 0001 00 00 02 80", Packet::SubAck(packet));
    let properties = ReasonProperties { reason_string: Some("s"), user: UserProperties::EMPTY };
    let reasons = [ReasonCode::TopicFilterInvalid];
    check(
        V5,
        "90 08 0001 04 1F 0001 's' 8F",
        Packet::SubAck(SubAck { packet_id: id(1), properties, reasons: &reasons }),
    );
}

#[test]
fn unsubscribe_and_unsuback() {
    let mut filters = UnsubscribeFiltersBuf::new();
    filters.push("a/+").unwrap();
    filters.push("b").unwrap();
    let packet = Unsubscribe { packet_id: id(1), user: UserProperties::EMPTY, filters: filters.as_ref() };
    check(V311, "A2 0A 0001 0003 'a/+' 0001 'b'", Packet::Unsubscribe(packet));
    let pairs = user(&[("k", "v")]);
    check(
        V5,
        "A2 12 0001 07 26 0001 'k' 0001 'v' 0003 'a/+' 0001 'b'",
        Packet::Unsubscribe(Unsubscribe { user: pairs.as_ref(), ..packet }),
    );
    let properties = ReasonProperties::EMPTY;
    check(V311, "B0 02 0001", Packet::UnsubAck(UnsubAck { packet_id: id(1), properties, reasons: &[] }));
    let reasons = [ReasonCode::Success, ReasonCode::NoSubscriptionExisted];
    check(V5, "B0 05 0001 00 00 11", Packet::UnsubAck(UnsubAck { packet_id: id(1), properties, reasons: &reasons }));
}

#[test]
fn pings() {
    for version in [V311, V5] {
        check(version, "C0 00", Packet::PingReq);
        check(version, "D0 00", Packet::PingResp);
    }
}

#[test]
fn disconnect() {
    check(V311, "E0 00", Packet::Disconnect(Disconnect::default()));
    check(V5, "E0 00", Packet::Disconnect(Disconnect::default()));
    check(V5, "E0 01 04", Packet::Disconnect(Disconnect::new(ReasonCode::DisconnectWithWill)));
    let pairs = user(&[("k", "v")]);
    let properties = DisconnectProperties {
        session_expiry_s: Some(1),
        reason_string: Some("s"),
        user: pairs.as_ref(),
        server_reference: Some("h"),
    };
    check(
        V5,
        "E0 16 9D 14 11 00000001 1F 0001 's' 26 0001 'k' 0001 'v' 1C 0001 'h'",
        Packet::Disconnect(Disconnect { reason: ReasonCode::ServerMoved, properties }),
    );
}

#[test]
fn auth() {
    check(V5, "F0 00", Packet::Auth(Auth::default()));
    let pairs = user(&[("k", "v")]);
    let properties = AuthProperties {
        auth_method: Some("m"),
        auth_data: Some(b"\xFF"),
        reason_string: Some("s"),
        user: pairs.as_ref(),
    };
    check(
        V5,
        "F0 15 18 13 15 0001 'm' 16 0001 FF 1F 0001 's' 26 0001 'k' 0001 'v'",
        Packet::Auth(Auth { reason: ReasonCode::ContinueAuthentication, properties }),
    );
}
