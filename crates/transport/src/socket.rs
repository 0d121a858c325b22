//! A client's connection, whatever carries it.

use std::io::{self, IoSlice, Read, Write};

use mio::event::Source;
use mio::net::TcpStream;
use mio::{Interest, Registry, Token};

/// A connected, non-blocking socket. TLS, WebSocket and Unix sockets become further carriers.
#[derive(Debug)]
pub struct Socket {
    carrier: Carrier,
}

#[derive(Debug)]
enum Carrier {
    Tcp(TcpStream),
}

impl Socket {
    /// Wraps a connected TCP stream.
    pub fn tcp(stream: TcpStream) -> Self {
        Socket { carrier: Carrier::Tcp(stream) }
    }

    /// Reads what is there into `buffer`; `Ok(0)` means the peer has ended its side.
    ///
    /// # Errors
    /// `WouldBlock`: nothing there now. Anything else: the connection is over.
    pub fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Carrier::Tcp(stream) = &mut self.carrier;
        retry(|| stream.read(buffer))
    }

    /// Writes as much of `bytes` as the kernel takes.
    ///
    /// # Errors
    /// `WouldBlock`: wait for a writable event. Anything else: the connection is over.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Carrier::Tcp(stream) = &mut self.carrier;
        retry(|| stream.write(bytes))
    }

    /// Like [`Socket::write`], gathering `slices`.
    ///
    /// # Errors
    /// As [`Socket::write`].
    pub fn write_vectored(&mut self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        let Carrier::Tcp(stream) = &mut self.carrier;
        retry(|| stream.write_vectored(slices))
    }

    /// Ends our side after what was written, so that the peer still reads it.
    pub fn shutdown(&self) {
        let Carrier::Tcp(stream) = &self.carrier;
        // The peer may be gone already; then there is nothing left to end.
        let _ = stream.shutdown(std::net::Shutdown::Write);
    }

    /// Asks `registry` for edge-triggered readable and writable events.
    ///
    /// Both at once and for the life of the connection: changing the interest would cost a system call each time an
    /// output buffer fills and drains.
    ///
    /// # Errors
    /// As of `mio`.
    pub fn register(&mut self, registry: &Registry, token: Token) -> io::Result<()> {
        let Carrier::Tcp(stream) = &mut self.carrier;
        stream.register(registry, token, Interest::READABLE | Interest::WRITABLE)
    }

    /// Ends [`Socket::register`], so that another event loop can take the socket.
    ///
    /// # Errors
    /// As of `mio`.
    pub fn deregister(&mut self, registry: &Registry) -> io::Result<()> {
        let Carrier::Tcp(stream) = &mut self.carrier;
        stream.deregister(registry)
    }
}

/// Repeats `call` while a signal interrupts it.
fn retry(mut call: impl FnMut() -> io::Result<usize>) -> io::Result<usize> {
    loop {
        match call() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}
