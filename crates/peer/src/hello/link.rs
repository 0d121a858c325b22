//! Which of the connections between two nodes.

use crate::wire::{Input, Pack};
use crate::{EncodeError, Fault};

/// What a connection is for. A snapshot has one of its own, so that no heartbeat waits behind it.
#[repr(u8)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Link {
    /// Messages of the Raft groups, and the batches that they name.
    Raft = 1,
    /// Snapshots.
    Snapshot = 2,
}

impl Pack<'_> for Link {
    fn put(&self, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        out.push(*self as u8);
        Ok(())
    }

    fn take(input: &mut Input<'_>) -> Result<Self, Fault> {
        let here = *input;
        match input.u8("what the connection is for")? {
            1 => Ok(Link::Raft),
            2 => Ok(Link::Snapshot),
            other => Err(here.malformed("a connection for something that there is not").with(other.into())),
        }
    }
}
