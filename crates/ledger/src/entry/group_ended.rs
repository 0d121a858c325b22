//! Durable consumer groups are over.
//!
//! ```text
//! their number, groups: numbers
//! ```

use super::Body;
use crate::wire::{Input, List};
use crate::{Fault, KeeperId};

/// With their queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupEnded<'a> {
    /// Which.
    pub groups: List<'a, KeeperId>,
}

impl<'a> Body<'a> for GroupEnded<'a> {
    const KIND: u8 = 10;
    const WHAT: &'static str = "an entry `GroupEnded`";

    fn put(&self, out: &mut Vec<u8>) -> Result<(), Fault> {
        self.groups.put(out)
    }

    fn take(input: &mut Input<'a>) -> Result<Self, Fault> {
        Ok(GroupEnded { groups: List::take(input)? })
    }
}
