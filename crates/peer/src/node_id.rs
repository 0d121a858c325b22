//! Which node of the cluster.

use std::fmt;

use crate::wire::{Input, Pack};
use crate::{EncodeError, Fault};

/// A node of the cluster, 1 to 255; an id is never given again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(u8);

impl NodeId {
    /// `None` for 0, which is nobody.
    pub const fn new(id: u8) -> Option<Self> {
        if id == 0 { None } else { Some(NodeId(id)) }
    }

    /// The number, at least 1.
    pub const fn value(self) -> u8 {
        self.0
    }
}

impl fmt::Display for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Pack<'_> for NodeId {
    fn put(&self, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        out.push(self.0);
        Ok(())
    }

    fn take(input: &mut Input<'_>) -> Result<Self, Fault> {
        let here = *input;
        NodeId::new(input.u8("a node id")?).ok_or(here.malformed("a node id of zero"))
    }
}
