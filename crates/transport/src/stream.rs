//! What the kernel gives: a TCP connection or a Unix one.

use std::io::{self, IoSlice, Read, Write};
use std::mem::MaybeUninit;
use std::net::Shutdown;
use std::os::fd::AsFd;

use mio::event::Source;
use mio::net::{TcpStream, UnixStream};
use mio::{Interest, Registry, Token};
use socket2::SockRef;

use crate::kernel;

/// A connected, non-blocking stream of the kernel.
#[derive(Debug)]
pub(crate) enum Stream {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Stream {
    /// Like a read that leaves the bytes where they are. Only TCP connections bring PROXY headers.
    pub(crate) fn peek(&self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Stream::Tcp(stream) => retry(|| stream.peek(buffer)),
            Stream::Unix(_) => Err(io::ErrorKind::Unsupported.into()),
        }
    }

    /// Whether a connection that was begun is there now.
    ///
    /// # Errors
    /// It is over: nobody takes it.
    pub(crate) fn is_connected(&self) -> io::Result<bool> {
        let Stream::Tcp(stream) = self else { return Ok(true) };
        if let Some(error) = stream.take_error()? {
            return Err(error);
        }
        match stream.peer_addr() {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotConnected => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// The kernel's least round trip in microseconds; only TCP has one.
    pub(crate) fn min_rtt_us(&self) -> Option<u32> {
        match self {
            Stream::Tcp(stream) => kernel::min_rtt_us(stream.as_fd()),
            Stream::Unix(_) => None,
        }
    }

    /// Bytes that were written here and have not arrived.
    pub(crate) fn unsent_bytes(&self) -> u64 {
        match self {
            Stream::Tcp(stream) => kernel::unsent_bytes(stream.as_fd()),
            Stream::Unix(stream) => kernel::unsent_bytes(stream.as_fd()),
        }
    }

    /// Whether the kernel has bytes of the peer's that were not read.
    pub(crate) fn has_unread(&self) -> bool {
        let socket = match self {
            Stream::Tcp(stream) => SockRef::from(stream),
            Stream::Unix(stream) => SockRef::from(stream),
        };
        matches!(socket.peek(&mut [MaybeUninit::uninit()]), Ok(1))
    }

    pub(crate) fn shutdown(&self) {
        // The peer may be gone already; then there is nothing left to end.
        let _ = match self {
            Stream::Tcp(stream) => stream.shutdown(Shutdown::Write),
            Stream::Unix(stream) => stream.shutdown(Shutdown::Write),
        };
    }

    pub(crate) fn register(&mut self, registry: &Registry, token: Token) -> io::Result<()> {
        let interest = Interest::READABLE | Interest::WRITABLE;
        match self {
            Stream::Tcp(stream) => stream.register(registry, token, interest),
            Stream::Unix(stream) => stream.register(registry, token, interest),
        }
    }

    pub(crate) fn deregister(&mut self, registry: &Registry) -> io::Result<()> {
        match self {
            Stream::Tcp(stream) => stream.deregister(registry),
            Stream::Unix(stream) => stream.deregister(registry),
        }
    }
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Stream::Tcp(stream) => retry(|| stream.read(buffer)),
            Stream::Unix(stream) => retry(|| stream.read(buffer)),
        }
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Stream::Tcp(stream) => retry(|| stream.write(bytes)),
            Stream::Unix(stream) => retry(|| stream.write(bytes)),
        }
    }

    fn write_vectored(&mut self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        match self {
            Stream::Tcp(stream) => retry(|| stream.write_vectored(slices)),
            Stream::Unix(stream) => retry(|| stream.write_vectored(slices)),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
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
