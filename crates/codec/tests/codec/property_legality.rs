//! Does each property stand exactly where Table 2-4 of MQTT 5.0 says, and as often as it may?

use lapwing_codec::{Limits, ReasonCode, Version, decode};

/// A column of the table: name and first byte of the packet, what stands before and after its property section, and the
/// identifiers that may stand in it.
type Column = (&'static str, u8, &'static [u8], &'static [u8], &'static [u8]);

const PACKETS: [Column; 14] = [
    ("CONNECT", 0x10, b"\0\x04MQTT\x05\x02\0\0", b"\0\0", &[0x11, 0x15, 0x16, 0x17, 0x19, 0x21, 0x22, 0x26, 0x27]),
    ("a will", 0x10, b"\0\x04MQTT\x05\x06\0\0\0\0\0", b"\0\x01w\0\0", &[0x01, 0x02, 0x03, 0x08, 0x09, 0x18, 0x26]),
    (
        "CONNACK",
        0x20,
        b"\0\0",
        b"",
        &[0x11, 0x12, 0x13, 0x15, 0x16, 0x1A, 0x1C, 0x1F, 0x21, 0x22, 0x24, 0x25, 0x26, 0x27, 0x28, 0x29, 0x2A],
    ),
    ("PUBLISH", 0x30, b"\0\x01a", b"", &[0x01, 0x02, 0x03, 0x08, 0x09, 0x0B, 0x23, 0x26]),
    ("PUBACK", 0x40, b"\0\x01\0", b"", &[0x1F, 0x26]),
    ("PUBREC", 0x50, b"\0\x01\0", b"", &[0x1F, 0x26]),
    ("PUBREL", 0x62, b"\0\x01\0", b"", &[0x1F, 0x26]),
    ("PUBCOMP", 0x70, b"\0\x01\0", b"", &[0x1F, 0x26]),
    ("SUBSCRIBE", 0x82, b"\0\x01", b"\0\x01a\0", &[0x0B, 0x26]),
    ("SUBACK", 0x90, b"\0\x01", b"\0", &[0x1F, 0x26]),
    ("UNSUBSCRIBE", 0xA2, b"\0\x01", b"\0\x01a", &[0x26]),
    ("UNSUBACK", 0xB0, b"\0\x01", b"\0", &[0x1F, 0x26]),
    ("DISCONNECT", 0xE0, b"\0", b"", &[0x11, 0x1C, 0x1F, 0x26]),
    ("AUTH", 0xF0, b"\x18", b"", &[0x15, 0x16, 0x1F, 0x26]),
];

/// A value that is valid for the identifier; for one that does not exist, one byte.
fn property(id: u8) -> Vec<u8> {
    let value: &[u8] = match id {
        0x02 | 0x11 | 0x18 | 0x27 => &[0, 0, 0, 1],
        0x13 | 0x21 | 0x22 | 0x23 => &[0, 1],
        0x03 | 0x08 | 0x09 | 0x12 | 0x15 | 0x16 | 0x1A | 0x1C | 0x1F => &[0, 1, b'x'],
        0x26 => &[0, 1, b'k', 0, 1, b'v'],
        _ => &[1],
    };
    [&[id], value].concat()
}

/// The reason for which a packet with this property section is refused.
fn refusal(first: u8, before: &[u8], after: &[u8], section: &[u8]) -> Option<ReasonCode> {
    let body = [before, &[section.len() as u8], section, after].concat();
    let packet = [&[first, body.len() as u8], &body[..]].concat();
    match decode(&packet, Version::V5, &Limits::default()) {
        Ok(Some((_, len))) => {
            assert_eq!(len, packet.len());
            None
        }
        Ok(None) => panic!("a whole packet is not waited for"),
        Err(error) => Some(error.reason),
    }
}

/// Authentication data needs its method, and an AUTH always has one.
fn companion(name: &str, id: u8) -> Vec<u8> {
    if id != 0x15 && (id == 0x16 || name == "AUTH") { property(0x15) } else { Vec::new() }
}

#[test]
fn each_property_stands_where_the_table_says_and_nowhere_else() {
    for (name, first, before, after, legal) in PACKETS {
        for id in 0..=255 {
            let section = [companion(name, id), property(id)].concat();
            let expected = (!legal.contains(&id)).then_some(ReasonCode::MalformedPacket);
            assert_eq!(refusal(first, before, after, &section), expected, "{id:#04x} in {name}");
        }
    }
}

#[test]
fn each_property_stands_once_but_user_properties_and_the_identifiers_of_a_publish() {
    for (name, first, before, after, legal) in PACKETS {
        for &id in legal {
            let section = [companion(name, id), property(id), property(id)].concat();
            let repeatable = id == 0x26 || (id == 0x0B && name == "PUBLISH");
            let expected = (!repeatable).then_some(ReasonCode::ProtocolError);
            assert_eq!(refusal(first, before, after, &section), expected, "{id:#04x} twice in {name}");
        }
    }
}

/// Values that are refused, with the reason, for an identifier that exists.
fn wrong_values(id: u8) -> &'static [(&'static [u8], ReasonCode)] {
    use ReasonCode::{MalformedPacket, ProtocolError, TopicAliasInvalid};
    match id {
        0x01 | 0x17 | 0x19 | 0x24 | 0x25 | 0x28 | 0x29 | 0x2A => &[(&[2], ProtocolError), (&[], MalformedPacket)],
        0x02 | 0x11 | 0x18 => &[(&[0, 0, 0], MalformedPacket)],
        0x27 => &[(&[0, 0, 0, 0], ProtocolError), (&[0, 0, 1], MalformedPacket)],
        0x13 | 0x22 => &[(&[0], MalformedPacket)],
        0x21 => &[(&[0, 0], ProtocolError), (&[1], MalformedPacket)],
        0x23 => &[(&[0, 0], TopicAliasInvalid), (&[1], MalformedPacket)],
        0x0B => {
            &[(&[0], ProtocolError), (&[0x80, 0], MalformedPacket), (&[0xFF, 0xFF, 0xFF, 0xFF, 1], MalformedPacket)]
        }
        0x08 => &[(&[0, 0], ProtocolError), (b"\0\x01+", ProtocolError), (b"\0\x01\xFF", MalformedPacket)],
        0x09 | 0x16 => &[(b"\0\x02x", MalformedPacket), (&[0], MalformedPacket)],
        0x03 | 0x12 | 0x15 | 0x1A | 0x1C | 0x1F => {
            &[(b"\0\x01\xFF", MalformedPacket), (b"\0\x01\0", MalformedPacket), (b"\0\x02x", MalformedPacket)]
        }
        0x26 => &[
            (b"\0\x01k", MalformedPacket),
            (b"\0\x01k\0\x01\xFF", MalformedPacket),
            (b"\0\x01\0\0\x01v", MalformedPacket),
        ],
        _ => &[],
    }
}

/// Is each property refused with a wrong value, in each packet that may carry it? (That a right one is accepted is shown
/// above.)
#[test]
fn each_property_has_values_that_are_refused() {
    for (name, first, before, after, legal) in PACKETS {
        for &id in legal {
            assert!(!wrong_values(id).is_empty(), "no wrong value is known for {id:#04x}");
            for (value, reason) in wrong_values(id) {
                let section = [companion(name, id), vec![id], value.to_vec()].concat();
                assert_eq!(refusal(first, before, after, &section), Some(*reason), "{id:#04x} = {value:?} in {name}");
            }
        }
    }
}
