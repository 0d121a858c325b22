//! Bytes as packets: accepted, and written again as an equal packet, or refused with a `ProtocolError`.

use lapwing_codec::{
    FirstBytes, Limits, Packet, ProtocolError, Sender, Version, announced_len, decode, first_bytes, topic,
};

use crate::allocations;
use crate::wire::{self, Kind};

/// How many packets of an input were accepted, and whether the rest was refused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Packets that were accepted.
    pub accepted: usize,
    /// Whether the input ended with a refusal.
    pub refused: bool,
}

/// Reads `input` as a level byte and a stream of packets.
pub fn check_stream(input: &[u8]) -> Outcome {
    let Some((&level, mut rest)) = input.split_first() else { return Outcome::default() };
    let version = Version::from_level(level).unwrap_or(Version::V5);
    let limits = Limits::default();
    let mut outcome = Outcome::default();
    loop {
        match check_one(rest, version, &limits) {
            Ok(Some(len)) => {
                outcome.accepted += 1;
                rest = &rest[len..];
            }
            Ok(None) => return outcome,
            Err(_) => return Outcome { refused: true, ..outcome },
        }
    }
}

/// Reads `input` as one packet of type `kind`: a byte of choices (bit 0: 5.0; else bit 2: 3.1 and not 3.1.1; bit 1: the rest
/// is a body, or the choices of which one is made; bits 4..: the flags), then the rest.
pub fn check_kind(kind: Kind, input: &[u8]) -> Outcome {
    let Some((&choices, rest)) = input.split_first() else { return Outcome::default() };
    let version = match choices & 0b101 {
        0b000 => Version::V311,
        0b100 => Version::V31,
        _ => Version::V5,
    };
    let bytes = if choices & 2 == 0 {
        wire::framed(kind, choices >> 4, rest)
    } else {
        wire::packet(&mut arbitrary::Unstructured::new(rest), kind, version)
    };
    match check_one(&bytes, version, &Limits::default()) {
        Ok(Some(_)) => Outcome { accepted: 1, refused: false },
        Ok(None) => Outcome::default(),
        Err(_) => Outcome { accepted: 0, refused: true },
    }
}

/// As the first bytes of a connection: they wait or are refused before they are whole, and a CONNECT that is taken is not.
fn check_first(bytes: &[u8], decoded: &Result<Option<(Packet<'_>, usize)>, ProtocolError>, limits: &Limits) {
    let first = first_bytes(bytes, limits);
    match decoded {
        Ok(Some((Packet::Connect(_), len))) => {
            assert_eq!(first, FirstBytes::Connect);
            for beginning in [len / 2, len - 1] {
                assert_eq!(first_bytes(&bytes[..beginning], limits), FirstBytes::Wait, "its first {beginning} bytes");
            }
        }
        Ok(Some(_)) => assert!(matches!(first, FirstBytes::Refuse(_)), "{first:?} for another packet"),
        Ok(None) => assert_ne!(first, FirstBytes::Connect, "it is not whole"),
        Err(_) => {}
    }
}

/// Decodes the packet at the start of `bytes` and checks what came of it; returns its length.
///
/// # Errors
/// As [`decode`], with the error checked.
pub fn check_one(bytes: &[u8], version: Version, limits: &Limits) -> Result<Option<usize>, ProtocolError> {
    let (decoded, used) = allocations::count(|| decode(bytes, version, limits));
    assert_eq!(used.calls, 0, "decoding allocates nothing");
    check_first(bytes, &decoded, limits);
    match decoded {
        Ok(Some((packet, len))) => {
            assert_eq!(announced_len(bytes), Some(len), "the length is the announced one");
            check_accepted(&packet, &bytes[..len], version, limits);
            Ok(Some(len))
        }
        Ok(None) => {
            assert!(announced_len(bytes).is_none_or(|len| len > bytes.len()), "a whole packet is waited for");
            Ok(None)
        }
        Err(error) => {
            assert!(error.reason.is_error(), "{error:?} is no error");
            assert!(error.at <= bytes.len(), "{error:?} lies behind the input");
            let is_connect = bytes[0] >> 4 == Kind::Connect as u8;
            assert!(error.connect.is_none() || is_connect, "only a CONNECT is answered before the session");
            Err(error)
        }
    }
}

fn check_accepted(packet: &Packet<'_>, wire: &[u8], version: Version, limits: &Limits) {
    // Room for the longest fixed header: the encoder reserves before it knows the length.
    let mut out = Vec::with_capacity(wire.len() + 8);
    let (written, used) = allocations::count(|| packet.encode(version, &mut out));
    written.expect("what was accepted can be written");
    assert_eq!(used.calls, 0, "encoding into a buffer that is large enough allocates nothing");
    assert!(out.len() <= wire.len(), "the encoder writes the shortest form");
    let again = decode(&out, version, limits);
    assert_eq!(again, Ok(Some((*packet, out.len()))), "what was written comes back equal");
    let senders = [Sender::Client, Sender::Server].map(|sender| packet.check_sender(sender).is_ok());
    // A PUBLISH, an acknowledgement and so on may come from both, but nothing may come from nobody except a DISCONNECT
    // that carries a property of each side.
    assert!(senders.contains(&true) || matches!(packet, Packet::Disconnect(_)));
    check_parts(packet, limits);
}

/// What a packet lends can be walked through, and counts are right.
fn check_parts(packet: &Packet<'_>, limits: &Limits) {
    match packet {
        Packet::Publish(publish) => {
            assert_eq!(publish.properties.user.iter().count(), publish.properties.user.len());
            assert_eq!(publish.properties.subscription_ids.iter().count(), publish.properties.subscription_ids.len());
            assert_eq!(publish.packet_id.is_some(), publish.qos.is_acknowledged());
            check_topic(publish.topic, publish.properties.topic_alias.is_some(), limits);
        }
        Packet::Connect(connect) => {
            assert_eq!(connect.properties.user.iter().count(), connect.properties.user.len());
            if let Some(will) = &connect.will {
                check_topic(will.topic, false, limits);
            }
        }
        Packet::Subscribe(subscribe) => {
            assert!(subscribe.filters.len() <= limits.filters_per_packet_max as usize);
            assert_eq!(subscribe.filters.iter().count(), subscribe.filters.len());
            assert!(subscribe.filters.iter().all(|filter| topic::validate_filter(filter.filter, limits).is_ok()));
        }
        Packet::Unsubscribe(unsubscribe) => {
            assert!(unsubscribe.filters.len() <= limits.filters_per_packet_max as usize);
            assert_eq!(unsubscribe.filters.iter().count(), unsubscribe.filters.len());
            assert!(unsubscribe.filters.iter().all(|filter| topic::validate_filter(filter, limits).is_ok()));
        }
        _ => {}
    }
}

fn check_topic(name: &str, may_be_empty: bool, limits: &Limits) {
    if name.is_empty() {
        return assert!(may_be_empty, "an empty topic name");
    }
    assert!(topic::validate_topic_name(name, limits).is_ok());
    assert!(topic::matches(name, name), "a topic is matched by itself");
}
