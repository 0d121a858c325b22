//! A client of MQTT 3.1.1 that sleeps, message by message (6.14).

use lapwing_codec as codec;
use lapwing_codec::{Ack, Packet, QoS, ReasonCode};
use lapwing_sn::client::Error;
use lapwing_sn::peer::Phase;

use crate::gateway::bytes;
use crate::translated::{Device, encoded, id, publish};

/// `ab` of QoS 2 under id 7, as the client hears it.
const HEARD: &[u8] = &[0x34, 8, 0, 2, b'a', b'b', 0, 7, b'2', b'3'];

fn state(device: &Device) -> Phase {
    device.translator.state()
}

fn asleep() -> Device {
    let mut device = Device::connected();
    assert_eq!(device.translator.sleep(60), Ok(()));
    device.write(&[]);
    device.sent(&["04 18 003C"]);
    device.hear("02 18", &[]);
    assert_eq!((state(&device), device.translator.next_wake_ms()), (Phase::Asleep, None));
    device
}

#[test]
fn section_6_14_to_sleep_awake_and_to_sleep_again() {
    let mut device = asleep();
    for _ in 0..2 {
        assert_eq!(device.translator.awake(0), Ok(()));
        device.sent(&["05 16 'abc'"]);
        assert_eq!(state(&device), Phase::Awake);
        device.hear("09 0C 42 'ab' 0007 '23'", HEARD);
        device.write(&encoded(&Packet::PubRec(Ack::success(id(7)))));
        device.hear("04 10 0007", &[0x62, 2, 0, 7]);
        device.write(&encoded(&Packet::PubComp(Ack::success(id(7)))));
        device.sent(&["04 0F 0007", "04 0E 0007"]);
        device.hear("09 0C 02 'ab' 0000 '24'", &[0x30, 6, 0, 2, b'a', b'b', b'2', b'4']);
        device.hear("02 17", &[]);
        assert_eq!((state(&device), device.translator.next_wake_ms()), (Phase::Asleep, None));
        device.tick(1_000_000);
        device.sent(&[]);
    }
}

#[test]
fn section_6_14_what_was_written_goes_before_sleep() {
    let mut device = Device::connected();
    device.write(&publish("ab", QoS::ExactlyOnce, 7));
    assert_eq!(device.translator.sleep(60), Ok(()));
    device.sent(&["09 0C 42 'ab' 0007 '23'"]);
    device.hear("04 0F 0007", &[0x50, 2, 0, 7]);
    device.sent(&[]);
    device.write(&encoded(&Packet::PubRel(Ack::success(id(7)))));
    device.sent(&["04 10 0007"]);
    assert_eq!(state(&device), Phase::Active);
    device.hear("04 0E 0007", &[0x70, 2, 0, 7]);
    device.sent(&["04 18 003C"]);
    device.tick(10);
    device.sent(&["04 18 003C"]);
    device.hear("02 18", &[]);
    assert_eq!(state(&device), Phase::Asleep);
}

#[test]
fn section_6_14_who_sleeps_hears_nothing_and_says_nothing() {
    let mut device = asleep();
    for datagram in ["09 0C 42 'ab' 0007 '23'", "02 16", "02 17", "02 18"] {
        device.hear(datagram, &[]);
    }
    device.sent(&[]);
    assert_eq!((device.translator.dropped(), state(&device)), (4, Phase::Asleep));
    for packet in [publish("ab", QoS::AtMostOnce, 0), encoded(&Packet::PingReq)] {
        let said = device.translator.write(&packet, 0);
        assert!(matches!(said, Err(Error::NotSayable(_))), "{said:?}");
    }
    assert!(matches!(device.translator.sleep(60), Err(Error::NotSayable(_))));
    device.sent(&[]);
}

#[test]
fn section_6_14_only_who_sleeps_awakes() {
    let mut device = Device::connected();
    assert!(matches!(device.translator.awake(0), Err(Error::NotSayable(_))));
    device.sent(&[]);
}

#[test]
fn section_6_14_a_gateway_that_is_silent_to_one_that_is_awake_is_lost() {
    let mut device = asleep();
    assert_eq!(device.translator.awake(0), Ok(()));
    device.tick(10);
    device.sent(&["05 16 'abc'"; 2]);
    // One that sends something is there, and PINGRESP may be far behind.
    device.tick(19);
    device.hear("09 0C 02 'ab' 0000 '23'", &[0x30, 6, 0, 2, b'a', b'b', b'2', b'3']);
    [29, 39].into_iter().for_each(|now_ms| device.tick(now_ms));
    device.sent(&["05 16 'abc'"; 2]);
    let lost = Error::Lost { kind: "PINGREQ", times: 3, after_ms: 30 };
    assert_eq!(device.translator.tick(49), Err(lost));
}

#[test]
fn section_6_14_a_gateway_that_knows_no_sleeper_ends_it() {
    let mut device = asleep();
    assert_eq!(device.translator.awake(0), Ok(()));
    assert_eq!(device.translator.hear(&bytes("02 18"), &mut Vec::new(), 0), Err(Error::Dismissed));
}

#[test]
fn section_6_14_a_sleeper_says_goodbye() {
    let disconnect = codec::Disconnect { reason: ReasonCode::Success, properties: Default::default() };
    for awakes in [false, true] {
        let mut device = asleep();
        if awakes {
            assert_eq!(device.translator.awake(0), Ok(()));
            device.sent(&["05 16 'abc'"]);
        }
        device.write(&encoded(&Packet::Disconnect(disconnect)));
        device.sent(&["02 18"]);
        device.hear("02 17", &[]);
        device.hear("02 18", &[]);
        assert!(device.translator.is_over() && device.translator.is_through());
        assert_eq!(state(&device), Phase::Disconnected);
    }
}
