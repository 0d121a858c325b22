//! Frames in and out, cut anywhere.

use proptest::prelude::*;

use super::*;

/// What the client is told by a close frame, if it was.
fn close_code(outgoing: &[u8]) -> Option<u16> {
    match outgoing {
        [.., 0x88, 2, high, low] => Some(u16::from_be_bytes([*high, *low])),
        _ => None,
    }
}

/// Does payload arrive whatever the lengths of frames, fragments and reads [MQTT-6.0.0-2]?
#[test]
fn payload_arrives_however_it_is_framed() {
    let payload: Vec<u8> = (0..70_000_u32).map(|n| n as u8).collect();
    for length in [0, 1, 125, 126, 127, 0xffff, 0x1_0000, 70_000] {
        for piece in [0, 1, 1000] {
            let (mut web, mut pipe) = open();
            pipe.piece = piece;
            pipe.incoming.extend(frame(0x82, &payload[..length], [0x11, 0x82, 0xf3, 0x04]));
            assert_eq!(read_all(&mut web, &mut pipe, 4096).payload, &payload[..length], "{length} {piece}");
        }
    }
}

/// Are fragments joined, with a ping between them answered, and several messages in one read all taken?
#[test]
fn fragments_are_joined() {
    let (mut web, mut pipe) = open();
    for (first, payload) in [(0x02, "MQ"), (0x89, "ping"), (0x00, "T"), (0x80, "T!"), (0x82, " again"), (0x8a, "pong")]
    {
        pipe.incoming.extend(frame(first, payload.as_bytes(), [9, 8, 7, 6]));
    }
    assert_eq!(read_all(&mut web, &mut pipe, 4096).payload, b"MQTT! again");
    assert_eq!(pipe.outgoing, b"\x8a\x04ping");
}

/// Is each broken rule answered with its code, and the connection over?
#[test]
fn broken_frames_are_refused() {
    let mask = [1, 2, 3, 4];
    let long = |first: u8, second: u8, length: &[u8]| [&[first, second], length, &mask[..]].concat();
    for (bytes, code, refusal) in [
        (frame(0x81, b"text", mask), 1003, Refusal::WebSocketText),
        (frame(0x01, b"text", mask), 1003, Refusal::WebSocketText),
        (vec![0x82, 0x04, 1, 2, 3, 4], 1002, Refusal::WebSocketFrame),
        (frame(0xc2, b"rsv", mask), 1002, Refusal::WebSocketFrame),
        (frame(0x92, b"rsv", mask), 1002, Refusal::WebSocketFrame),
        (frame(0x83, b"", mask), 1002, Refusal::WebSocketFrame),
        (frame(0x8b, b"", mask), 1002, Refusal::WebSocketFrame),
        (frame(0x80, b"nothing to continue", mask), 1002, Refusal::WebSocketFrame),
        ([frame(0x02, b"a", mask), frame(0x82, b"b", mask)].concat(), 1002, Refusal::WebSocketFrame),
        (frame(0x09, b"fragmented ping", mask), 1002, Refusal::WebSocketFrame),
        (long(0x89, 0xfe, &[0, 126]), 1002, Refusal::WebSocketFrame),
        (long(0x82, 0xfe, &[0, 125]), 1002, Refusal::WebSocketFrame),
        (long(0x82, 0xff, &[0, 0, 0, 0, 0, 0, 0xff, 0xff]), 1002, Refusal::WebSocketFrame),
        (long(0x82, 0xff, &[0x80, 0, 0, 0, 0, 0, 0, 0]), 1002, Refusal::WebSocketFrame),
        (frame(0x88, b"x", mask), 1002, Refusal::WebSocketFrame),
        (frame(0x88, &1005_u16.to_be_bytes(), mask), 1002, Refusal::WebSocketFrame),
        (frame(0x88, &2999_u16.to_be_bytes(), mask), 1002, Refusal::WebSocketFrame),
        (frame(0x88, b"\x03\xe8\xff", mask), 1007, Refusal::WebSocketFrame),
    ] {
        let (mut web, mut pipe) = open();
        pipe.incoming.extend(frame(0x82, b"before", mask));
        pipe.incoming.extend(&bytes);
        pipe.incoming.extend(frame(0x82, b"after", mask));
        let got = read_all(&mut web, &mut pipe, 4096);
        assert_eq!((got.refused, close_code(&pipe.outgoing)), (Some(refusal), Some(code)), "{bytes:?}");
        assert!(got.payload.starts_with(b"before") && !got.payload.ends_with(b"after"), "{bytes:?}");
    }
}

/// Is a close answered with its code, once, and is that the end in both directions?
#[test]
fn a_close_is_answered() {
    for (payload, code) in [(&b""[..], 1000), (b"\x03\xe9bye", 1001), (b"\x0f\xa0", 4000)] {
        let (mut web, mut pipe) = open();
        pipe.incoming.extend(frame(0x82, b"last", [5, 5, 5, 5]));
        pipe.incoming.extend(frame(0x88, payload, [5, 6, 7, 8]));
        assert_eq!(read_all(&mut web, &mut pipe, 64), Got { payload: b"last".to_vec(), ended: true, refused: None });
        web.close(&mut pipe);
        assert_eq!(close_code(&pipe.outgoing), Some(code));
        assert_eq!(pipe.outgoing.len(), 4);
        assert_eq!(web.write(&mut pipe, b"late").unwrap_err().kind(), ErrorKind::BrokenPipe);
    }
}

/// Does a peer that sends only empty frames and pings get no more than its share of one read?
#[test]
fn empty_frames_do_not_hold_a_read() {
    let (mut web, mut pipe) = open();
    pipe.piece = 6;
    for _ in 0..1000 {
        pipe.incoming.extend(frame(0x82, b"", [0; 4]));
    }
    let error = web.read(&mut pipe, &mut [0; 64]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::WouldBlock);
    assert!(pipe.incoming.len() > 5000);
}

/// Is one pong kept for a peer that does not read, however many pings it sends, and does it go out later?
#[test]
fn only_the_newest_ping_is_kept() {
    let (mut web, mut pipe) = open();
    pipe.room = Some(0);
    for n in 0..100_u8 {
        pipe.incoming.extend(frame(0x89, &[n; 125], [0; 4]));
        read_all(&mut web, &mut pipe, 4096);
    }
    assert!(web.has_unsent());
    pipe.room = None;
    web.flush(&mut pipe).unwrap();
    let sent: Vec<u8> = pipe.outgoing.chunks(127).map(|pong| pong[2]).collect();
    assert_eq!(sent, [0, 99]);
    assert!(!web.has_unsent());
}

/// Is a pong held back until our frame is whole?
#[test]
fn a_pong_does_not_cut_a_frame() {
    let (mut web, mut pipe) = open();
    pipe.room = Some(5);
    assert_eq!(web.write(&mut pipe, b"0123456789").unwrap(), 3);
    pipe.incoming.extend(frame(0x89, b"?", [0; 4]));
    read_all(&mut web, &mut pipe, 4096);
    pipe.room = None;
    // What was not taken is offered again, with more behind it.
    assert_eq!(web.write(&mut pipe, b"3456789+more").unwrap(), 7);
    assert!(web.has_unsent());
    assert_eq!(web.write(&mut pipe, b"+more").unwrap(), 5);
    assert_eq!(pipe.outgoing, b"\x82\x0a0123456789\x8a\x01?\x82\x05+more");
}

/// Has each packet a frame of its own, in one write, and one too long for a frame as many as it needs?
#[test]
fn each_packet_has_a_frame() {
    let (mut web, mut pipe) = open();
    let long = [&[0x30, 0xa0, 0x9c, 0x01][..], &[7; 20_000]].concat();
    let longest = [&[0x30, 0xf0, 0xa2, 0x04][..], &[8; 70_000]].concat();
    let packets = [&b"\xd0\x00"[..], b"\x40\x02\x00\x01", &long, &longest, b"\xd0\x00"];
    let all = packets.concat();
    assert_eq!(web.write(&mut pipe, &all).unwrap(), all.len());
    let expected: [(&[u8], &[u8]); 6] = [
        (b"\x82\x02", packets[0]),
        (b"\x82\x04", packets[1]),
        (b"\x82\x7e\x4e\x24", &long),
        (b"\x82\x7e\xff\xff", &longest[..65_535]),
        (b"\x82\x7e\x11\x75", &longest[65_535..]),
        (b"\x82\x02", packets[4]),
    ];
    let frames: Vec<u8> = expected.iter().flat_map(|(header, payload)| [*header, *payload].concat()).collect();
    assert!(pipe.outgoing == frames);
}

proptest! {
    /// Do messages arrive whole and in order, both ways, however they are fragmented, cut, and held up?
    #[test]
    fn bytes_cross_in_order(
        messages in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..300), 1..8),
        cuts in prop::collection::vec(1_usize..200, 1..8),
        piece in 1_usize..64,
        buffer_bytes in 16_usize..300,
        mask: [u8; 4],
    ) {
        let (mut web, mut pipe) = open();
        pipe.piece = piece;
        for (message, cut) in messages.iter().zip(cuts.iter().cycle()) {
            let chunks: Vec<&[u8]> = message.chunks(*cut).collect();
            for (n, chunk) in chunks.iter().enumerate() {
                let first = if n == 0 { 2 } else { 0 } | if n + 1 == chunks.len() { 0x80 } else { 0 };
                pipe.incoming.extend(frame(first, chunk, mask));
            }
        }
        let whole = messages.concat();
        prop_assert_eq!(&read_all(&mut web, &mut pipe, buffer_bytes).payload, &whole);
        // And back, through a kernel that takes a few bytes at a time.
        let mut at = 0;
        while at < whole.len() {
            pipe.room = Some(piece);
            match web.write(&mut pipe, &whole[at..]) {
                Ok(n) => at += n,
                Err(error) => prop_assert_eq!(error.kind(), ErrorKind::WouldBlock),
            }
        }
        prop_assert_eq!(unframed(&pipe.outgoing), whole);
    }

    /// Does rubbish end in payload or a refusal, and never in more payload than bytes?
    #[test]
    fn rubbish_is_contained(rubbish: Vec<u8>, piece in 1_usize..20) {
        let (mut web, mut pipe) = open();
        pipe.piece = piece;
        pipe.incoming.extend(&rubbish);
        let got = read_all(&mut web, &mut pipe, 32);
        prop_assert!(got.payload.len() <= rubbish.len());
    }
}

/// The payload of a server's frames.
fn unframed(mut bytes: &[u8]) -> Vec<u8> {
    let mut payload = Vec::new();
    while let [0x82, length, rest @ ..] = bytes {
        let (length, rest) = match (length, rest) {
            (126, [high, low, rest @ ..]) => (usize::from(u16::from_be_bytes([*high, *low])), rest),
            (length, rest) => (usize::from(*length), rest),
        };
        payload.extend_from_slice(&rest[..length]);
        bytes = &rest[length..];
    }
    assert!(bytes.is_empty());
    payload
}
