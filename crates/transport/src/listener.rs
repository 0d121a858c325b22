//! A bound listener; clones share one kernel queue.

use std::io;
use std::net::{SocketAddr, TcpListener};

use mio::event::Source;
use mio::{Interest, Registry, Token};
use socket2::{Domain, Protocol, Type};

use crate::address::ListenAddress;
use crate::error::{AcceptError, BindError};
use crate::socket::Socket;

/// How many connections the kernel may hold for us between two accepts.
const BACKLOG: i32 = 4096;

/// A bound, listening, non-blocking socket.
#[derive(Debug)]
pub struct Listener {
    inner: mio::net::TcpListener,
    local: SocketAddr,
}

/// A connection just taken from a [`Listener`].
#[derive(Debug)]
pub struct Accepted {
    /// Ready for use: non-blocking, `TCP_NODELAY` on.
    pub socket: Socket,
    /// Who connected.
    pub peer: SocketAddr,
}

impl Listener {
    /// Binds `address` and listens.
    ///
    /// # Errors
    /// See [`BindError`]; the first address that the host stands for and that can be bound is taken.
    pub fn bind(address: &ListenAddress) -> Result<Self, BindError> {
        let mut last = io::Error::new(io::ErrorKind::AddrNotAvailable, "the host stands for no address");
        for candidate in address.resolve()? {
            match bind_tcp(candidate) {
                Ok(listener) => return Self::from_std(listener).map_err(|e| bind_error(address, e)),
                Err(error) => last = error,
            }
        }
        Err(bind_error(address, last))
    }

    /// Another handle of the same kernel queue, for another shard's event loop.
    ///
    /// # Errors
    /// No file descriptor left.
    pub fn try_clone(&self) -> io::Result<Self> {
        use std::os::fd::AsFd;
        let descriptor = self.inner.as_fd().try_clone_to_owned()?;
        Self::from_std(TcpListener::from(descriptor))
    }

    fn from_std(listener: TcpListener) -> io::Result<Self> {
        listener.set_nonblocking(true)?;
        let local = listener.local_addr()?;
        Ok(Listener { inner: mio::net::TcpListener::from_std(listener), local })
    }

    /// The address with its real port.
    pub fn local(&self) -> SocketAddr {
        self.local
    }

    /// The address a client connects to, with its real port: `tcp://HOST:PORT`.
    pub fn url(&self) -> String {
        format!("tcp://{}", self.local)
    }

    /// Takes the next waiting connection; `Ok(None)` when there is none.
    ///
    /// # Errors
    /// `Exhausted`: pause before the next try. `Connection`: try again at once.
    pub fn accept(&self) -> Result<Option<Accepted>, AcceptError> {
        match self.inner.accept() {
            Ok((stream, peer)) => match stream.set_nodelay(true) {
                Ok(()) => Ok(Some(Accepted { socket: Socket::tcp(stream), peer })),
                Err(error) => Err(AcceptError::Connection(error)),
            },
            Err(error) => match error.kind() {
                io::ErrorKind::WouldBlock => Ok(None),
                io::ErrorKind::ConnectionAborted | io::ErrorKind::ConnectionReset | io::ErrorKind::Interrupted => {
                    Err(AcceptError::Connection(error))
                }
                _ => Err(AcceptError::Exhausted(error)),
            },
        }
    }

    /// Asks `registry` for an event whenever connections arrive.
    ///
    /// # Errors
    /// As of `mio`.
    pub fn register(&mut self, registry: &Registry, token: Token) -> io::Result<()> {
        self.inner.register(registry, token, Interest::READABLE)
    }

    /// Ends [`Listener::register`].
    ///
    /// # Errors
    /// As of `mio`.
    pub fn deregister(&mut self, registry: &Registry) -> io::Result<()> {
        self.inner.deregister(registry)
    }
}

fn bind_error(address: &ListenAddress, source: io::Error) -> BindError {
    BindError::Bind { address: address.to_string(), source }
}

fn bind_tcp(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = socket2::Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    // A restarted broker must get its port back while old connections are still in TIME_WAIT.
    socket.set_reuse_address(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    Ok(socket.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loopback(port: u16) -> ListenAddress {
        ListenAddress::Tcp { host: "127.0.0.1".into(), port }
    }

    /// Does port 0 give a real port, and does a clone accept from the same queue?
    #[test]
    fn a_clone_accepts_from_the_same_queue() {
        let listener = Listener::bind(&loopback(0)).unwrap();
        assert_ne!(listener.local().port(), 0);
        let clone = listener.try_clone().unwrap();
        let client = std::net::TcpStream::connect(listener.local()).unwrap();
        let accepted = loop {
            if let Some(accepted) = clone.accept().unwrap() {
                break accepted;
            }
        };
        assert_eq!(accepted.peer, client.local_addr().unwrap());
        assert!(listener.accept().unwrap().is_none());
    }

    /// Does a port in use give an error that names address and remedy?
    #[test]
    fn a_port_in_use_is_named() {
        let first = Listener::bind(&loopback(0)).unwrap();
        let error = Listener::bind(&loopback(first.local().port())).unwrap_err();
        assert!(error.to_string().contains(&first.url()), "{error}");
        assert!(error.remedy().contains("port 0"), "{}", error.remedy());
    }
}
