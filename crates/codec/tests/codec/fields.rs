//! Has each field of each packet of both versions at least one value that is accepted and one that is refused, with the
//! right reason? The list of fields is apart from the cases, so that a field without cases fails.

use std::collections::BTreeSet;

use crate::cases::{Case, assemble, cases};
use lapwing_codec::{Limits, ReasonCode, Version, decode};

/// Packet, versions, fields. `-` before a name: any value is legal, so that no case can be refused.
const FIELDS: [(&str, &str, &str); 24] = [
    (
        "CONNECT",
        "45",
        "flags length name level reserved -clean will will-qos will-retain user-flag password-flag keep-alive client-id \
         will-topic will-payload user-name password end",
    ),
    ("CONNECT", "5", "properties will-properties"),
    ("CONNACK", "45", "flags length session-present reserved reason end"),
    ("CONNACK", "5", "properties"),
    ("PUBLISH", "45", "dup qos -retain length topic packet-id -payload"),
    ("PUBLISH", "5", "properties"),
    ("PUBACK", "45", "flags length packet-id end"),
    ("PUBACK", "5", "reason properties"),
    ("PUBREC", "45", "flags length packet-id end"),
    ("PUBREC", "5", "reason properties"),
    ("PUBREL", "45", "flags length packet-id end"),
    ("PUBREL", "5", "reason properties"),
    ("PUBCOMP", "45", "flags length packet-id end"),
    ("PUBCOMP", "5", "reason properties"),
    ("SUBSCRIBE", "45", "flags length packet-id filter qos reserved count"),
    ("SUBSCRIBE", "5", "properties no-local -retain-as-published retain-handling"),
    ("SUBACK", "45", "flags length packet-id code count"),
    ("SUBACK", "5", "properties"),
    ("UNSUBSCRIBE", "45", "flags length packet-id filter count"),
    ("UNSUBSCRIBE", "5", "properties"),
    ("UNSUBACK", "45", "flags length packet-id end"),
    ("UNSUBACK", "5", "properties code count"),
    ("DISCONNECT", "45", "flags length end"),
    ("DISCONNECT", "5", "reason properties"),
];
const MORE_FIELDS: [(&str, &str, &str); 3] = [
    ("PINGREQ", "45", "flags length end"),
    ("PINGRESP", "45", "flags length end"),
    ("AUTH", "5", "flags length reason properties end"),
];

fn versions(digits: &str) -> impl Iterator<Item = Version> {
    digits.bytes().map(|digit| Version::from_level(digit - b'0').expect("4 or 5"))
}

fn verdict(wire: &[u8], version: Version) -> String {
    match decode(wire, version, &Limits::default()) {
        Ok(Some((_, len))) if len == wire.len() => "ok".to_owned(),
        Ok(other) => format!("{other:?}"),
        Err(error) => format!("{:02X}", error.reason.value()),
    }
}

#[test]
fn each_case_is_judged_as_it_says() {
    for Case { packet, versions: digits, field, verdict: expected, wire } in cases() {
        for version in versions(digits) {
            let bytes = assemble(wire);
            assert_eq!(verdict(&bytes, version), expected, "{packet} of {}, {field}: {wire}", version.name());
            assert!(expected == "ok" || u8::from_str_radix(expected, 16).is_ok_and(|value| value >= 0x80));
            assert!(expected == "ok" || ReasonCode::from_u8(u8::from_str_radix(expected, 16).unwrap_or(0)).is_some());
        }
    }
}

#[test]
fn each_field_has_a_case_of_either_kind() {
    let mut seen: BTreeSet<(String, char, String, bool)> = BTreeSet::new();
    for case in cases() {
        for version in case.versions.chars() {
            seen.insert((case.packet.to_owned(), version, case.field.to_owned(), case.verdict == "ok"));
        }
    }
    let mut missing = Vec::new();
    for (packet, versions, fields) in FIELDS.iter().chain(&MORE_FIELDS) {
        for (version, field) in
            versions.chars().flat_map(|version| fields.split_whitespace().map(move |f| (version, f)))
        {
            let name = field.trim_start_matches('-');
            for accepted in [true, false] {
                let is_there = seen.remove(&((*packet).to_owned(), version, name.to_owned(), accepted));
                let is_impossible = !accepted && field.starts_with('-');
                if is_there == is_impossible {
                    missing.push(format!("{packet} of version {version}, {name}, accepted: {accepted}"));
                }
            }
        }
    }
    assert!(missing.is_empty(), "without a case, or with one that cannot be: {missing:#?}");
    assert!(seen.is_empty(), "cases of fields that are not listed: {seen:#?}");
}
