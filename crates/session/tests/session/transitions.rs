//! Every packet type in every situation: what is answered, and whether the connection survives.

use lapwing_codec::{
    Ack, Auth, ConnAck, ConnAckProperties, Disconnect, Packet, QoS, ReasonCode, ReasonProperties, SubAck,
    SubscriptionOptions, UnsubAck, Version,
};
use lapwing_session::{Accepted, Delivered, Side};

use crate::rig::{Rig, connect, grant, id, publish};

/// Where packet id 1 stands when the packet comes: nothing sent, or a message to / from the client under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Situation {
    Idle,
    /// We sent a QoS 1 message.
    SentQos1,
    /// We sent a QoS 2 message.
    SentQos2,
    /// We sent a QoS 2 message and the client has sent PUBREC.
    Released,
    /// The client sent a QoS 2 message and has our PUBREC.
    Received,
}

use Situation::{Idle, Received, Released, SentQos1, SentQos2};

const SITUATIONS: [Situation; 5] = [Idle, SentQos1, SentQos2, Released, Received];

fn rig_in(situation: Situation, version: Version) -> Rig {
    let mut rig = Rig::connected(&connect(version), lapwing_session::Settings::default());
    match situation {
        Idle => {}
        SentQos1 => {
            assert_eq!(rig.deliver(publish("t", QoS::AtLeastOnce, 1), &[grant(QoS::AtLeastOnce)]), Delivered::Sent)
        }
        SentQos2 | Released => {
            assert_eq!(rig.deliver(publish("t", QoS::ExactlyOnce, 1), &[grant(QoS::ExactlyOnce)]), Delivered::Sent)
        }
        Received => rig.published(publish("t", QoS::ExactlyOnce, 1), Accepted::Now),
    }
    if situation == Released {
        rig.done(Packet::PubRec(Ack::success(id(1))));
    }
    rig.out.clear();
    rig
}

/// The answers, or the reason of the end.
fn outcome(rig: &mut Rig, packet: Packet<'_>) -> String {
    match rig.handle(&packet) {
        Ok(_) => rig.sent().join(" "),
        Err(close) if close.side == Side::Client => format!("left({:#04x})", close.reason as u8),
        Err(close) => format!("closed({:#04x})", close.reason as u8),
    }
}

const PROTOCOL_ERROR: &str = "closed(0x82)";

/// Acknowledgements in every situation. Columns as in `SITUATIONS`.
#[test]
fn acknowledgements_in_every_situation() {
    type Row = (&'static str, fn(Ack<'static>) -> Packet<'static>, [&'static str; 5]);
    let rows: [Row; 4] = [
        ("puback", Packet::PubAck, ["", "", PROTOCOL_ERROR, PROTOCOL_ERROR, ""]),
        ("pubrec", Packet::PubRec, ["pubrel(1,0x92)", PROTOCOL_ERROR, "pubrel(1)", "pubrel(1)", "pubrel(1,0x92)"]),
        (
            "pubrel",
            Packet::PubRel,
            ["pubcomp(1,0x92)", "pubcomp(1,0x92)", "pubcomp(1,0x92)", "pubcomp(1,0x92)", "pubcomp(1)"],
        ),
        ("pubcomp", Packet::PubComp, ["", PROTOCOL_ERROR, PROTOCOL_ERROR, "", ""]),
    ];
    for (name, packet, expected) in rows {
        for (situation, expected) in SITUATIONS.into_iter().zip(expected) {
            for version in [Version::V5, Version::V311] {
                let got = outcome(&mut rig_in(situation, version), packet(Ack::success(id(1))));
                // 3.1.1 has no reason codes in its acknowledgements.
                let expected = if version == Version::V5 { expected.to_owned() } else { expected.replace(",0x92", "") };
                assert_eq!(got, expected, "{name} when {situation:?} in {version:?}");
            }
        }
    }
}

/// Error codes in acknowledgements: PUBREC with one ends its message and no other, in the others the code says nothing.
/// Columns as in `SITUATIONS`; then what is still under way.
#[test]
fn acknowledgements_with_error_codes_in_every_situation() {
    type Row = (&'static str, fn(Ack<'static>) -> Packet<'static>, ReasonCode, [(&'static str, usize); 5]);
    const BROKEN: (&str, usize) = (PROTOCOL_ERROR, 1);
    let rows: [Row; 5] = [
        ("puback", Packet::PubAck, ReasonCode::QuotaExceeded, [("", 0), ("", 0), BROKEN, BROKEN, ("", 0)]),
        ("puback", Packet::PubAck, ReasonCode::NoMatchingSubscribers, [("", 0), ("", 0), BROKEN, BROKEN, ("", 0)]),
        (
            "pubrec",
            Packet::PubRec,
            ReasonCode::NotAuthorized,
            // [MQTT-4.3.3-4] PUBREL follows a PUBREC below 0x80 only, whether the id is known or not.
            [("", 0), BROKEN, ("", 0), ("", 0), ("", 0)],
        ),
        (
            "pubrel",
            Packet::PubRel,
            ReasonCode::PacketIdentifierNotFound,
            [
                ("pubcomp(1,0x92)", 0),
                ("pubcomp(1,0x92)", 1),
                ("pubcomp(1,0x92)", 1),
                ("pubcomp(1,0x92)", 1),
                ("pubcomp(1)", 0),
            ],
        ),
        ("pubcomp", Packet::PubComp, ReasonCode::PacketIdentifierNotFound, [("", 0), BROKEN, BROKEN, ("", 0), ("", 0)]),
    ];
    for (name, packet, reason, expected) in rows {
        for (situation, (answer, under_way)) in SITUATIONS.into_iter().zip(expected) {
            let mut rig = rig_in(situation, Version::V5);
            let got = outcome(&mut rig, packet(Ack::new(id(1), reason)));
            let left = rig.session().inflight_messages();
            assert_eq!((&*got, left), (answer, under_way), "{name} with {reason} when {situation:?}");
        }
    }
}

/// The same acknowledgement twice: the second finds nothing, and harms nothing that came into its place.
#[test]
fn repeated_acknowledgements_find_nothing() {
    for (qos, acks, again) in [
        (
            QoS::AtLeastOnce,
            &[Packet::PubAck as fn(Ack<'static>) -> Packet<'static>][..],
            Packet::PubAck(Ack::success(id(1))),
        ),
        (QoS::ExactlyOnce, &[Packet::PubRec, Packet::PubComp], Packet::PubComp(Ack::success(id(1)))),
    ] {
        let mut rig = Rig::v5();
        rig.deliver_times(2, publish("t", qos, 1), &[grant(qos)]);
        acks.iter().for_each(|ack| rig.done(ack(Ack::success(id(1)))));
        rig.out.clear();
        rig.done(again);
        assert_eq!((rig.sent(), rig.session().inflight_messages()), (vec![], 1));
    }
    let mut rig = Rig::v5();
    rig.published(publish("t", QoS::ExactlyOnce, 1), Accepted::Now);
    rig.done(Packet::PubRel(Ack::success(id(1))));
    rig.done(Packet::PubRel(Ack::success(id(1))));
    assert_eq!(rig.sent(), ["pubrec(1)", "pubcomp(1)", "pubcomp(1,0x92)"]);
}

/// SUBSCRIBE and UNSUBSCRIBE are taken in every situation, even with a packet id that a message uses.
#[test]
fn requests_in_every_situation() {
    for situation in SITUATIONS {
        for version in [Version::V5, Version::V311, Version::V31] {
            let mut rig = rig_in(situation, version);
            let reply = rig.subscribe(&[("a", SubscriptionOptions::default())], |_| Ok(())).expect("a legal request");
            rig.reply(reply).expect("it fits");
            let (reply, removed) = rig.unsubscribe(&["a"]);
            rig.reply(reply).expect("it fits");
            assert_eq!((rig.sent().len(), removed.len()), (2, 1), "{situation:?} in {version:?}");
        }
    }
}

/// What only a server may send, or may come only once, ends the connection: 0x82 in a DISCONNECT (5.0), silence (3.1.1).
#[test]
fn packets_that_a_client_must_not_send_end_the_connection() {
    let connack =
        ConnAck { session_present: false, reason: ReasonCode::Success, properties: ConnAckProperties::default() };
    let properties = ReasonProperties::EMPTY;
    let reasons = &[ReasonCode::Success];
    let wrong = [
        // [MQTT-3.1.0-2]: a second CONNECT.
        Packet::Connect(connect(Version::V5)),
        Packet::ConnAck(connack),
        Packet::SubAck(SubAck { packet_id: id(1), properties, reasons }),
        Packet::UnsubAck(UnsubAck { packet_id: id(1), properties, reasons }),
        Packet::PingResp,
        Packet::Auth(Auth::default()),
    ];
    for packet in wrong {
        for situation in SITUATIONS {
            let mut rig = rig_in(situation, Version::V5);
            assert_eq!(outcome(&mut rig, packet), PROTOCOL_ERROR, "{packet:?} when {situation:?}");
            // [MQTT-4.13.1-1]
            assert_eq!(rig.sent(), ["disconnect(0x82)"]);
            let mut rig = rig_in(situation, Version::V311);
            assert_eq!(outcome(&mut rig, packet), PROTOCOL_ERROR, "{packet:?} when {situation:?}");
            assert_eq!(rig.sent(), [""; 0], "3.1.1 has no DISCONNECT from the server");
        }
    }
}

/// [MQTT-3.1.0-2] A second CONNECT of an unknown version is a protocol error too: DISCONNECT has no code for versions.
#[test]
fn a_second_connect_that_cannot_be_read_is_a_protocol_error() {
    for wire in [
        &b"\x10\x0d\0\x04MQTT\x07\x02\0\0\0\x01x"[..],
        b"\x10\x0d\0\x04mqtt\x05\x02\0\0\0\x01x",
        b"\x10\x07\0\x04MQTT\x05",
    ] {
        let error =
            lapwing_codec::decode(wire, Version::V5, &lapwing_codec::Limits::default()).expect_err("not a CONNECT");
        let mut rig = rig_in(Idle, Version::V5);
        let (session, mut io) = rig.parts();
        assert_eq!(session.violated(&error, &mut io).reason, ReasonCode::ProtocolError);
        assert_eq!(rig.sent(), ["disconnect(0x82)"]);
    }
}

/// [MQTT-3.12.4-1] PINGREQ is answered, and a client may leave, in every situation.
#[test]
fn ping_and_disconnect_in_every_situation() {
    for situation in SITUATIONS {
        for version in [Version::V5, Version::V311] {
            let mut rig = rig_in(situation, version);
            assert_eq!(outcome(&mut rig, Packet::PingReq), "pingresp");
            assert_eq!(outcome(&mut rig, Packet::Disconnect(Disconnect::default())), "left(0x00)");
            assert_eq!(rig.sent(), [""; 0], "nothing follows a DISCONNECT");
        }
    }
}

/// A PUBLISH with packet id 1 in every situation: ids of the two directions have nothing to do with each other.
#[test]
fn publish_in_every_situation() {
    for situation in SITUATIONS {
        for (qos, packet_id, fresh) in
            [(QoS::AtMostOnce, 0, ""), (QoS::AtLeastOnce, 1, "puback(1)"), (QoS::ExactlyOnce, 1, "pubrec(1)")]
        {
            let mut rig = rig_in(situation, Version::V5);
            if situation == Received && qos == QoS::ExactlyOnce {
                rig.done(Packet::Publish(publish("t", qos, packet_id)));
            } else {
                rig.published(publish("t", qos, packet_id), Accepted::Now);
            }
            assert_eq!(rig.sent().join(" "), fresh, "{qos:?} when {situation:?}");
        }
    }
}
