//! Who is at the other end of a connection.

use std::fmt;
use std::net::{IpAddr, SocketAddr};

use crate::network::source_of;

/// The other end of a connection: as a PROXY header told, else as the kernel knew it when it came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PeerAddress {
    /// A network address.
    Net(SocketAddr),
    /// A process on this machine, over a Unix socket.
    Local,
}

impl PeerAddress {
    /// The network address, if it has one; an IPv4 address that came over IPv6 as the IPv4 address it is.
    pub fn ip(self) -> Option<IpAddr> {
        match self {
            PeerAddress::Net(address) => Some(address.ip().to_canonical()),
            PeerAddress::Local => None,
        }
    }

    /// What counts as one source of connections: the IPv4 address, or the /64 that one IPv6 customer gets.
    pub fn source(self) -> Option<IpAddr> {
        self.ip().map(source_of)
    }
}

impl fmt::Display for PeerAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PeerAddress::Net(address) => address.fmt(f),
            PeerAddress::Local => f.write_str("local"),
        }
    }
}
