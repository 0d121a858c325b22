//! Whose a datagram is: the address that it came from, and perhaps a node behind a forwarder there.

use std::net::{SocketAddr, SocketAddrV4, SocketAddrV6};

use lapwing_sn::{Forwarding, Radius};

/// Where one client is. What goes to it goes the same way back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Address<'a> {
    socket: usize,
    peer: SocketAddr,
    /// The node behind a forwarder (5.5), in the forwarder's words.
    node: Option<&'a [u8]>,
}

impl<'a> Address<'a> {
    pub(super) fn new(socket: usize, peer: SocketAddr, forwarding: Option<Forwarding<'a>>) -> Self {
        Address { socket, peer, node: forwarding.map(|forwarding| forwarding.node_id) }
    }

    /// The socket that it speaks to, among all of the thread, and where its datagrams come from.
    pub(super) const fn source(&self) -> (usize, SocketAddr) {
        (self.socket, self.peer)
    }

    /// What an answer is enclosed in.
    pub(super) fn forwarding(&self) -> Option<Forwarding<'a>> {
        self.node.map(|node_id| Forwarding { radius: Radius::default(), node_id })
    }
}

/// The same for as long as a client is there: small where it is most of them.
#[derive(Clone, Debug)]
pub(super) enum KeptAddress {
    /// IPv4, and nobody forwards. (The kernel numbers descriptors in 31 bits, and sockets are fewer.)
    Near { socket: u32, peer: SocketAddrV4, is_mapped: bool },
    /// Any other.
    Far(Box<Far>),
}

#[derive(Clone, Debug)]
pub(super) struct Far {
    socket: usize,
    peer: SocketAddr,
    node: Option<Box<[u8]>>,
}

// Every client has one.
const _: () = assert!(size_of::<KeptAddress>() <= 16);

impl KeptAddress {
    pub(super) fn get(&self) -> Address<'_> {
        match self {
            KeptAddress::Near { socket, peer, is_mapped } => {
                let peer = if *is_mapped { SocketAddr::V6(mapped(*peer)) } else { SocketAddr::V4(*peer) };
                Address { socket: *socket as usize, peer, node: None }
            }
            KeptAddress::Far(far) => Address { socket: far.socket, peer: far.peer, node: far.node.as_deref() },
        }
    }
}

impl From<Address<'_>> for KeptAddress {
    fn from(address: Address<'_>) -> Self {
        let Address { socket, peer, node } = address;
        match near(peer).filter(|_| node.is_none()) {
            Some((peer, is_mapped)) => KeptAddress::Near { socket: socket as u32, peer, is_mapped },
            None => KeptAddress::Far(Box::new(Far { socket, peer, node: node.map(Box::from) })),
        }
    }
}

/// The address of IPv4 that it is, and whether it is written as one of IPv6: so it comes through a socket for both.
fn near(peer: SocketAddr) -> Option<(SocketAddrV4, bool)> {
    match peer {
        SocketAddr::V4(peer) => Some((peer, false)),
        SocketAddr::V6(peer) => {
            let near = SocketAddrV4::new(peer.ip().to_ipv4_mapped()?, peer.port());
            (mapped(near) == peer).then_some((near, true))
        }
    }
}

const fn mapped(peer: SocketAddrV4) -> SocketAddrV6 {
    SocketAddrV6::new(peer.ip().to_ipv6_mapped(), peer.port(), 0, 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Is an address the same once it was kept, of whatever kind it is?
    #[test]
    fn what_is_kept_is_the_same() {
        for peer in ["10.0.0.1:7", "[::ffff:10.0.0.1]:7", "[fe80::1%3]:7", "[::1]:65535", "0.0.0.0:0"] {
            let (peer, forwarding) = (peer.parse().unwrap(), Forwarding { radius: Radius::default(), node_id: b"n" });
            for address in [Address::new(3, peer, None), Address::new(3, peer, Some(forwarding))] {
                assert_eq!(KeptAddress::from(address).get(), address);
            }
        }
        let flow = Address::new(0, SocketAddrV6::new("::ffff:10.0.0.1".parse().unwrap(), 7, 1, 0).into(), None);
        assert_eq!(KeptAddress::from(flow).get(), flow);
    }
}
