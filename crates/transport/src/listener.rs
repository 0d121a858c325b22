//! A bound listener; clones share one kernel queue.

pub(crate) mod queue;

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use mio::{Registry, Token};

use self::queue::{BACKLOG, Queue, bind_net};
use crate::bind::{bind_each, bind_error, url_of};
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

/// A bound, listening, non-blocking socket, and what its connections go through.
#[derive(Debug)]
pub struct Listener {
    /// One for each address that the host stands for; never empty.
    queues: Vec<Queue>,
    /// Where the next look begins: a flood at one address must not keep the others waiting.
    next: AtomicUsize,
    terms: Arc<Terms>,
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
    /// See [`BindError`]. Every address is taken that the host stands for and this machine has: a client that tries another one
    /// of them would meet nobody, or somebody else.
    pub fn bind(settings: ListenerSettings) -> Result<Self, BindError> {
        let address = &settings.address;
        let (queues, url, file) = match address.file() {
            Some(path) => {
                let bound = unix::bind(path, settings.mode, BACKLOG).map_err(|e| bind_error(address, e))?;
                let queue = Queue::of_unix(bound.0).map_err(|e| bind_error(address, e))?;
                (vec![queue], address.to_string(), Some(bound.1))
            }
            None => {
                let (queues, local) = bind_each(address, |one| bind_net(one, settings.keep_alive))?;
                let path = settings.web.as_ref().map_or("", |web| web.path.as_str());
                let url = url_of(address, local, queues.len() > 1, path);
                (queues, url, None)
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
        Ok(Listener { queues, next: AtomicUsize::new(0), terms: Arc::new(terms) })
    }

    /// Another handle of the same kernel queues, for another shard's event loop.
    ///
    /// # Errors
    /// No file descriptor left.
    pub fn try_clone(&self) -> io::Result<Self> {
        let queues = self.queues.iter().map(Queue::try_clone).collect::<io::Result<_>>()?;
        Ok(Listener { queues, next: AtomicUsize::new(0), terms: self.terms.clone() })
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
        let first = self.next.fetch_add(1, Ordering::Relaxed);
        for place in 0..self.queues.len() {
            let accepted = self.take_from(&self.queues[first.wrapping_add(place) % self.queues.len()])?;
            if accepted.is_some() {
                return Ok(accepted);
            }
        }
        Ok(None)
    }

    fn take_from(&self, queue: &Queue) -> Result<Option<Accepted>, AcceptError> {
        match queue.accept() {
            Ok((stream, peer)) => self.admit(stream, peer).map(Some),
            Err(error) => AcceptError::of(error).map_or(Ok(None), Err),
        }
    }

    fn admit(&self, stream: Stream, peer: PeerAddress) -> Result<Accepted, AcceptError> {
        let terms = &*self.terms;
        let has_header = peer.ip().is_some_and(|ip| terms.proxy_from.iter().any(|network| network.contains(ip)));
        if !has_header
            && let (Some(limiter), Some(ip)) = (&terms.limiter, peer.ip())
            && !limiter.take(ip)
        {
            return Err(AcceptError::Refused(Refusal::AddressRate, peer));
        }
        if let Stream::Tcp(stream) = &stream {
            stream.set_nodelay(true).map_err(AcceptError::Connection)?;
        }
        let mut layers = Layers::default();
        layers.header = has_header.then(|| HeaderReader { limiter: terms.limiter.clone() });
        layers.tls = terms.tls()?;
        layers.web = terms.web.clone().map(WebSocket::new);
        let layers = (!layers.is_empty()).then_some(layers);
        Ok(Accepted { socket: Socket::new(stream, layers, terms.is_behind_proxy, peer), peer })
    }

    /// Asks `registry` for an event whenever connections arrive.
    ///
    /// # Errors
    /// As of `mio`.
    pub fn register(&mut self, registry: &Registry, token: Token) -> io::Result<()> {
        self.queues.iter_mut().try_for_each(|queue| queue.register(registry, token))
    }

    /// Ends [`Listener::register`].
    ///
    /// # Errors
    /// As of `mio`.
    pub fn deregister(&mut self, registry: &Registry) -> io::Result<()> {
        self.queues.iter_mut().try_for_each(|queue| queue.deregister(registry))
    }
}

impl Terms {
    fn tls(&self) -> Result<Option<Box<Tls>>, AcceptError> {
        let Some(certificates) = &self.certificates else { return Ok(None) };
        let tls = certificates.accept().map_err(|error| AcceptError::Connection(io::Error::other(error)))?;
        Ok(Some(Box::new(tls)))
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::time::Duration;

    use super::*;
    use crate::address::ListenAddress;
    use crate::settings::KeepAlive;

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

    /// Is somebody who has reset the connection still who he was? What he did is charged to him, and to nobody else.
    #[test]
    fn who_resets_keeps_the_address() {
        let listener = bind("tcp://127.0.0.1:0").unwrap();
        let client = connect(&listener);
        let mut accepted = accept(&listener);
        let who = PeerAddress::Net(client.local_addr().unwrap());
        socket2::SockRef::from(&client).set_linger(Some(Duration::ZERO)).unwrap();
        drop(client);
        while matches!(accepted.socket.read(&mut [0; 8]), Err(error) if error.kind() == io::ErrorKind::WouldBlock) {}
        assert_eq!(accepted.socket.peer(), who);
    }

    /// A name for both addresses of loopback: does it listen at both, at one port, also through a clone; and where the port is
    /// taken at the second one, is that an error and not half a listener?
    #[test]
    fn a_name_is_listened_to_at_every_address() {
        let addresses = "tcp://localhost:1".parse::<ListenAddress>().unwrap().resolve().unwrap();
        let here: Vec<_> = addresses.iter().filter(|address| TcpListener::bind((address.ip(), 0)).is_ok()).collect();
        let listener = bind("tcp://localhost:0").unwrap();
        assert_eq!(listener.queues.len(), here.len());
        let port = listener.url().rsplit_once(':').unwrap().1.parse::<u16>().unwrap();
        let clone = listener.try_clone().unwrap();
        for address in &here {
            let client = std::net::TcpStream::connect((address.ip(), port)).unwrap();
            assert_eq!(accept(&clone).peer, PeerAddress::Net(client.local_addr().unwrap()));
        }
        drop((listener, clone));
        if let [_, second] = here[..] {
            let taken = TcpListener::bind((second.ip(), 0)).unwrap();
            let port = taken.local_addr().unwrap().port();
            let error = bind(&format!("tcp://localhost:{port}")).unwrap_err();
            assert!(error.to_string().contains("localhost"), "{error}");
        }
    }

    /// Does the kernel ask after a silent client as it is told to, and not at all where it is told so?
    #[test]
    fn accepted_connections_are_asked_after() {
        let (idle, interval) = (Duration::from_secs(77), Duration::from_secs(7));
        for keep_alive in [None, Some(KeepAlive { idle, interval, probes: 3 })] {
            let settings =
                ListenerSettings { keep_alive, ..ListenerSettings::plain("tcp://127.0.0.1:0".parse().unwrap()) };
            let listener = Listener::bind(settings).unwrap();
            let _client = connect(&listener);
            let Queue::Tcp(queue) = &listener.queues[0] else { panic!("a listener of TCP") };
            let stream = loop {
                match queue.accept() {
                    Ok((stream, _)) => break stream,
                    Err(error) => assert_eq!(error.kind(), io::ErrorKind::WouldBlock),
                }
            };
            let socket = socket2::SockRef::from(&stream);
            assert_eq!(socket.keepalive().unwrap(), keep_alive.is_some());
            if keep_alive.is_some() {
                let told =
                    (socket.tcp_keepalive_time(), socket.tcp_keepalive_interval(), socket.tcp_keepalive_retries());
                assert_eq!((told.0.unwrap(), told.1.unwrap(), told.2.unwrap()), (idle, interval, 3));
            }
        }
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
        assert!(matches!(refused, Err(AcceptError::Refused(Refusal::AddressRate, _))), "{refused:?}");
    }
}
