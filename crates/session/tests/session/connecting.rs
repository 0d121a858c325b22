//! CONNECT and CONNACK: what is told, what is refused.

use std::sync::Arc;

use lapwing_codec::{
    ConnAckProperties, Connect, ConnectProperties, Limits, Packet, QoS, ReasonCode, SubscriptionOptions, Version, Will,
    WillProperties, decode,
};
use lapwing_session::{
    Admission, DropReason, Io, Session, SessionKey, Settings, admit, refuse, refuse_connect, refuse_malformed,
};

use crate::rig::{Rig, connect, connect_persistent};

/// What a CONNACK says, without what it borrows.
fn connack_of(rig: &mut Rig) -> (bool, ReasonCode, Option<u32>, u16, Option<String>, Option<u16>) {
    rig.sent_one(|packet| match packet {
        Packet::ConnAck(connack) => {
            let ConnAckProperties { session_expiry_s, receive_max, assigned_client_id, server_keep_alive_s, .. } =
                connack.properties;
            let assigned = assigned_client_id.map(str::to_owned);
            (connack.session_present, connack.reason, session_expiry_s, receive_max, assigned, server_keep_alive_s)
        }
        other => panic!("{other:?}"),
    })
}

/// The client learns the limits it has to keep; what it asked for itself is not repeated.
#[test]
fn the_connack_tells_the_limits() {
    let settings = Settings { receive_maximum: 9, session_expiry_s_max: 60, ..Settings::default() };
    let mut rig = Rig::new(settings);
    rig.connect(&connect(Version::V5));
    assert_eq!(connack_of(&mut rig), (false, ReasonCode::Success, None, 9, None, None));
    // Another session expiry than the client asked for is said (3.2.2.3.2).
    rig.session = None;
    rig.connect(&connect_persistent(Version::V5));
    assert_eq!(connack_of(&mut rig).2, Some(60));
}

/// [MQTT-3.2.2-21, MQTT-3.2.2-22] a server keep alive is told in 5.0, and counts; in 3.1.1, which cannot be told, it
/// counts too.
///
/// Shows 5.0: MQTT-3.2.2-22.
#[test]
fn a_long_keep_alive_is_shortened() {
    for (asked, told) in [(0, Some(100)), (101, Some(100)), (100, None), (7, None)] {
        let mut rig = Rig::new(Settings { keep_alive_s_max: 100, ..Settings::default() });
        rig.connect(&Connect { keep_alive_s: asked, ..connect(Version::V5) });
        assert_eq!(connack_of(&mut rig).5, told, "{asked}");
        let in_force = u64::from(told.unwrap_or(asked));
        let start_ms = rig.now_ms;
        assert_eq!(rig.session().deadline_ms(), Some(start_ms + in_force * 1500));
    }
    for (asked, in_force) in [(0, 100), (101, 100), (100, 100), (7, 7)] {
        let mut rig = Rig::new(Settings { keep_alive_s_max: 100, ..Settings::default() });
        rig.connect(&Connect { keep_alive_s: asked, ..connect(Version::V311) });
        assert_eq!(rig.session().deadline_ms(), Some(rig.now_ms + in_force * 1500), "{asked}");
    }
}

/// [MQTT-3.1.3-6, MQTT-3.1.3-7] a client without an id gets one and is told; an id of its own is kept.
#[test]
fn an_empty_client_id_is_replaced() {
    let settings = Arc::new(Settings::default());
    let nameless = Connect { client_id: "", ..connect(Version::V5) };
    let admission = admit(&nameless, &settings, || "auto-1".to_owned()).unwrap();
    assert_eq!(admission, Admission::new("auto-1", true));
    let mut rig = Rig::new(Settings::default());
    let mut io = Io::new(&mut rig.out, &mut rig.counters);
    let opened = Session::open(&nameless, &admission, SessionKey(1), &settings, None, 0, &mut io);
    assert_eq!(opened.session.client_id(), "auto-1");
    assert_eq!(connack_of(&mut rig).4.as_deref(), Some("auto-1"));

    let named = admit(&connect(Version::V5), &settings, || unreachable!("it has an id"));
    assert_eq!(named, Ok(Admission::new("me", false)));
}

/// An id is assigned unless nobody could come back to the session: 3.1.1 with Clean Session 0.
#[test]
fn who_may_come_without_an_id() {
    for (version, clean_start, may) in [
        (Version::V5, false, true),
        (Version::V5, true, true),
        (Version::V311, true, true),
        (Version::V311, false, false),
    ] {
        let nameless = Connect { client_id: "", clean_start, ..connect(version) };
        let admitted = admit(&nameless, &Settings::default(), || "auto-1".to_owned());
        assert_eq!(admitted.is_ok(), may, "{version:?} {clean_start}");
    }
}

/// What is refused before there is a session, and with which code. Shows 5.0: MQTT-3.2.2-12, MQTT-3.2.2-13.
#[test]
fn refusals_before_the_session() {
    let strict =
        Settings { qos_max: QoS::AtLeastOnce, retain_available: false, client_id_bytes_max: 4, ..Settings::default() };
    let with_will = |qos, retain| {
        let properties = WillProperties::default();
        Some(Will { topic: "t", payload: b"", qos, retain, properties })
    };
    let with_method = ConnectProperties { auth_method: Some("SCRAM-SHA-1"), ..ConnectProperties::default() };
    let v5 = connect(Version::V5);
    let tiny = ConnectProperties { packet_bytes_max: Some(8), ..ConnectProperties::default() };
    let cases = [
        // [MQTT-3.1.2-24]: the CONNACK would not fit.
        (Connect { properties: tiny, ..v5 }, ReasonCode::PacketTooLarge),
        // [MQTT-4.12.0-1]: an authentication method that the server does not support.
        (Connect { properties: with_method, ..v5 }, ReasonCode::BadAuthenticationMethod),
        // [MQTT-3.2.2-12], [MQTT-3.2.2-13]
        (Connect { will: with_will(QoS::ExactlyOnce, false), ..v5 }, ReasonCode::QoSNotSupported),
        (Connect { will: with_will(QoS::AtMostOnce, true), ..v5 }, ReasonCode::RetainNotSupported),
        (Connect { client_id: "12345", ..v5 }, ReasonCode::ClientIdentifierNotValid),
        // 3.1.1 [MQTT-3.1.3-8]: no id and no clean session.
        (Connect { client_id: "", clean_start: false, ..connect(Version::V311) }, ReasonCode::ClientIdentifierNotValid),
    ];
    for (connect, reason) in cases {
        let refusal = admit(&connect, &strict, || "auto".to_owned()).unwrap_err();
        assert_eq!(refusal.reason, reason, "{connect:?}");
    }
    let at_most = Connect { will: with_will(QoS::AtLeastOnce, false), client_id: "1234", ..v5 };
    assert!(admit(&at_most, &strict, || unreachable!("it has an id")).is_ok(), "up to the limits all is well");
}

/// MQTT 3.1 where it is not switched off: client ids of 1 to 23 characters, whatever Clean Session; else return code 1.
#[test]
fn version_31_is_taken_unless_it_is_switched_off() {
    let on = Settings::default();
    let umlauts = "ä".repeat(23);
    let too_long = "a".repeat(24);
    let v31 = connect(Version::V31);
    for (client_id, is_taken) in [("", false), ("a", true), (&*umlauts, true), (&*too_long, false)] {
        for clean_start in [false, true] {
            let connect = Connect { client_id, clean_start, ..v31 };
            let admitted = admit(&connect, &on, || unreachable!("3.1 knows no assigned id"));
            let expected = if is_taken { None } else { Some(ReasonCode::ClientIdentifierNotValid) };
            assert_eq!(admitted.err().map(|close| close.reason), expected, "{client_id}");
        }
    }
    let bridge = Connect { client_id: &too_long, is_bridge: true, ..v31 };
    assert!(admit(&bridge, &on, || unreachable!("it has an id")).is_ok(), "bridges are called as two machines are");
    let off = Settings { mqtt31: false, ..Settings::default() };
    let refusal = admit(&v31, &off, || unreachable!()).unwrap_err();
    assert_eq!(refusal.reason, ReasonCode::UnsupportedProtocolVersion);
    let mut out = Vec::new();
    refuse_connect(&v31, refusal.reason, Some(refusal.what), &mut out);
    assert_eq!(out, [0x20, 2, 0, 1]);
}

/// A refusal is a CONNACK with the code; 3.1.1 says what it has a return code for, else nothing.
#[test]
fn refusals_are_written_in_the_clients_version() {
    let written = |version, reason| {
        let mut rig = Rig { version, ..Rig::new(Settings::default()) };
        refuse(version, reason, &mut rig.out);
        rig.sent()
    };
    assert_eq!(written(Version::V5, ReasonCode::BadAuthenticationMethod), ["connack(0x8c,false)"]);
    // One that 3.1.1 has no return code for.
    assert_eq!(written(Version::V5, ReasonCode::PacketTooLarge), ["connack(0x95,false)"]);
    assert_eq!(written(Version::V311, ReasonCode::ClientIdentifierNotValid), ["connack(0x85,false)"]);
    assert_eq!(written(Version::V311, ReasonCode::MalformedPacket), [""; 0]);
}

/// A refusal keeps to the client's Maximum Packet Size: five bytes, or none [MQTT-3.1.2-24].
#[test]
fn a_refusal_keeps_to_the_clients_packet_size() {
    for (words, packet_bytes_max, len) in [
        (None, None, 5),
        (None, Some(5), 5),
        (None, Some(4), 0),
        (None, Some(1), 0),
        // [MQTT-3.2.2-19]: the Reason String yields first.
        (Some("no"), None, 10),
        (Some("no"), Some(10), 10),
        (Some("no"), Some(9), 5),
        (Some("no"), Some(4), 0),
    ] {
        let properties = ConnectProperties { packet_bytes_max, ..ConnectProperties::default() };
        let mut out = b"before".to_vec();
        refuse_connect(&Connect { properties, ..connect(Version::V5) }, ReasonCode::NotAuthorized, words, &mut out);
        assert_eq!(out.len(), 6 + len, "{words:?} {packet_bytes_max:?}");
        assert_eq!(out.ends_with(b"no"), len == 10);
    }
    let too_long = "x".repeat(65_536);
    let mut out = Vec::new();
    refuse_connect(&connect(Version::V5), ReasonCode::NotAuthorized, Some(&too_long), &mut out);
    assert_eq!(out.len(), 5, "words that no string can hold stay away");
    let mut out = Vec::new();
    refuse_connect(&connect(Version::V311), ReasonCode::NotAuthorized, Some("no"), &mut out);
    assert_eq!(out, [0x20, 2, 0, 5]);
}

/// A server without QoS 2 says so, and still takes subscriptions that ask for it. Shows 5.0: MQTT-3.2.2-9, MQTT-3.2.2-10.
#[test]
fn a_server_without_qos_2_says_so() {
    for qos_max in [QoS::AtMostOnce, QoS::AtLeastOnce, QoS::ExactlyOnce] {
        let mut rig = Rig::new(Settings { qos_max, ..Settings::default() });
        rig.connect(&connect(Version::V5));
        let told = rig.sent_one(|packet| match packet {
            Packet::ConnAck(connack) => connack.properties.qos_max,
            other => panic!("{other:?}"),
        });
        assert_eq!(told, qos_max);
        let asked = SubscriptionOptions::new(QoS::ExactlyOnce);
        let reply = rig.subscribe(&[("a", asked)], |_| Ok(())).unwrap();
        assert!(!reply.reasons()[0].is_error());
    }
}

/// Response Information: for those who request it, where it is set, and only for ids that are one level of a topic.
///
/// Shows 5.0: MQTT-3.1.2-28.
#[test]
fn response_information_is_given_on_request() {
    let long = |len| Settings { response_information_prefix: Some("p".repeat(len).into()), ..Settings::default() };
    let set = Settings { response_information_prefix: Some("answers/".into()), ..Settings::default() };
    for (settings, client_id, request_response_information, expected) in [
        (&set, "me", true, Some("answers/me")),
        (&set, "me", false, None),
        (&Settings::default(), "me", true, None),
        (&set, "a/b", true, None),
        (&set, "a+", true, None),
        (&set, "#", true, None),
        (&long(65_533), "me", true, Some(&*[&*"p".repeat(65_533), "me"].concat())),
        (&long(65_534), "me", true, None),
    ] {
        let properties = ConnectProperties { request_response_information, ..ConnectProperties::default() };
        let mut rig = Rig::new(settings.clone());
        rig.connect(&Connect { client_id, properties, ..connect(Version::V5) });
        let told = rig.sent_one(|packet| match packet {
            Packet::ConnAck(connack) => connack.properties.response_information.map(str::to_owned),
            other => panic!("{other:?}"),
        });
        assert_eq!(told.as_deref(), expected, "{client_id}");
    }
}

/// Bytes that were to be a CONNECT are refused with a CONNACK of its version; other bytes get no word [MQTT-4.13.1-1].
#[test]
fn a_malformed_connect_is_refused_in_its_version() {
    // A CONNECT of 5.0 with its reserved flag set, a PINGREQ with flags.
    let malformed: [(&[u8], &[u8]); 2] =
        [(b"\x10\x0d\0\x04MQTT\x05\x03\0\0\0\0\0", b"\x20\x03\0\x81\0"), (b"\xc1\0", b"")];
    for (bytes, answer) in malformed {
        let error = decode(bytes, Version::V5, &Limits::default()).unwrap_err();
        let mut out = Vec::new();
        refuse_malformed(&error, &mut out);
        assert_eq!(out, answer);
    }
}

/// The reasons for drops have the names that dashboards know.
#[test]
fn drop_reasons_have_their_names() {
    let names = DropReason::ALL.map(DropReason::name);
    let expected = [
        "queue_full",
        "expired",
        "queue_age",
        "packet_too_large",
        "offline",
        "output_full",
        "session_ended",
        "not_encodable",
        "queue_emptied",
        "damaged",
    ];
    assert_eq!(names, expected);
}
