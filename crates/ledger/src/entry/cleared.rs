//! Topics have no retained message any more.
//!
//! ```text
//! their number, topics: texts
//! ```

use super::Body;
use crate::Fault;
use crate::wire::{Input, List};

/// Their retained messages were taken back, or have expired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cleared<'a> {
    /// Which.
    pub topics: List<'a, &'a str>,
}

impl<'a> Body<'a> for Cleared<'a> {
    const KIND: u8 = 8;
    const WHAT: &'static str = "an entry `Cleared`";

    fn put(&self, out: &mut Vec<u8>) -> Result<(), Fault> {
        self.topics.put(out)
    }

    fn take(input: &mut Input<'a>) -> Result<Self, Fault> {
        Ok(Cleared { topics: List::take(input)? })
    }
}
