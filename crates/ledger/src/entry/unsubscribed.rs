//! A session has subscriptions less.
//!
//! ```text
//! session: number      number of filters      filters: texts
//! ```

use super::Body;
use crate::wire::{Input, List, Pack};
use crate::{Fault, KeeperId};

/// One that is not there is passed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unsubscribed<'a> {
    /// The session.
    pub session: KeeperId,
    /// What it does not subscribe to any more.
    pub filters: List<'a, &'a str>,
}

impl<'a> Body<'a> for Unsubscribed<'a> {
    const KIND: u8 = 5;
    const WHAT: &'static str = "an entry `Unsubscribed`";

    fn put(&self, out: &mut Vec<u8>) -> Result<(), Fault> {
        self.session.put(out)?;
        self.filters.put(out)
    }

    fn take(input: &mut Input<'a>) -> Result<Self, Fault> {
        Ok(Unsubscribed { session: KeeperId::take(input)?, filters: List::take(input)? })
    }
}
