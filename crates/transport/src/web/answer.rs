//! What is said to an HTTP request: yes, or what to do instead.

use data_encoding::BASE64;
use ring::digest::{Context, SHA1_FOR_LEGACY_USE_ONLY};

/// What the key of a handshake is joined with before it is hashed (RFC 6455, 1.3).
const KEY_SUFFIX: &[u8] = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/// Why a request does not become a WebSocket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    NoHttp,
    HeadTooLarge,
    Path,
    Method,
    NoUpgrade,
    Version,
    Host,
    Key,
    Subprotocol,
    Origin,
}

impl Fault {
    /// Status line, header fields of its own, and words for a person.
    fn words(self) -> (&'static str, &'static str, &'static str) {
        const UPGRADE: &str = "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n";
        match self {
            Fault::NoHttp => ("400 Bad Request", "", "This is a WebSocket listener: send an HTTP/1.1 upgrade request."),
            Fault::HeadTooLarge => {
                ("431 Request Header Fields Too Large", "", "Send at most 64 header fields, 8 KiB in all.")
            }
            Fault::Path => {
                ("404 Not Found", "", "MQTT over WebSocket is served at another path here; the usual one is /mqtt.")
            }
            Fault::Method => ("405 Method Not Allowed", "Allow: GET\r\n", "A WebSocket begins with GET."),
            Fault::NoUpgrade => {
                ("426 Upgrade Required", UPGRADE, "Only MQTT over WebSocket is served here: use an MQTT client.")
            }
            Fault::Version => ("426 Upgrade Required", UPGRADE, "Only WebSocket version 13 is spoken here."),
            Fault::Host => ("400 Bad Request", "", "Exactly one Host header field is needed."),
            Fault::Key => ("400 Bad Request", "", "Exactly one Sec-WebSocket-Key of 16 bytes in Base64 is needed."),
            Fault::Subprotocol => ("400 Bad Request", "", "Offer the subprotocol: Sec-WebSocket-Protocol: mqtt"),
            Fault::Origin => {
                ("403 Forbidden", "", "Pages of this origin may not connect; see the listener's origins and hosts.")
            }
        }
    }
}

/// The answer that opens the WebSocket.
pub(super) fn accept(key: &[u8]) -> Vec<u8> {
    let mut hash = Context::new(&SHA1_FOR_LEGACY_USE_ONLY);
    hash.update(key);
    hash.update(KEY_SUFFIX);
    let accept = BASE64.encode(hash.finish().as_ref());
    format!(
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
         Sec-WebSocket-Accept: {accept}\r\nSec-WebSocket-Protocol: mqtt\r\n\r\n"
    )
    .into_bytes()
}

/// The answer that does not.
pub(super) fn refuse(fault: Fault) -> Vec<u8> {
    let (status, fields, words) = fault.words();
    let length = words.len() + 1;
    format!(
        "HTTP/1.1 {status}\r\n{fields}Content-Type: text/plain; charset=utf-8\r\nContent-Length: {length}\r\n\
         Connection: close\r\n\r\n{words}\n"
    )
    .into_bytes()
}
