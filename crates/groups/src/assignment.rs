//! One message with one member.

use lapwing_codec::QoS;
use lapwing_dispatch::Ticket;

use crate::entry::Entry;

/// A connection of a member, by its number: each connection of a session has a greater one than those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Epoch(pub u64);

/// One binding of one message to one member. The group never gives it twice; a message that moves gets another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AssignmentId(pub u64);

/// Which of a member's messages were written to its socket, as its shard says when the connection or the session ends.
#[derive(Clone, Copy, Debug)]
pub enum Written<'a> {
    /// These, in any order, and no others.
    These(&'a [AssignmentId]),
    /// Nobody knows: any may have been.
    Unknown,
}

impl Written<'_> {
    /// To look many up: a client may have 65,535 of them.
    pub(crate) fn index(self) -> WrittenIndex {
        WrittenIndex(match self {
            Written::These(ids) => {
                let mut sorted = ids.to_vec();
                sorted.sort_unstable();
                Some(sorted)
            }
            Written::Unknown => None,
        })
    }
}

/// `Written`, sorted; None: any may have been.
pub(crate) struct WrittenIndex(Option<Vec<AssignmentId>>);

impl WrittenIndex {
    fn has(&self, id: AssignmentId) -> bool {
        self.0.as_ref().is_none_or(|sorted| sorted.binary_search(&id).is_ok())
    }
}

/// A message that a member has.
#[derive(Debug)]
pub(crate) struct Assignment<M> {
    pub(crate) entry: Entry<M>,
    /// With which it was sent to this member.
    pub(crate) qos: QoS,
    /// The connection that it was sent to first.
    epoch: Epoch,
    /// What dispatch knows it by; None while its member is not connected, and where dispatch would not have it.
    pub(crate) ticket: Option<Ticket>,
    /// Its delivery has begun on a connection that is over.
    has_begun: bool,
    /// Its key waits until it is known where the message goes.
    pub(crate) blocks_key: bool,
    /// The member's session has it as its own.
    pub(crate) is_handed_over: bool,
}

impl<M> Assignment<M> {
    pub(crate) fn new(entry: Entry<M>, qos: QoS, epoch: Epoch, ticket: Option<Ticket>) -> Assignment<M> {
        Assignment { entry, qos, epoch, ticket, has_begun: false, blocks_key: false, is_handed_over: false }
    }

    /// Whether a word about it can come from this connection: QoS 2 outlives the one that it was sent to.
    pub(crate) fn is_of(&self, epoch: Epoch) -> bool {
        epoch == self.epoch || epoch > self.epoch && self.qos == QoS::ExactlyOnce
    }

    /// Whether another member may have it: what has begun at QoS 2 stays where it is [MQTT-4.4.0-1].
    pub(crate) fn may_move(&self) -> bool {
        !(self.is_handed_over || self.has_begun && self.qos == QoS::ExactlyOnce)
    }

    /// The connection is over. Returns whether the message has to stay with its member: QoS 2 whose delivery has begun
    /// goes on with the same client [MQTT-4.4.0-1] and never elsewhere.
    pub(crate) fn stays(&mut self, id: AssignmentId, written: &WrittenIndex) -> bool {
        self.ticket = None;
        let was_written = written.has(id);
        self.entry.was_written |= was_written;
        self.has_begun |= was_written;
        self.has_begun && self.qos == QoS::ExactlyOnce
    }
}
