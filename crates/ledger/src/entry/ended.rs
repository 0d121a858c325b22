//! Sessions are over.
//!
//! ```text
//! their number, sessions: numbers
//! ```

use super::Body;
use crate::wire::{Input, List};
use crate::{Fault, KeeperId};

/// With all that they have: queue, subscriptions, will, packet ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended<'a> {
    /// Which.
    pub sessions: List<'a, KeeperId>,
}

impl<'a> Body<'a> for Ended<'a> {
    const KIND: u8 = 3;
    const WHAT: &'static str = "an entry `Ended`";

    fn put(&self, out: &mut Vec<u8>) -> Result<(), Fault> {
        self.sessions.put(out)
    }

    fn take(input: &mut Input<'a>) -> Result<Self, Fault> {
        Ok(Ended { sessions: List::take(input)? })
    }
}
