//! Requests that become a WebSocket, and the answers to those that do not.

use proptest::prelude::*;

use super::*;

/// What is answered to `request`, and whether it was refused.
fn answer(rules: &WebRules, request: &[u8], piece: usize) -> (String, Option<Refusal>) {
    let (mut web, mut pipe) = (WebSocket::new(Arc::new(rules.clone())), Pipe { piece, ..Pipe::default() });
    pipe.incoming.extend(request);
    let got = read_all(&mut web, &mut pipe, 512);
    // Behind an upgrade there may be a frame, which is no text.
    (String::from_utf8_lossy(&pipe.outgoing).into_owned(), got.refused)
}

/// Is the RFC's own example answered as the RFC says, whole and byte by byte, and `mqtt` named [MQTT-6.0.0-4]?
#[test]
fn an_upgrade_is_answered() {
    for piece in [0, 1, 7] {
        let (text, refused) = answer(&rules(), REQUEST.as_bytes(), piece);
        assert_eq!(refused, None);
        assert!(text.starts_with("HTTP/1.1 101 Switching Protocols\r\n"), "{text}");
        assert!(text.contains("\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"), "{text}");
        assert!(text.contains("\r\nSec-WebSocket-Protocol: mqtt\r\n"), "{text}");
        assert!(text.ends_with("\r\n\r\n"), "{text}");
    }
}

/// Which variations of the request are taken too?
#[test]
fn what_http_allows_is_taken() {
    for (from, to) in [
        ("Connection: Upgrade", "Connection: keep-alive, upgrade"),
        ("Upgrade: websocket", "upgrade: WebSocket"),
        ("Protocol: mqtt", "Protocol: mqttv3.1, mqtt"),
        ("Protocol: mqtt", "Protocol: mqttv3.1\r\nSec-WebSocket-Protocol: mqtt"),
        ("GET /mqtt ", "GET /mqtt?token=1 "),
        ("Host: broker.example:8083", "Host: broker.example:8083\r\nOrigin: https://broker.example"),
    ] {
        let (text, _) = answer(&rules(), REQUEST.replace(from, to).as_bytes(), 0);
        assert!(text.starts_with("HTTP/1.1 101 "), "{to}: {text}");
    }
}

/// Is each request that cannot become a WebSocket told what to do instead, with the right status?
#[test]
fn what_is_no_upgrade_is_told_so() {
    let change = |from: &str, to: &str| REQUEST.replace(from, to).into_bytes();
    for (request, status, word) in [
        (b"\x10\x0c\x00\x04MQTT\x04\x02\x00\x3c\x00\x00".to_vec(), "400", "WebSocket listener"),
        (b"GET /mqtt\r\n\r\n".to_vec(), "400", "HTTP/1.1"),
        (change("HTTP/1.1", "HTTP/1.0"), "400", "HTTP/1.1"),
        (b"GET / HTTP/1.1\r\nHost: h\r\n\r\n".to_vec(), "404", "/mqtt"),
        (b"GET /mqtt HTTP/1.1\r\nHost: h\r\n\r\n".to_vec(), "426", "MQTT client"),
        (change("GET /mqtt", "GET /mqtt/"), "404", "path"),
        (change("GET", "POST"), "405", "GET"),
        (change("Upgrade: websocket", "Upgrade: h2c"), "426", "MQTT client"),
        (change("Connection: Upgrade", "Connection: close"), "426", "MQTT client"),
        (change("Version: 13", "Version: 8"), "426", "13"),
        (change("Host: broker.example:8083\r\n", ""), "400", "Host"),
        (change("Host: broker", "Host: a\r\nHost: broker"), "400", "Host"),
        (change("dGhlIHNhbXBsZSBub25jZQ==", "dGhlIHNhbXBsZQ=="), "400", "Sec-WebSocket-Key"),
        (change("dGhlIHNhbXBsZSBub25jZQ==", "dGhl*HNhbXBsZSBub25jZQ=="), "400", "Sec-WebSocket-Key"),
        (change("Protocol: mqtt", "Protocol: MQTT"), "400", "Sec-WebSocket-Protocol: mqtt"),
        (change("Sec-WebSocket-Protocol: mqtt\r\n", ""), "400", "Sec-WebSocket-Protocol: mqtt"),
        (change("Host:", &format!("{}Host:", "X: y\r\n".repeat(64))), "431", "64"),
        (change("Host: ", &format!("Cookie: {}\r\nHost: ", "x".repeat(9000))), "431", "8 KiB"),
    ] {
        let (text, refused) = answer(&rules(), &request, 0);
        assert!(text.starts_with(&format!("HTTP/1.1 {status} ")) && text.contains(word), "{status} {word}: {text}");
        assert!(text.contains("\r\nConnection: close\r\n"), "{text}");
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        assert!(head.contains(&format!("Content-Length: {}", body.len())), "{text}");
        assert_eq!(refused, Some(Refusal::WebSocketUpgrade));
    }
}

const GUARDED: &str = "ws://192.0.2.1";
const LOCAL: &str = "ws://127.0.0.1";
const OPEN: &str = "ws://0.0.0.0";

/// Which pages may connect: those of the same host, those of the origins set, and no other.
#[test]
fn the_origin_decides() {
    for (origins, url, host, origin, taken) in [
        (&[][..], GUARDED, "broker.example:8083", "http://broker.example", true),
        (&[], GUARDED, "broker.example:8083", "https://BROKER.example:444", true),
        (&[], GUARDED, "broker.example:8083", "http://dash.example", false),
        (&[], GUARDED, "broker.example:8083", "http://broker.example.evil.example", false),
        (&[], GUARDED, "broker.example:8083", "null", false),
        (&[], GUARDED, "broker.example:8083", "", false),
        (&["https://dash.example"], GUARDED, "broker.example", "https://dash.example", true),
        (&["https://dash.example"], GUARDED, "broker.example", "http://dash.example", false),
        (&["https://dash.example"], GUARDED, "broker.example", "https://dash.example:8443", false),
        (&["*"], LOCAL, "broker.example", "null", true),
        // On loopback a name of the outside in Host means that somebody bent the DNS.
        (&[], LOCAL, "evil.example:8083", "http://evil.example:8083", false),
        (&[], LOCAL, "localhost:8083", "http://localhost:3000", true),
        (&[], LOCAL, "[::1]:8083", "http://[::1]:3000", true),
        (&[], LOCAL, "127.0.0.1:8083", "http://127.0.0.1", true),
        // Every name of loopback is this machine.
        (&[], LOCAL, "127.0.0.1:8083", "http://localhost:3000", true),
        (&[], LOCAL, "[::1]:8083", "http://LOCALHOST:3000", true),
        (&[], LOCAL, "localhost:8083", "http://127.0.0.1:3000", true),
        (&[], LOCAL, "127.0.0.1", "https://[::1]", true),
        (&[], OPEN, "127.0.0.1:8083", "http://localhost:3000", true),
        (&[], LOCAL, "127.0.0.1:8083", "http://localhost.evil.example", false),
        (&[], LOCAL, "127.0.0.1:8083", "http://192.0.2.7", false),
        (&[], GUARDED, "broker.example:8083", "http://localhost:3000", false),
        // And beyond, where whoever comes is let in.
        (&[], OPEN, "evil.example:8083", "http://evil.example:8083", false),
        (&[], OPEN, "192.0.2.7:8083", "http://192.0.2.7", true),
        (&["http://evil.example"], OPEN, "evil.example", "http://evil.example", true),
    ] {
        let request = REQUEST.replace("Host: broker.example:8083", &format!("Host: {host}\r\nOrigin: {origin}"));
        let (text, refused) = answer(&rules_at(url, origins, url == OPEN), request.as_bytes(), 0);
        let expected = (!taken).then_some(Refusal::WebSocketOrigin);
        assert_eq!(refused, expected, "{host} {origin}: {text}");
        assert!(text.starts_with(if taken { "HTTP/1.1 101 " } else { "HTTP/1.1 403 " }), "{host} {origin}: {text}");
    }
}

/// Are frames that come in one piece with the request understood?
#[test]
fn frames_may_follow_at_once() {
    for piece in [0, 3, REQUEST.len() + 3] {
        let (mut web, mut pipe) = (WebSocket::new(rules()), Pipe { piece, ..Pipe::default() });
        pipe.incoming.extend(REQUEST.bytes());
        pipe.incoming.extend(frame(0x82, b"CONNECT", [1, 2, 3, 4]));
        assert_eq!(read_all(&mut web, &mut pipe, 4096).payload, b"CONNECT");
    }
}

/// Does an end in the middle of the request end the socket, without an answer?
#[test]
fn every_truncation_ends_quietly() {
    for length in 0..REQUEST.len() {
        let (mut web, mut pipe) = (WebSocket::new(rules()), Pipe { ended: true, ..Pipe::default() });
        pipe.incoming.extend(REQUEST.bytes().take(length));
        assert_eq!(read_all(&mut web, &mut pipe, 64), Got { ended: true, ..Got::default() });
        assert!(pipe.outgoing.is_empty());
    }
}

proptest! {
    /// Does rubbish, and the request with a byte changed, end in one answer that is the same however it is cut?
    #[test]
    fn rubbish_gets_one_answer(at in 0_usize..1000, byte: u8, tail: Vec<u8>, piece in 1_usize..50) {
        let mut request = REQUEST.as_bytes().to_vec();
        let at = at % request.len();
        request[at] = byte;
        request.extend(tail);
        let (mut web, mut pipe) = (WebSocket::new(rules()), Pipe { piece, ended: true, ..Pipe::default() });
        pipe.incoming.extend(&request);
        read_all(&mut web, &mut pipe, 256);
        let whole = answer(&rules(), &request, 0).0;
        // The first line is the answer; frames that follow it depend on when the peer ended.
        prop_assert_eq!(pipe.outgoing.split(|byte| *byte == b'\n').next(), whole.as_bytes().split(|byte| *byte == b'\n').next());
    }

    /// Is what is kept of a head bounded, whatever comes?
    #[test]
    fn a_head_is_bounded(line in "[A-Z][ -~]{0,200}", times in 1_usize..200) {
        let (mut web, mut pipe) = (WebSocket::new(rules()), Pipe::default());
        pipe.incoming.extend(line.repeat(times).bytes());
        read_all(&mut web, &mut pipe, 4096);
        let kept = web.upgrading.as_ref().map_or(0, |(head, _)| head.capacity());
        prop_assert!(kept <= 16 << 10, "{}", kept);
    }
}
