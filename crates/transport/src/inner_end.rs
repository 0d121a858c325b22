//! Our end of a connection inside this process.

use std::io::{self, Read, Write};

use mio::{Registry, Token};

use crate::stream::Stream;

/// The other end of a [`crate::Socket`] that [`crate::Socket::pair`] has made. No layers, and nobody to be named: whoever holds it
/// knows for whom, and holds one for each client.
#[derive(Debug)]
pub struct InnerEnd(Stream);

impl InnerEnd {
    pub(crate) const fn new(stream: Stream) -> Self {
        InnerEnd(stream)
    }

    /// Reads what is there into `buffer`; `Ok(0)` means the other end is closed.
    ///
    /// # Errors
    /// `WouldBlock`: nothing there now. Anything else: the connection is over.
    pub fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer)
    }

    /// Writes as much of `bytes` as is taken.
    ///
    /// # Errors
    /// `WouldBlock`: wait for a writable event. Anything else: the connection is over.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    /// Asks `registry` for edge-triggered readable and writable events.
    ///
    /// # Errors
    /// As of `mio`.
    pub fn register(&mut self, registry: &Registry, token: Token) -> io::Result<()> {
        self.0.register(registry, token)
    }
}
