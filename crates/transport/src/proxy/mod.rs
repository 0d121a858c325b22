//! The PROXY protocol, versions 1 and 2: the first bytes of a connection in which a proxy says whom it speaks for.
//!
//! Only sources that the listener trusts are asked for it, and from them it is required: a header that may be left out
//! could be forged by whoever the proxy lets through. The header is looked at where it lies in the kernel until it is
//! whole, so nothing is buffered here and nothing behind it is read.
//!
//! The format is that of <https://www.haproxy.org/download/3.0/doc/proxy-protocol.txt>. TLVs are skipped.

mod v1;
mod v2;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use crate::layers::Kernel;
use crate::limiter::AddressLimiter;
use crate::refusal::Refusal;

/// The longest header taken: version 2 with what load balancers put behind the addresses, certificates aside.
pub(crate) const HEADER_BYTES_MAX: usize = 4096;

/// A whole header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    /// Its length on the wire.
    pub(crate) bytes: usize,
    /// Whom the proxy speaks for; `None` when it speaks for itself (`LOCAL`) or does not know (`UNKNOWN`).
    pub(crate) source: Option<SocketAddr>,
}

/// The bytes are no header, however they go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NoHeader;

/// Reads the header that `bytes` begin with; `None` when more bytes must decide.
pub(crate) fn parse(bytes: &[u8]) -> Result<Option<Header>, NoHeader> {
    match bytes.first() {
        None => Ok(None),
        Some(b'P') => v1::parse(bytes),
        Some(_) => v2::parse(bytes),
    }
}

/// What has come of the header.
#[derive(Debug)]
pub(crate) enum Awaited {
    /// It is read; this is whom it names.
    Source(Option<SocketAddr>),
    /// The peer has ended instead.
    Ended,
}

/// Waits for the header of one connection.
#[derive(Debug)]
pub(crate) struct HeaderReader {
    /// Counts the source that it names; the proxy itself is not counted.
    pub(crate) limiter: Option<Arc<AddressLimiter>>,
}

impl HeaderReader {
    /// Takes the header off the connection once it is whole.
    ///
    /// # Errors
    /// `WouldBlock`: it is not whole yet. [`Refusal::ProxyHeader`], [`Refusal::AddressRate`].
    pub(crate) fn read(&self, kernel: &mut Kernel<'_>) -> io::Result<Awaited> {
        let mut bytes = [0; HEADER_BYTES_MAX];
        let seen = match kernel.peek(&mut bytes) {
            Ok(0) => return Ok(Awaited::Ended),
            Ok(seen) => seen,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Err(kernel.wait()),
            Err(error) => return Err(error),
        };
        match parse(&bytes[..seen]) {
            Err(NoHeader) => Err(Refusal::ProxyHeader.into()),
            Ok(None) => Err(kernel.wait()),
            Ok(Some(header)) => {
                // They were seen, so they are there.
                io::Read::read_exact(kernel.stream, &mut bytes[..header.bytes])?;
                match (&self.limiter, header.source) {
                    (Some(limiter), Some(source)) if !limiter.take(source.ip()) => Err(Refusal::AddressRate.into()),
                    _ => Ok(Awaited::Source(header.source)),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
