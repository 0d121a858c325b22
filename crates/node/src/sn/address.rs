//! Whose a datagram is: the address that it came from, and perhaps a node behind a forwarder there.

use std::net::SocketAddr;

use lapwing_sn::{Forwarding, Radius};

/// Where one client is. What goes to it goes the same way back.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Address {
    socket: u32,
    pub(super) peer: SocketAddr,
    /// The node behind a forwarder (5.5), in the forwarder's words.
    #[expect(clippy::box_collection, reason = "hardly a client is behind a forwarder, and all have the place for it")]
    node: Option<Box<Vec<u8>>>,
}

impl Address {
    pub(super) fn new(socket: usize, peer: SocketAddr, forwarding: Option<Forwarding<'_>>) -> Self {
        let node = forwarding.map(|forwarding| Box::new(forwarding.node_id.to_vec()));
        // The kernel numbers descriptors in 31 bits, and these are fewer.
        Address { socket: socket as u32, peer, node }
    }

    /// The socket that it speaks to, among all of the thread.
    pub(super) fn socket(&self) -> usize {
        self.socket as usize
    }

    /// What an answer is enclosed in.
    pub(super) fn forwarding(&self) -> Option<Forwarding<'_>> {
        self.node.as_ref().map(|node_id| Forwarding { radius: Radius::default(), node_id })
    }
}
