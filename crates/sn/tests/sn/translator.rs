//! What a client of MQTT 3.1.1 writes and hears, and the datagrams of it, message by message.

use lapwing_codec as codec;
use lapwing_codec::{
    Ack, Packet, QoS, ReasonCode, ReasonProperties, UnsubscribeFiltersBuf, UserProperties, Version, Will,
    WillProperties,
};
use lapwing_sn::ReturnCode;
use lapwing_sn::client::{Error, Refusal};

use crate::gateway::bytes;
use crate::translated::{Device, connect, encoded, id, publish, subscribe};

#[test]
fn section_6_2_connect_with_a_will() {
    let mut device = Device::new();
    let properties = WillProperties::default();
    let will = Will { topic: "w", payload: b"bye", qos: QoS::AtLeastOnce, retain: true, properties };
    device.write(&encoded(&Packet::Connect(connect(false, Some(will)))));
    device.sent(&["09 04 08 01 003C 'abc'"]);
    device.hear("02 06", &[]);
    device.sent(&["04 07 30 'w'"]);
    device.tick(10);
    device.sent(&["09 04 08 01 003C 'abc'"]);
    device.hear("02 06", &[]);
    device.hear("02 08", &[]);
    device.sent(&["04 07 30 'w'", "05 09 'bye'"]);
    device.hear("03 05 00", &[0x20, 2, 1, 0]);
    assert_eq!(device.translator.next_wake_ms(), None);
    device.hear("02 08", &[]);
    device.sent(&[]);
}

/// Is the will of an earlier connection taken away, as MQTT has it, when a session goes on without one?
#[test]
fn section_6_3_a_kept_session_without_a_will_deletes_the_one_before() {
    let mut device = Device::new();
    device.write(&encoded(&Packet::Connect(connect(false, None))));
    device.sent(&["09 04 08 01 003C 'abc'"]);
    device.hear("02 06", &[]);
    device.sent(&["02 07"]);
    device.hear("03 05 00", &[0x20, 2, 1, 0]);
}

#[test]
fn section_6_2_a_refused_connect_has_its_code() {
    for (datagram, code) in [("03 05 01", ReturnCode::CONGESTION), ("03 05 03", ReturnCode::NOT_SUPPORTED)] {
        let mut device = Device::new();
        device.write(&encoded(&Packet::Connect(connect(true, None))));
        let ended = device.translator.hear(&bytes(datagram), &mut Vec::new(), 0);
        assert_eq!(ended, Err(Error::Refused(code)));
    }
}

/// Is what MQTT-SN cannot say refused in words, and nothing sent?
#[test]
fn section_5_4_4_what_a_connect_cannot_say() {
    let plain = connect(true, None);
    let properties = WillProperties::default();
    let will = Will { topic: "w", payload: &[0; 1300], qos: QoS::AtMostOnce, retain: false, properties };
    for (connect, named) in [
        (codec::Connect { username: Some("me"), password: Some(b"horse"), ..plain }, "user name"),
        (codec::Connect { client_id: "", ..plain }, "client id"),
        (codec::Connect { will: Some(will), ..plain }, "1232"),
        (codec::Connect { version: Version::V5, ..plain }, "5.0"),
    ] {
        let (mut device, mut packet) = (Device::new(), Vec::new());
        Packet::Connect(connect).encode(connect.version, &mut packet).expect("MQTT can say it");
        let words = device.translator.write(&packet, 0).expect_err("refused").to_string();
        assert!(words.contains(named) && !words.contains("horse"), "{words}");
        device.sent(&[]);
    }
}

#[test]
fn section_6_5_register_goes_before_publish() {
    let mut device = Device::connected();
    device.write(&[publish("a/b", QoS::AtMostOnce, 0), publish("a/b", QoS::AtLeastOnce, 7)].concat());
    device.sent(&["09 0A 0000 0001 'a/b'"]);
    device.hear("07 0B 0005 0001 00", &[]);
    device.sent(&["09 0C 00 0005 0000 '23'", "09 0C 20 0005 0007 '23'"]);
    device.hear("07 0D 0005 0007 00", &[0x40, 2, 0, 7]);
    device.write(&publish("ab", QoS::AtMostOnce, 0));
    device.sent(&["09 0C 02 'ab' 0000 '23'"]);
    assert_eq!((device.translator.waiting_bytes(), device.translator.is_through()), (0, true));
}

#[test]
fn section_6_5_a_topic_that_gets_no_id_refuses_its_message() {
    let mut device = Device::connected();
    device.write(&[publish("a/b", QoS::AtLeastOnce, 7), publish("ab", QoS::AtLeastOnce, 8)].concat());
    device.sent(&["09 0A 0000 0001 'a/b'"]);
    device.hear("07 0B 0000 0001 01", &[]);
    assert_eq!(device.translator.take_refusals(), [Refusal { packet_id: id(7), code: ReturnCode::CONGESTION }]);
    device.sent(&["09 0C 22 'ab' 0008 '23'"]);
    device.hear("07 0D 6162 0008 03", &[]);
    let refusals = device.translator.take_refusals();
    assert_eq!(refusals, [Refusal { packet_id: id(8), code: ReturnCode::NOT_SUPPORTED }]);
    assert!(refusals[0].words().contains("0x03"));
    device.write(&publish("a/b", QoS::AtMostOnce, 0));
    device.sent(&["09 0A 0000 0002 'a/b'"]);
    let dropped = device.translator.dropped();
    device.hear("07 0B 0000 0002 01", &[]);
    assert_eq!((device.translator.dropped(), device.translator.is_through()), (dropped + 1, true));
}

#[test]
fn section_6_6_an_id_that_the_gateway_forgot_is_asked_for_again() {
    let mut device = Device::connected();
    device.write(&publish("a/b", QoS::AtLeastOnce, 7));
    device.hear("07 0B 0005 0001 00", &[]);
    device.sent(&["09 0A 0000 0001 'a/b'", "09 0C 20 0005 0007 '23'"]);
    device.hear("07 0D 0005 0007 02", &[]);
    device.sent(&["09 0A 0000 0002 'a/b'"]);
    device.hear("07 0B 0006 0002 00", &[]);
    device.sent(&["09 0C 20 0006 0007 '23'"]);
    device.hear("07 0D 0006 0007 02", &[]);
    assert_eq!(device.translator.take_refusals().len(), 1, "once for a message");
    device.write(&publish("a/b", QoS::AtMostOnce, 0));
    device.sent(&["09 0C 00 0006 0000 '23'"]);
    device.hear("07 0D 0006 0000 02", &[]);
    device.write(&publish("a/b", QoS::AtMostOnce, 0));
    device.sent(&["09 0A 0000 0003 'a/b'"]);
}

/// Does nothing go between PUBREC and PUBREL, and does a message behind it wait for PUBCOMP?
#[test]
fn section_6_6_publish_of_qos_2() {
    let mut device = Device::connected();
    device.write(&[publish("ab", QoS::ExactlyOnce, 7), publish("ab", QoS::AtLeastOnce, 8)].concat());
    device.sent(&["09 0C 42 'ab' 0007 '23'"]);
    device.hear("04 0F 0007", &[0x50, 2, 0, 7]);
    device.sent(&[]);
    device.write(&encoded(&Packet::PubRel(Ack::success(id(7)))));
    device.sent(&["04 10 0007"]);
    device.hear("04 0F 0007", &[]);
    device.sent(&["04 10 0007"]);
    device.hear("04 0E 0007", &[0x70, 2, 0, 7]);
    device.sent(&["09 0C 22 'ab' 0008 '23'"]);
    device.hear("04 0E 0007", &[]);
}

/// Is a PUBREL of an earlier connection a message like any other?
#[test]
fn section_6_6_a_release_that_was_left_goes_first() {
    let mut device = Device::connected();
    let release = encoded(&Packet::PubRel(Ack::success(id(3))));
    device.write(&[release, publish("ab", QoS::AtMostOnce, 0)].concat());
    device.sent(&["04 10 0003"]);
    device.hear("04 0E 0003", &[0x70, 2, 0, 3]);
    device.sent(&["09 0C 02 'ab' 0000 '23'"]);
}

#[test]
fn section_6_9_filters_go_one_after_the_other() {
    let mut device = Device::connected();
    device.write(&subscribe(&[("a/b", QoS::AtLeastOnce), ("ab", QoS::ExactlyOnce), ("a/#", QoS::AtMostOnce)], 9));
    device.sent(&["08 12 20 0001 'a/b'"]);
    device.tick(10);
    device.sent(&["08 12 A0 0001 'a/b'"]);
    device.hear("08 13 20 0005 0001 00", &[]);
    device.sent(&["07 12 42 0002 'ab'"]);
    device.hear("08 13 40 0000 0002 00", &[]);
    device.sent(&["08 12 00 0003 'a/#'"]);
    device.hear("08 13 00 0000 0003 03", &[0x90, 5, 0, 9, 1, 2, 0x80]);
    device.hear("09 0C 00 0005 0000 '23'", &[&[0x30, 7, 0, 3][..], b"a/b23"].concat());
    let mut filters = UnsubscribeFiltersBuf::new();
    ["a/b", "ab"].into_iter().for_each(|filter| filters.push(filter).expect("fits"));
    let user = UserProperties::EMPTY;
    let packet = codec::Unsubscribe { packet_id: id(10), user, filters: filters.as_ref() };
    device.write(&encoded(&Packet::Unsubscribe(packet)));
    device.sent(&["08 14 00 0004 'a/b'"]);
    device.hear("04 15 0004", &[]);
    device.sent(&["07 14 02 0005 'ab'"]);
    device.hear("04 15 0005", &[0xB0, 2, 0, 10]);
}

#[test]
fn section_6_10_the_gateway_registers_and_delivers() {
    let mut device = Device::connected();
    device.hear("09 0C 20 0005 0007 '23'", &[]);
    device.sent(&["07 0D 0005 0007 02"]);
    device.hear("09 0A 0005 0001 'a/b'", &[]);
    device.sent(&["07 0B 0005 0001 00"]);
    let packet = [&[0x32, 9, 0, 3][..], b"a/b", &[0, 7], b"23"].concat();
    device.hear("09 0C 20 0005 0007 '23'", &packet);
    device.hear("09 0C A0 0005 0007 '23'", &[]);
    device.sent(&[]);
    device.write(&encoded(&Packet::PubAck(Ack::success(id(7)))));
    device.sent(&["07 0D 0005 0007 00"]);
    device.hear("09 0C A0 0005 0007 '23'", &[]);
    device.sent(&["07 0D 0005 0007 00"]);
    for (register, answer) in [
        ("07 0A 0006 0002 'b'", "07 0B 0006 0002 00"),
        ("07 0A 0007 0003 'c'", "07 0B 0007 0003 00"),
        ("07 0A 0008 0004 'd'", "07 0B 0008 0004 01"),
        ("07 0A 0000 0005 'e'", "07 0B 0000 0005 02"),
    ] {
        device.hear(register, &[]);
        device.sent(&[answer]);
    }
}

#[test]
fn section_6_10_delivery_of_qos_2_counts_once() {
    let mut device = Device::connected();
    let packet = [&[0x34, 8, 0, 2][..], b"ab", &[0, 7], b"23"].concat();
    device.hear("09 0C 42 'ab' 0007 '23'", &packet);
    device.hear("09 0C C2 'ab' 0007 '23'", &[]);
    device.write(&encoded(&Packet::PubRec(Ack::success(id(7)))));
    device.hear("09 0C C2 'ab' 0007 '23'", &[]);
    device.sent(&["04 0F 0007", "04 0F 0007"]);
    device.hear("04 10 0007", &[0x62, 2, 0, 7]);
    device.write(&encoded(&Packet::PubComp(Ack::success(id(7)))));
    device.sent(&["04 0E 0007"]);
    device.hear("09 0C C2 'ab' 0007 '23'", &[]);
    device.sent(&[]);
}

#[test]
fn section_6_11_pings_go_by_what_is_in_flight() {
    let mut device = Device::connected();
    device.write(&publish("ab", QoS::AtLeastOnce, 7));
    device.write(&encoded(&Packet::PingReq));
    device.sent(&["09 0C 22 'ab' 0007 '23'", "02 16"]);
    device.hear("02 17", &[0xD0, 0]);
    device.hear("02 17", &[]);
    device.hear("02 16", &[]);
    device.sent(&["02 17"]);
    device.hear("07 0D 6162 0007 00", &[0x40, 2, 0, 7]);
    device.write(&encoded(&Packet::PingReq));
    [10, 20, 30].into_iter().for_each(|now_ms| device.tick(now_ms));
    device.sent(&["02 16"; 3]);
    assert_eq!(device.translator.next_wake_ms(), None, "the keep alive sees to the rest");
}

#[test]
fn section_6_12_goodbye_waits_for_what_was_written() {
    let mut device = Device::connected();
    let disconnect = codec::Disconnect { reason: ReasonCode::Success, properties: Default::default() };
    device.write(&publish("ab", QoS::ExactlyOnce, 7));
    device.write(&encoded(&Packet::Disconnect(disconnect)));
    device.sent(&["09 0C 42 'ab' 0007 '23'"]);
    device.hear("04 0F 0007", &[0x50, 2, 0, 7]);
    device.sent(&["02 18"]);
    assert!(!device.translator.is_through() && !device.translator.is_over());
    device.tick(10);
    device.sent(&["02 18"]);
    device.hear("02 18", &[]);
    assert!(device.translator.is_through() && device.translator.is_over());
    device.hear("02 18", &[]);
}

/// Is a client gone whose goodbye is not answered: by a gateway that has heard it, and whose answer was lost?
#[test]
fn section_6_12_a_goodbye_is_not_waited_for_for_ever() {
    let mut device = Device::connected();
    let disconnect = codec::Disconnect { reason: ReasonCode::Success, properties: Default::default() };
    device.write(&encoded(&Packet::Disconnect(disconnect)));
    for now_ms in [10, 20, 30] {
        assert!(!device.translator.is_over());
        device.tick(now_ms);
    }
    device.sent(&["02 18"; 3]);
    assert!(device.translator.is_through() && device.translator.is_over());
    assert_eq!(device.translator.next_wake_ms(), None);
}

#[test]
fn section_6_12_a_gateway_that_does_not_know_us_ends_it() {
    let mut device = Device::connected();
    assert_eq!(device.translator.hear(&bytes("02 18"), &mut Vec::new(), 0), Err(Error::Dismissed));
}

#[test]
fn section_6_13_who_does_not_answer_is_lost() {
    let mut device = Device::connected();
    device.write(&publish("ab", QoS::AtLeastOnce, 7));
    device.tick(9);
    device.sent(&["09 0C 22 'ab' 0007 '23'"]);
    for now_ms in [10, 20] {
        device.tick(now_ms);
        device.sent(&["09 0C A2 'ab' 0007 '23'"]);
    }
    assert_eq!((device.translator.next_wake_ms(), device.translator.retransmissions()), (Some(30), 2));
    let lost = Error::Lost { kind: "PUBLISH", times: 3, after_ms: 30 };
    assert_eq!(device.translator.tick(30), Err(lost));
}

/// Is what is no message, or none for a client, counted and nothing else?
#[test]
fn section_5_2_what_does_not_belong_here_is_dropped() {
    let mut device = Device::connected();
    for datagram in ["", "05 0C", "02 03", "05 FE 00 'ab' 02 17", "04 0E 0007", "08 13 20 0005 0001 00", "02 08"] {
        device.hear(datagram, &[]);
    }
    assert_eq!(device.translator.dropped(), 7);
    device.sent(&[]);
    let broken = device.translator.write(&[0xFF, 0], 0);
    assert!(matches!(broken, Err(Error::NoPacket(_))), "{broken:?}");
    let sub_ack =
        codec::SubAck { packet_id: id(1), properties: ReasonProperties::EMPTY, reasons: &[ReasonCode::Success] };
    let foreign = device.translator.write(&encoded(&Packet::SubAck(sub_ack)), 0);
    assert!(matches!(foreign, Err(Error::NotSayable(_))), "{foreign:?}");
}
