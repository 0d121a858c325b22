//! The kernel's queue of connections at one address.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::os::fd::AsFd;
use std::os::unix::net::UnixListener;

use mio::event::Source;
use mio::{Interest, Registry, Token};
use socket2::{Domain, Protocol, TcpKeepalive, Type};

use crate::peer::PeerAddress;
use crate::settings::KeepAlive;
use crate::stream::Stream;

/// How many connections the kernel may hold for us between two accepts.
pub(crate) const BACKLOG: i32 = 4096;

/// The kernel's queue of connections.
#[derive(Debug)]
pub(crate) enum Queue {
    Tcp(mio::net::TcpListener),
    Unix(mio::net::UnixListener),
}

impl Queue {
    /// Another handle of the same queue.
    pub(crate) fn try_clone(&self) -> io::Result<Self> {
        match self {
            Queue::Tcp(listener) => Ok(Queue::of_tcp(listener.as_fd().try_clone_to_owned()?.into())?.0),
            Queue::Unix(listener) => Queue::of_unix(listener.as_fd().try_clone_to_owned()?.into()),
        }
    }

    /// Takes the next waiting connection.
    pub(crate) fn accept(&self) -> io::Result<(Stream, PeerAddress)> {
        match self {
            Queue::Tcp(listener) => {
                listener.accept().map(|(stream, peer)| (Stream::Tcp(stream), PeerAddress::Net(peer)))
            }
            Queue::Unix(listener) => listener.accept().map(|(stream, _)| (Stream::Unix(stream), PeerAddress::Local)),
        }
    }

    /// With the address that was bound.
    fn of_tcp(listener: TcpListener) -> io::Result<(Self, SocketAddr)> {
        listener.set_nonblocking(true)?;
        let local = listener.local_addr()?;
        Ok((Queue::Tcp(mio::net::TcpListener::from_std(listener)), local))
    }

    pub(crate) fn of_unix(listener: UnixListener) -> io::Result<Self> {
        listener.set_nonblocking(true)?;
        Ok(Queue::Unix(mio::net::UnixListener::from_std(listener)))
    }

    /// Asks `registry` for an event whenever connections arrive.
    pub(crate) fn register(&mut self, registry: &Registry, token: Token) -> io::Result<()> {
        self.source().register(registry, token, Interest::READABLE)
    }

    /// Ends [`Queue::register`].
    pub(crate) fn deregister(&mut self, registry: &Registry) -> io::Result<()> {
        self.source().deregister(registry)
    }

    fn source(&mut self) -> &mut dyn Source {
        match self {
            Queue::Tcp(listener) => listener,
            Queue::Unix(listener) => listener,
        }
    }
}

/// Binds one address and listens there; with what was bound.
pub(crate) fn bind_net(address: SocketAddr, keep_alive: Option<KeepAlive>) -> io::Result<(Queue, SocketAddr)> {
    bind_tcp(address, keep_alive).and_then(Queue::of_tcp)
}

fn bind_tcp(address: SocketAddr, keep_alive: Option<KeepAlive>) -> io::Result<TcpListener> {
    let socket = socket2::Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    // A restarted broker must get its port back while old connections are still in TIME_WAIT.
    socket.set_reuse_address(true)?;
    if let Some(KeepAlive { idle, interval, probes }) = keep_alive {
        // Whatever is accepted has it from here.
        let keep_alive = TcpKeepalive::new().with_time(idle).with_interval(interval).with_retries(probes);
        socket.set_tcp_keepalive(&keep_alive)?;
    }
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    Ok(socket.into())
}
