//! Heads of upgrades: the same judgement in pieces as at once, with a bound, and none is taken that lacks what it needs.

use lapwing_oracle::allocations;

use crate::settings::WebSettings;
use crate::web::{WebRules, judged};

/// What a head holds at most, twice over for a buffer that grows, and what its fields and its answer take.
const PEAK_BYTES_MAX: usize = 48 << 10;

/// What came of a head.
#[derive(Debug, PartialEq, Eq)]
struct Outcome {
    answer: Vec<u8>,
    /// Where the frames begin, if they do.
    end: Option<usize>,
    is_forwarded: bool,
}

/// Reads `input` as a byte of choices (bits 0 and 1: the rules of the listener; bits 2..: the size of pieces) and the first
/// bytes of a connection of a WebSocket listener.
///
/// Returns whether they become a WebSocket.
pub fn check_head(input: &[u8]) -> bool {
    let Some((&choices, bytes)) = input.split_first() else { return false };
    let Some(rules) = rules(choices) else { return false };
    let (whole, used) = allocations::count(|| outcome(bytes, usize::MAX, &rules));
    assert!(used.peak_bytes <= PEAK_BYTES_MAX, "{} bytes at most", used.peak_bytes);
    for piece in [1, 1 + usize::from(choices >> 2)] {
        assert_eq!(outcome(bytes, piece, &rules), whole, "in pieces of {piece}");
    }
    if let Some(outcome) = &whole {
        check_answer(&outcome.answer, outcome.end.map(|end| &bytes[..end]));
    }
    whole.is_some_and(|outcome| outcome.end.is_some())
}

/// Listeners that let in whoever comes, by an address that pages reach or not, with an origin or without.
fn rules(choices: u8) -> Option<WebRules> {
    let url = if choices & 1 == 0 { "ws://192.0.2.1" } else { "ws://0.0.0.0" };
    let origins = if choices & 2 == 0 { Vec::new() } else { vec!["https://pages.example".to_owned()] };
    let settings = WebSettings { path: "/mqtt".into(), origins, hosts: Vec::new(), is_open: true };
    Some(WebRules::new(settings, &url.parse().ok()?))
}

/// `None`: it waits for more.
fn outcome(bytes: &[u8], piece: usize, rules: &WebRules) -> Option<Outcome> {
    let (mut head, mut at) = (Vec::new(), 0);
    for piece in bytes.chunks(piece.min(bytes.len()).max(1)) {
        at += piece.len();
        if let Some((answer, behind_bytes, is_forwarded)) = judged(&mut head, piece, rules) {
            let end = behind_bytes.map(|behind_bytes| at - behind_bytes);
            return Some(Outcome { answer, end, is_forwarded });
        }
    }
    None
}

/// An answer is one of HTTP; a head that was taken has what RFC 6455 asks for, by a reader that knows nothing but lines.
fn check_answer(answer: &[u8], taken: Option<&[u8]>) {
    let answer = std::str::from_utf8(answer).unwrap_or_default();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or_default();
    let Some(taken) = taken else {
        assert!(head.starts_with("HTTP/1.1 4"), "{answer}");
        return assert!(head.contains(&format!("Content-Length: {}\r\n", body.len())), "{answer}");
    };
    assert!(head.starts_with("HTTP/1.1 101 ") && body.is_empty(), "{answer}");
    let text = String::from_utf8_lossy(taken).to_ascii_lowercase();
    let lines: Vec<&str> = text.lines().filter(|line| !line.is_empty()).collect();
    // Empty lines before the request line are skipped by whoever reads HTTP.
    assert!(lines[0].starts_with("get /mqtt") && lines[0].ends_with(" http/1.1"), "{}", lines[0]);
    let named = |name: &str| lines.iter().filter(|line| line.split(':').next() == Some(name)).count();
    for name in ["host", "sec-websocket-key", "sec-websocket-version"] {
        assert_eq!(named(name), 1, "{name}");
    }
    for name in ["upgrade", "connection", "sec-websocket-protocol"] {
        assert!(named(name) > 0, "{name}");
    }
}

/// The request of the RFC's example, and what browsers and proxies make of it.
pub fn head_seeds() -> Vec<Vec<u8>> {
    let request = |fields: &str| {
        format!(
            "GET /mqtt HTTP/1.1\r\nHost: 192.0.2.1:8083\r\nUpgrade: websocket\r\nConnection: keep-alive, Upgrade\r\n\
             Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\
             Sec-WebSocket-Protocol: mqttv3.1, mqtt\r\n{fields}\r\n"
        )
    };
    let mut seeds: Vec<Vec<u8>> = [
        "",
        "Origin: http://192.0.2.1:8083\r\n",
        "Origin: https://pages.example\r\n",
        "Origin: https://evil.example\r\nCookie: a=b\r\n",
        "X-Forwarded-For: 198.51.100.7\r\nVia: 1.1 proxy\r\n",
        "Host: twice.example\r\n",
    ]
    .iter()
    .flat_map(|fields| [0, 3].map(|choices| [&[choices], request(fields).as_bytes(), b"\x82\x80mask"].concat()))
    .collect();
    for other in ["GET / HTTP/1.1\r\n\r\n", "POST /mqtt HTTP/1.1\r\nHost: a\r\n\r\n", "GET /mqtt HTTP/1.0\r\n\r\n"] {
        seeds.push([&[8], other.as_bytes()].concat());
    }
    seeds.push([&[0], request("").replace("mqtt\r\n", "amqp\r\n").as_bytes()].concat());
    seeds.push(vec![0x10, 0x10, 0x0c, 0, 4, b'M', b'Q', b'T', b'T']);
    seeds
}
