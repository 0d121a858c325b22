//! A CONNECT that is refused: with which reason, and in which version is the CONNACK to be written?

use crate::bytes::bytes;
use lapwing_codec::ReasonCode::*;
use lapwing_codec::*;

const V31: Option<Version> = Some(Version::V31);
const V311: Option<Version> = Some(Version::V311);
const V5: Option<Version> = Some(Version::V5);

fn refusal(wire: &str, limits: &Limits) -> (ReasonCode, Option<Version>) {
    match decode(&bytes(wire), Version::V311, limits) {
        Err(error) => (error.reason, error.connect),
        accepted => panic!("{wire}: {accepted:?}"),
    }
}

#[test]
fn an_unknown_version_is_named_in_the_nearest_known_one() {
    for (what, wire, answer) in [
        ("[MQTT-3.1.2-2] level 6", "10 0D 0004 'MQTT' 06 02 003C 0001 'c'", V5),
        ("level 3 under the new name", "10 0D 0004 'MQTT' 03 02 003C 0001 'c'", V311),
        ("the old name with a new level", "10 0F 0006 'MQIsdp' 04 02 003C 0001 'c'", V31),
        ("a bridge of 3.1 under the new name", "10 0D 0004 'MQTT' 83 02 003C 0001 'c'", V311),
        ("half the old name", "10 0C 0003 'MQI' 03 02 003C 0001 'c'", None),
        ("a bridge of 3.1.1 under the old name", "10 0F 0006 'MQIsdp' 84 02 003C 0001 'c'", V31),
        ("a bridge of 5.0, which has options for it", "10 0E 0004 'MQTT' 85 02 003C 00 0001 'c'", V5),
        ("another protocol", "10 0D 0004 'mqtt' 04 02 003C 0001 'c'", None),
    ] {
        assert_eq!(refusal(wire, &Limits::default()), (UnsupportedProtocolVersion, answer), "{what}");
    }
}

#[test]
fn what_is_malformed_is_answered_in_its_own_version() {
    for (what, wire, reason, answer) in [
        ("no level", "10 06 0004 'MQTT'", MalformedPacket, None),
        ("no flags", "10 07 0004 'MQTT' 05", MalformedPacket, V5),
        ("[MQTT-3.1.2-3] reserved flag", "10 0D 0004 'MQTT' 04 03 003C 0001 'c'", MalformedPacket, V311),
        ("[MQTT-3.1.2-12] will QoS 3", "10 0D 0004 'MQTT' 04 1E 003C 0001 'c'", MalformedPacket, V311),
        ("[MQTT-3.1.2-11] will QoS without will", "10 0E 0004 'MQTT' 05 0A 003C 00 0001 'c'", MalformedPacket, V5),
        ("[MQTT-3.1.2-13] will retain without will", "10 0D 0004 'MQTT' 04 22 003C 0001 'c'", MalformedPacket, V311),
        ("[MQTT-3.1.2-22] password alone", "10 10 0004 'MQTT' 04 42 003C 0001 'c' 0001 'p'", MalformedPacket, V311),
        ("no user name behind its flag", "10 0D 0004 'MQTT' 04 82 003C 0001 'c'", MalformedPacket, V311),
        ("[MQTT-3.1.3-4] ill-formed client id", "10 0D 0004 'MQTT' 04 02 003C 0001 FF", MalformedPacket, V311),
        ("no client id in 3.1", "10 0C 0006 'MQIsdp' 03 82 003C", MalformedPacket, V31),
        ("half a user name in 3.1", "10 11 0006 'MQIsdp' 03 82 003C 0001 'c' 0002", MalformedPacket, V31),
        ("content after the payload", "10 0E 0004 'MQTT' 04 02 003C 0001 'c' 00", MalformedPacket, V311),
        ("will topic with wildcard", "10 12 0004 'MQTT' 04 06 003C 0001 'c' 0001 '#' 0000", TopicNameInvalid, V311),
        ("empty will topic", "10 13 0004 'MQTT' 05 06 003C 00 0001 'c' 00 0000 0000", TopicNameInvalid, V5),
        ("padded Remaining Length", "10 8E 00 0004 'MQTT' 05 02 003C 00 0001 'c'", MalformedPacket, V5),
        ("receive maximum 0", "10 11 0004 'MQTT' 05 02 003C 03 21 0000 0001 'c'", ProtocolError, V5),
        ("maximum packet size 0", "10 13 0004 'MQTT' 05 02 003C 05 27 00000000 0001 'c'", ProtocolError, V5),
        ("problem information 2", "10 10 0004 'MQTT' 05 02 003C 02 17 02 0001 'c'", ProtocolError, V5),
        ("data without method", "10 11 0004 'MQTT' 05 02 003C 03 16 0000 0001 'c'", ProtocolError, V5),
        ("will delay outside of the will", "10 13 0004 'MQTT' 05 02 003C 05 18 00000000 0001 'c'", MalformedPacket, V5),
    ] {
        assert_eq!(refusal(wire, &Limits::default()), (reason, answer), "{what}");
    }
}

#[test]
fn one_that_is_too_large_is_answered_once_its_version_is_there() {
    let limits = Limits { packet_bytes_max: 100, ..Limits::default() };
    assert_eq!(refusal("10 80 10", &limits), (PacketTooLarge, None));
    assert_eq!(refusal("10 80 10 0004 'MQTT' 05", &limits), (PacketTooLarge, V5));
    assert_eq!(refusal("10 80 10 0004 'MQTT' 04", &limits), (PacketTooLarge, V311));
}
