//! A stream of bytes to the broker: TCP, or TLS over it.

use super::bounded::Bounded;
use rustls::{ClientConnection, StreamOwned};
use std::io::{self, Read, Write};

/// TLS over TCP, past its handshake.
pub(crate) type TlsStream = StreamOwned<ClientConnection, Bounded>;

#[derive(Debug)]
pub(crate) enum Carrier {
    Tcp(Bounded),
    Tls(Box<TlsStream>),
}

impl Carrier {
    /// The socket below, for polls.
    pub fn socket(&self) -> &Bounded {
        match self {
            Self::Tcp(tcp) => tcp,
            Self::Tls(tls) => &tls.sock,
        }
    }

    /// The socket below, for its turns.
    pub fn socket_mut(&mut self) -> &mut Bounded {
        match self {
            Self::Tcp(tcp) => tcp,
            Self::Tls(tls) => &mut tls.sock,
        }
    }
}

impl Read for Carrier {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(tcp) => tcp.read(buffer),
            Self::Tls(tls) => tls.read(buffer),
        }
    }
}

impl Write for Carrier {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(tcp) => tcp.write(bytes),
            Self::Tls(tls) => tls.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Tcp(tcp) => tcp.flush(),
            Self::Tls(tls) => tls.flush(),
        }
    }
}
