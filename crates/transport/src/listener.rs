//! A bound listener; clones share one kernel queue.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;

use mio::event::Source;
use mio::{Interest, Registry, Token};
use socket2::{Domain, Protocol, Type};

use crate::address::{ListenAddress, Scheme};
use crate::error::{AcceptError, BindError};
use crate::layers::Layers;
use crate::limiter::AddressLimiter;
use crate::network::Network;
use crate::peer::PeerAddress;
use crate::proxy::HeaderReader;
use crate::refusal::Refusal;
use crate::settings::ListenerSettings;
use crate::socket::Socket;
use crate::stream::Stream;
use crate::tls::{Certificates, Tls};
use crate::unix::{self, SocketFile};
use crate::web::{WebRules, WebSocket};

/// How many connections the kernel may hold for us between two accepts.
const BACKLOG: i32 = 4096;

/// A bound, listening, non-blocking socket, and what its connections go through.
#[derive(Debug)]
pub struct Listener {
    queue: Queue,
    terms: Arc<Terms>,
}

/// The kernel's queue of connections.
#[derive(Debug)]
enum Queue {
    Tcp(mio::net::TcpListener),
    Unix(mio::net::UnixListener),
}

/// What all clones share.
#[derive(Debug)]
struct Terms {
    url: String,
    certificates: Option<Arc<Certificates>>,
    web: Option<Arc<WebRules>>,
    proxy_from: Vec<Network>,
    is_behind_proxy: bool,
    limiter: Option<Arc<AddressLimiter>>,
    /// Removes the file of a Unix socket with the last clone.
    _file: Option<SocketFile>,
}

/// A connection just taken from a [`Listener`].
#[derive(Debug)]
pub struct Accepted {
    /// Ready for use: non-blocking, `TCP_NODELAY` on.
    pub socket: Socket,
    /// Who connected; a PROXY header may name somebody else.
    pub peer: PeerAddress,
}

impl Listener {
    /// Binds the address and listens.
    ///
    /// # Errors
    /// See [`BindError`]; the first address that the host stands for and that can be bound is taken.
    pub fn bind(settings: ListenerSettings) -> Result<Self, BindError> {
        let address = &settings.address;
        let (queue, url, file) = match address.file() {
            Some(path) => {
                let bound = unix::bind(path, settings.mode, BACKLOG).map_err(|e| bind_error(address, e))?;
                let queue = Queue::of_unix(bound.0).map_err(|e| bind_error(address, e))?;
                (queue, address.to_string(), Some(bound.1))
            }
            None => {
                let (queue, local) = bind_net(address)?;
                (queue, net_url(&settings, local), None)
            }
        };
        let terms = Terms {
            url,
            web: settings.web.map(|web| Arc::new(WebRules::new(web, address))),
            certificates: settings.certificates,
            proxy_from: settings.proxy_from,
            is_behind_proxy: settings.is_behind_proxy,
            limiter: match settings.connects_per_address_per_s {
                0 => None,
                per_s => Some(Arc::new(AddressLimiter::new(per_s))),
            },
            _file: file,
        };
        Ok(Listener { queue, terms: Arc::new(terms) })
    }

    /// Another handle of the same kernel queue, for another shard's event loop.
    ///
    /// # Errors
    /// No file descriptor left.
    pub fn try_clone(&self) -> io::Result<Self> {
        use std::os::fd::AsFd;
        let queue = match &self.queue {
            Queue::Tcp(listener) => Queue::of_tcp(listener.as_fd().try_clone_to_owned()?.into())?.0,
            Queue::Unix(listener) => Queue::of_unix(listener.as_fd().try_clone_to_owned()?.into())?,
        };
        Ok(Listener { queue, terms: self.terms.clone() })
    }

    /// The address a client connects to, with its real port: `tcp://HOST:PORT`, `wss://HOST:PORT/PATH`.
    pub fn url(&self) -> &str {
        &self.terms.url
    }

    /// Whether its connections begin with a handshake of TLS.
    pub fn has_tls(&self) -> bool {
        self.terms.certificates.is_some()
    }

    /// Takes the next waiting connection; `Ok(None)` when there is none.
    ///
    /// # Errors
    /// `Exhausted`: pause before the next try. `Connection`, `Refused`: try again at once.
    pub fn accept(&self) -> Result<Option<Accepted>, AcceptError> {
        let accepted = match &self.queue {
            Queue::Tcp(listener) => {
                listener.accept().map(|(stream, peer)| (Stream::Tcp(stream), PeerAddress::Net(peer)))
            }
            Queue::Unix(listener) => listener.accept().map(|(stream, _)| (Stream::Unix(stream), PeerAddress::Local)),
        };
        match accepted {
            Ok((stream, peer)) => self.admit(stream, peer).map(Some),
            Err(error) => match error.kind() {
                io::ErrorKind::WouldBlock => Ok(None),
                io::ErrorKind::ConnectionAborted | io::ErrorKind::ConnectionReset | io::ErrorKind::Interrupted => {
                    Err(AcceptError::Connection(error))
                }
                _ => Err(AcceptError::Exhausted(error)),
            },
        }
    }

    fn admit(&self, stream: Stream, peer: PeerAddress) -> Result<Accepted, AcceptError> {
        let terms = &*self.terms;
        let has_header = peer.ip().is_some_and(|ip| terms.proxy_from.iter().any(|network| network.contains(ip)));
        if !has_header
            && let (Some(limiter), Some(ip)) = (&terms.limiter, peer.ip())
            && !limiter.take(ip)
        {
            return Err(AcceptError::Refused(Refusal::AddressRate));
        }
        if let Stream::Tcp(stream) = &stream {
            stream.set_nodelay(true).map_err(AcceptError::Connection)?;
        }
        let mut layers = Layers::default();
        layers.header = has_header.then(|| HeaderReader { limiter: terms.limiter.clone() });
        layers.tls = terms.tls()?;
        layers.web = terms.web.clone().map(WebSocket::new);
        let layers = (!layers.is_empty()).then_some(layers);
        Ok(Accepted { socket: Socket::new(stream, layers, terms.is_behind_proxy), peer })
    }

    /// Asks `registry` for an event whenever connections arrive.
    ///
    /// # Errors
    /// As of `mio`.
    pub fn register(&mut self, registry: &Registry, token: Token) -> io::Result<()> {
        match &mut self.queue {
            Queue::Tcp(listener) => listener.register(registry, token, Interest::READABLE),
            Queue::Unix(listener) => listener.register(registry, token, Interest::READABLE),
        }
    }

    /// Ends [`Listener::register`].
    ///
    /// # Errors
    /// As of `mio`.
    pub fn deregister(&mut self, registry: &Registry) -> io::Result<()> {
        match &mut self.queue {
            Queue::Tcp(listener) => listener.deregister(registry),
            Queue::Unix(listener) => listener.deregister(registry),
        }
    }
}

impl Terms {
    fn tls(&self) -> Result<Option<Box<Tls>>, AcceptError> {
        let Some(certificates) = &self.certificates else { return Ok(None) };
        let tls = certificates.accept().map_err(|error| AcceptError::Connection(io::Error::other(error)))?;
        Ok(Some(Box::new(tls)))
    }
}

impl Queue {
    fn of_tcp(listener: TcpListener) -> io::Result<(Self, SocketAddr)> {
        listener.set_nonblocking(true)?;
        let local = listener.local_addr()?;
        Ok((Queue::Tcp(mio::net::TcpListener::from_std(listener)), local))
    }

    fn of_unix(listener: std::os::unix::net::UnixListener) -> io::Result<Self> {
        listener.set_nonblocking(true)?;
        Ok(Queue::Unix(mio::net::UnixListener::from_std(listener)))
    }
}

/// As the settings say, with the address and port that were bound.
fn net_url(settings: &ListenerSettings, local: SocketAddr) -> String {
    let scheme: Scheme = settings.address.scheme();
    let path = settings.web.as_ref().map_or("", |web| web.path.as_str());
    format!("{}://{local}{path}", scheme.name())
}

fn bind_error(address: &ListenAddress, source: io::Error) -> BindError {
    BindError::Bind { address: address.to_string(), source }
}

fn bind_net(address: &ListenAddress) -> Result<(Queue, SocketAddr), BindError> {
    let mut last = io::Error::new(io::ErrorKind::AddrNotAvailable, "the host stands for no address");
    for candidate in address.resolve()? {
        match bind_tcp(candidate) {
            Ok(listener) => return Queue::of_tcp(listener).map_err(|e| bind_error(address, e)),
            Err(error) => last = error,
        }
    }
    Err(bind_error(address, last))
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

    fn bind(address: &str) -> Result<Listener, BindError> {
        Listener::bind(ListenerSettings::plain(address.parse()?))
    }

    fn accept(listener: &Listener) -> Accepted {
        loop {
            if let Some(accepted) = listener.accept().unwrap() {
                return accepted;
            }
        }
    }

    fn connect(listener: &Listener) -> std::net::TcpStream {
        std::net::TcpStream::connect(listener.url().trim_start_matches("tcp://")).unwrap()
    }

    /// Does port 0 give a real port, and does a clone accept from the same queue?
    #[test]
    fn a_clone_accepts_from_the_same_queue() {
        let listener = bind("tcp://127.0.0.1:0").unwrap();
        assert!(!listener.url().ends_with(":0"));
        let clone = listener.try_clone().unwrap();
        let client = connect(&listener);
        let accepted = accept(&clone);
        assert_eq!(accepted.peer, PeerAddress::Net(client.local_addr().unwrap()));
        assert_eq!(accepted.socket.peer(), accepted.peer);
        assert!(listener.accept().unwrap().is_none());
    }

    /// Does a port in use give an error that names address and remedy?
    #[test]
    fn a_port_in_use_is_named() {
        let first = bind("tcp://127.0.0.1:0").unwrap();
        let error = bind(first.url()).unwrap_err();
        assert!(error.to_string().contains(first.url()), "{error}");
        assert!(error.remedy().contains("port 0"), "{}", error.remedy());
    }

    /// Does a source that connects too often find the door shut, and the others not?
    #[test]
    fn an_address_has_its_rate() {
        let mut settings = ListenerSettings::plain("tcp://127.0.0.1:0".parse().unwrap());
        settings.connects_per_address_per_s = 1;
        let listener = Listener::bind(settings).unwrap();
        let _clients = [connect(&listener), connect(&listener)];
        accept(&listener);
        let refused = loop {
            match listener.accept() {
                Ok(None) => {}
                other => break other,
            }
        };
        assert!(matches!(refused, Err(AcceptError::Refused(Refusal::AddressRate))), "{refused:?}");
    }
}
