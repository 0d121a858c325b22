//! Does every broken packet get the reason code that the specification names? One table; `[MQTT-x.y.z-n]` where there is
//! such a statement.

use crate::bytes::bytes;
use lapwing_codec::ReasonCode::*;
use lapwing_codec::*;

const V311: Version = Version::V311;
const V5: Version = Version::V5;

/// (what is wrong, version, bytes, reason)
type Case = (&'static str, Version, &'static str, ReasonCode);

fn check(cases: &[Case]) {
    for &(what, version, wire, reason) in cases {
        match decode(&bytes(wire), version, &Limits::default()) {
            Err(error) => assert_eq!((error.reason, error.connect), (reason, None), "{what}: {error}"),
            accepted => panic!("{what}: {accepted:?}"),
        }
    }
}

#[test]
fn fixed_headers() {
    check(&[
        ("the reserved type 0", V5, "00", MalformedPacket),
        ("AUTH in 3.1.1", V311, "F0 00", MalformedPacket),
        ("[MQTT-2.1.3-1] PINGREQ with a flag", V5, "C1 00", MalformedPacket),
        ("[MQTT-3.6.1-1] PUBREL without its flag", V5, "60 02 0001", MalformedPacket),
        ("[MQTT-3.8.1-1] SUBSCRIBE without its flag", V311, "80", MalformedPacket),
        ("[MQTT-3.10.1-1] UNSUBSCRIBE with other flags", V311, "A0", MalformedPacket),
        ("CONNECT with a flag", V5, "11", MalformedPacket),
        ("[MQTT-3.3.1-4] PUBLISH with QoS 3", V5, "36", MalformedPacket),
        ("[MQTT-3.3.1-2] PUBLISH with DUP and QoS 0", V311, "38", MalformedPacket),
        ("Remaining Length of five bytes", V5, "30 FF FF FF FF", MalformedPacket),
        ("[MQTT-1.5.5-1] padded Remaining Length in 5.0", V5, "C0 80 00", MalformedPacket),
        ("PINGREQ with content", V5, "C0 01 00", MalformedPacket),
        ("PINGRESP with content", V311, "D0 01 00", MalformedPacket),
    ]);
}

#[test]
fn publishes() {
    check(&[
        ("nothing at all", V5, "30 00", MalformedPacket),
        ("topic beyond the packet", V5, "30 03 0005 'a'", MalformedPacket),
        ("no packet id", V311, "32 03 0001 'a'", MalformedPacket),
        ("[MQTT-2.2.1-3] packet id of zero", V311, "32 05 0001 'a' 0000", ProtocolError),
        ("no property length", V5, "30 03 0001 'a'", MalformedPacket),
        ("properties beyond the packet", V5, "30 05 0001 'a' 02 01", MalformedPacket),
        ("[MQTT-3.3.2-2] + in the topic", V5, "30 06 0003 'a/+' 00", TopicNameInvalid),
        ("[MQTT-3.3.2-2] # in the topic", V311, "30 03 0001 '#'", TopicNameInvalid),
        ("[MQTT-4.7.3-1] empty topic in 3.1.1", V311, "30 02 0000", TopicNameInvalid),
        ("empty topic, no alias", V5, "30 03 0000 00", ProtocolError),
        ("[MQTT-3.3.2-8] topic alias of zero", V5, "30 07 0001 'a' 03 23 0000", TopicAliasInvalid),
        ("[MQTT-1.5.4-2] U+0000", V5, "30 06 0003 'a' 00 'b' 00", MalformedPacket),
        ("[MQTT-1.5.4-1] surrogate", V5, "30 06 0003 EDA080 00", MalformedPacket),
        ("overlong form", V311, "30 04 0002 C080", MalformedPacket),
        ("Latin-1", V311, "30 04 0002 'a' F6", MalformedPacket),
    ]);
}

#[test]
fn properties() {
    check(&[
        ("unknown identifier", V5, "30 06 0001 'a' 02 04 00", MalformedPacket),
        ("identifier of two bytes", V5, "30 06 0001 'a' 02 81 00", MalformedPacket),
        ("property of another packet", V5, "30 07 0001 'a' 03 21 0001", MalformedPacket),
        ("property twice", V5, "30 08 0001 'a' 04 01 00 01 00", ProtocolError),
        ("payload format of 2", V5, "30 06 0001 'a' 02 01 02", ProtocolError),
        ("value beyond the section", V5, "30 08 0001 'a' 03 02 0000 0000", MalformedPacket),
        ("subscription identifier of zero", V5, "30 06 0001 'a' 02 0B 00", ProtocolError),
        ("subscription identifier padded", V5, "30 07 0001 'a' 03 0B 81 00", MalformedPacket),
        ("subscription identifier of five bytes", V5, "30 0A 0001 'a' 06 0B FFFFFFFF 01", MalformedPacket),
        ("[MQTT-3.3.2-14] wildcard in response topic", V5, "30 08 0001 'a' 04 08 0001 '#'", ProtocolError),
        ("empty response topic", V5, "30 07 0001 'a' 03 08 0000", ProtocolError),
        ("U+0000 in content type", V5, "30 08 0001 'a' 04 03 0001 00", MalformedPacket),
        ("user property without value", V5, "30 08 0001 'a' 04 26 0001 'k'", MalformedPacket),
        ("ill-formed user property", V5, "30 0A 0001 'a' 06 26 0000 0001 FF", MalformedPacket),
        ("section length padded", V5, "30 05 0001 'a' 80 00", MalformedPacket),
        ("subscription identifier twice in SUBSCRIBE", V5, "82 0B 0001 04 0B 01 0B 02 0001 'a' 00", ProtocolError),
    ]);
}

#[test]
fn acknowledgements() {
    check(&[
        ("no packet id", V311, "40 01 00", MalformedPacket),
        ("packet id of zero", V5, "50 02 0000", ProtocolError),
        ("a reason code in 3.1.1", V311, "40 03 0001 00", MalformedPacket),
        ("a reason code that is none", V5, "40 03 0001 03", MalformedPacket),
        ("[MQTT-3.4.2-1] a reason code of another packet", V5, "40 03 0001 92", ProtocolError),
        ("[MQTT-3.6.2-1] PUBREL refusing", V5, "62 03 0001 97", ProtocolError),
        ("content after the properties", V5, "70 05 0001 00 00 00", MalformedPacket),
        ("reason string twice", V5, "40 0A 0001 00 06 1F 0000 1F 0000", ProtocolError),
    ]);
}

#[test]
fn subscriptions() {
    check(&[
        ("[MQTT-3.8.3-2] SUBSCRIBE without filters", V311, "82 02 0001", ProtocolError),
        ("[MQTT-3.10.3-2] UNSUBSCRIBE without filters", V5, "A2 03 0001 00", ProtocolError),
        ("[MQTT-2.2.1-3] packet id of zero", V5, "82 07 0000 00 0001 'a' 00", ProtocolError),
        ("filter without options", V311, "82 05 0001 0001 'a'", MalformedPacket),
        ("QoS 3 in 5.0", V5, "82 07 0001 00 0001 'a' 03", ProtocolError),
        ("[MQTT-3-8.3-4] QoS 3 in 3.1.1", V311, "82 06 0001 0001 'a' 03", MalformedPacket),
        ("[MQTT-3-8.3-4] reserved bits in 3.1.1", V311, "82 06 0001 0001 'a' 04", MalformedPacket),
        ("[MQTT-3.8.3-5] reserved bits in 5.0", V5, "82 07 0001 00 0001 'a' 40", MalformedPacket),
        ("retain handling of 3", V5, "82 07 0001 00 0001 'a' 30", ProtocolError),
        ("[MQTT-3.8.3-4] no local on a shared filter", V5, "82 10 0001 00 000A '$share/g/a' 04", ProtocolError),
        ("[MQTT-4.7.3-1] empty filter", V311, "82 05 0001 0000 00", TopicFilterInvalid),
        ("[MQTT-4.7.1-1] # not at the end", V5, "82 09 0001 00 0003 '#/a' 00", TopicFilterInvalid),
        ("[MQTT-4.7.1-1] # not alone", V5, "82 08 0001 00 0002 'a#' 00", TopicFilterInvalid),
        ("[MQTT-4.7.1-2] + not alone", V311, "A2 06 0001 0002 'a+'", TopicFilterInvalid),
        ("[MQTT-4.8.2-1] shared filter without group", V5, "82 0F 0001 00 0009 '$share//a' 00", TopicFilterInvalid),
        ("[MQTT-4.8.2-2] shared filter without filter", V5, "82 0F 0001 00 0009 '$share/g/' 00", TopicFilterInvalid),
        ("[MQTT-4.7.3-2] U+0000 in a filter", V5, "A2 06 0001 00 0001 00", MalformedPacket),
        ("SUBACK without codes", V5, "90 03 0001 00", ProtocolError),
        ("SUBACK with a code that 3.1.1 lacks", V311, "90 03 0001 8F", MalformedPacket),
        ("SUBACK with a code of UNSUBACK", V5, "90 04 0001 00 11", ProtocolError),
        ("UNSUBACK with content in 3.1.1", V311, "B0 03 0001 00", MalformedPacket),
        ("UNSUBACK without codes", V5, "B0 03 0001 00", ProtocolError),
    ]);
}

#[test]
fn ends_and_answers() {
    check(&[
        ("DISCONNECT with content in 3.1.1", V311, "E0 01 00", MalformedPacket),
        ("[MQTT-3.14.2-1] DISCONNECT with a code of SUBACK", V5, "E0 01 01", ProtocolError),
        ("DISCONNECT with content after the properties", V5, "E0 03 00 00 00", MalformedPacket),
        ("AUTH with a code of DISCONNECT", V5, "F0 02 80 00", ProtocolError),
        ("AUTH without a method", V5, "F0 02 18 00", ProtocolError),
        ("AUTH without a property length", V5, "F0 01 18", MalformedPacket),
        ("[MQTT-3.2.2-1] CONNACK with reserved flags", V311, "20 02 02 00", MalformedPacket),
        ("[MQTT-3.2.2-6] refusal with a session", V5, "20 03 01 87 00", ProtocolError),
        ("CONNACK with return code 6", V311, "20 02 00 06", MalformedPacket),
        ("CONNACK with a code of SUBACK", V5, "20 03 00 01 00", ProtocolError),
        ("CONNACK without properties", V5, "20 02 00 00", MalformedPacket),
        ("CONNACK with maximum QoS 2", V5, "20 05 00 00 02 24 02", ProtocolError),
        ("CONNACK with receive maximum 0", V5, "20 06 00 00 03 21 0000", ProtocolError),
        ("CONNACK with content after its code", V311, "20 03 00 00 00", MalformedPacket),
    ]);
}

#[test]
fn limits_are_enforced_before_the_packet_is_whole() {
    let limits = Limits {
        packet_bytes_max: 30,
        topic_bytes_max: 12,
        topic_levels_max: 2,
        filters_per_packet_max: 1,
        user_properties_max: 1,
    };
    for (what, wire, reason) in [
        ("one byte too many, only the header there", "30 1D", Some(PacketTooLarge)),
        ("just as many as may be", "30 1C", None),
        ("topic too long", "30 10 000D 'abcdefghijklm' 00", Some(TopicNameInvalid)),
        ("topic just as long as may be", "30 0F 000C 'abcdefghijkl' 00", None),
        ("topic too deep", "30 08 0005 'a/b/c' 00", Some(TopicNameInvalid)),
        ("filter too deep, which is answered", "82 09 0001 00 0003 'a//' 00", None),
        ("too many filters", "82 0B 0001 00 0001 'a' 00 0001 'b' 00", Some(QuotaExceeded)),
        ("too many filters to give back", "A2 09 0001 00 0001 'a' 0001 'b'", Some(QuotaExceeded)),
        ("too many user properties", "30 0E 0001 'a' 0A 26 0000 0000 26 0000 0000", Some(QuotaExceeded)),
    ] {
        let wire = bytes(wire);
        let decoded = decode(&wire, V5, &limits).map_err(|error| error.reason);
        match reason {
            Some(reason) => assert_eq!(decoded, Err(reason), "{what}"),
            None => assert!(decoded.is_ok(), "{what}: {decoded:?}"),
        }
    }
}
