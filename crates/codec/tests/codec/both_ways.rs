//! One row of the table: bytes and packet, both ways, cut at every place.

use lapwing_codec::*;

use crate::bytes::bytes;

/// Both ways between `wire` and `packet`, then every cut of it.
pub fn check(version: Version, wire: &str, packet: Packet<'_>) {
    let wire = bytes(wire);
    let decoded = decode(&wire, version, &Limits::default());
    assert_eq!(decoded, Ok(Some((packet, wire.len()))), "{} of {version:?} from bytes", packet.name());
    let mut out = vec![0xAA];
    packet.encode(version, &mut out).unwrap();
    assert_eq!(out[1..], wire, "{} of {version:?} to bytes", packet.name());
    assert_eq!(announced_len(&wire), Some(wire.len()));
    check_cuts(version, &wire);
    check_short_bodies(version, &wire);
}

/// A packet that has not arrived in whole is waited for, and bytes behind it are left alone.
fn check_cuts(version: Version, wire: &[u8]) {
    for cut in 0..wire.len() {
        assert_eq!(decode(&wire[..cut], version, &Limits::default()), Ok(None), "cut at {cut} of {wire:x?}");
    }
    let followed = [wire, &[0xFF, 0xFF]].concat();
    let consumed = decode(&followed, version, &Limits::default()).unwrap().unwrap().1;
    assert_eq!(consumed, wire.len());
}

/// A packet whose content ends early at any place, its Remaining Length being right, is accepted or refused, no more.
fn check_short_bodies(version: Version, wire: &[u8]) {
    let header_len = 2;
    assert!(wire[1] < 0x80, "the table has short packets only");
    for len in header_len..wire.len() {
        let mut short = wire[..len].to_vec();
        short[1] = (len - header_len) as u8;
        match decode(&short, version, &Limits::default()) {
            Ok(Some((packet, consumed))) => {
                assert_eq!(consumed, short.len());
                let mut out = Vec::new();
                packet.encode(version, &mut out).unwrap();
                assert_eq!(decode(&out, version, &Limits::default()).unwrap().unwrap().0, packet);
            }
            Ok(None) => panic!("a whole packet is not waited for: {short:x?}"),
            Err(error) => assert!(error.reason.is_error() && error.at <= short.len(), "{error}"),
        }
    }
}
