//! Where other nodes connect.

use std::net::SocketAddr;

use mio::{Registry, Token};

use super::{PeerStream, PeerTls};
use crate::bind::bind_every;
use crate::error::{AcceptError, BindError};
use crate::listener::queue::{Queue, bind_net};
use crate::peer::PeerAddress;
use crate::stream::Stream;

/// Bound, listening and non-blocking.
#[derive(Debug)]
pub struct PeerListener {
    queues: Vec<Queue>,
    /// Where the next look begins: a flood at one address must not keep the others waiting.
    next: usize,
    address: SocketAddr,
}

impl PeerListener {
    /// Binds those of `addresses` that this machine has, all at one port.
    ///
    /// # Errors
    /// `Bind`: one of them cannot be bound, or this machine has none.
    pub fn bind(addresses: &[SocketAddr]) -> Result<Self, BindError> {
        let bound = bind_every(addresses, |address| bind_net(address, None));
        let (queues, address) = bound.map_err(|source| {
            let shown: Vec<String> = addresses.iter().map(ToString::to_string).collect();
            BindError::Bind { address: shown.join(", "), source }
        })?;
        Ok(PeerListener { queues, next: 0, address })
    }

    /// The first that was bound, with its real port.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Takes the next waiting connection, whose handshake begins with `tls`; `Ok(None)` when there is none.
    ///
    /// `are_joining`: somebody may come without a certificate, to ask for one. Else everybody must show one.
    /// # Errors
    /// `Exhausted`: pause before the next try. `Connection`: try again at once.
    pub fn accept(&mut self, tls: &PeerTls, are_joining: bool) -> Result<Option<PeerStream>, AcceptError> {
        for _ in 0..self.queues.len() {
            self.next = (self.next + 1) % self.queues.len();
            match self.queues[self.next].accept() {
                Ok((Stream::Tcp(stream), PeerAddress::Net(address))) => {
                    let accepted = PeerStream::accepted(stream, address, tls, are_joining);
                    return accepted.map(Some).map_err(AcceptError::Connection);
                }
                Ok(_) => unreachable!("a queue of TCP"),
                Err(error) => match AcceptError::of(error) {
                    None => {}
                    Some(error) => return Err(error),
                },
            }
        }
        Ok(None)
    }

    /// Asks `registry` for an event whenever connections arrive.
    ///
    /// # Errors
    /// As of `mio`.
    pub fn register(&mut self, registry: &Registry, token: Token) -> std::io::Result<()> {
        self.queues.iter_mut().try_for_each(|queue| queue.register(registry, token))
    }

    /// Ends [`PeerListener::register`].
    ///
    /// # Errors
    /// As of `mio`.
    pub fn deregister(&mut self, registry: &Registry) -> std::io::Result<()> {
        self.queues.iter_mut().try_for_each(|queue| queue.deregister(registry))
    }
}
