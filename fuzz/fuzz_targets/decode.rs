//! Any bytes are packets or a `ProtocolError`; what was accepted can be written and comes back equal.

#![no_main]

use lapwing_codec::{Limits, Packet, Sender, Version, announced_len, decode, topic};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let Some((&level, mut rest)) = input.split_first() else { return };
    let version = if level == Version::V311.level() { Version::V311 } else { Version::V5 };
    let limits = Limits::default();
    loop {
        match decode(rest, version, &limits) {
            Ok(Some((packet, len))) => {
                assert_eq!(announced_len(rest), Some(len));
                check_accepted(&packet, &rest[..len], version, &limits);
                rest = &rest[len..];
            }
            Ok(None) => {
                assert!(announced_len(rest).is_none_or(|len| len > rest.len()), "a whole packet is waited for");
                break;
            }
            Err(error) => {
                assert!(error.reason.is_error() && error.at <= rest.len());
                break;
            }
        }
    }
});

fn check_accepted(packet: &Packet<'_>, wire: &[u8], version: Version, limits: &Limits) {
    let mut out = Vec::new();
    packet.encode(version, &mut out).expect("what was accepted can be written");
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
            assert!(publish.topic.is_empty() || topic::validate_topic_name(publish.topic, limits).is_ok());
            if !publish.topic.is_empty() {
                assert!(topic::matches(publish.topic, publish.topic));
            }
        }
        Packet::Subscribe(subscribe) => {
            assert_eq!(subscribe.filters.iter().count(), subscribe.filters.len());
            assert!(subscribe.filters.iter().all(|filter| topic::validate_filter(filter.filter, limits).is_ok()));
        }
        Packet::Unsubscribe(unsubscribe) => {
            assert_eq!(unsubscribe.filters.iter().count(), unsubscribe.filters.len());
            assert!(unsubscribe.filters.iter().all(|filter| topic::validate_filter(filter, limits).is_ok()));
        }
        _ => {}
    }
}
