//! Feature levels: which kinds of entries and frames may be written.

use crate::wire::{Input, Pack};
use crate::{EncodeError, Fault};

/// The level at which the cluster writes, and the newest that this node reads. The first rises when all nodes can.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Levels {
    in_force: u16,
    newest: u16,
}

impl Levels {
    /// `None` where more is in force than the node reads: it would have stopped.
    pub const fn new(in_force: u16, newest: u16) -> Option<Self> {
        if in_force <= newest { Some(Levels { in_force, newest }) } else { None }
    }

    /// At which the cluster writes, as far as this node has heard.
    pub const fn in_force(self) -> u16 {
        self.in_force
    }

    /// The newest that this node reads and writes.
    pub const fn newest(self) -> u16 {
        self.newest
    }
}

impl Pack<'_> for Levels {
    fn put(&self, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        out.extend_from_slice(&self.in_force.to_le_bytes());
        out.extend_from_slice(&self.newest.to_le_bytes());
        Ok(())
    }

    fn take(input: &mut Input<'_>) -> Result<Self, Fault> {
        let here = *input;
        let (in_force, newest) = (input.u16("the level in force")?, input.u16("the newest level")?);
        Levels::new(in_force, newest).ok_or(here.malformed("a level in force that the node cannot read"))
    }
}
