//! What the first bytes of a connection decide, and when: refused at the byte that shows it, never later, never otherwise.

use crate::bytes::bytes;
use crate::pool::pool;
use crate::round_trip::connect;
use lapwing_codec::ReasonCode::*;
use lapwing_codec::*;
use proptest::collection::vec;
use proptest::prelude::*;

/// How many bytes of `wire` are taken before one of them is refused, with which reason and in which version.
fn refusal(wire: &[u8], limits: &Limits) -> Option<(usize, ReasonCode, Option<Version>)> {
    (0..=wire.len()).find_map(|len| match first_bytes(&wire[..len], limits) {
        FirstBytes::Refuse(error) => Some((len, error.reason, error.connect)),
        FirstBytes::Wait | FirstBytes::Connect => None,
    })
}

#[test]
fn each_fault_is_seen_at_its_byte() {
    let limits = Limits { packet_bytes_max: 64 << 10, ..Limits::default() };
    let unsupported = UnsupportedProtocolVersion;
    for (what, wire, at, reason, answer) in [
        ("[MQTT-3.1.0-1] PUBLISH", "30 05 0001 't' 00", 1, ProtocolError, None),
        ("AUTH", "F0 00", 1, ProtocolError, None),
        ("HTTP", "'GET / HTTP/1.1'", 1, ProtocolError, None),
        ("the reserved type 0", "00 00", 1, ProtocolError, None),
        ("TLS where none is spoken", "16 03 01 02 00", 1, MalformedPacket, None),
        ("a length of five bytes", "10 80 80 80 80 01", 5, MalformedPacket, None),
        ("64 KiB and one byte", "10 FE FF 03 0004 'MQTT' 05", 4, PacketTooLarge, None),
        ("a name of 260 bytes", "10 40 0104 'MQTT'", 3, unsupported, None),
        ("a name of 5 bytes", "10 40 0005 'XXXXX'", 4, unsupported, None),
        ("another name", "10 40 0004 'MQXX' 05", 7, unsupported, None),
        ("the old name with another end", "10 40 0006 'MQIsdX' 03", 10, unsupported, None),
        ("level 6", "10 40 0004 'MQTT' 06 02", 9, unsupported, Some(Version::V5)),
        ("level 3 under the new name", "10 40 0004 'MQTT' 03 02", 9, unsupported, Some(Version::V311)),
        ("level 4 under the old name", "10 40 0006 'MQIsdp' 04 02", 11, unsupported, Some(Version::V31)),
        ("[MQTT-3.1.2-3] reserved flag", "10 40 0004 'MQTT' 04 03", 10, MalformedPacket, Some(Version::V311)),
        ("a will with QoS 3", "10 40 0004 'MQTT' 05 1E", 10, MalformedPacket, Some(Version::V5)),
    ] {
        assert_eq!(refusal(&bytes(wire), &limits), Some((at, reason, answer)), "{what}");
    }
}

/// What came at once may say in which version the refusal is to be written, although less of it was refused already.
#[test]
fn what_is_too_large_is_answered_where_its_version_is_there() {
    let limits = Limits { packet_bytes_max: 64 << 10, ..Limits::default() };
    let FirstBytes::Refuse(error) = first_bytes(&bytes("10 F0 FF 3F 0004 'MQTT' 05 C2"), &limits) else { panic!() };
    assert_eq!((error.reason, error.connect), (PacketTooLarge, Some(Version::V5)));
}

#[test]
fn no_byte_at_all_and_a_length_at_the_limit_wait() {
    let limits = Limits { packet_bytes_max: 64 << 10, ..Limits::default() };
    for wire in ["", "10", "10 80 80 80", "10 FC FF 03", "10 40 0004 'MQTT' 05 02", "10 40 00", "10 40 0006 'MQIsdp'"] {
        assert_eq!(first_bytes(&bytes(wire), &limits), FirstBytes::Wait, "{wire}");
    }
}

/// Each decision for each beginning of `wire`, which must be: wait, then one and the same.
fn decide(wire: &[u8], limits: &Limits) -> Result<(), TestCaseError> {
    let mut decided: Option<Option<ReasonCode>> = None;
    for len in 0..=wire.len() {
        let now = match first_bytes(&wire[..len], limits) {
            FirstBytes::Wait => None,
            FirstBytes::Connect => Some(None),
            FirstBytes::Refuse(error) => Some(Some(error.reason)),
        };
        prop_assert!(decided.is_none() || decided == now, "at {len}: {decided:?}, then {now:?}");
        decided = now;
        let decoded = decode(&wire[..len], Version::V5, limits);
        match now {
            // The decoder sees a length or a type as early; more it must not know before the packet is whole.
            None => prop_assert_eq!(decoded, Ok(None)),
            Some(None) => prop_assert!(decoded.is_err() || matches!(decoded, Ok(Some((Packet::Connect(_), _))))),
            Some(Some(_)) => prop_assert!(!matches!(decoded, Ok(Some((Packet::Connect(_), _))))),
        }
    }
    Ok(())
}

proptest! {
    /// Does every beginning of a CONNECT that is taken wait, and the whole of it not, whatever follows?
    #[test]
    fn beginnings_of_good_connects_wait(pool in pool(), behind in vec(any::<u8>(), 0..20)) {
        let mut wire = Vec::new();
        if Packet::Connect(connect(&pool)).encode(pool.version, &mut wire).is_ok() {
            let whole = wire.len();
            wire.extend(behind);
            for len in 0..=wire.len() {
                let expected = if len < whole { FirstBytes::Wait } else { FirstBytes::Connect };
                prop_assert_eq!(first_bytes(&wire[..len], &Limits::PROTOCOL), expected, "at {}", len);
            }
        }
    }

    /// Does a decision stay, and agree with the decoder's, for a CONNECT with changed bytes, and for bytes of any kind?
    #[test]
    fn a_decision_stays(
        pool in pool(),
        changes in vec((0usize..16, any::<u8>()), 0..4),
        noise in vec(any::<u8>(), 0..40),
    ) {
        let mut wire = Vec::new();
        if Packet::Connect(connect(&pool)).encode(pool.version, &mut wire).is_ok() {
            for (place, byte) in changes {
                if let Some(changed) = wire.get_mut(place) {
                    *changed = byte;
                }
            }
            decide(&wire, &Limits { packet_bytes_max: 300, ..Limits::PROTOCOL })?;
        }
        decide(&noise, &Limits::default())?;
        decide(&[&[0x10][..], &noise].concat(), &Limits::default())?;
    }
}
