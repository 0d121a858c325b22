//! QoS 2 messages of sessions, in this data group or others, are in doubt no longer.
//!
//! ```text
//! number of publishers      per publisher: data group, session, first use that is not settled: numbers
//! ```

use super::Body;
use crate::wire::{Input, List, Pack, put_number};
use crate::{Fault, KeeperId};

/// For publishers that do not say so themselves with a next message: whose session is over, or who has long been silent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settled<'a> {
    /// Which.
    pub publishers: List<'a, SettledPublisher>,
}

/// How far the messages of one publisher are settled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SettledPublisher {
    /// The data group of its session.
    pub data_group: u16,
    /// Its session.
    pub session: KeeperId,
    /// Use numbers below this one never come again; `u64::MAX`: none will.
    pub below: u64,
}

impl<'a> Body<'a> for Settled<'a> {
    const KIND: u8 = 11;
    const WHAT: &'static str = "an entry `Settled`";

    fn put(&self, out: &mut Vec<u8>) -> Result<(), Fault> {
        self.publishers.put(out)
    }

    fn take(input: &mut Input<'a>) -> Result<Self, Fault> {
        Ok(Settled { publishers: List::take(input)? })
    }
}

impl Pack<'_> for SettledPublisher {
    fn put(&self, out: &mut Vec<u8>) -> Result<(), Fault> {
        put_number(u64::from(self.data_group), out);
        put_number(self.session.0, out);
        put_number(self.below, out);
        Ok(())
    }

    fn take(input: &mut Input<'_>) -> Result<Self, Fault> {
        let what = "a settled publisher is cut off or impossible";
        Ok(SettledPublisher {
            data_group: input.number_u16(what)?,
            session: KeeperId(input.number(what)?),
            below: input.number(what)?,
        })
    }
}
