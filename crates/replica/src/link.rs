//! The connection to one other node, and what is counted of it.

use crate::group::Connection;
use crate::receiver::Receiver;
use crate::sender::Sender;

/// Another node, connected or not.
#[derive(Debug)]
pub(crate) struct Link {
    pub(crate) connection: Connection,
    pub(crate) sender: Sender,
    pub(crate) receiver: Receiver,
}

/// What a node counts of what others say to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Messages of peers that no engine of ours could take: a peer's fault, or one of ours.
    pub refused: u64,
    /// Messages to a peer that was not connected, or for which too much waited: Raft sends again.
    pub dropped: u64,
    /// Elections that this node has stood for, in all groups: it has voted for itself in a new term.
    pub elections: u64,
}
