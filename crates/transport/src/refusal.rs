//! What a peer can do wrong below MQTT; the socket is of no use afterwards.

use std::fmt;
use std::io;

/// Why a connection is not taken, or not served any longer, by what carries MQTT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum Refusal {
    /// More connections a second from this address than the listener takes.
    AddressRate,
    /// A trusted proxy sent something else than a PROXY header.
    ProxyHeader,
    /// The TLS handshake failed, or a record was wrong.
    Tls,
    /// What came first is MQTT or HTTP, without TLS.
    NoTls,
    /// What came is no WebSocket upgrade that this listener takes.
    WebSocketUpgrade,
    /// A browser's page of another origin.
    WebSocketOrigin,
    /// A frame broke RFC 6455.
    WebSocketFrame,
    /// A text frame: MQTT is carried by binary ones \[MQTT-6.0.0-1\].
    WebSocketText,
}

impl Refusal {
    /// How many there are.
    pub const COUNT: usize = 8;
    /// Each of them, in the order of the variants.
    pub const ALL: [Refusal; Self::COUNT] = [
        Refusal::AddressRate,
        Refusal::ProxyHeader,
        Refusal::Tls,
        Refusal::NoTls,
        Refusal::WebSocketUpgrade,
        Refusal::WebSocketOrigin,
        Refusal::WebSocketFrame,
        Refusal::WebSocketText,
    ];

    /// A short, stable name, for counters.
    pub fn name(self) -> &'static str {
        match self {
            Refusal::AddressRate => "address_rate",
            Refusal::ProxyHeader => "proxy_header",
            Refusal::Tls => "tls",
            Refusal::NoTls => "no_tls",
            Refusal::WebSocketUpgrade => "websocket_upgrade",
            Refusal::WebSocketOrigin => "websocket_origin",
            Refusal::WebSocketFrame => "websocket_frame",
            Refusal::WebSocketText => "websocket_text",
        }
    }

    /// The refusal inside an error of [`crate::Socket::read`] or [`crate::Socket::write`], if it is one.
    pub fn of(error: &io::Error) -> Option<Refusal> {
        error.get_ref()?.downcast_ref::<Refusal>().copied()
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl std::error::Error for Refusal {}

impl From<Refusal> for io::Error {
    fn from(refusal: Refusal) -> io::Error {
        io::Error::new(io::ErrorKind::InvalidData, refusal)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Is a refusal found again in the error that carries it, and nothing found in another?
    #[test]
    fn an_error_tells_its_refusal() {
        for (n, refusal) in Refusal::ALL.into_iter().enumerate() {
            assert_eq!(refusal as usize, n);
            assert_eq!(Refusal::of(&io::Error::from(refusal)), Some(refusal));
        }
        assert_eq!(Refusal::of(&io::ErrorKind::InvalidData.into()), None);
    }
}
