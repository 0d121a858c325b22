//! One message of a group, wherever it is.

use lapwing_codec::QoS;
use lapwing_dispatch::Work;

use crate::facts::{Facts, Lane};
use crate::unable::Unable;

/// Where a message stands among those that wait: lane first, then in the order in which the group was given them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    pub(crate) lane: Lane,
    pub(crate) nth: u64,
}

/// A message with what has to be known of it.
#[derive(Debug)]
pub(crate) struct Entry<M> {
    pub(crate) message: M,
    pub(crate) facts: Facts,
    /// The how manieth message of the group it is: its rank for good, however often it moves.
    pub(crate) nth: u64,
    /// It was written to a member that did not acknowledge it: whoever gets it next may be the second.
    pub(crate) was_written: bool,
    /// Who cannot have it.
    pub(crate) unable: Option<Box<Unable>>,
}

impl<M> Entry<M> {
    /// As dispatch sees it; `qos`: with which it would be sent.
    pub(crate) fn work(&self, qos: QoS) -> Work {
        self.facts.work(self.nth, qos)
    }

    /// The line in which it waits when it has to: its key's, or one of its own when it has none or not everybody can have it.
    pub(crate) fn line(&self) -> u64 {
        let Facts { key, .. } = self.facts;
        self.unable.as_ref().map_or(key.unwrap_or(!self.nth), |unable| unable.line(key, self.nth))
    }

    pub(crate) fn place(&self) -> Place {
        Place { lane: self.facts.lane, nth: self.nth }
    }
}
