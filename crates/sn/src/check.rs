//! What the tests of the messages share.

use crate::{DecodeError, EncodeError, Limits, Message, decode};

/// Bytes of hexadecimal digits; spaces do not count, and 'quoted' parts stand for themselves.
pub(crate) fn bytes(hex: &str) -> Vec<u8> {
    let mut out = Vec::new();
    for (index, part) in hex.split('\'').enumerate() {
        if index % 2 == 1 {
            out.extend_from_slice(part.as_bytes());
            continue;
        }
        let digits: Vec<u8> = part.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
        assert!(digits.len().is_multiple_of(2), "{hex}");
        out.extend(digits.chunks(2).map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap()));
    }
    out
}

/// Panics unless `hex` is `message` and `message` is `hex`, and unless every shorter datagram is refused or another message.
pub(crate) fn both_ways(hex: &str, message: Message<'_>) {
    let datagram = bytes(hex);
    assert_eq!(decode(&datagram, &Limits::default()).map(|datagram| datagram.message), Ok(message), "{hex}");
    let mut out = vec![0xAA];
    assert_eq!(message.encode(&Limits::default(), &mut out), Ok(datagram.len()));
    assert_eq!(out[1..], datagram, "{hex}");
    assert_eq!(message.encoded_len(), datagram.len());
    for len in 0..datagram.len() {
        assert!(decode(&datagram[..len], &Limits::default()).is_err(), "{hex} cut after {len}");
    }
}

/// The message that `hex` is, without a forwarder; it lives as long as the test.
pub(crate) fn decoded(hex: &str) -> Message<'static> {
    let datagram = decode(bytes(hex).leak(), &Limits::default()).unwrap_or_else(|error| panic!("{hex}: {error}"));
    assert_eq!(datagram.forwarding, None);
    datagram.message
}

/// Why `hex` is refused.
pub(crate) fn refused(hex: &str) -> DecodeError {
    match decode(&bytes(hex), &Limits::default()) {
        Ok(datagram) => panic!("{hex} is {datagram:?}"),
        Err(error) => error,
    }
}

/// The same as bytes of the answer, and where it was wrong.
pub(crate) fn answered(hex: &str) -> (usize, Vec<u8>) {
    let error = refused(hex);
    let mut out = Vec::new();
    let answer = error.answer.unwrap_or_else(|| panic!("no answer to {hex}: {error}"));
    answer.encode(&Limits::default(), &mut out).expect("an answer can be written");
    (error.at, out)
}

/// Panics unless `message` cannot be written, and nothing was.
pub(crate) fn not_representable(message: Message<'_>) {
    let mut out = vec![0xAA];
    let error = message.encode(&Limits::default(), &mut out).expect_err("it was written");
    assert!(matches!(error, EncodeError::NotRepresentable(_)), "{error}");
    assert_eq!(out, [0xAA]);
}
