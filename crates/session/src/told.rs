//! Who has to learn what becomes of a message: the group that has bound it, whoever keeps the session, the counters.

use std::num::NonZeroU64;

use lapwing_codec::PacketId;

use crate::kept::Kept;
use crate::{Bound, Counters, DropReason, Fact, Fate, Outcome};

/// What ties a message in a session to the outside. Both: a bound message that the session has adopted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tie {
    /// Of a message that a group has bound to this client.
    pub(crate) bound: Option<Bound>,
    /// Of a message that is in the log of a kept session.
    pub(crate) entry: Option<NonZeroU64>,
}

/// What a session has told and nobody has taken yet.
#[derive(Debug, Default)]
pub(crate) struct Told {
    /// What became of bound messages.
    pub(crate) outcomes: Vec<Outcome>,
    /// While the session is kept.
    pub(crate) kept: Option<Box<Kept>>,
}

impl Told {
    fn fact(&mut self, fact: Fact) {
        if let Some(kept) = &mut self.kept {
            kept.facts.push(fact);
        }
    }

    /// The message has left the session.
    #[inline]
    pub(crate) fn finished(&mut self, tie: Tie) {
        if let Some(entry) = tie.entry {
            self.fact(Fact::Finished { entry });
        }
    }

    /// A QoS 2 message goes to the client under this packet id.
    pub(crate) fn sent(&mut self, packet_id: PacketId, tie: Tie) {
        if let Some(entry) = tie.entry {
            self.fact(Fact::Sent { packet_id, entry });
        }
    }

    /// The client has a QoS 2 message.
    pub(crate) fn got(&mut self, packet_id: PacketId, tie: Tie) {
        if tie.entry.is_some() {
            self.fact(Fact::Got { packet_id });
        }
    }

    /// The client's QoS 2 message is on its way to the disk.
    pub(crate) fn taken(&mut self, packet_id: PacketId, use_number: u64) {
        if let Some(kept) = &mut self.kept {
            kept.uses.take(packet_id, use_number);
        }
    }

    /// The client's QoS 2 message is durable, wherever it belongs: what is told now is not durable before.
    pub(crate) fn received(&mut self, packet_id: PacketId) {
        if let Some(kept) = &mut self.kept
            && let Some(use_number) = kept.uses.durable(packet_id)
        {
            kept.facts.push(Fact::Received { packet_id, use_number });
        }
    }

    /// The client has released its message.
    pub(crate) fn released(&mut self, packet_id: PacketId) {
        if let Some(kept) = &mut self.kept
            && kept.uses.release(packet_id)
        {
            kept.facts.push(Fact::Released { packet_id });
        }
    }

    /// The session has a message no longer, and the client does not have it: it is counted, unless it is one of a group,
    /// which learns its `fate` and counts it.
    pub(crate) fn lost(&mut self, tie: Tie, reason: DropReason, fate: Fate, counters: &mut Counters) {
        self.finished(tie);
        match tie.bound {
            Some(bound) => self.outcomes.push(Outcome { bound, fate }),
            None => counters.count_drop(reason),
        }
    }
}
