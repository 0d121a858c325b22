//! One connection between two nodes.

use std::fmt;
use std::io::{self, Write};
use std::net::SocketAddr;
use std::time::{Duration, SystemTime};

use lapwing_authority::NodeName;
use mio::net::TcpStream;
use mio::{Registry, Token};
use rustls::{ClientConnection, Connection, Error};
use socket2::{SockRef, TcpKeepalive};

use super::credentials::joining_client;
use super::tls::{Greeting, Tls};
use super::{PeerFault, PeerProtocol, PeerTls};
use crate::stream::Stream;
use crate::tls::{expires_at, unless_blocked};

/// Times that one read asks the kernel; so a node that sends empty records keeps nobody else waiting.
const READS_MAX: usize = 32;
/// Bytes that may come until the handshake is done: several times what a long chain of certificates takes.
const HANDSHAKE_BYTES_MAX: usize = 32 << 10;
/// Silence before the kernel asks whether the other machine is there, and between two questions. Nodes say something far more
/// often; this finds who has gone from a connection that says nothing, as one for snapshots may.
const ASKED_AFTER: Duration = Duration::from_secs(10);
/// How long bytes may go without an acknowledgement, or find no room at the other end, before the connection is over.
#[cfg(target_os = "linux")]
const UNACKNOWLEDGED: Duration = Duration::from_secs(30);

/// A non-blocking connection to another node, in TLS. The handshake goes on inside [`PeerStream::read`].
pub struct PeerStream {
    pub(super) stream: Stream,
    /// The kernel has not said yet that somebody is there.
    is_connecting: bool,
    pub(super) tls: Tls,
    address: SocketAddr,
    pub(super) handshake_bytes: usize,
    /// Nothing more is read or written.
    refused: Option<PeerFault>,
    /// The last read ended because the kernel had no more.
    drained: bool,
}

impl fmt::Debug for PeerStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("PeerStream");
        shown.field("address", &self.address).field("peer", &self.peer()).field("refused", &self.refused);
        shown.finish_non_exhaustive()
    }
}

impl PeerStream {
    /// Begins a connection to a node of the cluster: the one with this number, or any where it is `None`.
    ///
    /// # Errors
    /// The kernel has no way there, or no descriptor; `InvalidInput`: no node has that number.
    pub fn connect(address: SocketAddr, tls: &PeerTls, node: Option<u8>) -> io::Result<Self> {
        let name = tls.server_name(node).map_err(|fault| io::Error::new(io::ErrorKind::InvalidInput, fault))?;
        Self::begun(address, ClientConnection::new(tls.client(), name).map_err(io::Error::other)?)
    }

    /// Begins a connection to a node, without a certificate, to ask for one. `authority`: the fingerprint that the token has.
    ///
    /// # Errors
    /// As [`PeerStream::connect`].
    pub fn join(address: SocketAddr, authority: [u8; 32]) -> io::Result<Self> {
        let (config, name) = joining_client(authority).map_err(io::Error::other)?;
        Self::begun(address, ClientConnection::new(config, name).map_err(io::Error::other)?)
    }

    fn begun(address: SocketAddr, connection: ClientConnection) -> io::Result<Self> {
        let stream = TcpStream::connect(address)?;
        Self::new(stream, address, Tls::open(connection.into()), true)
    }

    /// Of who has come to a [`super::PeerListener`].
    pub(super) fn accepted(
        stream: TcpStream,
        address: SocketAddr,
        tls: &PeerTls,
        are_joining: bool,
    ) -> io::Result<Self> {
        let greeting = Greeting { server: tls.server(), joining: are_joining.then(|| tls.joining()) };
        Self::new(stream, address, Tls::greeting(greeting), false)
    }

    fn new(stream: TcpStream, address: SocketAddr, tls: Tls, is_connecting: bool) -> io::Result<Self> {
        set_options(&stream)?;
        let stream = Stream::Tcp(stream);
        Ok(PeerStream { stream, is_connecting, tls, address, handshake_bytes: 0, refused: None, drained: false })
    }

    /// Reads what is there into `buffer`, which has room for a byte at least; `Ok(0)`: the other node has ended its side.
    ///
    /// The handshake goes on in here until it is done; then, and not before, there are bytes. Whoever has connected is told in
    /// here, too, that it was refused: in TLS 1.3 that may come when its own side of the handshake is done.
    ///
    /// # Errors
    /// `WouldBlock`: nothing there now, unless [`PeerStream::may_hold_more`]. Anything else: the connection is over; see
    /// [`PeerRefusal::of`](super::PeerRefusal::of).
    pub fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.drained = false;
        self.go_on()?;
        for _ in 0..READS_MAX {
            if let Some(taken) = self.tls.take_plaintext(buffer) {
                return Ok(taken);
            }
            if !self.take_records()? {
                return if self.is_shaking() { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(0) };
            }
        }
        Err(io::ErrorKind::WouldBlock.into())
    }

    /// Whether the last read may have left something behind although it gave fewer bytes than asked for, or none. The
    /// kernel will not report it again.
    pub fn may_hold_more(&self) -> bool {
        !self.drained
    }

    /// Writes as much of `bytes` as is taken; some of that may wait inside, see [`PeerStream::wants_write`].
    ///
    /// # Errors
    /// `WouldBlock`: wait for a writable event, or for the end of the handshake. Anything else: the connection is over.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.flush()?;
        let Tls::Open(connection) = &mut self.tls else { return Err(io::ErrorKind::WouldBlock.into()) };
        if connection.is_handshaking() {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        let taken = connection.writer().write(bytes)?;
        unless_blocked(self.flush()).map(|()| taken)
    }

    /// Writes what waits inside.
    ///
    /// # Errors
    /// As [`PeerStream::write`].
    pub fn flush(&mut self) -> io::Result<()> {
        self.go_on()?;
        self.tls.flush(&mut self.stream)
    }

    /// Whether something waits for a writable event: bytes that were taken, a connection that is being made.
    pub fn wants_write(&self) -> bool {
        self.refused.is_none() && (self.is_connecting || self.tls.wants_write())
    }

    /// Whether the handshake is not done. How long that may be is for the owner to say, from when the connection began.
    pub fn is_shaking(&self) -> bool {
        match &self.tls {
            Tls::Greeting(..) => true,
            Tls::Open(connection) => connection.is_handshaking(),
        }
    }

    /// Who is at the other end, by its certificate. `None`: the handshake is not done, or it has shown none and come to join.
    pub fn peer(&self) -> Option<NodeName> {
        NodeName::of(self.shown()?.first()?).ok()
    }

    /// When its certificate ends, or one that it rests on: a connection does not end by itself then.
    pub fn peer_expires_at(&self) -> Option<SystemTime> {
        expires_at(self.shown()?)
    }

    /// What is spoken; `None`: the handshake is not done.
    pub fn protocol(&self) -> Option<PeerProtocol> {
        self.shaken()?.alpn_protocol().and_then(PeerProtocol::of)
    }

    /// The other end's address: what was connected to, or where somebody came from.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Bytes that the kernel took and the other node's kernel has not acknowledged; what waits inside does not count.
    pub fn unsent_bytes(&self) -> u64 {
        self.stream.unsent_bytes()
    }

    /// Ends our side after what was written, so that the other node still reads it.
    pub fn shutdown(&mut self) {
        if let Tls::Open(connection) = &mut self.tls {
            connection.send_close_notify();
        }
        // It may be gone already; then there is nobody to tell.
        let _ = self.tls.flush(&mut self.stream);
        self.stream.shutdown();
    }

    /// Asks `registry` for edge-triggered readable and writable events, for the life of the connection.
    ///
    /// # Errors
    /// As of `mio`.
    pub fn register(&mut self, registry: &Registry, token: Token) -> io::Result<()> {
        self.stream.register(registry, token)
    }

    /// Ends [`PeerStream::register`].
    ///
    /// # Errors
    /// As of `mio`.
    pub fn deregister(&mut self, registry: &Registry) -> io::Result<()> {
        self.stream.deregister(registry)
    }

    fn shaken(&self) -> Option<&Connection> {
        match &self.tls {
            Tls::Open(connection) if !connection.is_handshaking() => Some(connection),
            _ => None,
        }
    }

    fn shown(&self) -> Option<&[rustls::pki_types::CertificateDer<'static>]> {
        self.shaken()?.peer_certificates()
    }

    /// Whether the connection is of any use, and there.
    fn go_on(&mut self) -> io::Result<()> {
        if let Some(fault) = &self.refused {
            return Err(fault.clone().into());
        }
        if self.is_connecting {
            if !self.stream.is_connected()? {
                self.drained = true;
                return Err(io::ErrorKind::WouldBlock.into());
            }
            self.is_connecting = false;
            unless_blocked(self.tls.flush(&mut self.stream))?;
        }
        Ok(())
    }

    /// Takes what the kernel has, and answers it where that is the handshake's; false at the end of the stream.
    fn take_records(&mut self) -> io::Result<bool> {
        let was_shaking = self.is_shaking();
        let taken = match self.tls.read_from(&mut self.stream) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                self.drained = true;
                return Err(error);
            }
            taken => taken?,
        };
        if taken == 0 {
            return Ok(false);
        }
        if was_shaking {
            self.handshake_bytes += taken;
            if self.handshake_bytes > HANDSHAKE_BYTES_MAX {
                return Err(self.refuse(Error::PeerSentOversizedRecord, true));
            }
        }
        if let Err(failure) = self.tls.process(&mut self.stream) {
            return Err(self.refuse(failure, was_shaking));
        }
        if self.shaken().is_some() && self.protocol().is_none() {
            // The library lets those be who have never heard of protocols; here nobody is one of them.
            return Err(self.refuse(Error::NoApplicationProtocol, true));
        }
        unless_blocked(self.tls.flush(&mut self.stream)).map(|()| true)
    }

    fn refuse(&mut self, failure: Error, is_shaking: bool) -> io::Error {
        // The alert, as far as the kernel takes it.
        let _ = self.tls.flush(&mut self.stream);
        let fault = PeerFault::new(failure, is_shaking);
        self.refused = Some(fault.clone());
        fault.into()
    }
}

fn set_options(stream: &TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let socket = SockRef::from(stream);
    socket.set_tcp_keepalive(&TcpKeepalive::new().with_time(ASKED_AFTER).with_interval(ASKED_AFTER).with_retries(3))?;
    #[cfg(target_os = "linux")]
    socket.set_tcp_user_timeout(Some(UNACKNOWLEDGED))?;
    Ok(())
}
