//! Why something was refused, in words for people: only to who wants them, and never more than fits.

use lapwing_codec::{Connect, ConnectProperties, Packet, QoS, ReasonCode, SubscriptionOptions, Version};
use lapwing_session::{Accepted, CommitToken, Settings};

use crate::rig::{Rig, connect, packets, publish};

fn wanting(wants: bool, packet_bytes_max: Option<u32>) -> Connect<'static> {
    let properties =
        ConnectProperties { request_problem_information: wants, packet_bytes_max, ..ConnectProperties::default() };
    Connect { properties, ..connect(Version::V5) }
}

fn refused(rig: &mut Rig, qos: QoS, packet_id: u16, words: &str) {
    let receipt = rig.inbound(&Packet::Publish(publish("t", qos, packet_id))).receipt;
    let (session, mut io) = rig.parts();
    session.refuse(receipt, ReasonCode::NotAuthorized, Some(words), &mut io);
}

/// The codes and words of all that was sent.
fn sent(rig: &mut Rig) -> Vec<(u8, Option<String>)> {
    let out = std::mem::take(&mut rig.out);
    packets(&out, rig.version, |packet| match packet {
        Packet::PubAck(ack) | Packet::PubRec(ack) => {
            (ack.reason as u8, ack.properties.reason_string.map(str::to_owned))
        }
        Packet::SubAck(suback) => (0, suback.properties.reason_string.map(str::to_owned)),
        other => panic!("{other:?}"),
    })
}

/// [MQTT-3.4.2-2, MQTT-3.5.2-2] in their place in the line, whatever waits before them.
#[test]
fn a_refused_message_is_explained() {
    let mut rig = Rig::v5();
    refused(&mut rig, QoS::AtLeastOnce, 1, "not yours");
    assert_eq!(sent(&mut rig), [(0x87, Some("not yours".to_owned()))]);
    rig.published(publish("t", QoS::AtLeastOnce, 1), Accepted::Later(CommitToken(1)));
    refused(&mut rig, QoS::ExactlyOnce, 2, "two");
    rig.published(publish("t", QoS::AtLeastOnce, 3), Accepted::Refused(ReasonCode::QuotaExceeded));
    refused(&mut rig, QoS::AtLeastOnce, 4, "four");
    rig.committed(1);
    let words = |text: &str| Some(text.to_owned());
    assert_eq!(sent(&mut rig), [(0, None), (0x87, words("two")), (0x97, None), (0x87, words("four"))]);
}

/// [MQTT-3.1.2-24, MQTT-3.1.2-29] without words for who does not want them, has no room, or speaks 3.1.1.
#[test]
fn who_does_not_want_words_gets_none() {
    for (connect, words) in [
        (wanting(true, None), "why"),
        (wanting(false, None), ""),
        (wanting(true, Some(60)), "why"),
        (connect(Version::V311), ""),
    ] {
        let mut rig = Rig::connected(&connect, Settings::default());
        let code = if connect.version == Version::V5 { 0x87 } else { 0 };
        let expected = (!words.is_empty()).then(|| words.to_owned());
        refused(&mut rig, QoS::AtLeastOnce, 1, "why");
        assert_eq!(sent(&mut rig), [(code, expected.clone())]);
        let mut reply = rig.subscribe(&[("a", SubscriptionOptions::new(QoS::AtMostOnce))], |_| Ok(())).unwrap();
        reply.explain("why");
        rig.reply(reply).unwrap();
        assert_eq!(sent(&mut rig), [(0, expected)]);
    }
    let mut rig = Rig::connected(&wanting(true, Some(60)), Settings::default());
    let long = "x".repeat(60);
    refused(&mut rig, QoS::AtLeastOnce, 1, &long);
    let mut reply = rig.subscribe(&[("a", SubscriptionOptions::new(QoS::AtMostOnce))], |_| Ok(())).unwrap();
    reply.explain(&long);
    rig.reply(reply).unwrap();
    assert_eq!(sent(&mut rig), [(0x87, None), (0, None)]);
}

/// A client that lets refusals wait by the thousand does not make the broker keep a text for each.
#[test]
fn few_words_wait() {
    let mut rig = Rig::v5();
    rig.published(publish("t", QoS::AtLeastOnce, 1), Accepted::Later(CommitToken(1)));
    (2..=100).for_each(|packet_id| refused(&mut rig, QoS::AtLeastOnce, packet_id, "why"));
    rig.committed(1);
    let sent = sent(&mut rig);
    assert_eq!((sent.len(), sent.iter().filter(|(_, words)| words.is_some()).count()), (100, 16));
    refused(&mut rig, QoS::AtLeastOnce, 1, "why");
    assert_eq!(self::sent(&mut rig), [(0x87, Some("why".to_owned()))], "there is room again");
}
