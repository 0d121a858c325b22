//! Connections between the nodes of a cluster: TLS 1.3, in which both sides show a certificate of the cluster's authority.
//!
//! - Who is at the other end is what its certificate says ([`lapwing_authority::NodeName`]), never an address.
//! - Whoever is refused is so for a [`PeerRefusal`], with a name to count it by, and hears of it in an alert.
//! - One protocol (ALPN) is for nodes, one for who has no certificate yet and has come to ask for one; the second is spoken
//!   only where the listener's owner says that somebody may join, and by a client that knows the authority's fingerprint.
//! - No connection takes up the secrets of an earlier one, since each has to show its certificate.
//! - What comes before the end of a handshake has a bound in bytes; its bound in time is the owner's
//!   ([`PeerStream::is_shaking`]), and so is how many there are.

mod credentials;
mod listener;
mod refusal;
mod stream;
mod tls;
mod verifiers;

pub use credentials::{PeerFiles, PeerTls};
pub use listener::PeerListener;
pub use refusal::{PeerFault, PeerRefusal};
pub use stream::PeerStream;

/// What is spoken behind the handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PeerProtocol {
    /// Between two nodes.
    Node,
    /// By somebody who wants to become one, to one.
    Join,
}

impl PeerProtocol {
    /// As it is agreed on (ALPN); for ever.
    const fn id(self) -> &'static [u8] {
        match self {
            PeerProtocol::Node => b"lapwing-peer/1",
            PeerProtocol::Join => b"lapwing-join/1",
        }
    }

    fn of(id: &[u8]) -> Option<Self> {
        [PeerProtocol::Node, PeerProtocol::Join].into_iter().find(|protocol| protocol.id() == id)
    }
}

#[cfg(test)]
mod tests;
