//! Frames of a WebSocket: what comes is what a plain reader of RFC 6455 finds, in pieces too; what goes out such a reader
//! understands.

mod reader;

use std::io::ErrorKind;
use std::sync::Arc;

use lapwing_oracle::allocations;

use self::reader::{Ending, client_frames, server_frames};
use super::wire::Wire;
use crate::refusal::Refusal;
use crate::settings::WebSettings;
use crate::web::{WebRules, WebSocket};

/// A valid request, as in the RFC's example.
const REQUEST: &str = "GET /mqtt HTTP/1.1\r\nHost: broker.example:8083\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
    Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: mqtt\r\n\r\n";
/// A control frame that comes in, one that goes out, and one that waits; what a growing buffer has to spare.
const PEAK_BYTES_MAX: usize = 2 << 10;
const BUFFER_BYTES: usize = 512;

/// How reading went.
#[derive(Debug, Default, PartialEq, Eq)]
struct Got {
    payload: Vec<u8>,
    /// Nothing more comes.
    is_over: bool,
    refusal: Option<Refusal>,
}

/// Reads `input` as a byte of choices (the size of pieces) and the frames of a client. What they carry is then written to
/// it, as far as it is still there.
///
/// Returns how many bytes they carry.
pub fn check_frames(input: &[u8]) -> usize {
    let Some((&choices, bytes)) = input.split_first() else { return 0 };
    let wanted = client_frames(bytes);
    for piece in [usize::MAX, 1, 1 + usize::from(choices)] {
        let (mut web, mut wire) = (opened(), Wire::new(bytes, piece));
        let got = read(&mut web, &mut wire);
        assert_eq!(got.payload, wanted.payload, "in pieces of {piece}");
        check_ending(&got, wanted.ending, piece);
        write(&mut web, &mut wire, &wanted.payload, got.is_over);
        check_told(&wire.outgoing, &wanted, !got.is_over);
    }
    wanted.payload.len()
}

/// A WebSocket whose upgrade is done.
fn opened() -> WebSocket {
    let settings = WebSettings { path: "/mqtt".into(), origins: Vec::new(), hosts: Vec::new(), is_open: false };
    let address = "ws://192.0.2.1".parse().expect("an address");
    let mut web = WebSocket::new(Arc::new(WebRules::new(settings, &address)));
    let mut wire = Wire::new(REQUEST.as_bytes(), usize::MAX);
    let got = read(&mut web, &mut wire);
    assert!(!got.is_over && wire.outgoing.starts_with(b"HTTP/1.1 101 "));
    web
}

/// Reads until nothing more comes, as a shard does it.
fn read(web: &mut WebSocket, wire: &mut Wire<'_>) -> Got {
    let (mut got, mut buffer) = (Got::default(), [0; BUFFER_BYTES]);
    loop {
        let (result, used) = allocations::count(|| web.read(wire, &mut buffer));
        assert!(web.held_bytes() > 0 || used.peak_bytes <= PEAK_BYTES_MAX, "{} bytes for one read", used.peak_bytes);
        match result {
            Ok(0) => return Got { is_over: true, ..got },
            Ok(count) => got.payload.extend_from_slice(&buffer[..count]),
            Err(error) if error.kind() == ErrorKind::WouldBlock && wire.unread_bytes() == 0 => return got,
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(error) => return Got { is_over: true, refusal: Refusal::of(&error), ..got },
        }
    }
}

fn check_ending(got: &Got, wanted: Ending, piece: usize) {
    let expected = match wanted {
        Ending::Open => (false, None),
        Ending::Closed(_) => (true, None),
        Ending::Broken(_) => (true, Some(Refusal::WebSocketFrame)),
        Ending::Text => (true, Some(Refusal::WebSocketText)),
    };
    assert_eq!((got.is_over, got.refusal), expected, "{wanted:?} in pieces of {piece}");
}

/// Writes `bytes` as far as they are taken, and what waits inside.
fn write(web: &mut WebSocket, wire: &mut Wire<'_>, bytes: &[u8], is_over: bool) {
    let mut rest = bytes;
    while !rest.is_empty() {
        match web.write(wire, rest) {
            Ok(0) => panic!("nothing was taken, and nothing is in the way"),
            Ok(count) => rest = &rest[count..],
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(error) => {
                assert!(is_over && error.kind() == ErrorKind::BrokenPipe, "{error}");
                break;
            }
        }
    }
    while web.has_unsent() {
        // A full stream is asked again.
        let _ = web.flush(wire);
    }
}

/// Pongs are payloads of pings, in their order; nothing follows a close frame, which says why; data is what was written.
fn check_told(outgoing: &[u8], wanted: &reader::Frames, is_written: bool) {
    let told = server_frames(outgoing);
    let mut pings = wanted.pings.iter();
    assert!(told.pings.iter().all(|pong| pings.any(|ping| ping == pong)), "{:?} to {:?}", told.pings, wanted.pings);
    let newest = wanted.pings.last().filter(|_| wanted.ending == Ending::Open);
    assert!(newest.is_none() || told.pings.last() == newest, "the newest ping is answered");
    let closed = match wanted.ending {
        Ending::Open => Ending::Open,
        Ending::Closed(code) | Ending::Broken(code) => Ending::Closed(code),
        Ending::Text => Ending::Closed(1003),
    };
    assert_eq!(told.ending, closed);
    assert_eq!(told.payload, if is_written { &wanted.payload[..] } else { &[] });
}

/// A client's frame: first byte, payload, masked.
fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
    const MASK: [u8; 4] = [0x11, 0x82, 0xf3, 0x04];
    let mut frame = vec![first];
    match payload.len() {
        length @ 0..=125 => frame.push(0x80 | length as u8),
        length => {
            frame.push(0x80 | 126);
            frame.extend((length as u16).to_be_bytes());
        }
    }
    frame.extend(MASK);
    frame.extend(payload.iter().zip(MASK.iter().cycle()).map(|(byte, mask)| byte ^ mask));
    frame
}

/// Messages whole and in parts, control frames between them, every way to end, and every rule broken once.
pub fn frames_seeds() -> Vec<Vec<u8>> {
    let packets = [b"\x30\x04\0\x01ax".repeat(3), b"\xc0\0".to_vec(), vec![0x30, 0x80, 0x01]].concat();
    let fragments = [frame(0x02, b"MQ"), frame(0x89, b"ping"), frame(0x00, b"T"), frame(0x80, b"T!")].concat();
    let mut seeds = vec![
        frame(0x82, &packets),
        frame(0x82, &[7; 300]),
        [fragments, frame(0x8a, b"pong"), frame(0x89, b""), frame(0x82, b"again")].concat(),
        vec![0x82, 0xff, 0, 0, 0, 0, 0, 1, 0, 0, 1, 2, 3, 4, 5],
    ];
    for (first, payload) in [
        (0x88, &b""[..]),
        (0x88, b"\x03\xe9bye"),
        (0x88, b"x"),
        (0x88, b"\x03\xed"),
        (0x88, b"\x03\xe8\xff"),
        (0x81, b"text"),
        (0xc2, b"reserved"),
        (0x83, b""),
        (0x80, b"nothing to continue"),
        (0x09, b"part of a ping"),
    ] {
        seeds.push([frame(0x82, b"before"), frame(first, payload), frame(0x82, b"after")].concat());
    }
    for wrong in
        [&[0x82, 4][..], &[0x89, 0xfe, 0, 126], &[0x82, 0xfe, 0, 125], &[0x82, 0xff, 0x80, 0, 0, 0, 0, 0, 0, 0]]
    {
        seeds.push([wrong, &[1, 2, 3, 4]].concat());
    }
    seeds.iter().map(|seed| [&[6], &seed[..]].concat()).collect()
}
