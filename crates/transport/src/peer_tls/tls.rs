//! What lies between a connection's records and its bytes.

use std::io::{self, Read};
use std::sync::Arc;

use rustls::server::Acceptor;
use rustls::{Connection, Error, ServerConfig};

use super::PeerProtocol;
use crate::stream::Stream;

/// Bytes that may wait for the kernel on this side of it: sixteen of the largest records.
const UNSENT_BYTES_MAX: usize = 256 << 10;

/// One side of TLS.
pub(super) enum Tls {
    /// Who has come has not said what it wants to speak.
    Greeting(Box<Acceptor>, Greeting),
    Open(Box<Connection>),
}

/// With what a handshake goes on, for who has a certificate and for who has none.
pub(super) struct Greeting {
    pub(super) server: Arc<ServerConfig>,
    /// Set while somebody may join.
    pub(super) joining: Option<Arc<ServerConfig>>,
}

impl Tls {
    /// Of who has just come.
    pub(super) fn greeting(greeting: Greeting) -> Self {
        Tls::Greeting(Box::default(), greeting)
    }

    /// Of whoever has said, or chosen, what is to be spoken.
    pub(super) fn open(mut connection: Connection) -> Self {
        connection.set_buffer_limit(Some(UNSENT_BYTES_MAX));
        Tls::Open(Box::new(connection))
    }

    /// Takes records off the kernel; 0 at the end of the stream.
    pub(super) fn read_from(&mut self, stream: &mut Stream) -> io::Result<usize> {
        match self {
            Tls::Greeting(acceptor, _) => acceptor.read_tls(stream),
            Tls::Open(connection) => connection.read_tls(stream),
        }
    }

    /// Makes of what was read what it means.
    pub(super) fn process(&mut self, stream: &mut Stream) -> Result<(), Error> {
        if let Tls::Greeting(acceptor, greeting) = self {
            let met = acceptor.accept().and_then(|hello| {
                let Some(hello) = hello else { return Ok(None) };
                let config = greeting.answer(hello.client_hello().alpn().into_iter().flatten());
                hello.into_connection(config).map(Some)
            });
            match met {
                Ok(None) => return Ok(()),
                Ok(Some(connection)) => *self = Tls::open(connection.into()),
                Err((failure, mut alert)) => {
                    // As far as the kernel takes it.
                    let _ = alert.write_all(stream);
                    return Err(failure);
                }
            }
        }
        match self {
            Tls::Open(connection) => connection.process_new_packets().map(|_| ()),
            Tls::Greeting(..) => Ok(()),
        }
    }

    /// `Some(0)` at the end, told or not: frames have their lengths. `None`: there is nothing yet.
    pub(super) fn take_plaintext(&mut self, buffer: &mut [u8]) -> Option<usize> {
        let Tls::Open(connection) = self else { return None };
        match connection.reader().read(buffer) {
            Ok(taken) => Some(taken),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => None,
            Err(_) => Some(0),
        }
    }

    /// Whether records wait for the kernel.
    pub(super) fn wants_write(&self) -> bool {
        matches!(self, Tls::Open(connection) if connection.wants_write())
    }

    /// Gives the kernel what waits for it.
    pub(super) fn flush(&mut self, stream: &mut Stream) -> io::Result<()> {
        let Tls::Open(connection) = self else { return Ok(()) };
        while connection.wants_write() {
            if connection.write_tls(stream)? == 0 {
                return Err(io::ErrorKind::WriteZero.into());
            }
        }
        Ok(())
    }
}

impl Greeting {
    /// With what somebody is answered who wants to speak one of these `protocols`.
    fn answer<'a>(&self, mut protocols: impl Iterator<Item = &'a [u8]>) -> Arc<ServerConfig> {
        match &self.joining {
            Some(joining) if protocols.any(|id| id == PeerProtocol::Join.id()) => joining.clone(),
            _ => self.server.clone(),
        }
    }
}
