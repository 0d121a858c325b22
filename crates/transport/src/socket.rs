//! A client's connection, whatever carries it.

use std::io::{self, Read, Write};
use std::sync::Arc;
use std::time::SystemTime;

use mio::net::UnixStream;
use mio::{Registry, Token};

use crate::inner_end::InnerEnd;
use crate::layers::Layers;
use crate::peer::PeerAddress;
use crate::stream::Stream;
use crate::tls::{CertificateName, Lapse, Proof};

/// A connected, non-blocking socket. What lies between the kernel and MQTT is inside, handshakes included.
#[derive(Debug)]
pub struct Socket {
    stream: Stream,
    /// `None` for plain TCP and Unix sockets, which so pay one branch and no memory.
    layers: Option<Box<Layers>>,
    /// The listener says that a proxy lies before it.
    is_behind_proxy: bool,
    /// As it was accepted: the kernel forgets the address of a connection that was reset.
    peer: PeerAddress,
}

impl Socket {
    pub(crate) fn new(stream: Stream, layers: Option<Layers>, is_behind_proxy: bool, peer: PeerAddress) -> Self {
        Socket { stream, layers: layers.map(Box::new), is_behind_proxy, peer }
    }

    /// Two ends of one connection inside this process: what is written to one is read from the other. The socket says that `peer`
    /// is at its other end, whom the bytes are of, and what that has `shown`.
    ///
    /// # Errors
    /// No descriptor left.
    pub fn pair(peer: PeerAddress, shown: Option<Arc<Proof>>) -> io::Result<(InnerEnd, Socket)> {
        let (one, other) = UnixStream::pair()?;
        let layers = shown.map(Layers::showing);
        let socket = Socket::new(Stream::Unix(other), layers, false, peer);
        Ok((InnerEnd::new(Stream::Unix(one)), socket))
    }

    /// Reads what is there into `buffer`; `Ok(0)` means the peer has ended its side.
    ///
    /// A handshake goes on in here until it is done; then, and not before, there are bytes.
    ///
    /// # Errors
    /// `WouldBlock`: nothing there now, unless [`Socket::may_hold_more`]. Anything else: the connection is over; if it is
    /// a [`crate::Refusal`], the peer was told what it can be told.
    pub fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match &mut self.layers {
            None => self.stream.read(buffer),
            Some(layers) => layers.read(&mut self.stream, buffer),
        }
    }

    /// Goes on with what comes before the first byte of the application's protocol: a PROXY header, the handshake of TLS. This
    /// is where a signature is made, which costs more than a thousand messages. [`Socket::read`] does the same where nobody
    /// has done it before.
    ///
    /// `Ok(true)`: done, and nothing of it waits inside; what the client has sent behind it comes with the next read.
    /// `Ok(false)`: go on at once.
    /// # Errors
    /// `WouldBlock`: wait for an event. Anything else: the connection is over, as with [`Socket::read`].
    pub fn shake_hands(&mut self) -> io::Result<bool> {
        match &mut self.layers {
            None => Ok(true),
            Some(layers) => layers.shake_hands(&mut self.stream),
        }
    }

    /// Whether the handshake of TLS was cut short by what an earlier connection of the client has agreed on.
    pub fn is_resumed(&self) -> bool {
        self.layers.as_ref().is_some_and(|layers| layers.is_resumed())
    }

    /// Whether a trusted proxy has still to say whom it speaks for.
    pub fn awaits_header(&self) -> bool {
        self.layers.as_ref().is_some_and(|layers| layers.header.is_some())
    }

    /// Takes bytes off the kernel without looking at them: of a connection that is over they do not matter any more.
    ///
    /// # Errors
    /// As [`Socket::read`], never a refusal.
    pub fn discard(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.stream.read(buffer)
    }

    /// Whether the last read may have left something behind although it gave fewer bytes than asked for, or none. The
    /// kernel will not report it again.
    pub fn may_hold_more(&self) -> bool {
        self.layers.as_ref().is_some_and(|layers| layers.may_hold_more())
    }

    /// Writes as much of `bytes` as is taken. What was not must be offered again, unchanged, before anything else.
    ///
    /// # Errors
    /// `WouldBlock`: wait for a writable event. Anything else: the connection is over.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.layers {
            None => self.stream.write(bytes),
            Some(layers) => layers.write(&mut self.stream, bytes),
        }
    }

    /// Whether something waits inside for the kernel: the rest of a record, an answer to a ping.
    pub fn has_unsent(&self) -> bool {
        self.layers.as_ref().is_some_and(|layers| layers.has_unsent())
    }

    /// Writes what waits inside.
    ///
    /// # Errors
    /// As [`Socket::write`].
    pub fn flush(&mut self) -> io::Result<()> {
        match &mut self.layers {
            None => Ok(()),
            Some(layers) => layers.flush(&mut self.stream),
        }
    }

    /// Ends our side after what was written, so that the peer still reads it.
    pub fn shutdown(&mut self) {
        if let Some(layers) = &mut self.layers {
            layers.say_goodbye(&mut self.stream);
        }
        self.stream.shutdown();
    }

    /// Who is at the other end; after the first bytes were read it is whom a PROXY header named.
    pub fn peer(&self) -> PeerAddress {
        let told = self.layers.as_ref().and_then(|layers| layers.told());
        told.map_or(self.peer, PeerAddress::Net)
    }

    /// Memory for what has come and is no MQTT yet: an unfinished handshake, records that are not whole, half an HTTP
    /// head. An upper bound, for connections that have brought little; 0 for plain TCP, whose PROXY header waits in the
    /// kernel.
    pub fn held_bytes(&self) -> usize {
        self.layers.as_ref().map_or(0, |layers| layers.held_bytes())
    }

    /// Whether a proxy lies between us and the client, so that the kernel sees the near leg only: the connection began
    /// with a PROXY header, its upgrade to a WebSocket was forwarded, or the listener is set so. Final once MQTT has come.
    pub fn is_proxied(&self) -> bool {
        self.is_behind_proxy || self.layers.as_ref().is_some_and(|layers| layers.is_proxied())
    }

    /// The least round trip that the kernel has seen in the last minutes (`tcpi_min_rtt`), in microseconds. To the
    /// proxy, if there is one: see [`Socket::is_proxied`]. A system call of less than a microsecond.
    ///
    /// `None`: a Unix socket, or a kernel that has not measured it.
    pub fn min_rtt_us(&self) -> Option<u32> {
        self.stream.min_rtt_us()
    }

    /// Bytes that the kernel took from us and the other end's kernel has not acknowledged, sent or not; what TLS and
    /// WebSocket add to them counts, what still waits inside (at most 64 KiB) does not. A system call of less than a
    /// microsecond. What was lost with a connection stays counted; 0 where the kernel does not tell.
    pub fn unsent_bytes(&self) -> u64 {
        self.stream.unsent_bytes()
    }

    /// Whether the kernel has bytes of the peer's that were not read yet. One system call.
    pub fn has_unread(&self) -> bool {
        self.stream.has_unread()
    }

    /// The name in the client's certificate; `None` when it showed none, or one without such a name (or with several).
    pub fn certificate_name(&self, which: CertificateName) -> Option<String> {
        self.layers.as_ref()?.certificate_name(which)
    }

    /// Whose pre-shared key the client has, if it has shown that it has one.
    pub fn key_name(&self) -> Option<&str> {
        self.layers.as_ref()?.key_name()
    }

    /// Why the client's certificate, which the handshake has verified, is not good any more by what its listener has read
    /// last: it has expired by `now`, was revoked, or leads to no trusted authority; or its pre-shared key is not that of its
    /// device any more. `None` also where it showed none. Some
    /// tens of microseconds.
    pub fn certificate_lapse(&self, now: SystemTime) -> Option<Lapse> {
        self.layers.as_ref()?.certificate_lapse(now)
    }

    /// When the client's certificate ends, or one that it rests on; `None` where it showed none.
    pub fn certificate_expires_at(&self) -> Option<SystemTime> {
        self.layers.as_ref()?.certificate_expires_at()
    }

    /// Asks `registry` for edge-triggered readable and writable events.
    ///
    /// Both at once and for the life of the connection: changing the interest would cost a system call each time an
    /// output buffer fills and drains.
    ///
    /// # Errors
    /// As of `mio`.
    pub fn register(&mut self, registry: &Registry, token: Token) -> io::Result<()> {
        self.stream.register(registry, token)
    }

    /// Ends [`Socket::register`], so that another event loop can take the socket.
    ///
    /// # Errors
    /// As of `mio`.
    pub fn deregister(&mut self, registry: &Registry) -> io::Result<()> {
        self.stream.deregister(registry)
    }
}

#[cfg(test)]
mod tests;
