//! A session has subscriptions more.
//!
//! ```text
//! session: number      number of subscriptions      per subscription: filter as text, grant as number
//! ```

use super::Body;
use crate::wire::{Input, List, Pack, put_number, put_text};
use crate::{Fault, KeeperId};

/// One that is there already is replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Subscribed<'a> {
    /// The session.
    pub session: KeeperId,
    /// What it subscribes to.
    pub subscriptions: List<'a, Subscription<'a>>,
}

/// One subscription.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Subscription<'a> {
    /// The filter as the client wrote it, `$share/...` too.
    pub filter: &'a str,
    /// Options, subscription identifier and whether retained messages are owed, as the node writes them; opaque here.
    pub grant: u64,
}

impl<'a> Body<'a> for Subscribed<'a> {
    const KIND: u8 = 4;
    const WHAT: &'static str = "an entry `Subscribed`";

    fn put(&self, out: &mut Vec<u8>) -> Result<(), Fault> {
        self.session.put(out)?;
        self.subscriptions.put(out)
    }

    fn take(input: &mut Input<'a>) -> Result<Self, Fault> {
        Ok(Subscribed { session: KeeperId::take(input)?, subscriptions: List::take(input)? })
    }
}

impl<'a> Pack<'a> for Subscription<'a> {
    fn put(&self, out: &mut Vec<u8>) -> Result<(), Fault> {
        put_text(self.filter, "a filter", out)?;
        put_number(self.grant, out);
        Ok(())
    }

    fn take(input: &mut Input<'a>) -> Result<Self, Fault> {
        let filter = input.text("a filter is cut off, too long or not UTF-8")?;
        Ok(Subscription { filter, grant: input.number("the grant of a subscription is cut off")? })
    }
}
