//! Whose a datagram is: the address that it came from, and perhaps a node behind a forwarder there.

use std::net::SocketAddr;

use lapwing_sn::{Forwarding, Radius};

/// Where one client is. What goes to it goes the same way back.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Address {
    /// The socket that it speaks to, among all of the thread.
    pub(super) socket: usize,
    pub(super) peer: SocketAddr,
    /// The node behind a forwarder (5.5), in the forwarder's words.
    node: Option<Box<[u8]>>,
}

impl Address {
    pub(super) fn new(socket: usize, peer: SocketAddr, forwarding: Option<Forwarding<'_>>) -> Self {
        Address { socket, peer, node: forwarding.map(|forwarding| forwarding.node_id.into()) }
    }

    /// What an answer is enclosed in.
    pub(super) fn forwarding(&self) -> Option<Forwarding<'_>> {
        self.node.as_ref().map(|node_id| Forwarding { radius: Radius::default(), node_id })
    }
}
