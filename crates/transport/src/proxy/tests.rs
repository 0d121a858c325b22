//! Tables of headers, valid and not; every truncation; rubbish.

use super::*;
use proptest::prelude::*;

const SIGNATURE: &[u8] = b"\r\n\r\n\0\r\nQUIT\n";

fn v2(version_command: u8, family: u8, rest: &[u8]) -> Vec<u8> {
    let mut bytes = SIGNATURE.to_vec();
    bytes.extend([version_command, family]);
    bytes.extend((rest.len() as u16).to_be_bytes());
    bytes.extend(rest);
    bytes
}

fn v4_addresses(tail: &[u8]) -> Vec<u8> {
    [&[192, 0, 2, 1, 198, 51, 100, 1, 0xdc, 0x04, 0x07, 0x5b], tail].concat()
}

fn v6_addresses() -> Vec<u8> {
    let mut rest = vec![0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1];
    rest.extend([0; 16]);
    rest.extend([0x30, 0x39, 0, 1]);
    rest
}

/// Every valid header of this table, with the source that it names.
fn valid() -> Vec<(Vec<u8>, Option<&'static str>)> {
    let line = |text: &str| text.as_bytes().to_vec();
    vec![
        (line("PROXY TCP4 192.0.2.1 198.51.100.1 56324 1883\r\n"), Some("192.0.2.1:56324")),
        (line("PROXY TCP4 0.0.0.0 0.0.0.0 0 0\r\n"), Some("0.0.0.0:0")),
        (line("PROXY TCP6 2001:db8::1 ::1 12345 65535\r\n"), Some("[2001:db8::1]:12345")),
        (line("PROXY UNKNOWN\r\n"), None),
        (line("PROXY UNKNOWN whatever follows 1 2\r\n"), None),
        (v2(0x21, 0x11, &v4_addresses(&[])), Some("192.0.2.1:56324")),
        (v2(0x21, 0x11, &v4_addresses(&[0x04, 0, 3, 1, 2, 3])), Some("192.0.2.1:56324")),
        (v2(0x21, 0x21, &v6_addresses()), Some("[2001:db8::1]:12345")),
        (v2(0x21, 0x31, &[0; 216]), None),
        (v2(0x21, 0x00, &[]), None),
        (v2(0x20, 0x00, &[]), None),
        (v2(0x20, 0x11, &v4_addresses(&[])), None),
        (v2(0x20, 0xff, &[1, 2, 3]), None),
        (v2(0x21, 0x11, &v4_addresses(&[0; HEADER_BYTES_MAX - 28])), Some("192.0.2.1:56324")),
    ]
}

/// Is each valid header understood, whatever follows it, and is each of its beginnings told to go on?
#[test]
fn valid_headers_are_understood() {
    for (bytes, source) in valid() {
        let source = source.map(|text| text.parse().unwrap());
        let expected = Ok(Some(Header { bytes: bytes.len(), source }));
        assert_eq!(parse(&bytes), expected, "{bytes:?}");
        let followed = [&bytes[..], b"\x10\x0c\x00\x04MQTT\n\r\n"].concat();
        assert_eq!(parse(&followed), expected, "{bytes:?}");
        for length in 0..bytes.len() {
            assert_eq!(parse(&bytes[..length]), Ok(None), "{length} of {bytes:?}");
        }
    }
}

/// Is what is no header refused, as soon as it can be known?
#[test]
fn wrong_headers_are_refused() {
    let line = |text: &str| text.as_bytes().to_vec();
    for bytes in [
        b"\x10\x0c\x00\x04MQTT".to_vec(),
        line("GET / HTTP/1.1\r\n"),
        line("PROXX"),
        line("proxy TCP4"),
        line("PROXY TCP4 192.0.2.1 198.51.100.1 56324 1883\n"),
        line("PROXY TCP4 192.0.2.1 198.51.100.1 56324\r\n"),
        line("PROXY TCP4 192.0.2.1 198.51.100.1 56324 1883 9\r\n"),
        line("PROXY TCP4  192.0.2.1 198.51.100.1 56324 1883\r\n"),
        line("PROXY TCP4 192.0.2.1 198.51.100.1 56324 1883 \r\n"),
        line("PROXY TCP4 192.0.2.256 198.51.100.1 56324 1883\r\n"),
        line("PROXY TCP4 192.0.2.01 198.51.100.1 56324 1883\r\n"),
        line("PROXY TCP4 ::1 ::1 56324 1883\r\n"),
        line("PROXY TCP6 192.0.2.1 198.51.100.1 56324 1883\r\n"),
        line("PROXY TCP4 192.0.2.1 198.51.100.1 65536 1883\r\n"),
        line("PROXY TCP4 192.0.2.1 198.51.100.1 +5632 1883\r\n"),
        line("PROXY TCP4 192.0.2.1 198.51.100.1 05632 1883\r\n"),
        line("PROXY TCP4 192.0.2.1 198.51.100.1 5632 -1\r\n"),
        line("PROXY UDP4 192.0.2.1 198.51.100.1 56324 1883\r\n"),
        line("PROXY UNKNOWNS\r\n"),
        line("PROXY \r\n"),
        line(&format!("PROXY UNKNOWN {}", "x".repeat(107 - 14))),
        b"PROXY UNKNOWN \xff\r\n".to_vec(),
        b"\r\n\r\n\0\r\nQUIX".to_vec(),
        v2(0x11, 0x11, &v4_addresses(&[])),
        v2(0x31, 0x11, &v4_addresses(&[])),
        v2(0x22, 0x11, &v4_addresses(&[])),
        v2(0x21, 0x12, &v4_addresses(&[])),
        v2(0x21, 0x22, &v6_addresses()),
        v2(0x21, 0x41, &v6_addresses()),
        v2(0x21, 0x11, &v4_addresses(&[])[..11]),
        v2(0x21, 0x21, &v6_addresses()[..35]),
        v2(0x21, 0x31, &[0; 215]),
        v2(0x21, 0x11, &v4_addresses(&[0; HEADER_BYTES_MAX - 27])),
    ] {
        assert_eq!(parse(&bytes), Err(NoHeader), "{bytes:?}");
    }
    // Announced too long: there is no waiting for the rest.
    assert_eq!(parse(&[SIGNATURE, &[0x21, 0x11, 0xff, 0xff]].concat()), Err(NoHeader));
}

proptest! {
    /// Does any change of one byte, and any rubbish, end in an answer whose header lies within what was given?
    #[test]
    fn rubbish_ends_in_an_answer(which in 0_usize..14, at in 0_usize..300, byte: u8, tail: Vec<u8>) {
        let mut bytes = valid().swap_remove(which).0;
        let at = at % bytes.len();
        bytes[at] = byte;
        bytes.extend(tail);
        if let Ok(Some(header)) = parse(&bytes) {
            prop_assert!(header.bytes <= bytes.len() && header.bytes <= HEADER_BYTES_MAX);
            // A header does not depend on what follows it.
            prop_assert_eq!(parse(&bytes[..header.bytes]), Ok(Some(header)));
        }
    }

    /// Is an answer, once given, the same however many more bytes come?
    #[test]
    fn an_answer_is_final(bytes: Vec<u8>, signed: bool) {
        let bytes = if signed { [SIGNATURE, &bytes].concat() } else { [b"PROXY ".as_slice(), &bytes].concat() };
        let whole = parse(&bytes);
        for length in 0..bytes.len() {
            let part = parse(&bytes[..length]);
            prop_assert!(part == Ok(None) || part == whole);
        }
    }
}
